/* Runs the calling thread of a batch, which starts the workers and waits for them. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "batch/workers/workers.h"

void gf_batch_tick(struct gf_batch *batch, bool at_end)
{
    const struct gf_batch_request *const request = batch->request;
    const int bands = batch->progress.total;
    batch->state.elapsed_s = gf_now() - batch->begin_s;
    batch->state.part = bands ? (double)batch->progress.done / bands : 0;
    const struct gf_batch_state state = batch->state;
    if (request->tick)
        request->tick(request->context, &state, at_end);
}

static struct timespec after(double seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const double sum = (double)time.tv_nsec * 1e-9 + seconds;
    time.tv_sec += (time_t)sum;
    time.tv_nsec = (long)((sum - (double)(time_t)sum) * 1e9);
    return time;
}

static bool is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

void gf_batch_wait(struct gf_batch *batch, struct timespec *next)
{
    const double tick_s =
        batch->request->tick && batch->request->tick_s > 0 ? batch->request->tick_s : 3600;
    if (!next->tv_sec)
        *next = after(tick_s);
    const struct timespec look = after(gf_batch_attend_helpers(batch));
    const bool ticks = is_earlier(next, &look);
    if (pthread_cond_timedwait(&batch->changed, &batch->lock, ticks ? next : &look) == ETIMEDOUT &&
        ticks) {
        gf_batch_tick(batch, false);
        *next = after(tick_s);
    }
}

static void wait_for_workers(struct gf_batch *batch)
{
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (batch->working)
        gf_batch_wait(batch, &next);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
}

/* Starts the workers of this process's devices, and waits for the end of all workers. */
static enum gf_status run_workers(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                  struct gf_error *error)
{
    pthread_mutex_lock(&batch->lock);
    const int started = gf_batch_start_workers(batch, 0, batch->workers_here);
    batch->attended = started > 0;
    batch->working += !started;
    pthread_mutex_unlock(&batch->lock);
    if (!started && supply->attend)
        return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    if (!started)
        gf_batch_run_worker(&batch->worker[0]); /* the calling thread itself does the work */
    if (supply->attend)
        return supply->attend(supply->context, error);
    wait_for_workers(batch);
    return GF_OK;
}

enum gf_status gf_batch_work(struct gf_batch *batch, const struct gf_batch_supply *supply,
                             int count, struct gf_error *error)
{
    batch->workers_here = count;
    batch->workers_of_helper = gf_batch_workers_of_helper(batch, count);
    const int helpers = batch->devices.count - batch->devices.here,
              all = count + helpers * batch->workers_of_helper;
    struct gf_batch_worker *const worker = calloc((size_t)all, sizeof *worker);
    batch->worker = worker;
    enum gf_status status = worker ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < all; i++)
        status = gf_batch_open_worker(batch, supply, i, error);
    if (!status)
        status = run_workers(batch, supply, error);
    for (int i = 0; worker && i < all; i++) {
        if (worker[i].started)
            pthread_join(worker[i].thread, NULL);
    }
    gf_batch_end_helpers(batch);
    for (int i = 0; worker && i < all; i++)
        gf_batch_close_worker(&worker[i]);
    free(worker);
    batch->worker = NULL;
    return status;
}

/* ---- the inputs ---- */

static bool take_input(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    const bool taken = !batch->stopped && batch->next < batch->count;
    const size_t number = taken ? batch->next++ : 0;
    struct gf_input *const opened = batch->opened;
    if (taken)
        batch->opened = NULL;
    pthread_mutex_unlock(&batch->lock);
    if (taken) {
        worker->input = &batch->request->inputs->item[number];
        worker->item = &batch->item[number];
        worker->index = worker->input->index;
        worker->member = (struct gf_file_bytes){.opened = opened};
    }
    return taken;
}

void gf_batch_report_in_order(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    while (batch->reported < batch->count) {
        const size_t index = batch->reported;
        struct gf_batch_item *const item = &batch->item[index];
        if (item->outcome == GF_OUTCOME_WAITING)
            break;
        gf_batch_report(batch, item, batch->request->inputs->item[index].path);
        batch->reported++;
    }
    pthread_mutex_unlock(&batch->lock);
}

enum gf_status gf_batch_work_on_inputs(struct gf_batch *batch, int workers, struct gf_error *error)
{
    const struct gf_batch_supply supply = {.take = take_input, .done = gf_batch_report_in_order};
    return gf_batch_work(batch, &supply, workers, error);
}
