/* The members of an archive stream through a ring: one thread reads them, the workers do those that
 * are pictures, and the calling thread writes them in their order. The ring holds a bounded number
 * of bytes. */
#include "batch/archive.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archive_ring.h"

static void free_slot(struct gf_archive_slot *slot)
{
    gf_archive_member_free(&slot->member);
    free(slot->data);
    free(slot->item.notes);
    free(slot->name.path);
    free(slot->output);
    *slot = (struct gf_archive_slot){0};
}

/* ---- the workers ---- */

static struct gf_archive_slot *take_picture(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_slot *taken = NULL;
    pthread_mutex_lock(&batch->lock);
    while (!taken && !batch->stopped && !(ring->read_all && ring->taken == ring->read)) {
        if (ring->taken == ring->read) {
            pthread_cond_wait(&batch->changed, &batch->lock);
            continue;
        }
        struct gf_archive_slot *const next = gf_archive_slot_at(ring, ring->taken++);
        if (next->state == GF_SLOT_TO_DO) {
            next->state = GF_SLOT_IN_WORK;
            taken = next;
        }
    }
    pthread_mutex_unlock(&batch->lock);
    return taken;
}

static void run_slot(struct gf_archive_ring *ring, struct gf_batch_worker *worker,
                     struct gf_archive_slot *slot)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_batch_member member = {
        .data = slot->data,
        .size = slot->size,
        .result = {.format = gf_file_format_named(slot->output), .name = slot->output}};
    struct gf_error why = {0};
    worker->input = &slot->name;
    worker->item = &slot->item;
    worker->member = &member;
    worker->index = slot->index;
    worker->result[0] = (struct gf_batch_result){.worker = worker, .path = slot->output};
    const enum gf_status status =
        slot->too_large
            ? gf_fail(&why, GF_ERROR_INPUT, "%s: it has %llu MiB; --memory leaves %llu for it",
                      slot->name.path, (unsigned long long)(slot->member.size >> 20),
                      (unsigned long long)(ring->limit >> 20))
            : gf_batch_run_file(worker, &why);
    free(slot->data);
    slot->data = member.result.data;
    slot->size = member.result.size;
    slot->member.size = slot->size;
    slot->left_out = status;
    worker->result[0].outcome = status ? GF_OUTCOME_FAILED : GF_OUTCOME_DONE;
    worker->result[0].why = why;
    gf_batch_end_item(worker, status ? GF_OUTCOME_FAILED : GF_OUTCOME_DONE, status, &why,
                      status == GF_ERROR_UNAVAILABLE);
    worker->result[0].path = NULL; /* the slot's */
    pthread_mutex_lock(&batch->lock);
    ring->bytes += slot->size - slot->held;
    slot->held = slot->size;
    slot->state = GF_SLOT_DONE;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

struct archive_worker {
    struct gf_batch_worker base;
    struct gf_archive_ring *ring;
};

static void *worker_main(void *argument)
{
    struct archive_worker *const worker = argument;
    for (struct gf_archive_slot *slot; (slot = take_picture(worker->ring));)
        run_slot(worker->ring, &worker->base, slot);
    gf_batch_worker_end(&worker->base);
    return NULL;
}

/* ---- writing ---- */

static enum gf_status write_slot(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (slot->left_out)
        return GF_OK;
    if (slot->name.path &&
        !gf_archive_member_change(&slot->member, slot->member.name, slot->member.size))
        status = gf_fail_memory(error);
    if (!status && slot->member.header)
        status = gf_archive_put(ring->writer, &slot->member, error);
    return status || !slot->size ? status
                                 : gf_archive_write(ring->writer, slot->data, slot->size, error);
}

/* Writes what is done, in order, until all is written or the run stops. Holds the lock but for the
 * writing. */
static enum gf_status write_all(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&batch->lock);
    while (!status && !batch->stopped && !(ring->read_all && ring->written == ring->read)) {
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, ring->written);
        if (ring->written == ring->read || slot->state != GF_SLOT_DONE) {
            gf_batch_wait(batch, &next);
            continue;
        }
        if (slot->name.path)
            gf_batch_report(batch, &slot->item, slot->name.path);
        pthread_mutex_unlock(&batch->lock);
        status = write_slot(ring, slot, error);
        pthread_mutex_lock(&batch->lock);
        ring->bytes -= slot->held;
        free_slot(slot);
        ring->written++;
        pthread_cond_broadcast(&batch->changed);
    }
    batch->stopped |= status != GF_OK;
    pthread_cond_broadcast(&batch->changed);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* ---- the run ---- */

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
    if (stops)
        gf_archive_reader_cancel(ring->reader);
    pthread_join(ring->reader_thread, NULL);
    ring->reading = false;
}

/* Starts the workers, writes, and waits for them all and the reader. */
static enum gf_status run_threads(struct gf_archive_ring *ring, struct archive_worker *worker,
                                  int count, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    int started = 0;
    pthread_mutex_lock(&batch->lock);
    while (started < count &&
           !pthread_create(&worker[started].base.thread, NULL, worker_main, &worker[started]))
        started++;
    batch->working = started;
    batch->stopped |= !started;
    pthread_mutex_unlock(&batch->lock);
    enum gf_status status =
        started ? write_all(ring, error) : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    for (int i = 0; i < started; i++)
        pthread_join(worker[i].base.thread, NULL);
    join_reader(ring, status != GF_OK);
    for (size_t i = ring->written; i < ring->read; i++) { /* the run has stopped */
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        if (slot->state == GF_SLOT_DONE && slot->name.path)
            gf_batch_report(batch, &slot->item, slot->name.path);
    }
    if (!status && ring->read_status && !batch->stopped) {
        status = ring->read_status;
        *error = ring->read_error;
    }
    return status;
}

