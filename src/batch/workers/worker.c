/* Runs a worker, which takes one input after another. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/workers/workers.h"

/* Finds out which outputs of the worker's input are to be made. Returns false if there is none. */
static bool begin_results(struct gf_batch_worker *worker)
{
    bool any = false;
    if (!worker->member.data && !worker->is_fetched)
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
        if (worker->is_fetched && worker->fetched.status) {
            result->outcome = GF_OUTCOME_FAILED;
            result->status = worker->fetched.status;
            result->why = worker->fetched.error;
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

/* Returns the output that tells how the picture ended: the first output that failed, else the first
 * that was done, else the first. */
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
    if (worker->supply->store)
        worker->supply->store(worker);
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

enum gf_status gf_batch_open_worker(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                    int number, struct gf_error *error)
{
    struct gf_batch_worker *const worker = &batch->worker[number];
    const int here = batch->workers_here;
    const int device = !batch->devices.count ? -1
                       : number < here
                           ? number % batch->devices.here
                           : batch->devices.here + (number - here) / batch->workers_of_helper;
    *worker = (struct gf_batch_worker){.batch = batch,
                                       .supply = supply,
                                       .number = number,
                                       .assigned_device = device,
                                       .device = device};
    worker->notes_file = open_memstream(&worker->notes, &worker->notes_bytes);
    return worker->notes_file ? GF_OK : gf_fail_memory(error);
}

void gf_batch_close_worker(struct gf_batch_worker *worker)
{
    if (worker->notes_file)
        fclose(worker->notes_file);
    free(worker->notes);
}

/* Ends a worker's thread: closes the pipeline and tells the batch. */
static void end_worker(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    /* The pipeline of a device is not closed if the process ends, since that frees the device's
     * memory faster. */
    if (!batch->request->process_ends || worker->device < 0)
        gf_pipeline_close(worker->pipeline);
    for (int k = 0; k < gf_batch_outputs(batch->request); k++)
        free(worker->result[k].path);
    pthread_mutex_lock(&batch->lock);
    batch->working--;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

void gf_batch_run_worker(struct gf_batch_worker *worker)
{
    const struct gf_batch_supply *const supply = worker->supply;
    while (supply->take(worker)) {
        do_input(worker);
        supply->done(worker);
    }
    end_worker(worker);
}

static void *worker_main(void *worker)
{
    gf_batch_run_worker(worker);
    return NULL;
}

int gf_batch_start_workers(struct gf_batch *batch, int first, int end)
{
    int started = 0;
    for (int i = first; i < end; i++) {
        struct gf_batch_worker *const worker = &batch->worker[i];
        worker->started = !pthread_create(&worker->thread, NULL, worker_main, worker);
        if (!worker->started)
            break;
        started++;
    }
    batch->working += started;
    return started;
}
