/* The threads of the lanes: each takes one band after another. */
#include "engine/segment_run.h"

static void run_bands(struct gf_worker *worker)
{
    struct gf_segment_run *const segment_run = worker->segment_run;
    for (int b; (b = gf_segment_run_take_band(segment_run)) >= 0;) {
        struct gf_error error = {0};
        const enum gf_status status = gf_worker_band(worker, b, &error);
        if (status) {
            gf_segment_run_fail(segment_run, status, &error);
            break;
        }
        gf_segment_run_finish_band(segment_run, b);
    }
}

void gf_worker_run(struct gf_worker *worker, struct gf_segment_run *segment_run)
{
    worker->segment_run = segment_run;
    worker->lane->backend->calls->lane_enter(worker->lane);
    run_bands(worker);
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
