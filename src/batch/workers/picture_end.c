/* Ends a picture: sends its messages, writes its lines in the log, and counts it. */
#include <stdlib.h>
#include <string.h>

#include "base/process/program.h"
#include "batch/workers/workers.h"
#include "codec/io/output.h"

/* Writes the picture's line to the log and calls request->entry, if these are not NULL. */
void gf_batch_record(struct gf_batch_worker *worker, const struct gf_batch_log_entry *entry)
{
    const struct gf_batch_request *const request = worker->batch->request;
    if (request->log && !worker->log_status)
        worker->log_status = gf_batch_log_add(request->log, entry, &worker->log_error);
    if (!request->entry)
        return;
    pthread_mutex_lock(&worker->batch->lock);
    request->entry(request->context, entry);
    pthread_mutex_unlock(&worker->batch->lock);
}

/* Counts a picture. `first`: the result is the first output of its input. */
static void count_picture(struct gf_batch *batch, const struct gf_profile *profile, bool first)
{
    batch->state.pictures++;
    batch->state.bytes_out += profile->out_bytes > 0 ? (double)profile->out_bytes : 0;
    if (first) {
        batch->state.megapixels +=
            1e-6 * (double)profile->in.width * (double)profile->in.height * (double)profile->frames;
        batch->state.bytes_in += profile->in_bytes > 0 ? (double)profile->in_bytes : 0;
    }
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        batch->state.busy_s[span->kind] += span->end_s - span->begin_s;
    }
}

static const char *codec(bool on_device)
{
    return on_device ? "gpu" : "cpu";
}

/* Keeps the line of a result that is still to be stored. */
static void keep_entry(struct gf_batch_result *result, const struct gf_batch_log_entry *entry)
{
    snprintf(result->device, sizeof result->device, "%s", entry->device);
    result->entry = *entry;
    result->entry.device = result->device;
}

void gf_batch_picture_done(void *context, int number, const char *path,
                           const struct gf_profile *profile)
{
    struct gf_batch_result *const result = context;
    struct gf_batch_worker *const worker = result->worker;
    struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    const struct gf_batch_log_entry entry = {
        .index = worker->index + 1,
        .input = worker->input->path,
        .identity = worker->identity.text,
        .output = path ? path : result->path,
        .outcome = GF_OUTCOME_DONE,
        .bytes_in = profile->in_bytes,
        .bytes_out = profile->out_bytes,
        .width = profile->in.width,
        .height = profile->in.height,
        .ms = gf_stage_times_of(profile),
        .device = profile->device,
        .decoder = codec(profile->device_decoded),
        .encoder = codec(profile->device_encoded),
        .fit = {.quality = profile->quality, .tries = profile->tries, .score = profile->score},
        .fingerprint = batch->fingerprint[result->number]};
    if (batch->transfers && result->bytes)
        keep_entry(result, &entry);
    else
        gf_batch_record(worker, &entry);
    if (request->verbose && !gf_batch_is_single(request)) {
        /* gf_fail() makes a single line of the text, even if names in it contain line breaks. */
        struct gf_error line;
        char fit[GF_FIT_FOUND_SIZE];
        gf_batch_fit_text(profile, fit);
        (void)gf_fail(&line, GF_OK, "%s -> %s: %dx%d, %s, decoder %s, encoder %s%s, %.3f s%s%s",
                      worker->input->path, path ? path : result->path, profile->in.width,
                      profile->in.height, profile->device, codec(profile->device_decoded),
                      codec(profile->device_encoded), fit, profile->wall_s,
                      *profile->found ? ", " : "", profile->found);
        fprintf(worker->notes_file, "p%s\n", line.text);
    }
    pthread_mutex_lock(&batch->lock);
    count_picture(batch, profile, !worker->counted || number > 1);
    worker->counted = true;
    if (request->profile)
        gf_batch_profile_add(request->profile, profile, gf_now() - profile->wall_s - batch->begin_s,
                             worker->number);
    if (request->picture && gf_batch_is_single(request))
        request->picture(request->context, worker->input->path, path, profile);
    pthread_mutex_unlock(&batch->lock);
}

static void stop_batch(struct gf_batch *batch, enum gf_status status, const struct gf_error *error)
{
    if (!batch->fatal) {
        batch->status = status;
        batch->error = *error;
        batch->fatal = true;
    }
    batch->stopped = true;
}

static void record_without_picture(struct gf_batch_worker *worker,
                                   const struct gf_batch_result *result)
{
    struct gf_batch *const batch = worker->batch;
    char *const *const names = worker->item->output;
    /* Has the picture a line in the log? It has one if it is done, or if --resume skips it. */
    const bool logged = result->outcome == GF_OUTCOME_DONE ||
                        (result->outcome == GF_OUTCOME_SKIPPED && batch->request->resume);
    if (logged)
        return;
    const struct gf_batch_log_entry entry = {.index = worker->index + 1,
                                             .input = worker->input->path,
                                             .identity = worker->identity.text,
                                             .output = result->path ? result->path
                                                       : names      ? names[result->number]
                                                                    : NULL,
                                             .outcome = result->outcome,
                                             .failure = result->status,
                                             .message = result->why.text,
                                             .bytes_in = -1,
                                             .bytes_out = -1,
                                             .fingerprint = batch->fingerprint[result->number]};
    gf_batch_record(worker, &entry);
}

