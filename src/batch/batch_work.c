/* A worker's work on one file. */
#include "batch/batch_work.h"
#include "batch/program_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

bool gf_batch_is_stream(const char *path)
{
    struct stat file;
    return !strcmp(path, "-") ||
           (!stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
}

/* ---- outputs that are there already ---- */

static bool is_older(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

enum gf_outcome gf_batch_check_existing(const struct gf_batch *batch, size_t index, char *why,
                                        size_t size)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const input = request->inputs->item[index].path, *const output =
                                                                     batch->item[index].output;
    struct stat there, source;
    *why = '\0';
    if (!output)
        return GF_OUTCOME_WAITING;
    if (request->resume && gf_resume_done(request->resume, input, output, batch->fingerprint)) {
        snprintf(why, size, "done before, says the log");
        return GF_OUTCOME_SKIPPED;
    }
    if (stat(output, &there) || !S_ISREG(there.st_mode))
        return GF_OUTCOME_WAITING;
    if (request->skip_existing) {
        snprintf(why, size, "is there already");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->update && !stat(input, &source) && !is_older(&there, &source)) {
        snprintf(why, size, "is up to date");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->options.no_clobber) {
        snprintf(why, size, "%.300s: is there already (--no-clobber)", output);
        return GF_OUTCOME_FAILED;
    }
    return GF_OUTCOME_WAITING;
}

/* ---- the output's name ---- */

static enum gf_status choose_path(void *context, int number, enum gf_file_format content,
                                  struct gf_format result, const char **path,
                                  struct gf_error *error)
{
    struct gf_batch_worker *const worker = context;
    const struct gf_template *const output = worker->batch->request->output;
    const bool alone = gf_batch_single(worker->batch);
    const struct gf_template_values values = {.input = worker->input,
                                              .number = alone ? (size_t)number : worker->index + 1,
                                              .width = result.width,
                                              .height = result.height,
                                              .content = content};
    enum gf_status status = GF_OK;
    free(worker->path);
    worker->path = NULL;
    if (output->is_stdout)
        worker->path = strdup("-");
    else if (worker->item->output)
        worker->path = strdup(worker->item->output);
    else
        status = gf_template_expand(output, &values, &worker->path, error);
    if (!status && !worker->path)
        status = gf_fail_memory(error);
    if (!status && !output->is_stdout)
        status = gf_make_folders_of(worker->path, error);
    *path = worker->path;
    return status;
}

/* ---- a finished picture ---- */

static void count_picture(struct gf_batch *batch, const struct gf_profile *profile)
{
    batch->state.pictures++;
    batch->state.megapixels += 1e-6 * (double)profile->in.width * (double)profile->in.height;
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        batch->state.busy_s[span->kind] += span->end_s - span->begin_s;
    }
}

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

static const char *codec(bool on_device)
{
    return on_device ? "gpu" : "cpu";
}

static void picture_done(void *context, int number, const char *path,
                         const struct gf_profile *profile)
{
    struct gf_batch_worker *const worker = context;
    struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    (void)number;
    const struct gf_batch_log_entry entry = {.index = worker->index + 1,
                                             .input = worker->input->path,
                                             .output = path ? path : worker->path,
                                             .outcome = GF_OUTCOME_DONE,
                                             .bytes_in = profile->in_bytes,
                                             .bytes_out = profile->out_bytes,
                                             .width = profile->in.width,
                                             .height = profile->in.height,
                                             .ms = gf_stage_times_of(profile),
                                             .device = profile->device,
                                             .decoder = codec(profile->device_decoded),
                                             .encoder = codec(profile->device_encoded),
                                             .fingerprint = batch->fingerprint};
    gf_batch_record(worker, &entry);
    if (request->verbose && !gf_batch_single(batch)) {
        struct gf_error line; /* gf_fail() makes one line of it, whatever the names hold */
        (void)gf_fail(&line, GF_OK, "%s -> %s: %dx%d, %s, decoder %s, encoder %s, %.3f s",
                      worker->input->path, path ? path : worker->path, profile->in.width,
                      profile->in.height, profile->device, codec(profile->device_decoded),
                      codec(profile->device_encoded), profile->wall_s);
        fprintf(worker->notes_file, "p%s\n", line.text);
    }
    pthread_mutex_lock(&batch->lock);
    count_picture(batch, profile);
    if (request->learning && !gf_pipeline_is_remote(worker->pipeline))
        gf_learning_add(request->learning, profile);
    if (request->profile)
        gf_batch_profile_add(request->profile, profile, gf_now() - profile->wall_s - batch->begin_s,
                             worker->number);
    if (request->picture && gf_batch_single(batch))
        request->picture(request->context, worker->input->path, path, profile);
    pthread_mutex_unlock(&batch->lock);
    /* Of many pictures on a GPU the first shows the start, and the rest count as a whole. */
    if (worker->device >= 0 && request->inputs->count > 1)
        gf_pipeline_options(worker->pipeline)->spans = batch->keeps_spans;
}

/* ---- the device ---- */

static void note_warning(void *context, const char *text)
{
    struct gf_batch_worker *const worker = context;
    struct gf_error line;
    (void)gf_fail(&line, GF_OK, "%s", text);
    fprintf(worker->notes_file, "w%s\n", line.text);
}

