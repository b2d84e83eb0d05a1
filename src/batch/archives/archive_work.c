/* Empties the ring: workers filter the pictures, and the calling thread writes the slots that
 * are done and ends the archives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/names.h"
#include "batch/transfer/transfer.h"

/* ---- samples: groups of members of an archive ---- */

/* Returns the length of the key in a member's name: the part up to the first dot after the folder.
 * Successive members with the same key form a sample, as in WebDataset; --on-failure=drop-sample
 * drops them together. */

static size_t length_of_key(const char *name)
{
    const char *const slash = strrchr(name, '/');
    const char *const file = slash ? slash + 1 : name;
    return (size_t)(file - name) + strcspn(file, ".");
}

/* Returns the member's name in the input archive; slot->member.name changes when the slot is
 * written. */
static const char *name_of(const struct gf_archive_slot *slot)
{
    return slot->name.path ? slot->name.path + slot->name.below : slot->member.name;
}

static bool is_same_sample(const struct gf_archive_slot *a, const struct gf_archive_slot *b)
{
    const size_t length = length_of_key(name_of(a));
    return length == length_of_key(name_of(b)) && !strncmp(name_of(a), name_of(b), length);
}

/* Whether all slots of the sample that begins with the next slot are done, or the ring cannot hold
 * them; sets ring->sample. The caller holds the lock. */
static bool archive_sample_ready(struct gf_archive_ring *ring)
{
    const struct gf_archive_slot *const first = gf_archive_slot_at(ring, ring->written);
    struct gf_archive_sample sample = {.end = ring->written};
    bool complete = false;
    for (; !complete && sample.end < ring->read; sample.end += !complete) {
        const struct gf_archive_slot *const slot = gf_archive_slot_at(ring, sample.end);
        complete =
            slot->ends || (slot != first && slot->member.header && !is_same_sample(first, slot));
        if (!complete && slot->state != GF_SLOT_DONE)
            return false;
        for (int k = 0; !complete && slot->bytes && k < ring->outputs; k++)
            sample.lost[k] |=
                first->archive->output[k].argument && !slot->item.is_link && !slot->bytes[k].data;
    }
    sample.too_large = !complete && ring->full && !gf_archive_has_room(ring, ring->wanted);
    if (!complete && !sample.too_large)
        return false;
    ring->sample = sample;
    return true;
}

/* ---- the output archives of an input archive ---- */

/* Whether the output would replace the input archive, because both are the same file. */
static bool is_in_place(const struct gf_archive *archive, int number)
{
    return archive->is_file && archive->output[number].writer &&
           gf_archive_writer_goes_to(archive->output[number].writer, &archive->file);
}

/* Names the temporary file of an output that is to be stored. */
static enum gf_status name_file(struct gf_archive *archive, int number, struct gf_error *error)
{
    struct gf_archive_output *const output = &archive->output[number];
    char kind[16];
    snprintf(kind, sizeof kind, "out%d", number);
    output->file = gf_transfer_folder_file(archive->fetched.position, kind, ".tar");
    output->record.file = output->file;
    return output->file ? GF_OK : gf_fail_memory(error);
}

static enum gf_status open_output(const struct gf_archive_ring *ring, struct gf_archive *archive,
                                  int number, struct gf_error *error)
{
    struct gf_archive_output *const output = &archive->output[number];
    const struct gf_batch_request *const request = ring->batch->request;
    const char *const path = gf_archive_path(output->argument);
    const bool stream = !strcmp(path, "-"), stored = request->transfer && request->transfer->store;
    if (request->plain_members && !stream && !stored)
        GF_TRY(gf_refuse_links(gf_batch_output_at(request, number).name, path, error));
    GF_TRY(stored   ? name_file(archive, number, error)
           : stream ? GF_OK
                    : gf_make_folders_of(path, error));
    GF_TRY(gf_archive_writer_open(output->argument, output->file, &request->options,
                                  &output->writer, error));
    if (stream && is_in_place(archive, number))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: standard output is the same file, which is still being read",
                       archive->from);
    return GF_OK;
}

enum gf_status gf_archive_begin_outputs(struct gf_archive_ring *ring, struct gf_archive *archive,
                                        struct gf_error *error)
{
    archive->begun = true;
    /* Nothing of an archive that could not be opened is written. */
    if (archive->skipped || (ring->from_archives && !archive->is_opened))
        return GF_OK;
    for (int k = 0; k < ring->outputs; k++) {
        if (archive->output[k].argument)
            GF_TRY(open_output(ring, archive, k, error));
    }
    return GF_OK;
}

/* Notes that an archive could not be read or written. The failure of the only archive becomes the
 * run's; any other is reported as a message. */
static void archive_fail(struct gf_archive_ring *ring, enum gf_status status,
                         const struct gf_error *why)
{
    struct gf_batch *const batch = ring->batch;
    if (ring->alone)
        ring->error = *why;
    else
        gf_batch_tell(batch->request, GF_MESSAGE_ERROR, "%s", why->text);
    pthread_mutex_lock(&batch->lock);
    ring->failed++;
    ring->failure = gf_graver_status(ring->failure, status);
    batch->stopped |= batch->request->fail_fast;
    pthread_mutex_unlock(&batch->lock);
}

