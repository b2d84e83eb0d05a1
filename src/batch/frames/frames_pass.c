/* Reads the frames of a film one after another, lets the workers filter several at a time, and
 * writes the results in order. */
#include "batch/frames/frames_pass.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/spans.h"

/* ---- the workers ---- */

static bool wait_for_room(struct gf_frames *frames)
{
    enum { LOOK_MS = 100 };
    struct gf_batch *const batch = frames->batch;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && !frames->at_end && batch->next >= frames->written + frames->room)
        pthread_cond_wait(&batch->changed, &batch->lock);
    bool reads = !batch->stopped && !frames->at_end;
    pthread_mutex_unlock(&batch->lock);
    /* A producer that sends nothing must not keep a run that has failed from its end. */
    while (reads && !frames->files && !gf_input_wait(frames->reader.input, LOOK_MS)) {
        pthread_mutex_lock(&batch->lock);
        reads = !batch->stopped;
        pthread_mutex_unlock(&batch->lock);
    }
    return reads;
}

/* Reads the next frame into its slot. The caller holds frames->reading. */
static struct gf_frames_slot *read_next(struct gf_frames *frames)
{
    struct gf_batch *const batch = frames->batch;
    const struct gf_inputs *const inputs = frames->request.inputs;
    const size_t number = batch->next;
    struct gf_frames_slot *const slot = &frames->slot[number % frames->room];
    bool found = number < inputs->count;
    struct gf_error why = {0};
    const double begin_s = gf_now();
    const enum gf_status status =
        frames->files ? GF_OK : gf_film_read(&frames->reader, &slot->frame, &found, &why);
    const double read_s = gf_now() - begin_s;
    pthread_mutex_lock(&batch->lock);
    batch->state.read_s += frames->files ? 0 : read_s;
    if (!found) {
        frames->at_end = true;
        frames->end_status = status;
        frames->end_error = why;
    } else {
        slot->number = batch->next++;
        batch->state.files += batch->next > batch->state.files;
        slot->is_done = false;
    }
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    if (!found)
        return NULL;
    if (frames->files) {
        slot->input = inputs->item[number];
        return slot;
    }
    snprintf(slot->name, sizeof slot->name, "%.280s[%zu]", gf_input_name(frames->reader.input),
             number);
    slot->input = (struct gf_input_name){.path = slot->name, .index = number};
    return slot;
}

static bool take_frame(struct gf_batch_worker *worker)
{
    struct gf_frames *const frames = worker->supply->context;
    pthread_mutex_lock(&frames->reading);
    struct gf_frames_slot *const slot = wait_for_room(frames) ? read_next(frames) : NULL;
    pthread_mutex_unlock(&frames->reading);
    if (!slot)
        return false;
    slot->bytes = (struct gf_bytes){.format = frames->writer.plain ? frames->request.options.format
                                              : frames->raw_out ? gf_raw_frames_file(&frames->raw)
                                                                : GF_FILE_Y4M,
                                    .name = frames->writer.name};
    gf_smooth_begin(frames->smooth, slot->number);
    slot->item = (struct gf_batch_item){.output = &slot->output};
    worker->taken = slot;
    worker->input = &slot->input;
    worker->index = slot->input.index;
    worker->item = &slot->item;
    /* A file has no memory here. */
    worker->member = (struct gf_file_bytes){.data = slot->frame.data, .size = slot->frame.size};
    worker->bytes = frames->film_out ? &slot->bytes : NULL;
    return true;
}

static void end_frame(struct gf_batch_worker *worker)
{
    struct gf_frames *const frames = worker->supply->context;
    struct gf_batch *const batch = frames->batch;
    struct gf_frames_slot *const slot = worker->taken;
    gf_smooth_end(frames->smooth, slot->number);
    pthread_mutex_lock(&batch->lock);
    slot->is_done = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* ---- the thread that writes ---- */

/* Sends the messages of a frame. Warnings are sent for the first one alone. */
static void report(struct gf_frames *frames, struct gf_frames_slot *slot)
{
    const struct gf_batch *const batch = frames->batch;
    if (slot->input.index && slot->item.outcome == GF_OUTCOME_DONE && !batch->request->verbose) {
        free(slot->item.notes);
        slot->item.notes = NULL;
    }
    gf_batch_report(batch, &slot->item, slot->input.path);
}

static enum gf_status write_slot(struct gf_frames *frames, struct gf_frames_slot *slot,
                                 struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (frames->film_out && slot->item.outcome == GF_OUTCOME_FAILED)
        status = gf_fail(error, frames->batch->failure, "%s: the film ends before this frame",
                         slot->input.path);
    else if (frames->film_out)
        status = gf_film_write(&frames->writer, slot->bytes.data, slot->bytes.size, error);
    free(slot->bytes.data);
    slot->bytes.data = NULL;
    return status;
}

/* Writes the frames that are done, in their order. */
static enum gf_status write_frames(void *context, struct gf_error *error)
{
    struct gf_frames *const frames = context;
    struct gf_batch *const batch = frames->batch;
    struct timespec next = {0};
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&batch->lock);
    while (!status && !batch->stopped && !(frames->at_end && frames->written == batch->next)) {
        struct gf_frames_slot *const slot = &frames->slot[frames->written % frames->room];
        if (frames->written == batch->next || !slot->is_done) {
            gf_batch_wait(batch, &next);
            continue;
        }
        report(frames, slot);
        pthread_mutex_unlock(&batch->lock);
        const double begin_s = gf_now();
        status = write_slot(frames, slot, error);
        const double write_s = gf_now() - begin_s;
        pthread_mutex_lock(&batch->lock);
        batch->state.write_s += write_s;
        frames->written++;
        pthread_cond_broadcast(&batch->changed);
    }
    batch->stopped |= status != GF_OK;
    pthread_cond_broadcast(&batch->changed);
    while (batch->working && !status)
        gf_batch_wait(batch, &next);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

struct gf_batch_supply gf_frames_supply(struct gf_frames *frames)
{
    return (struct gf_batch_supply){
        .context = frames, .take = take_frame, .done = end_frame, .attend = write_frames};
}
