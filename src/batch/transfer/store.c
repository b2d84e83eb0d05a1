/* Stores outputs that are complete, each with its record behind it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/names/url.h"
#include "batch/transfer/transfer_state.h"

static void append(struct gf_transfer_queue *queue, struct gf_transfer_job *job)
{
    job->next = NULL;
    *queue->end = job;
    queue->end = &job->next;
}

static struct gf_transfer_job *remove_first(struct gf_transfer_queue *queue)
{
    struct gf_transfer_job *const job = queue->first;
    if (job)
        queue->first = job->next;
    if (!queue->first)
        queue->end = &queue->first;
    return job;
}

static void free_job(struct gf_transfer_job *job)
{
    free(job->file);
    free(job->out);
    free(job->item);
    free(job);
}

/* Stores a file under its name, or that of its record. */
static enum gf_status store_file(struct gf_transfers *transfers, const char *file, const char *out,
                                 const char *given, struct gf_error *error)
{
    char *const url = gf_url_sign(out, given);
    const struct gf_command_values values = {.file = file, .out = url};
    const enum gf_status status =
        url ? gf_transfer_run(transfers, transfers->options.store, "store", &values, 0, out,
                              GF_ERROR_OUTPUT, error)
            : gf_fail_memory(error);
    free(url);
    return status;
}

/* Stores an empty record under that name. */
static enum gf_status store_empty(struct gf_transfers *transfers, const char *file, const char *out,
                                  const char *given, struct gf_error *error)
{
    char *empty;
    if (asprintf(&empty, "%s.empty", file) < 0)
        return gf_fail_memory(error);
    FILE *const stream = fopen(empty, "we");
    const bool written = stream && fputs("{}\n", stream) >= 0;
    const bool closed = stream && !fclose(stream);
    const enum gf_status status =
        written && closed ? store_file(transfers, empty, out, given, error)
                          : gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", empty, strerror(errno));
    unlink(empty);
    free(empty);
    return status;
}

/* Stores a file and then its record, which is FILE.json, under NAME.json. */
static enum gf_status store(struct gf_transfers *transfers, struct gf_transfer_job *job)
{
    char *record = NULL, *out = NULL;
    if (asprintf(&record, "%s.json", job->file) < 0)
        record = NULL;
    if (asprintf(&out, "%s.json", job->out) < 0)
        out = NULL;
    enum gf_status status = record && out ? GF_OK : gf_fail_memory(&job->why);
    if (!status && job->outdated)
        status = store_empty(transfers, job->file, out, job->given, &job->why);
    if (!status)
        status = store_file(transfers, job->file, job->out, job->given, &job->why);
    if (!status)
        status = store_file(transfers, record, out, job->given, &job->why);
    unlink(job->file);
    if (record)
        unlink(record);
    free(record);
    free(out);
    return status;
}

void gf_transfer_store_next(struct gf_transfers *transfers)
{
    struct gf_transfer_job *const job = remove_first(&transfers->to_store);
    transfers->storing++;
    pthread_mutex_unlock(&transfers->lock);
    job->status = job->is_awaited
                      ? store_file(transfers, job->file, job->out, job->given, &job->why)
                      : store(transfers, job);
    pthread_mutex_lock(&transfers->lock);
    transfers->storing--;
    transfers->held -= job->counted;
    job->ended = true;
    if (!job->is_awaited)
        append(&transfers->ended, job);
    pthread_cond_broadcast(&transfers->changed);
}

enum gf_status gf_transfers_store(struct gf_transfers *transfers, char *file, const char *out,
                                  const char *given, bool outdated, uint64_t counted, void *item,
                                  struct gf_error *error)
{
    struct stat there;
    const uint64_t bytes = stat(file, &there) ? 0 : (uint64_t)there.st_size;
    struct gf_transfer_job *const job = calloc(1, sizeof *job);
    if (job)
        *job = (struct gf_transfer_job){.file = file,
                                        .out = strdup(out),
                                        .given = given,
                                        .counted = bytes,
                                        .outdated = outdated};
    if (!job || !job->out) {
        free(job);
        free(file);
        gf_transfers_release(transfers, counted);
        return gf_fail_memory(error);
    }
    job->item = item;
    pthread_mutex_lock(&transfers->lock);
    transfers->held += bytes - counted;
    append(&transfers->to_store, job);
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
    return GF_OK;
}

enum gf_status gf_transfers_store_now(struct gf_transfers *transfers, const char *file,
                                      const char *out, const char *given, struct gf_error *error)
{
    struct gf_transfer_job job = {
        .file = (char *)file, .out = (char *)out, .given = given, .is_awaited = true};
    pthread_mutex_lock(&transfers->lock);
    append(&transfers->to_store, &job);
    pthread_cond_broadcast(&transfers->changed);
    while (!job.ended)
        pthread_cond_wait(&transfers->changed, &transfers->lock);
    pthread_mutex_unlock(&transfers->lock);
    *error = job.why;
    return job.status;
}

void gf_transfers_finish(struct gf_transfers *transfers)
{
    pthread_mutex_lock(&transfers->lock);
    while (transfers->to_store.first || transfers->storing)
        pthread_cond_wait(&transfers->changed, &transfers->lock);
    pthread_mutex_unlock(&transfers->lock);
}

bool gf_transfers_next_ended(struct gf_transfers *transfers, void **item, struct gf_error *error)
{
    pthread_mutex_lock(&transfers->lock);
    struct gf_transfer_job *const job = remove_first(&transfers->ended);
    pthread_mutex_unlock(&transfers->lock);
    if (!job)
        return false;
    *error = job->why;
    error->status = job->status;
    *item = job->item;
    job->item = NULL;
    free_job(job);
    return true;
}

void gf_transfer_free_jobs(struct gf_transfers *transfers)
{
    struct gf_transfer_job *job;
    while ((job = remove_first(&transfers->to_store)) || (job = remove_first(&transfers->ended)))
        free_job(job);
}
