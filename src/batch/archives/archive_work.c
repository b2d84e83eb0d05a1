/* Processes the slots of the ring: workers filter the pictures, and the calling thread writes the
 * slots that are done. */
#include <stdlib.h>

#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

static struct gf_archive_slot *take_slot(struct gf_archive_ring *ring)
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
    worker->input = gf_archive_input_of(ring, slot);
    worker->item = &slot->item;
    worker->taken = slot;
    worker->member = (struct gf_file_bytes){.data = slot->data, .size = slot->size};
    if (slot->data)
        worker->identity = gf_identify_member(
            slot->data, slot->size, gf_archive_member_time(&slot->member), &ring->identity);
    worker->bytes = slot->bytes;
    worker->index = slot->index;
    return true;
}

/* Replaces the picture in the slot by the results. */
static void end_picture(struct gf_batch_worker *worker)
{
    struct gf_archive_ring *const ring = worker->supply->context;
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_slot *const slot = worker->taken;
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

/* Reports a member that is no picture and is therefore copied only into archives. The caller holds
 * the lock. */
static void tell_left_out(const struct gf_archive_ring *ring, const struct gf_archive_slot *slot)
{
    const struct gf_batch_request *const request = ring->batch->request;
    if (!ring->files || !slot->member.is_file)
        return;
    ring->batch->state.left_out++;
    if (request->verbose)
        gf_batch_tell(request, GF_MESSAGE_PICTURE, "%s/%s: not taken for a picture", ring->from,
                      slot->member.name);
}

/* Writes the slots that are done, in order, until everything is written or the run stops. The
 * function holds the lock except while it writes. */
static enum gf_status write_slots(void *context, struct gf_error *error)
{
    struct gf_archive_ring *const ring = context;
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
            gf_batch_tell(batch->request, GF_MESSAGE_WARNING, "%s/%s: %s", ring->from,
                          slot->member.name, slot->member.fault);
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
