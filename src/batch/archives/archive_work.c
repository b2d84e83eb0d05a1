/* Processes the slots of the ring: workers filter the pictures, and the calling thread writes the
 * slots that are done. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

static struct gf_archive_slot *take_slot(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_slot *taken = NULL;
    pthread_mutex_lock(&batch->lock);
    while (!taken && !batch->stopped && !(ring->read_all && ring->taken == ring->read)) {
        if (ring->taken == ring->read) {
            pthread_cond_wait(&ring->to_do, &batch->lock);
            continue;
        }
        struct gf_archive_slot *const next = gf_archive_slot_at(ring, ring->taken++);
        if (next->state == GF_SLOT_TO_DO) {
            batch->next++;
            next->state = GF_SLOT_IN_WORK;
            taken = next;
        }
    }
    pthread_mutex_unlock(&batch->lock);
    return taken;
}

static bool take_picture(struct gf_batch_worker *worker)
{
    struct gf_archive_ring *const ring = worker->supply->context;
    struct gf_archive_slot *const slot = take_slot(ring);
    if (!slot)
        return false;
    gf_archive_slot_load(ring, slot);
    worker->input = gf_archive_input_of(ring, slot);
    worker->item = &slot->item;
    worker->taken = slot;
    worker->member = (struct gf_file_bytes){.data = slot->data, .size = slot->size};
    if (slot->data)
        worker->identity =
            gf_identify_member(slot->data, slot->size, gf_archive_member_time(&slot->member),
                               &slot->archive->identity);
    worker->bytes = slot->bytes;
    worker->index = slot->name.path ? slot->index : worker->input->index;
    return true;
}

/* Keeps the failures of the worker's results for the archives' records. */
static void keep_losses(const struct gf_batch_worker *worker, struct gf_archive_slot *slot,
                        int outputs)
{
    for (int k = 0; k < outputs; k++) {
        const struct gf_batch_result *const result = &worker->result[k];
        if (result->outcome != GF_OUTCOME_FAILED)
            continue;
        if (!slot->loss)
            slot->loss = calloc((size_t)outputs, sizeof *slot->loss);
        if (slot->loss)
            slot->loss[k] = (struct gf_archive_loss){result->status, strdup(result->why.text)};
    }
}

/* Replaces the picture in the slot by the results. */
static void end_picture(struct gf_batch_worker *worker)
{
    struct gf_archive_ring *const ring = worker->supply->context;
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_slot *const slot = worker->taken;
    keep_losses(worker, slot, ring->outputs);
    if (!slot->kept || !slot->loss) {
        free(slot->data);
        slot->data = NULL;
        slot->size = 0;
    }
    for (int k = 0; k < ring->outputs; k++)
        slot->size += slot->bytes[k].size;
    pthread_mutex_lock(&batch->lock);
    ring->bytes += slot->size - slot->held;
    slot->held = slot->size;
    slot->state = GF_SLOT_DONE;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Reports a member that is no picture by its name, where outputs that are files lack it, or where
 * its bytes are a picture's. The caller holds the lock. */
static void tell_left_out(const struct gf_archive_ring *ring, const struct gf_archive_slot *slot)
{
    const struct gf_batch_request *const request = ring->batch->request;
    const enum gf_file_format content =
        slot->data && !slot->ends ? gf_file_format_of(slot->data, slot->size) : GF_FILE_AUTO;
    if (!slot->member.is_file || (!ring->files && !content))
        return;
    ring->batch->state.left_out++;
    if (request->verbose)
        gf_batch_tell(request, GF_MESSAGE_PICTURE, "%s/%s: not taken for a picture%s%s",
                      slot->archive->from, slot->member.name,
                      content ? ", though it begins as " : "", gf_file_format_name(content));
}

/* Ends an archive, unless the run has stopped. */
static void end_archive(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    const bool stopped = batch->stopped;
    pthread_mutex_unlock(&batch->lock);
    if (stopped)
        return;
    gf_archive_conclude(ring, archive);
    gf_archive_free_first(ring);
}

/* Writes a slot, and begins or ends its archive. A failure of the only archive stops the run; after
 * a failure of any other archive the rest of that archive is passed over. */
static void write_slot(struct gf_archive_ring *ring, struct gf_archive_slot *slot)
{
    struct gf_archive *const archive = slot->archive;
    const enum gf_status before = archive->written;
    struct gf_error why = {0};
    if (!archive->begun)
        archive->written = gf_archive_begin_outputs(ring, archive, &why);
    if (!archive->written && !slot->ends)
        archive->written = gf_archive_write_slot(ring, slot, &why);
    if (archive->written && !before) {
        archive->fault = why;
        gf_archive_fail(ring, archive->written, &why);
    }
    if (slot->ends && !(archive->written && ring->alone))
        end_archive(ring, archive);
}

/* Whether the next slot can be written. The caller holds the lock. */
static bool is_ready(struct gf_archive_ring *ring)
{
    const struct gf_archive_slot *const slot = gf_archive_slot_at(ring, ring->written);
    if (ring->written == ring->read || slot->state != GF_SLOT_DONE)
        return false;
    return ring->batch->request->on_failure != GF_ON_FAILURE_DROP_SAMPLE || slot->ends ||
           slot->archive->written || ring->written < ring->sample.end ||
           gf_archive_sample_ready(ring);
}

/* Writes the slots that are done, in order, until everything is written or the run stops. The
 * function holds the lock except while it writes. */
static enum gf_status write_slots(void *context, struct gf_error *error)
{
    struct gf_archive_ring *const ring = context;
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    (void)error;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && !(ring->read_all && ring->written == ring->read)) {
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, ring->written);
        if (!is_ready(ring)) {
            gf_batch_wait(batch, &next);
            continue;
        }
        if (slot->bytes)
            gf_batch_report(batch, &slot->item, gf_archive_input_of(ring, slot)->path);
        else
            tell_left_out(ring, slot);
        pthread_mutex_unlock(&batch->lock);
        if (slot->member.fault && !slot->item.is_link)
            gf_batch_tell(batch->request, GF_MESSAGE_WARNING, "%s/%s: %s", slot->archive->from,
                          slot->member.name, slot->member.fault);
        write_slot(ring, slot);
        pthread_mutex_lock(&batch->lock);
        batch->stopped |= ring->alone && ring->failure;
        ring->bytes -= slot->held;
        gf_archive_slot_free(ring, slot);
        ring->written++;
        pthread_cond_broadcast(&batch->changed);
    }
    pthread_cond_broadcast(&batch->changed);
    pthread_cond_broadcast(&ring->to_do); /* no worker gets another picture */
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
    return GF_OK;
}

enum gf_status gf_archive_work(struct gf_archive_ring *ring, int workers, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const struct gf_batch_supply supply = {
        .context = ring, .take = take_picture, .done = end_picture, .attend = write_slots};
    const enum gf_status status = gf_batch_work(batch, &supply, workers, error);
    pthread_mutex_lock(&batch->lock);
    for (size_t i = ring->written; i < ring->read; i++) { /* the run has stopped */
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        if (slot->state == GF_SLOT_DONE && slot->bytes)
            gf_batch_report(batch, &slot->item, gf_archive_input_of(ring, slot)->path);
    }
    pthread_mutex_unlock(&batch->lock);
    return status;
}

#endif