/* Returns the status of the input archive, with the reason in *why. If data follow the end marker,
 * the archive fails where it is rewritten in place, since the data would be lost; elsewhere the
 * data are left out. */
static enum gf_status status_of_input(const struct gf_archive_ring *ring,
                                      const struct gf_archive *archive, bool in_place,
                                      struct gf_error *why)
{
    if (archive->read_status || archive->end_status) {
        *why = archive->read_status ? archive->read_error : archive->end_error;
        return archive->read_status ? archive->read_status : archive->end_status;
    }
    if (!archive->more)
        return GF_OK;
    (void)gf_fail(why, GF_ERROR_INPUT,
                  "%s: more follows the archive's end marker, and is left out; "
                  "tar --concatenate joins archives",
                  archive->from);
    if (in_place)
        return GF_ERROR_INPUT;
    gf_batch_tell(ring->batch->request, GF_MESSAGE_WARNING, "%s", why->text);
    return GF_OK;
}

/* Writes where the pictures were filtered, for the archive's record: "cpu", or "cuda:0,1" for
 * devices 0 and 1. */
static void describe_devices(const struct gf_batch_devices *devices, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, devices->count ? "cuda" : "cpu");
    for (int i = 0; i < devices->count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%c%d", i ? ',' : ':',
                                   devices->device[i].index);
}

/* Hands a complete archive and its record over to be stored. An archive that cannot have a record
 * yet, because another try may mend failures, is not stored. */
static enum gf_status store_archive(const struct gf_archive_ring *ring, struct gf_archive *archive,
                                    int number, bool again, const char *device,
                                    struct gf_error *error)
{
    struct gf_archive_output *const output = &archive->output[number];
    GF_TRY(gf_archive_commit(output->writer, error));
    if (again || output->record.again)
        return GF_OK;
    GF_TRY(gf_archive_record_write(&output->record, device, false, error));
    struct gf_archive_line *const line = gf_archive_line_of(ring, archive, number);
    GF_ALLOCATED(line, error);
    const uint64_t counted = archive->fetched.output_bytes / (uint64_t)ring->outputs;
    char *const file = output->file;
    archive->fetched.output_bytes -= counted;
    output->file = NULL;
    const enum gf_status status =
        gf_transfers_store(ring->transfers, file, output->record.output,
                           gf_batch_output_at(ring->batch->request, number).name->given,
                           output->is_outdated, counted, line, error);
    output->is_handed = !status;
    if (status)
        free(line);
    return status;
}

/* Makes the archive visible under its name, and writes its record unless another try may mend its
 * failures (`again`). */
static enum gf_status commit_archive(const struct gf_archive_ring *ring, struct gf_archive *archive,
                                     int number, bool again, struct gf_error *error)
{
    struct gf_archive_output *const output = &archive->output[number];
    const struct gf_batch_request *const request = ring->batch->request;
    const struct gf_archive_record *const record = &output->record;
    const bool recorded = ring->from_archives && strcmp(record->output, "-");
    char device[160];
    describe_devices(&ring->batch->devices, device, sizeof device);
    if (output->file)
        return store_archive(ring, archive, number, again, device, error);
    if (recorded && (!request->options.no_clobber || access(record->output, F_OK)))
        GF_TRY(gf_archive_record_remove(record->output, error));
    GF_TRY(gf_archive_commit(output->writer, error));
    if (!recorded || again || record->again)
        return GF_OK;
    return gf_archive_record_write(record, device, request->options.sync, error);
}

/* Ends output `number`. It is not made visible if it lacks a member (`lacks`) and would replace the
 * input archive, which alone has that member. */
static enum gf_status end_output(struct gf_archive_ring *ring, struct gf_archive *archive,
                                 int number, bool lacks, bool again, struct gf_error *error)
{
    struct gf_archive_output *const output = &archive->output[number];
    const bool several = ring->outputs > 1;
    struct gf_error why = {0};
    if (!output->writer || output->status)
        return output->status;
    if (lacks && is_in_place(archive, number)) {
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR,
                      "%s: is its own output, and stays as it was", archive->from);
        return GF_OK;
    }
    output->status = commit_archive(ring, archive, number, again, &why);
    output->why = why;
    if (output->status && several)
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR, "%s", why.text);
    else if (output->status)
        *error = why;
    return output->status;
}

