/* The threads of a batch: workers that take inputs, and the calling thread, which waits for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "batch/workers/workers.h"

/* ---- an input ---- */

/* Finds out which outputs of the worker's input are to be made; false if none is. */
static bool begin_results(struct gf_batch_worker *worker)
{
    bool any = false;
    if (!worker->member.data)
        worker->identity = gf_identify_file(worker->input->path);
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        struct gf_batch_result *const result = &worker->result[k];
        struct gf_bytes *const bytes = worker->bytes ? &worker->bytes[k] : NULL;
        free(result->path);
        *result = (struct gf_batch_result){
            .worker = worker, .number = k, .bytes = bytes && bytes->name ? bytes : NULL};
        if (result->bytes)
            result->path = strdup(bytes->name);
        if (result->bytes && worker->item->is_link) {
            result->outcome = GF_OUTCOME_DONE;
            continue;
        }
        result->outcome =
            gf_batch_check_existing(worker->batch, worker->input->path, &worker->identity,
                                    worker->item, k, result->why.text, sizeof result->why.text);
        if (result->outcome == GF_OUTCOME_FAILED)
            result->status = gf_batch_status_of_existing(worker->item, k);
        any |= result->outcome == GF_OUTCOME_WAITING;
    }
    return any;
}

/* Returns the output that tells how the picture ended: the first that failed, else the first that
 * was done, else the first. */
static const struct gf_batch_result *telling_result(const struct gf_batch_worker *worker)
{
    const struct gf_batch_result *telling = &worker->result[0];
    for (int k = 1; k < gf_batch_outputs(worker->batch->request); k++) {
        const struct gf_batch_result *const result = &worker->result[k];
        if (telling->outcome != GF_OUTCOME_FAILED &&
            (result->outcome == GF_OUTCOME_FAILED || telling->outcome == GF_OUTCOME_SKIPPED))
            telling = result;
    }
    return telling;
}

static void do_input(struct gf_batch_worker *worker)
{
    const struct gf_batch_request *const request = worker->batch->request;
    worker->counted = false;
    if (begin_results(worker))
        gf_worker_do_file(worker);
    /* A failure that ends the whole run, such as a failure of a closed standard output, becomes the
     * run's error. */
    bool ends = gf_batch_is_single(request);
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const enum gf_status status = worker->result[k].status;
        ends |= status == GF_ERROR_UNAVAILABLE ||
                (gf_batch_output_at(request, k).name->is_stdout && status == GF_ERROR_OUTPUT);
    }
    gf_batch_end_item(worker, telling_result(worker), ends);
}

/* ---- a worker ---- */

static enum gf_status open_worker(struct gf_batch_worker *worker, struct gf_batch *batch,
                                  const struct gf_batch_supply *supply, int number,
                                  struct gf_error *error)
{
    const int devices = batch->devices.count, device = devices ? number % devices : -1;
    *worker = (struct gf_batch_worker){.batch = batch,
                                       .supply = supply,
                                       .number = number,
                                       .assigned_device = device,
                                       .device = device};
    worker->notes_file = open_memstream(&worker->notes, &worker->notes_bytes);
    return worker->notes_file ? GF_OK : gf_fail_memory(error);
}

static void close_worker(struct gf_batch_worker *worker)
{
    if (worker->notes_file)
        fclose(worker->notes_file);
    free(worker->notes);
}

/* Ends a worker's thread: closes the pipeline and tells the batch. */
static void end_worker(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    /* The end of the process frees the memory of a device faster. */
    if (!batch->request->process_ends || worker->device < 0)
        gf_pipeline_close(worker->pipeline);
    for (int k = 0; k < gf_batch_outputs(batch->request); k++)
        free(worker->result[k].path);
    pthread_mutex_lock(&batch->lock);
    batch->working--;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

static void *worker_main(void *argument)
{
    struct gf_batch_worker *const worker = argument;
    const struct gf_batch_supply *const supply = worker->supply;
    while (supply->take(worker)) {
        do_input(worker);
        supply->done(worker);
    }
    end_worker(worker);
    return NULL;
}

/* ---- the calling thread ---- */

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

void gf_batch_wait(struct gf_batch *batch, struct timespec *next)
{
    const double tick_s =
        batch->request->tick && batch->request->tick_s > 0 ? batch->request->tick_s : 3600;
    if (!next->tv_sec)
        *next = after(tick_s);
    if (pthread_cond_timedwait(&batch->changed, &batch->lock, next) == ETIMEDOUT) {
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

/* Starts the workers' threads, or as many as the system allows. */
static int start_workers(struct gf_batch *batch, struct gf_batch_worker *worker, int count)
{
    int started = 0;
    pthread_mutex_lock(&batch->lock);
    while (started < count &&
           !pthread_create(&worker[started].thread, NULL, worker_main, &worker[started]))
        started++;
    batch->working = started ? started : 1;
    pthread_mutex_unlock(&batch->lock);
    return started;
}

enum gf_status gf_batch_work(struct gf_batch *batch, const struct gf_batch_supply *supply,
                             int count, struct gf_error *error)
{
    struct gf_batch_worker *const worker = calloc((size_t)count, sizeof *worker);
    enum gf_status status = worker ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < count; i++)
        status = open_worker(&worker[i], batch, supply, i, error);
    const int started = status ? 0 : start_workers(batch, worker, count);
    if (!status && !started && supply->attend)
        status = gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    else if (!status && !started)
        worker_main(&worker[0]); /* no thread could be started: the calling thread does the work */
    if (!status && supply->attend)
        status = supply->attend(supply->context, error);
    else if (!status)
        wait_for_workers(batch);
    for (int i = 0; i < started; i++)
        pthread_join(worker[i].thread, NULL);
    for (int i = 0; worker && i < count; i++)
        close_worker(&worker[i]);
    free(worker);
    return status;
}

/* ---- the inputs of the shard ---- */

static bool take_from_shard(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    const bool taken = !batch->stopped && batch->next < batch->shard.count;
    if (taken)
        worker->index = gf_batch_shard_index(&batch->shard, batch->next++);
    pthread_mutex_unlock(&batch->lock);
    if (taken) {
        worker->input = &batch->request->inputs->item[worker->index];
        worker->item = &batch->item[worker->index];
    }
    return taken;
}

/* Reports the notes of all inputs up to the first that is not finished. */
static void report_in_order(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    while (batch->reported < batch->shard.count) {
        const size_t index = gf_batch_shard_index(&batch->shard, batch->reported);
        struct gf_batch_item *const item = &batch->item[index];
        if (item->outcome == GF_OUTCOME_WAITING)
            break;
        gf_batch_report(batch, item, batch->request->inputs->item[index].path);
        batch->reported++;
    }
    pthread_mutex_unlock(&batch->lock);
}

enum gf_status gf_batch_work_on_shard(struct gf_batch *batch, int workers, struct gf_error *error)
{
    const struct gf_batch_supply supply = {.take = take_from_shard, .done = report_in_order};
    return gf_batch_work(batch, &supply, workers, error);
}
