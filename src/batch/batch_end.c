/* The end of a picture: its messages, its lines in the log, the counts of the batch. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/batch_work.h"

static void stop(struct gf_batch *batch, enum gf_status status, const struct gf_error *error)
{
    if (!batch->fatal) {
        batch->status = status;
        batch->error = *error;
        batch->fatal = true;
    }
    batch->stopped = true;
}

static void log_without_picture(struct gf_batch_worker *worker,
                                const struct gf_batch_result *result)
{
    struct gf_batch *const batch = worker->batch;
    char *const *const names = worker->item->output;
    /* A picture that is done has its line; so has one that --resume skips. */
    const bool logged = result->outcome == GF_OUTCOME_DONE ||
                        (result->outcome == GF_OUTCOME_SKIPPED && batch->request->resume);
    if (logged)
        return;
    const struct gf_batch_log_entry entry = {.index = worker->index + 1,
                                             .input = worker->input->path,
                                             .output = result->path ? result->path
                                                       : names      ? names[result->number]
                                                                    : NULL,
                                             .outcome = result->outcome,
                                             .message = result->why.text,
                                             .bytes_in = -1,
                                             .bytes_out = -1,
                                             .fingerprint = batch->fingerprint[result->number]};
    gf_batch_record(worker, &entry);
}

/* What does not fit the picture's size, a profile that a filter does not take, and a lack of memory
 * come without the picture's name. */
static bool names_file(enum gf_status status, const char *why, const char *path)
{
    struct gf_error name; /* as messages show it */
    (void)gf_fail(&name, status, "%s", strcmp(path, "-") ? path : "stdin");
    if (status == GF_ERROR_INPUT || status == GF_ERROR_MEMORY)
        return strstr(why, name.text);
    return status != GF_ERROR_USAGE;
}

static void note_failure(struct gf_batch_worker *worker, enum gf_status status, const char *why)
{
    const char *const path = worker->input->path;
    const bool named = names_file(status, why, path);
    struct gf_error line;
    (void)gf_fail(&line, status, "%s%s%s", named ? "" : path, named ? "" : ": ", why);
    fprintf(worker->notes_file, "e%s\n", line.text);
}

/* Notes the failures of outputs behind the first that failed. Some fail all for the same reason. */
static void note_more_failures(struct gf_batch_worker *worker, const char *first)
{
    const struct gf_batch_result *const result = worker->result;
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        bool told = result[k].outcome != GF_OUTCOME_FAILED || !strcmp(result[k].why.text, first);
        for (int i = 0; i < k; i++)
            told |= !strcmp(result[k].why.text, result[i].why.text);
        if (!told)
            note_failure(worker, result[k].status, result[k].why.text);
    }
}

void gf_batch_end_item(struct gf_batch_worker *worker, enum gf_outcome outcome,
                       enum gf_status status, const struct gf_error *why, bool ends)
{
    struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    for (int k = 0; k < gf_batch_outputs(request); k++)
        log_without_picture(worker, &worker->result[k]);
    if (outcome == GF_OUTCOME_FAILED && !ends)
        note_failure(worker, status, why->text);
    if (outcome == GF_OUTCOME_FAILED)
        note_more_failures(worker, why->text);
    fflush(worker->notes_file);
    const long length = ftell(worker->notes_file);
    char *const notes = length > 0 ? strndup(worker->notes, (size_t)length) : NULL;
    rewind(worker->notes_file);
    pthread_mutex_lock(&batch->lock);
    worker->item->notes = notes;
    worker->item->notes_lost = length && !notes && !(ends && outcome == GF_OUTCOME_FAILED);
    worker->item->outcome = outcome;
    batch->state.done += outcome == GF_OUTCOME_DONE;
    batch->state.failed += outcome == GF_OUTCOME_FAILED;
    batch->state.skipped += outcome == GF_OUTCOME_SKIPPED;
    if (request->counts) {
        request->counts->done = batch->state.done + batch->state.skipped;
        request->counts->failed = batch->state.failed;
    }
    if (outcome == GF_OUTCOME_FAILED && ends)
        stop(batch, status, why);
    if (worker->log_status)
        stop(batch, worker->log_status, &worker->log_error);
    if (outcome == GF_OUTCOME_FAILED && request->fail_fast)
        batch->stopped = true;
    pthread_mutex_unlock(&batch->lock);
}

/* ---- messages ---- */

static void report_lost_notes(const struct gf_batch *batch, const struct gf_batch_item *item,
                              const char *input)
{
    const struct gf_batch_request *const request = batch->request;
    const bool failed = item->outcome == GF_OUTCOME_FAILED;
    struct gf_error line;
    (void)gf_fail(&line, GF_ERROR_MEMORY, "%s: out of memory%s", input,
                  failed ? "" : ": what was to be told of it is lost");
    if (request->message)
        request->message(request->context, failed ? GF_MESSAGE_ERROR : GF_MESSAGE_WARNING,
                         line.text);
}

void gf_batch_report(const struct gf_batch *batch, struct gf_batch_item *item, const char *input)
{
    const struct gf_batch_request *const request = batch->request;
    char *rest = item->notes;
    if (item->notes_lost)
        report_lost_notes(batch, item, input);
    for (char *line; request->message && (line = strsep(&rest, "\n"));) {
        if (*line)
            request->message(request->context,
                             *line == 'w'   ? GF_MESSAGE_WARNING
                             : *line == 'p' ? GF_MESSAGE_PICTURE
                                            : GF_MESSAGE_ERROR,
                             line + 1);
    }
    free(item->notes);
    item->notes = NULL;
}