/* Adds the pictures of an archive that an earlier run has made to the counts of this run. */
static void count_earlier(struct gf_archive_ring *ring, const struct gf_archive *archive)
{
    struct gf_batch *const batch = ring->batch;
    const struct gf_archive_record *const record = &archive->output[0].record;
    const size_t failed = record->pictures - record->done;
    pthread_mutex_lock(&batch->lock);
    ring->others += record->pictures;
    batch->state.files += record->pictures;
    batch->state.skipped += record->done;
    batch->state.failed += failed;
    if (failed)
        batch->failure = gf_graver_status(batch->failure, GF_ERROR_INPUT);
    pthread_mutex_unlock(&batch->lock);
    if (failed)
        gf_batch_tell(batch->request, GF_MESSAGE_ERROR,
                      "%s: done before, without the pictures that '%.300s.json' names as failed",
                      archive->from, record->output);
    else if (batch->request->verbose)
        gf_batch_tell(batch->request, GF_MESSAGE_PICTURE, "%s: done before, says '%.300s.json'",
                      archive->from, record->output);
}

/* Ends an input archive and its outputs. Members that were left out make the run fail, but the
 * output archives are kept. If the input cannot be read, or the run was stopped, no output archive
 * is kept. */
static void archive_conclude(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    const struct gf_batch_request *const request = ring->batch->request;
    struct gf_error why = {0};
    bool in_place = false;
    gf_archive_end_stores(ring, false);
    if (archive->skipped) {
        count_earlier(ring, archive);
        gf_archive_log(ring, archive);
        return;
    }
    if (archive->written) {
        gf_archive_log(ring, archive);
        return;
    }
    for (int k = 0; k < ring->outputs; k++)
        in_place |= is_in_place(archive, k);
    enum gf_status input = status_of_input(ring, archive, in_place, &why), status = GF_OK;
    if (input) {
        archive->fault = why;
        archive_fail(ring, input, &why);
    }
    if (archive->read_status || ((input || archive->failure) && request->fail_fast)) {
        if (input)
            gf_archive_log(ring, archive);
        return;
    }
    for (int k = 0; k < ring->outputs; k++) {
        const enum gf_status ended =
            end_output(ring, archive, k, input || archive->failure, input != GF_OK, &why);
        status = status ? status : ended;
    }
    if (status && ring->outputs > 1)
        (void)gf_fail(&why, status, "%s%snot all outputs were written",
                      ring->alone ? "" : archive->from, ring->alone ? "" : ": ");
    if (status)
        archive_fail(ring, status, &why);
    gf_archive_log(ring, archive);
}

void gf_archive_end_stores(struct gf_archive_ring *ring, bool all)
{
    struct gf_error why;
    void *line;
    if (all && ring->transfers)
        gf_transfers_finish(ring->transfers);
    while (ring->transfers && gf_transfers_next_ended(ring->transfers, &line, &why)) {
        if (why.status)
            archive_fail(ring, why.status, &why);
        gf_archive_log_stored(ring, line, &why);
        free(line);
    }
}

enum gf_status gf_archive_failure(const struct gf_archive_ring *ring, struct gf_error *error)
{
    const struct gf_batch *const batch = ring->batch;
    struct gf_error why = {0};
    const enum gf_status failed = gf_batch_conclude(batch, &why);
    if (!ring->failure || batch->fatal) {
        *error = why;
        return failed;
    }
    if (failed && ring->alone) {
        gf_batch_tell(batch->request, GF_MESSAGE_ERROR, "%s", ring->error.text);
        *error = why;
    } else if (ring->alone) {
        *error = ring->error;
    } else {
        if (failed)
            gf_batch_tell(batch->request, GF_MESSAGE_ERROR, "%s", why.text);
        (void)gf_fail(error, ring->failure, "%zu of %zu archives failed", ring->failed,
                      batch->request->inputs->count);
    }
    return gf_graver_status(failed, ring->failure);
}

/* ---- how a worker takes a slot's picture and hands it back ---- */

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
    if (slot->data) {
        const struct timespec changed = gf_archive_member_time(&slot->member);
        worker->identity =
            gf_identify_member(slot->data, slot->size, changed, &slot->archive->identity);
        worker->member.is_timed = true;
        worker->member.changed = changed;
    }
    worker->bytes = slot->bytes;
    worker->index = slot->name.path ? slot->index : worker->input->index;
    return true;
}

/* Copies the failures among the worker's results to the slot, for the archives' records. */
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

/* Ends the worker's picture: replaces its bytes in the slot by the results. */
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

/* Reports a member whose name is not that of a picture, if outputs that are files lack it for that
 * reason, or if its bytes are those of a picture. The caller holds the lock. */
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

/* Ends an archive by archive_conclude(), unless the run has stopped. */
static void end_archive(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    const bool stopped = batch->stopped;
    pthread_mutex_unlock(&batch->lock);
    if (stopped)
        return;
    archive_conclude(ring, archive);
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
        archive_fail(ring, archive->written, &why);
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
           slot->archive->written || ring->written < ring->sample.end || archive_sample_ready(ring);
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
    pthread_cond_broadcast(&ring->to_do); /* wakes the workers, which get no more pictures */
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
    /* Frees slots that were not written because the run has stopped. */
    for (size_t i = ring->written; i < ring->read; i++) {
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        if (slot->state == GF_SLOT_DONE && slot->bytes)
            gf_batch_report(batch, &slot->item, gf_archive_input_of(ring, slot)->path);
    }
    pthread_mutex_unlock(&batch->lock);
    return status;
}

#endif
