/* The threads of the lanes. Each takes one band after another. */
#include "engine/thread_pool.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/time_limit.h"
#include "engine/pass.h"

struct gf_pool_thread {
    struct gf_pool_thread *next;
    struct gf_thread_pool *pool;
    int index;
    int submitted; /* number of the first segment that the thread can compute */
    pthread_t thread;
};

static void compute_bands(struct gf_worker *worker)
{
    struct gf_pass *const pass = worker->pass;
    for (int b; (b = gf_pass_take_band(pass)) >= 0;) {
        struct gf_error error = {0};
        const enum gf_status status = gf_worker_compute_band(worker, b, &error);
        if (status) {
            gf_pass_fail(pass, status, &error);
            break;
        }
        gf_pass_finish_band(pass, b);
    }
}

void gf_worker_compute_bands(struct gf_worker *worker, struct gf_pass *pass)
{
    worker->pass = pass;
    gf_time_limit_set(pass->time_limit_s);
    worker->lane->backend->calls->lane_enter(worker->lane);
    compute_bands(worker);
}

static void *thread_main(void *argument)
{
    struct gf_pool_thread *const self = argument;
    struct gf_thread_pool *const pool = self->pool;
    int submitted = self->submitted;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->submitted == submitted && !pool->stopping)
            pthread_cond_wait(&pool->submission, &pool->lock);
        if (pool->stopping)
            break;
        submitted = pool->submitted;
        if (self->index >= pool->wanted)
            continue;
        struct gf_worker *const worker = &pool->worker[self->index];
        struct gf_pass *const pass = pool->pass;
        pool->begun++;
        pthread_mutex_unlock(&pool->lock);
        gf_worker_compute_bands(worker, pass);
        pthread_mutex_lock(&pool->lock);
        if (!--pool->pending)
            pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void open_pool(struct gf_thread_pool *pool)
{
    *pool = (struct gf_thread_pool){.process = getpid()};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->submission, NULL);
    pthread_cond_init(&pool->end, NULL);
}

static bool start_one(struct gf_thread_pool *pool)
{
    struct gf_pool_thread *const thread = malloc(sizeof *thread);
    if (!thread)
        return false;
    *thread = (struct gf_pool_thread){
        .next = pool->first, .pool = pool, .index = pool->started, .submitted = pool->submitted};
    if (pthread_create(&thread->thread, NULL, thread_main, thread)) {
        free(thread);
        return false;
    }
    pool->first = thread;
    pool->started++;
    return true;
}

int gf_thread_pool_start(struct gf_thread_pool *pool, int count)
{
    if (pool->process != getpid()) /* a forked child leaves its parent's threads alone */
        open_pool(pool);
    while (pool->started < count && start_one(pool))
        continue;
    return pool->started < count ? pool->started : count;
}

void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_pass *pass,
                           struct gf_worker *worker, int count)
{
    if (!count)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->pass = pass;
    pool->worker = worker;
    pool->wanted = pool->pending = count;
    pool->begun = 0;
    pool->submitted++;
    pthread_cond_broadcast(&pool->submission);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_wait(struct gf_thread_pool *pool, bool all_taken)
{
    if (!pool->started)
        return;
    pthread_mutex_lock(&pool->lock);
    if (all_taken) { /* threads that have not begun would find no band */
        pool->pending -= pool->wanted - pool->begun;
        pool->wanted = pool->begun = 0;
    }
    while (pool->pending)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_close(struct gf_thread_pool *pool)
{
    if (pool->process != getpid())
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->submission);
    pthread_mutex_unlock(&pool->lock);
    for (struct gf_pool_thread *thread = pool->first, *next; thread; thread = next) {
        next = thread->next;
        pthread_join(thread->thread, NULL);
        free(thread);
    }
    pthread_cond_destroy(&pool->submission);
    pthread_cond_destroy(&pool->end);
    pthread_mutex_destroy(&pool->lock);
    *pool = (struct gf_thread_pool){0};
}
