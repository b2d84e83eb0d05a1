/* Begins an input archive, and ends its reading. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"

static const char *name_for_messages(const char *argument, const char *stream)
{
    const char *const path = gf_archive_path(argument);
    return strcmp(path, "-") ? path : stream;
}

/* Describes the output archives and their records. */
static void name_archives(const struct gf_archive_ring *ring, struct gf_archive *archive,
                          size_t index)
{
    const struct gf_batch *const batch = ring->batch;
    for (int k = 0; k < ring->outputs; k++) {
        struct gf_archive_output *const output = &archive->output[k];
        const struct gf_batch_output given = gf_batch_output_at(batch->request, k);
        if (!gf_archive_named(given.name->text))
            continue;
        output->argument = ring->from_archives ? batch->item[index].output[k] : given.name->text;
        /* The members of an archive of files have names that begin with the archive's path. */
        output->to = ring->from_archives ? name_for_messages(output->argument, "stdout")
                                         : gf_archive_path(output->argument);
        output->record = (struct gf_archive_record){.input = archive->from,
                                                    .identity = archive->identity.text,
                                                    .output = gf_archive_path(output->argument),
                                                    .chain = given.chain,
                                                    .job = batch->fingerprint[k],
                                                    .begun = gf_batch_log_now()};
    }
}

/* Whether an earlier run has made all outputs. */
static bool is_done(const struct gf_archive_ring *ring, struct gf_archive *archive)
{
    const struct gf_batch_request *const request = ring->batch->request;
    bool done = ring->from_archives && (request->resume || request->skip_existing);
    for (int k = 0; done && k < ring->outputs; k++)
        done = archive->output[k].argument && gf_archive_record_fits(&archive->output[k].record);
    return done;
}

struct gf_archive *gf_archive_begin(struct gf_archive_ring *ring, size_t index)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_archive *const archive = calloc(1, sizeof *archive);
    if (archive) {
        const char *const argument = batch->request->inputs->item[index].path;
        archive->argument = argument;
        archive->from = name_for_messages(argument, "stdin");
        archive->identity = gf_identify_file(gf_archive_path(argument));
        name_archives(ring, archive, index);
        archive->skipped = is_done(ring, archive);
    }
    pthread_mutex_lock(&batch->lock);
    if (!archive) {
        ring->failure = gf_fail_memory(&ring->error);
        batch->stopped = true;
    } else if (ring->last) {
        ring->last->next = archive;
    } else {
        ring->first = archive;
    }
    ring->last = archive;
    pthread_mutex_unlock(&batch->lock);
    return archive;
}

enum gf_status gf_archive_open(struct gf_archive_ring *ring, struct gf_archive *archive,
                               struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_reader *reader;
    const enum gf_status status = gf_archive_reader_open(archive->argument, &reader, error);
    if (status)
        return status;
    archive->is_file = gf_archive_reader_file(reader, &archive->file);
    pthread_mutex_lock(&batch->lock);
    archive->reader = reader;
    archive->is_opened = true;
    ring->open = archive;
    if (!ring->first_size)
        ring->first_size = gf_archive_reader_size(reader);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return GF_OK;
}

void gf_archive_close(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    ring->open = NULL;
    pthread_mutex_unlock(&batch->lock);
    gf_archive_links_free(&archive->links);
    gf_archive_reader_close(archive->reader);
    archive->links = (struct gf_archive_links){0};
    archive->reader = NULL;
    gf_claims_free(&archive->claims);
}

void gf_archive_free_first(struct gf_archive_ring *ring)
{
    pthread_mutex_lock(&ring->batch->lock);
    struct gf_archive *const archive = ring->first;
    ring->first = archive->next;
    if (!ring->first)
        ring->last = NULL;
    pthread_mutex_unlock(&ring->batch->lock);
    for (int k = 0; k < ring->outputs; k++) {
        struct gf_archive_output *const output = &archive->output[k];
        gf_archive_writer_close(output->writer);
        gf_archive_record_free(&output->record);
        tdestroy(output->lost, free);
    }
    free(archive);
}

#endif