static enum gf_status open_pipeline(struct gf_batch_worker *worker, struct gf_error *error)
{
    const struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    struct gf_options options = batch->options;
    /* For a single input the pipeline itself falls back to the CPU, since only it can read a pipe a
     * second time. */
    options.device = worker->device < 0                            ? GF_DEVICE_CPU
                     : batch->falls_back && gf_batch_single(batch) ? GF_DEVICE_AUTO
                                                                   : GF_DEVICE_CUDA;
    options.device_index = worker->device < 0 ? 0 : batch->device[worker->device].index;
    options.warn = request->options.warn ? note_warning : NULL;
    options.warn_context = worker;
    struct gf_remote *const remote = worker->device < 0 ? NULL : batch->remote;
    enum gf_status status;
    if (remote) {
        worker->batch->remote = NULL; /* the pipeline owns it; there is one worker */
        status =
            gf_pipeline_open_remote(request->chain, &options, remote, &worker->pipeline, error);
    } else if (request->open) {
        status =
            request->open(request->context, request->chain, &options, &worker->pipeline, error);
    } else {
        status = gf_pipeline_open(request->chain, &options, &worker->pipeline, error);
    }
    if (!status) {
        gf_pipeline_share_budget(worker->pipeline, &worker->batch->memory_budget);
        gf_pipeline_set_reason(worker->pipeline, batch->reason);
        if (gf_batch_single(batch))
            gf_pipeline_share_progress(worker->pipeline, &worker->batch->progress);
    }
    return status;
}

/* The next device that still works, counted from the worker's own; -1: none. */
static int other_device(const struct gf_batch_worker *worker)
{
    const struct gf_batch *const batch = worker->batch;
    for (int i = 1; i <= batch->devices; i++) {
        const int device = (worker->assigned_device + i) % batch->devices;
        if (!batch->device[device].failed)
            return device;
    }
    return -1;
}

static void use_device(struct gf_batch_worker *worker, int device)
{
    if (worker->device == device)
        return;
    gf_pipeline_close(worker->pipeline);
    worker->pipeline = NULL;
    worker->device = device;
}

/* After a failure of the worker's device: lets the worker do the file again on another one, or on
 * the CPU; false if there is none. A device that is out of memory is tried again with the next
 * picture; no worker returns to one that has failed. */
static bool change_device(struct gf_batch_worker *worker, enum gf_status failure,
                          const struct gf_error *why)
{
    struct gf_batch *const batch = worker->batch;
    const bool broken =
        failure == GF_ERROR_DEVICE || (failure == GF_ERROR_UNAVAILABLE && batch->falls_back);
    int device = -1;
    if (worker->device < 0 || (!broken && failure != GF_ERROR_DEVICE_MEMORY))
        return false;
    if (broken) {
        pthread_mutex_lock(&batch->lock);
        batch->device[worker->device].failed = true;
        device = other_device(worker);
        pthread_mutex_unlock(&batch->lock);
    }
    if (device < 0 && !batch->falls_back)
        return false;
    if (broken)
        worker->assigned_device = device;
    use_device(worker, device);
    if (failure != GF_ERROR_UNAVAILABLE && batch->request->options.warn) {
        char where[32] = "the CPU";
        if (device >= 0)
            snprintf(where, sizeof where, "cuda:%d", batch->device[device].index);
        fprintf(worker->notes_file, "w%s; the picture is done on %s\n", why->text, where);
    }
    return true;
}

/* Before a file: returns the worker to its own device, unless another worker has seen that fail. */
static void return_to_device(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    if (worker->assigned_device >= 0 && batch->device[worker->assigned_device].failed) {
        const int device = other_device(worker);
        if (device >= 0 || batch->falls_back)
            worker->assigned_device = device;
    }
    pthread_mutex_unlock(&batch->lock);
    use_device(worker, worker->assigned_device);
}

enum gf_status gf_batch_run_file(struct gf_batch_worker *worker, struct gf_error *why)
{
    const struct gf_batch_request *const request = worker->batch->request;
    struct gf_batch_member *const member = worker->member;
    const struct gf_destination destination = {
        .bytes = member ? &member->result : NULL,
        .choose = choose_path,
        .done = picture_done,
        .several = request->output->is_stdout || gf_batch_numbers_pictures(worker->batch),
        .several_hint = "number the outputs by {n}, without "
                        "--skip-existing and --update, or write to -",
        .context = worker};
    enum gf_status status;
    return_to_device(worker);
    do {
        status = worker->pipeline ? GF_OK : open_pipeline(worker, why);
        if (!status && member)
            status = gf_pipeline_run_memory(worker->pipeline, member->data, member->size,
                                            worker->input->path, &destination, why);
        else if (!status)
            status =
                gf_pipeline_run_pictures(worker->pipeline, worker->input->path, &destination, why);
        /* A pipe cannot be read again from its start. */
    } while (status && !gf_batch_is_stream(worker->input->path) &&
             change_device(worker, status, why));
    if (status)
        gf_program_words(why->text);
    return status;
}
