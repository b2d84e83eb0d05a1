/* Runs a batch with archives: chooses its devices, begins and ends it. */
#include "batch/archives/archive_run.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/workers/workers.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"
#include "batch/request/output_names.h"

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
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    if (stops && ring->reader)
        gf_archive_reader_cancel(ring->reader);
    pthread_join(ring->reader_thread, NULL);
    ring->reading = false;
}

enum { LOOKED_AT = 8, HEADER_BYTES = 1024 };

/* Waits until the ring has the first pictures, or until none will come. */
static void wait_for_pictures(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (ring->pictures < LOOKED_AT && !ring->read_all && !ring->full)
        gf_batch_wait(batch, &next);
    pthread_mutex_unlock(&batch->lock);
}

/* Chooses the devices by the first members; the archive's size gives an estimate of the number of
 * members. A stream is not waited for, and its length is not known: for a stream --device=auto
 * means the CPU. */
static void choose_devices(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    const int64_t size = ring->reader ? gf_archive_reader_size(ring->reader) : -1;
    struct gf_input_name name[LOOKED_AT];
    struct gf_inputs inputs = {.item = name};
    struct gf_batch_request first = *batch->request;
    uint64_t bytes = 0;
    if (!ring->reader) {
        gf_batch_choose_devices(batch->request, batch->request, batch->shard.count,
                                &batch->devices);
        return;
    }
    if (size > 0)
        wait_for_pictures(ring);
    pthread_mutex_lock(&batch->lock);
    for (size_t i = 0; size > 0 && i < ring->read && inputs.count < LOOKED_AT; i++) {
        const struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        bytes += HEADER_BYTES + slot->size;
        if (slot->state != GF_SLOT_TO_DO || !slot->data)
            continue;
        name[inputs.count++] =
            (struct gf_input_name){.path = slot->name.path, .data = slot->data, .size = slot->size};
    }
    if (inputs.count) {
        first.expected = ring->read_all
                             ? ring->pictures
                             : (size_t)((double)size / (double)bytes * (double)inputs.count);
        first.expected = first.expected ? first.expected : 1;
        first.inputs = &inputs;
    }
    pthread_mutex_unlock(&batch->lock);
    gf_batch_choose_devices(batch->request, &first, batch->shard.count, &batch->devices);
}

static const char *name_for_messages(const char *argument, const char *stream)
{
    const char *const path = gf_archive_path(argument);
    return strcmp(path, "-") ? path : stream;
}

static enum gf_status open_archives(struct gf_archive_ring *ring, struct gf_error *error)
{
    const struct gf_batch_request *const request = ring->batch->request;
    const struct gf_options *const options = &request->options;
    const char *const input = request->inputs->item[0].path;
    enum gf_status status = GF_OK;
    ring->identity = gf_identify_file(gf_archive_path(input));
    if (gf_archive_named(input))
        status = gf_archive_reader_open(input, &ring->reader, error);
    for (int k = 0; !status && k < ring->outputs; k++) {
        const char *const name = gf_batch_output_at(request, k).name->text;
        /* If the output is files, the template gives their names. */
        ring->to[k] = ring->reader ? name_for_messages(name, "stdout") : gf_archive_path(name);
        if (gf_archive_named(name))
            status = gf_archive_writer_open(name, options, &ring->writer[k], error);
    }
    for (int k = 0; k < ring->outputs; k++)
        ring->files |= ring->reader && !ring->writer[k];
    for (int k = 0; !status && k < ring->outputs; k++) {
        if (!strcmp(gf_archive_path(gf_batch_output_at(request, k).name->text), "-") &&
            gf_archive_in_place(ring, k))
            status = gf_fail(error, GF_ERROR_USAGE,
                             "%s: standard output is the same file, which is still being read",
                             ring->from);
    }
    return status;
}

/* ---- reading, work and writing together ---- */

static enum gf_status fill_and_empty(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const uint64_t memory = batch->request->options.memory_bytes;
    ring->limit = memory ? memory / 2 : gf_memory_pictures_bytes() / 2;
    enum gf_status status = start_reader(ring, error);
    if (status)
        return status;
    choose_devices(ring);
    status = gf_batch_check_devices(batch->request, &batch->devices, error);
    if (!status) {
        const int workers =
            gf_batch_divide_work(batch->request, &batch->devices, batch->shard.count,
                                 &batch->options, &batch->memory_budget);
        status = gf_archive_work(ring, workers, error);
        gf_memory_budget_close(&batch->memory_budget);
    }
    join_reader(ring, status != GF_OK);
    if (!status && ring->read_status && !batch->stopped) {
        status = ring->read_status;
        *error = ring->read_error;
    }
    return status ? status : gf_archive_conclude(ring, error);
}

static enum gf_status open_ring(struct gf_archive_ring *ring, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    struct gf_batch *const batch = ring->batch;
    const bool from_archive = gf_archive_named(batch->request->inputs->item[0].path);
    enum gf_status status = gf_archive_check(batch->request, from_archive, error);
    if (!status && !from_archive)
        status = gf_batch_name_outputs(batch->request, batch->output, error);
    if (!status && from_archive) {
        batch->shard.count = MANY; /* the number of pictures is known only at the end */
        batch->state.files = 0;
        batch->claims = &ring->claims;
    }
    return status;
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    struct gf_archive_ring *const ring = calloc(1, sizeof *ring);
    if (!ring)
        return gf_fail_memory(error);
    ring->batch = batch;
    ring->outputs = gf_batch_outputs(batch->request);
    ring->from = name_for_messages(batch->request->inputs->item[0].path, "stdin");
    enum gf_status status = open_ring(ring, error);
    if (!status && batch->request->dry_run)
        status = gf_batch_dry_run(batch, error);
    else if (!status)
        status = open_archives(ring, error);
    if (!status && !batch->request->dry_run)
        status = fill_and_empty(ring, error);
    join_reader(ring, true);
    for (size_t i = 0; i < GF_ARCHIVE_SLOTS; i++)
        gf_archive_slot_free(ring, &ring->slot[i]);
    for (int k = 0; k < ring->outputs; k++)
        gf_archive_writer_close(ring->writer[k]);
    for (int k = 0; k < ring->outputs; k++)
        tdestroy(ring->lost[k], free);
    gf_archive_links_free(&ring->links);
    gf_archive_reader_close(ring->reader);
    gf_claims_free(&ring->claims);
    free(ring);
    return status;
}

#else

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    return gf_archive_load(batch->request->output->text, error);
}

#endif
