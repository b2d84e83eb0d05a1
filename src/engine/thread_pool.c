/* The threads of the lanes: each takes one band after another. */
#include "engine/segment_run.h"

/* Waits until the next band has its input and a buffer for its result, and returns its number; -1
 * when there are no more. Because bands are taken in order, the lowest unfinished one always gets
 * what it needs, and the threads cannot wait for each other in a circle. */
static int take_band(struct gf_segment_run *segment_run)
{
    pthread_mutex_lock(&segment_run->lock);
    const int b = segment_run->next++;
    const bool streams_in = segment_run->in.kind == GF_PLACEMENT_STREAM;
    const bool streams_out =
        segment_run->out.kind == GF_PLACEMENT_STREAM && !segment_run->pass_through;
    while (!segment_run->status && b < segment_run->bands.count &&
           ((streams_in && segment_run->ready <= b) ||
            (streams_out && segment_run->written <= b - segment_run->out_ring->count)))
        pthread_cond_wait(&segment_run->changed, &segment_run->lock);
    const bool going = !segment_run->status && b < segment_run->bands.count;
    pthread_mutex_unlock(&segment_run->lock);
    return going ? b : -1;
}

static void run_bands(struct gf_worker *worker)
{
    struct gf_segment_run *const segment_run = worker->segment_run;
    for (int b; (b = take_band(segment_run)) >= 0;) {
        struct gf_error error = {0};
        const enum gf_status status = gf_worker_band(worker, b, &error);
        if (status) {
            gf_segment_run_fail(segment_run, status, &error);
            break;
        }
        gf_segment_run_finish_band(segment_run, b);
    }
}

static void *worker_main(void *argument)
{
    struct gf_worker *const worker = argument;
    struct gf_thread_pool *const pool = worker->pool;
    int submitted = 0;
    worker->lane->backend->calls->lane_enter(worker->lane);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->submitted == submitted && !pool->stopping)
            pthread_cond_wait(&pool->changed, &pool->lock);
        if (pool->stopping)
            break;
        submitted = pool->submitted;
        worker->segment_run = pool->segment_run;
        pthread_mutex_unlock(&pool->lock);
        run_bands(worker);
        pthread_mutex_lock(&pool->lock);
        pool->working--;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int gf_thread_pool_start(struct gf_thread_pool *pool, struct gf_worker *workers, int count)
{
    int started = 0;
    *pool = (struct gf_thread_pool){0};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (bool going = true; going && started < count; started += going) {
        struct gf_worker *const worker = &workers[started];
        worker->pool = pool;
        going = !pthread_create(&worker->thread, NULL, worker_main, worker);
    }
    return started;
}

void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_segment_run *segment_run,
                           int count)
{
    pthread_mutex_lock(&pool->lock);
    pool->segment_run = segment_run;
    pool->working = count;
    pool->submitted++;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_wait(struct gf_thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->working)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_stop(struct gf_thread_pool *pool, struct gf_worker *workers, int started)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}
