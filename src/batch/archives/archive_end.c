/* Begins and ends the output archives of an input archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"
#include "batch/transfer/folder.h"

/* Whether the output would replace the input archive. */
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

void gf_archive_fail(struct gf_archive_ring *ring, enum gf_status status,
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

/* Returns what the pictures ran on, as the record names it. */
static void describe_devices(const struct gf_batch_devices *devices, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, devices->count ? "cuda" : "cpu");
    for (int i = 0; i < devices->count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%c%d", i ? ',' : ':',
                                   devices->device[i].index);
}

/* Hands a complete archive and its record over to be stored. An archive that can have no record yet
 * is not stored. */
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
    if (!line)
        return gf_fail_memory(error);
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

/* Makes the archive visible under its name, and writes its record if the archive has all that it
 * can ever have. */
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

/* Ends output `number`, unless the archive lacks a member that only the archive which it would
 * replace has. */
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

/* Counts the pictures of an archive that an earlier run has made. */
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

/* Members that were left out make the run fail, but the archives are whole. An archive that cannot
 * be read, and a failure that stops the run, leave no archive. */
void gf_archive_conclude(struct gf_archive_ring *ring, struct gf_archive *archive)
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
        gf_archive_fail(ring, input, &why);
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
        gf_archive_fail(ring, status, &why);
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
            gf_archive_fail(ring, why.status, &why);
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

#endif
