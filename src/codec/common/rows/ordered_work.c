#include "codec/common/rows/ordered_work.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"

struct thread {
    struct gf_ordered_work *work;
    int index;
    pthread_t id;
};

/* Numbered work items on several threads. The counters only grow. `lock` guards the counters,
 * `done`, `ending` and `failed`. */
struct gf_ordered_work {
    gf_ordered_work_call *call;
    void *context;
    struct thread *thread;
    int threads; /* number of threads that were started */
    int slots;
    double time_limit_s; /* the time limit of the thread that opened the work */
    bool *done;          /* whether an item is done, at index item % slots */
    pthread_mutex_t lock;
    pthread_cond_t submitted_more, done_more;
    int submitted, begun, taken; /* the number of items that have reached each state */
    bool ending, failed;
};

static int next_item(struct gf_ordered_work *work)
{
    pthread_mutex_lock(&work->lock);
    while (work->begun == work->submitted && !work->ending)
        pthread_cond_wait(&work->submitted_more, &work->lock);
    const int item = work->ending ? -1 : work->begun++;
    pthread_mutex_unlock(&work->lock);
    return item;
}

static void mark_done(struct gf_ordered_work *work, int item, bool succeeded)
{
    pthread_mutex_lock(&work->lock);
    work->done[item % work->slots] = true;
    work->failed |= !succeeded;
    pthread_cond_signal(&work->done_more);
    pthread_mutex_unlock(&work->lock);
}

static void *thread_main(void *argument)
{
    const struct thread *const thread = argument;
    struct gf_ordered_work *const work = thread->work;
    gf_time_limit_set(work->time_limit_s);
    for (int item; (item = next_item(work)) >= 0;)
        mark_done(work, item, work->call(work->context, thread->index, item));
    return NULL;
}

/* Makes work for `threads` threads, which are not started. */
static enum gf_status make_work(int threads, int slots, gf_ordered_work_call *call, void *context,
                                struct gf_ordered_work **work, struct gf_error *error)
{
    struct gf_ordered_work *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->submitted_more, NULL);
    pthread_cond_init(&opened->done_more, NULL);
    opened->call = call;
    opened->context = context;
    opened->slots = slots;
    opened->time_limit_s = gf_time_limit();
    opened->done = calloc((size_t)slots, sizeof *opened->done);
    opened->thread = calloc((size_t)threads, sizeof *opened->thread);
    if (!opened->done || !opened->thread) {
        gf_ordered_work_close(opened);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    *work = opened;
    return GF_OK;
}

static void start_threads(struct gf_ordered_work *work, int threads)
{
    for (bool going = threads > 1; going && work->threads < threads; work->threads += going) {
        struct thread *const thread = &work->thread[work->threads];
        thread->work = work;
        thread->index = work->threads;
        going = !pthread_create(&thread->id, NULL, thread_main, thread);
    }
}

enum gf_status gf_ordered_work_open(int threads, int slots, gf_ordered_work_call *call,
                                    void *context, struct gf_ordered_work **work,
                                    struct gf_error *error)
{
    GF_TRY(make_work(threads, slots, call, context, work, error));
    start_threads(*work, threads);
    return GF_OK;
}

void gf_ordered_work_close(struct gf_ordered_work *work)
{
    if (!work)
        return;
    pthread_mutex_lock(&work->lock);
    work->ending = true;
    pthread_cond_broadcast(&work->submitted_more);
    pthread_mutex_unlock(&work->lock);
    for (int i = 0; i < work->threads; i++)
        pthread_join(work->thread[i].id, NULL);
    pthread_cond_destroy(&work->done_more);
    pthread_cond_destroy(&work->submitted_more);
    pthread_mutex_destroy(&work->lock);
    free(work->thread);
    free(work->done);
    free(work);
}

void gf_ordered_work_submit(struct gf_ordered_work *work)
{
    if (!work->threads)
        mark_done(work, work->submitted, work->call(work->context, 0, work->submitted));
    pthread_mutex_lock(&work->lock);
    work->submitted++;
    pthread_cond_signal(&work->submitted_more);
    pthread_mutex_unlock(&work->lock);
}

int gf_ordered_work_pending(const struct gf_ordered_work *work)
{
    /* Only the calling thread changes these counters, so that no lock is needed. */
    return work->submitted - work->taken;
}

bool gf_ordered_work_take(struct gf_ordered_work *work, bool wait, bool *failed)
{
    if (work->taken == work->submitted)
        return false;
    bool *const done = &work->done[work->taken % work->slots];
    pthread_mutex_lock(&work->lock);
    while (wait && !*done)
        pthread_cond_wait(&work->done_more, &work->lock);
    const bool taken = *done;
    *done = false;
    *failed = work->failed;
    pthread_mutex_unlock(&work->lock);
    work->taken += taken;
    return taken;
}

enum gf_status gf_ordered_work_run(int threads, int items, gf_ordered_work_call *call,
                                   void *context, struct gf_error *error)
{
    struct gf_ordered_work *work;
    GF_TRY(make_work(threads, items, call, context, &work, error));
    bool failed = false;
    /* The first thread begins while the others are being started. */
    work->submitted = threads > 1 ? items : 0;
    start_threads(work, threads);
    if (!work->threads)
        work->submitted = 0;
    while (work->submitted < items)
        gf_ordered_work_submit(work);
    while (gf_ordered_work_take(work, true, &failed))
        ;
    gf_ordered_work_close(work);
    return failed ? gf_time_check(error) : GF_OK;
}