static bool is_in(const char *why, const char *name)
{
    struct gf_error shown; /* the name in the form in which messages show it */
    (void)gf_fail(&shown, GF_OK, "%s", name);
    return strstr(why, shown.text);
}

/* Whether the message already names the file. Errors about the picture's size, about a profile that
 * a filter does not accept, and about a lack of memory come without the picture's name. Errors
 * about the output's format come with the output's name. */
static bool names_file(enum gf_status status, const char *why, const char *name, const char *output)
{
    if (status == GF_ERROR_UNFIT && output && is_in(why, strcmp(output, "-") ? output : "stdout"))
        return true;
    return (status != GF_ERROR_INPUT && status != GF_ERROR_MEMORY && status != GF_ERROR_UNFIT) ||
           is_in(why, name);
}

struct gf_error gf_batch_failure(const struct gf_batch_request *request, const char *path,
                                 int number, const char *made, enum gf_status status,
                                 const char *why)
{
    const char *const name = strcmp(path, "-") ? path : "stdin",
                      *const output = gf_batch_output_at(request, number).name->text;
    const bool named = names_file(status, why, name, made);
    const bool of_output = !named && status == GF_ERROR_UNFIT && request->more_outputs;
    struct gf_error line;
    (void)gf_fail(&line, status, "%s%s%s%s%s", named ? "" : name, named ? "" : ": ",
                  of_output ? output : "", of_output ? ": " : "", why);
    return line;
}

static struct gf_error failure_of(const struct gf_batch_result *result)
{
    const struct gf_batch_worker *const worker = result->worker;
    return gf_batch_failure(worker->batch->request, worker->input->path, result->number,
                            result->path, result->status, result->why.text);
}

/* Notes the failures of all outputs. If the first output's error becomes the run's, it is not
 * noted. Some failures are the same for all outputs, and are noted once. */
static void note_failures(struct gf_batch_worker *worker, const struct gf_error *first, bool ends)
{
    struct gf_error told[GF_PIPELINE_OUTPUTS_MAX];
    int count = 0;
    if (ends)
        told[count++] = *first;
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        if (worker->result[k].outcome != GF_OUTCOME_FAILED)
            continue;
        told[count] = failure_of(&worker->result[k]);
        int i = 0;
        while (strcmp(told[i].text, told[count].text))
            i++;
        if (i == count)
            fprintf(worker->notes_file, "e%s\n", told[count++].text);
    }
}

void gf_batch_end_item(struct gf_batch_worker *worker, const struct gf_batch_result *telling,
                       bool ends)
{
    struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    const enum gf_outcome outcome = telling->outcome;
    const struct gf_error failure = failure_of(telling);
    if (outcome == GF_OUTCOME_FAILED)
        gf_temporary_wait();
    for (int k = 0; k < gf_batch_outputs(request); k++)
        record_without_picture(worker, &worker->result[k]);
    ends &= !worker->log_status; /* a failure of the log ends the run instead */
    note_failures(worker, &failure, ends && outcome == GF_OUTCOME_FAILED);
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
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        if (worker->result[k].outcome != GF_OUTCOME_FAILED)
            continue;
        batch->outputs_failed++;
        batch->failure = gf_graver_status(batch->failure, worker->result[k].status);
    }
    if (request->counts) {
        request->counts->done = batch->state.done + batch->state.skipped;
        request->counts->failed = batch->state.failed;
    }
    if (outcome == GF_OUTCOME_FAILED && ends)
        stop_batch(batch, batch->failure, &failure);
    if (worker->log_status)
        stop_batch(batch, worker->log_status, &worker->log_error);
    if (outcome == GF_OUTCOME_FAILED && request->fail_fast)
        batch->stopped = true;
    pthread_mutex_unlock(&batch->lock);
}

void gf_batch_report(const struct gf_batch *batch, struct gf_batch_item *item, const char *input)
{
    const struct gf_batch_request *const request = batch->request;
    char *rest = item->notes;
    const bool failed = item->outcome == GF_OUTCOME_FAILED;
    if (item->notes_lost)
        gf_batch_tell(request, failed ? GF_MESSAGE_ERROR : GF_MESSAGE_WARNING,
                      "%s: out of memory%s", input,
                      failed ? "" : ": what was to be told of it is lost");
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

enum gf_status gf_batch_conclude(const struct gf_batch *batch, struct gf_error *error)
{
    const struct gf_batch_state *const state = &batch->state;
    if (batch->fatal) {
        *error = batch->error;
        return batch->status;
    }
    if (!state->failed)
        return GF_OK;
    const size_t left = state->files - state->done - state->failed - state->skipped;
    char more[80] = "", outputs[60] = "";
    if (batch->request->more_outputs)
        snprintf(outputs, sizeof outputs, " (%zu of their %zu outputs)", batch->outputs_failed,
                 state->failed * (size_t)gf_batch_outputs(batch->request));
    if (left)
        snprintf(more, sizeof more, ", %zu not begun (--fail-fast)", left);
    else if (state->skipped)
        snprintf(more, sizeof more, ", %zu skipped", state->skipped);
    char left_out[GF_BATCH_LEFT_OUT_SIZE];
    gf_batch_describe_left_out(state, left_out);
    return gf_fail(error, batch->failure, "%zu of %zu files failed%s, %zu done%s%s", state->failed,
                   state->files, outputs, state->done, more, left_out);
}
