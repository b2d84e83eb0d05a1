/* Works on the slots of the ring: workers run the pictures, and the calling thread writes the slots
 * that are done. */
#include "batch/archives/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

/* Frees a slot. The batch owns the names of a file's outputs. */
void gf_archive_slot_free(struct gf_archive_ring *ring, struct gf_archive_slot *slot)
{
    for (int k = 0; k < ring->outputs; k++) {
        if (slot->bytes)
            free(slot->bytes[k].data);
        if (slot->item.refusal)
            free(slot->item.refusal[k]);
        if (slot->name.path && slot->item.output)
            free(slot->item.output[k]);
    }
    gf_archive_member_free(&slot->member);
    free(slot->target);
    free(slot->data);
    free(slot->bytes);
    free(slot->item.notes);
    free(slot->item.refusal);
    if (slot->name.path)
        free(slot->item.output);
    free(slot->name.path);
    *slot = (struct gf_archive_slot){0};
}

const struct gf_input_name *gf_archive_input_of(const struct gf_archive_ring *ring,
                                                const struct gf_archive_slot *slot)
{
    return slot->name.path ? &slot->name : &ring->batch->request->inputs->item[slot->index];
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
    const struct gf_file_bytes member = {.data = slot->data, .size = slot->size};
    worker->input = gf_archive_input_of(ring, slot);
    worker->item = &slot->item;
    worker->member = slot->data ? &member : NULL;
    if (slot->data)
        worker->identity = gf_identify_member(
            slot->data, slot->size, gf_archive_member_time(&slot->member), &ring->identity);
    worker->bytes = slot->bytes;
    worker->index = slot->index;
    gf_batch_run_item(worker, false);
    free(slot->data);
    slot->data = NULL;
    slot->size = 0;
    for (int k = 0; k < ring->outputs; k++)
        slot->size += slot->bytes[k].size;
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

/* Reports a member that is no picture and so goes only into archives. The caller holds the lock. */
static void tell_left_out(const struct gf_archive_ring *ring, const struct gf_archive_slot *slot)
{
    const struct gf_batch_request *const request = ring->batch->request;
    if (!ring->files || !slot->member.is_file)
        return;
    ring->batch->state.left_out++;
    struct gf_error line;
    (void)gf_fail(&line, GF_OK, "%s/%s: not taken for a picture", ring->from, slot->member.name);
    if (request->verbose && request->message)
        request->message(request->context, GF_MESSAGE_PICTURE, line.text);
}

static void report_fault(const struct gf_archive_ring *ring, const struct gf_archive_slot *slot)
{
    const struct gf_batch_request *const request = ring->batch->request;
    struct gf_error line;
    (void)gf_fail(&line, GF_OK, "%s/%s: %s", ring->from, slot->member.name, slot->member.fault);
    if (request->message)
        request->message(request->context, GF_MESSAGE_WARNING, line.text);
}

/* Writes the slots that are done, in order, until everything is written or the run stops. Holds the
 * lock except while writing. */
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
        if (slot->bytes)
            gf_batch_report(batch, &slot->item, gf_archive_input_of(ring, slot)->path);
        else
            tell_left_out(ring, slot);
        pthread_mutex_unlock(&batch->lock);
        if (slot->member.fault && !slot->item.is_link)
            report_fault(ring, slot);
        status = gf_archive_write_slot(ring, slot, error);
        pthread_mutex_lock(&batch->lock);
        ring->bytes -= slot->held;
        gf_archive_slot_free(ring, slot);
        ring->written++;
        pthread_cond_broadcast(&batch->changed);
    }
    batch->stopped |= status != GF_OK;
    pthread_cond_broadcast(&batch->changed);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* ---- all together ---- */

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
    const enum gf_status status =
        started ? write_all(ring, error) : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    for (int i = 0; i < started; i++)
        pthread_join(worker[i].base.thread, NULL);
    pthread_mutex_lock(&batch->lock);
    for (size_t i = ring->written; i < ring->read; i++) { /* the run has stopped */
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        if (slot->state == GF_SLOT_DONE && slot->bytes)
            gf_batch_report(batch, &slot->item, gf_archive_input_of(ring, slot)->path);
    }
    pthread_mutex_unlock(&batch->lock);
    return status;
}

enum gf_status gf_archive_work(struct gf_archive_ring *ring, int workers, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct archive_worker *const worker = calloc((size_t)workers, sizeof *worker);
    enum gf_status status = worker ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < workers; i++) {
        worker[i].ring = ring;
        status = gf_batch_worker_open(&worker[i].base, batch, i, error);
    }
    if (!status)
        status = run_threads(ring, worker, workers, error);
    for (int i = 0; worker && i < workers; i++)
        gf_batch_worker_close(&worker[i].base);
    free(worker);
    return status;
}

#endif
