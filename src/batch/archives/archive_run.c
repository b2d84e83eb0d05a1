/* Runs a batch with archives: chooses its devices, begins and ends it. */
#include "batch/archives/archive_run.h"

#include <stdlib.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/workers/workers.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"

static enum gf_status start_reader(struct gf_archive_ring *ring, struct gf_error *error)
{
    ring->reading = !pthread_create(&ring->reader_thread, NULL, gf_archive_fill, ring);
    return ring->reading ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

/* Ends the reader, which may be waiting for a slot or for the producer of a stream. */
static void join_reader(struct gf_archive_ring *ring, bool stops)
{
    struct gf_batch *const batch = ring->batch;
    if (!ring->reading)
        return;
    pthread_mutex_lock(&batch->lock);
    batch->stopped |= stops;
    stops = batch->stopped;
    if (stops && ring->open)
        gf_archive_reader_cancel(ring->open->reader);
    if (stops && ring->transfers)
        gf_transfers_stop(ring->transfers);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    pthread_join(ring->reader_thread, NULL);
    ring->reading = false;
}

enum { LOOKED_AT = 8, HEADER_BYTES = 1024 };

/* Waits until the ring has the first pictures, or until none will come. A stream is not waited for.
 * Returns the size of the first archive. */
static int64_t wait_for_pictures(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (!ring->read_all && !ring->full && ring->first_size >= 0 &&
           (!ring->first_size || ring->pictures < LOOKED_AT))
        gf_batch_wait(batch, &next);
    const int64_t size = ring->first_size;
    pthread_mutex_unlock(&batch->lock);
    return size;
}

/* Chooses the devices by the first members; the first archive's size and the number of archives
 * give an estimate of the number of members. The length of a stream is not known: for a stream
 * --device=auto means the CPU. */
static void choose_devices(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    const size_t archives = batch->request->inputs->count;
    struct gf_input_name name[LOOKED_AT];
    struct gf_inputs inputs = {.item = name};
    struct gf_batch_request first = *batch->request;
    uint64_t bytes = 0;
    if (!ring->from_archives) {
        gf_batch_choose_devices(batch->request, batch->request, batch->count, &batch->devices);
        return;
    }
    const int64_t size = wait_for_pictures(ring);
    pthread_mutex_lock(&batch->lock);
    for (size_t i = 0; size > 0 && i < ring->read && inputs.count < LOOKED_AT; i++) {
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        bytes += HEADER_BYTES + slot->size;
        if (slot->state == GF_SLOT_TO_DO)
            gf_archive_slot_load(ring, slot);
        if (slot->state != GF_SLOT_TO_DO || !slot->data)
            continue;
        name[inputs.count++] =
            (struct gf_input_name){.path = slot->name.path, .data = slot->data, .size = slot->size};
    }
    if (inputs.count) {
        first.expected =
            ring->read_all
                ? ring->pictures
                : (size_t)((double)size / (double)bytes * (double)(inputs.count * archives));
        first.expected = first.expected ? first.expected : 1;
        first.inputs = &inputs;
    }
    pthread_mutex_unlock(&batch->lock);
    gf_batch_choose_devices(batch->request, &first, batch->count, &batch->devices);
}

/* Begins the only archive, or the archive of files. What fails here fails before anything is
 * done. */
static enum gf_status begin_alone(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_archive *const archive = gf_archive_begin(ring, 0);
    if (!archive)
        return gf_fail_memory(error);
    enum gf_status status = GF_OK;
    if (ring->from_archives && !archive->skipped)
        status = gf_archive_open(ring, archive, error);
    if (status) {
        archive->fault = *error;
        gf_archive_log(ring, archive);
    }
    return status ? status : gf_archive_begin_outputs(ring, archive, error);
}

/* ---- reading, work and writing together ---- */

static enum gf_status fill_and_empty(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const uint64_t memory = batch->request->options.memory_bytes;
    ring->limit = memory ? memory / 2 : gf_memory_pictures_bytes() / 2;
    GF_TRY(ring->alone       ? begin_alone(ring, error)
           : ring->transfers ? gf_transfers_begin(ring->transfers, error)
                             : GF_OK);
    GF_TRY(start_reader(ring, error));
    choose_devices(ring);
    enum gf_status status = gf_batch_check_devices(batch->request, &batch->devices, error);
    if (!status) {
        const int workers = gf_batch_divide_work(batch->request, &batch->devices, batch->count,
                                                 &batch->options, &batch->memory_budget);
        status = gf_archive_work(ring, workers, error);
        gf_memory_budget_close(&batch->memory_budget);
    }
    join_reader(ring, status != GF_OK);
    gf_archive_end_stores(ring, true);
    return status ? status : gf_archive_failure(ring, error);
}

static enum gf_status open_ring(struct gf_archive_ring *ring, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    struct gf_batch *const batch = ring->batch;
    const struct gf_batch_request *const request = batch->request;
    ring->outputs = gf_batch_outputs(request);
    ring->from_archives = gf_archive_named(request->inputs->item[0].path);
    ring->alone =
        !ring->from_archives || (gf_inputs_total(request->inputs) == 1 && !request->transfer);
    for (int k = 0; k < ring->outputs; k++)
        ring->files |=
            ring->from_archives && !gf_archive_named(gf_batch_output_at(request, k).name->text);
    GF_TRY(gf_archive_check(ring, error));
    if (ring->from_archives) {
        batch->count = MANY; /* the number of pictures is known only at the end */
        batch->state.files = 0;
        batch->claims = &ring->claims;
    }
    if (!request->transfer)
        return gf_archive_load(request->output->text, error);
    struct gf_transfer_options options = *request->transfer;
    options.outputs = options.store ? ring->outputs : 0;
    return gf_transfers_open(&options, request->inputs, gf_archive_look, ring, &ring->transfers,
                             error);
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    struct gf_archive_ring *const ring = calloc(1, sizeof *ring);
    if (!ring)
        return gf_fail_memory(error);
    ring->batch = batch;
    pthread_cond_init(&ring->to_do, NULL);
    enum gf_status status = open_ring(ring, error);
    if (!status)
        status =
            batch->request->dry_run ? gf_batch_dry_run(batch, error) : fill_and_empty(ring, error);
    join_reader(ring, true);
    if (ring->open) /* the reader's thread never started */
        gf_archive_close(ring, ring->open);
    for (size_t i = 0; i < GF_ARCHIVE_SLOTS; i++)
        gf_archive_slot_free(ring, &ring->slot[i]);
    while (ring->first)
        gf_archive_free_first(ring);
    gf_transfers_close(ring->transfers);
    gf_claims_free(&ring->claims);
    pthread_cond_destroy(&ring->to_do);
    free(ring);
    return status;
}

#else

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    return gf_archive_load(batch->request->output->text, error);
}

#endif