static enum gf_status run_ring(struct gf_archive_ring *ring, int count, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct archive_worker *const worker = calloc((size_t)count, sizeof *worker);
    enum gf_status status = worker ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < count; i++) {
        worker[i].ring = ring;
        status = gf_batch_worker_open(&worker[i].base, batch, i, error);
    }
    if (!status)
        status = run_threads(ring, worker, count, error);
    for (int i = 0; worker && i < count; i++)
        gf_batch_worker_close(&worker[i].base);
    free(worker);
    return status;
}

/* What was left out is the run's failure, but the archive is whole. What stopped the run leaves
 * none. */
static enum gf_status end(struct gf_archive_ring *ring, struct gf_error *error)
{
    const struct gf_batch *const batch = ring->batch;
    const enum gf_status failed = gf_batch_conclude(batch, error);
    if (batch->stopped)
        return failed;
    struct gf_error of_commit = {0};
    const enum gf_status status = gf_archive_commit(ring->writer, &of_commit);
    if (status)
        *error = of_commit;
    return status ? status : failed;
}

enum { LOOKED_AT = 8, HEADER_BYTES = 1024 };

/* Waits until the ring has the first pictures, or cannot have them. */
static void wait_for_pictures(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (ring->pictures < LOOKED_AT && !ring->read_all && !ring->full)
        gf_batch_wait(batch, &next);
    pthread_mutex_unlock(&batch->lock);
}

/* Chooses the devices by the first members. How many there are follows from the archive's size. A
 * stream is not waited for, and its length is not known: of it --device=auto takes the CPU. */
static void choose_devices(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    const int64_t size = gf_archive_reader_size(ring->reader);
    struct gf_input_name name[LOOKED_AT];
    struct gf_inputs inputs = {.item = name};
    struct gf_batch_request first = *batch->request;
    uint64_t bytes = 0;
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
    gf_batch_choose_devices(batch, &first);
}

static enum gf_status open_archives(struct gf_archive_ring *ring, struct gf_error *error)
{
    const struct gf_batch_request *const request = ring->batch->request;
    const struct gf_options *const options = &request->options;
    const enum gf_status status =
        gf_archive_reader_open(request->inputs->item[0].path, &ring->reader, error);
    return status ? status
                  : gf_archive_writer_open(request->output->text, options->no_clobber,
                                           options->sync, &ring->writer, error);
}

static const char *name_for_messages(const char *argument, const char *stream)
{
    const char *const path = gf_archive_path(argument);
    return strcmp(path, "-") ? path : stream;
}

/* The options that go by files are not for members. */
static enum gf_status check(const struct gf_batch_request *request, struct gf_error *error)
{
    const char *const input = request->inputs->item[0].path;
    const struct {
        bool given;
        const char *name;
    } options[] = {{request->resume, "--resume"},
                   {request->skip_existing, "--skip-existing"},
                   {request->update, "--update"},
                   {request->shards, "--shard"},
                   {request->dry_run, "--dry-run"}};
    if (request->inputs->count > 1 || !gf_archive_named(input))
        return gf_fail(error, GF_ERROR_USAGE, "%s: an archive is made of one archive: -i FILE.tar",
                       request->output->text);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given)
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is not for archives", input,
                           options[i].name);
    }
    return GF_OK;
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    const struct gf_batch_request *const request = batch->request;
    struct gf_archive_ring *const ring = calloc(1, sizeof *ring);
    if (!ring)
        return gf_fail_memory(error);
    *ring =
        (struct gf_archive_ring){.batch = batch,
                                 .from = name_for_messages(request->inputs->item[0].path, "stdin"),
                                 .to = name_for_messages(request->output->text, "stdout")};
    batch->archive = true;
    batch->count = MANY; /* how many pictures there are is known at the end */
    enum gf_status status = check(request, error);
    if (!status)
        status = open_archives(ring, error);
    if (!status) {
        const uint64_t memory = request->options.memory_bytes;
        ring->limit = memory ? memory / 2 : gf_batch_physical_bytes() / 8;
        batch->state.files = 0;
        status = start_reader(ring, error);
    }
    if (!status) {
        choose_devices(ring);
        status = gf_batch_check_devices(batch, error);
    }
    if (!status) {
        status = run_ring(ring, gf_batch_divide_work(batch), error);
        gf_memory_budget_close(&batch->memory_budget);
    }
    join_reader(ring, true);
    for (size_t i = 0; i < GF_ARCHIVE_SLOTS; i++)
        free_slot(&ring->slot[i]);
    if (!status)
        status = end(ring, error);
    gf_archive_writer_close(ring->writer);
    gf_archive_reader_close(ring->reader);
    free(ring);
    return status;
}

#else

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "%s: built without libarchive-dev", subject);
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    return gf_archive_load(batch->request->output->text, error);
}

#endif
