/* Writes the lines of archives to the log. */
#include <stdlib.h>

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

struct gf_archive_line {
    struct gf_batch_log_entry entry;
    struct gf_input_identity identity;
    struct gf_error why; /* why the output failed; status GF_OK: it did not */
};

/* Tells in *why that the archive lacks pictures; an archive that is skipped lacks those of which
 * its record says so. */
static void tell_failures(const struct gf_archive_record *record, bool skipped,
                          struct gf_error *why)
{
    const size_t before = skipped ? record->pictures - record->done : 0;
    if (before)
        (void)gf_fail(why, GF_ERROR_INPUT, "%zu of %zu pictures failed before, says '%.300s.json'",
                      before, record->pictures, record->output);
    else if (record->failures)
        (void)gf_fail(why, record->again ? GF_ERROR_READ : GF_ERROR_INPUT,
                      "%zu of %zu pictures failed: %s%s", record->failures,
                      record->done + record->failures, record->failed->why,
                      record->failures > 1 ? "; ..." : "");
}

static struct gf_archive_line describe(const struct gf_archive_ring *ring,
                                       const struct gf_archive *archive, int number)
{
    const struct gf_archive_output *const output = &archive->output[number];
    struct stat file;
    struct gf_archive_line line = {
        .identity = archive->identity,
        .why = output->status ? output->why : archive->fault,
        .entry = {.index = archive->index + 1,
                  .input = archive->from,
                  .output = output->argument ? output->record.output : NULL,
                  .bytes_in = archive->is_file ? (long long)archive->file.st_size : -1,
                  .outcome = archive->skipped ? GF_OUTCOME_SKIPPED : GF_OUTCOME_DONE,
                  .message = archive->skipped ? "done before, says the record" : NULL,
                  .bytes_out = -1,
                  .fingerprint = ring->batch->fingerprint[number]}};
    if (!line.why.status && output->argument && !stat(output->record.file, &file))
        line.entry.bytes_out = (long long)file.st_size;
    if (!line.why.status)
        tell_failures(&output->record, archive->skipped, &line.why);
    return line;
}

/* Writes a line. If that fails, the run ends. */
static void put(struct gf_archive_ring *ring, struct gf_archive_line *line)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_error error;
    line->entry.identity = line->identity.text;
    line->entry.failure = line->why.status;
    if (line->why.status) {
        line->entry.outcome = GF_OUTCOME_FAILED;
        line->entry.message = line->why.text;
    }
    const enum gf_status status = gf_batch_log_add(batch->request->log, &line->entry, &error);
    if (!status)
        return;
    pthread_mutex_lock(&batch->lock);
    if (!batch->fatal) {
        batch->status = status;
        batch->error = error;
    }
    batch->fatal = batch->stopped = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

struct gf_archive_line *gf_archive_line_of(const struct gf_archive_ring *ring,
                                           const struct gf_archive *archive, int number)
{
    struct gf_archive_line *const line = malloc(sizeof *line);
    if (line)
        *line = describe(ring, archive, number);
    return line;
}

void gf_archive_log_stored(struct gf_archive_ring *ring, struct gf_archive_line *line,
                           const struct gf_error *why)
{
    if (why->status)
        line->why = *why;
    if (ring->batch->request->log)
        put(ring, line);
}

/* Whether the log that --resume reads has the line of an archive that an earlier run has made. */
static bool is_logged(const struct gf_archive_ring *ring, const struct gf_archive_line *line)
{
    const struct gf_resume *const resume = ring->batch->request->resume;
    const struct gf_batch_log_entry *const entry = &line->entry;
    return entry->outcome == GF_OUTCOME_SKIPPED && !line->why.status && resume &&
           gf_resume_done(resume, entry->input, &line->identity, entry->output, true,
                          entry->fingerprint);
}

void gf_archive_log(struct gf_archive_ring *ring, const struct gf_archive *archive)
{
    bool files = false; /* the line of all outputs that are files is written */
    for (int k = 0; ring->batch->request->log && ring->from_archives && k < ring->outputs; k++) {
        const bool is_archive = archive->output[k].argument;
        if (archive->output[k].is_handed || (!is_archive && files))
            continue;
        struct gf_archive_line line = describe(ring, archive, k);
        if (!is_logged(ring, &line))
            put(ring, &line);
        files |= !is_archive;
    }
}

#endif
