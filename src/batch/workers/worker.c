/* A worker, which takes one input after another: finds which outputs exist already, processes the
 * file on a device, and sets the results. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "batch/request/request.h"
#include "batch/workers/workers.h"
#include "codec/layouts/layouts.h"
#include "server/server.h"

enum gf_outcome gf_batch_check_existing(const struct gf_batch *batch, const char *input,
                                        const struct gf_input_identity *identity,
                                        const struct gf_batch_item *item, int number, char *why,
                                        size_t size)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const output = item->output[number];
    struct stat there;
    *why = '\0';
    if (item->refusal && item->refusal[number]) {
        snprintf(why, size, "%s", item->refusal[number]);
        return GF_OUTCOME_FAILED;
    }
    if (!output)
        return GF_OUTCOME_WAITING;
    if (request->resume &&
        gf_resume_done(request->resume, input, identity, output,
                       request->transfer && request->transfer->store, batch->fingerprint[number])) {
        snprintf(why, size, "done before, says the log");
        return GF_OUTCOME_SKIPPED;
    }
    const bool matters = request->skip_existing || request->update || request->options.no_clobber;
    const struct gf_template *const name = gf_batch_output_at(request, number).name;
    const bool of_folders = name && gf_template_is_of_folders(name);
    if (!matters || stat(output, &there) ||
        !(of_folders ? S_ISDIR(there.st_mode) : S_ISREG(there.st_mode)))
        return GF_OUTCOME_WAITING;
    const bool is_whole = gf_tiles_there(output, of_folders);
    if (request->skip_existing && is_whole) {
        snprintf(why, size, "is there already");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->update && is_whole && *identity->text &&
        !gf_is_earlier(&there.st_mtim, &identity->changed)) {
        snprintf(why, size, "is up to date");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->options.no_clobber) {
        snprintf(why, size, "%.300s: is there already (--no-clobber)", output);
        return GF_OUTCOME_FAILED;
    }
    return GF_OUTCOME_WAITING;
}

/* Returns the status with which gf_batch_check_existing() refuses an output: GF_ERROR_UNFIT if the
 * output could never be made, GF_ERROR_READ if the input could not be read, GF_ERROR_OUTPUT if the
 * output already exists. */
enum gf_status gf_batch_status_of_existing(const struct gf_batch_item *item, int number)
{
    if (item->is_unread)
        return GF_ERROR_READ;
    return item->refusal && item->refusal[number] ? GF_ERROR_UNFIT : GF_ERROR_OUTPUT;
}

/* Claims the name `path` for an output of an archive's member, so that no other output gets it. */
static enum gf_status claim_path(struct gf_batch *batch, const struct gf_batch_worker *worker,
                                 const char *path, struct gf_error *error)
{
    char *why = NULL;
    pthread_mutex_lock(&batch->lock);
    const enum gf_status status =
        gf_claim(batch->claims, path, worker->input->path, worker->index, false, &why)
            ? GF_OK
            : gf_fail_memory(error);
    pthread_mutex_unlock(&batch->lock);
    if (status || !why)
        return status;
    (void)gf_fail(error, GF_ERROR_UNFIT, "%s", why);
    free(why);
    return GF_ERROR_UNFIT;
}

/* Whether the output has a folder of tiles. */
static bool is_of_tiles(const struct gf_batch_request *request, int number)
{
    const struct gf_template *const name = gf_batch_output_at(request, number).name;
    return gf_template_is_of_folders(name) || gf_pyramid_named(name->text, ".dzi");
}

/* Checks that an output, whose name is known only now, replaces none of the input's other outputs
 * and no file that the run needs. */
static enum gf_status check_other_paths(const struct gf_batch_result *result,
                                        struct gf_error *error)
{
    const struct gf_batch_worker *const worker = result->worker;
    const struct gf_batch_request *const request = worker->batch->request;
    const char *const what = gf_batch_replaced(request, result->path);
    const bool has_folder = is_of_tiles(request, result->number);
    if (what)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: is an output and %s", result->path, what);
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const char *const known = worker->item->output[k], *const other =
                                                               known ? known
                                                                     : worker->result[k].path;
        if (k == result->number || !other)
            continue;
        if (gf_output_is_place(other, result->path))
            return gf_fail(error, GF_ERROR_UNFIT, "%s: two outputs of '%s' have this name",
                           result->path, worker->input->path);
        if ((has_folder || is_of_tiles(request, k)) && gf_outputs_overlap(other, result->path))
            return gf_fail(error, GF_ERROR_UNFIT,
                           "%s: its tiles and '%.200s', another output of '%s', would have one "
                           "folder",
                           has_folder ? result->path : other, has_folder ? other : result->path,
                           worker->input->path);
    }
    return GF_OK;
}

/* Refuses a name that becomes known only now, as that of a frame, if it is the input's own. */
static enum gf_status check_own_input(const struct gf_batch_worker *worker, const char *path,
                                      struct gf_error *error)
{
    const struct gf_batch_request *const request = worker->batch->request;
    if (request->in_place || request->transfer || !gf_output_replaces(path, worker->input->path))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT, "%s: %s: --in-place allows that", path,
                   gf_input_is_file(worker->input->path, path)
                       ? "is the input itself"
                       : "the input lies in its folder of tiles");
}

/* The function choose() of struct gf_destination; the context is a struct gf_batch_result. */
static GF_CHECKED enum gf_status batch_choose_path(void *context, int number,
                                                   enum gf_file_format content,
                                                   struct gf_format format, const char **path,
                                                   struct gf_error *error)
{
    struct gf_batch_result *const result = context;
    const struct gf_batch_worker *const worker = result->worker;
    const struct gf_template *const output =
        gf_batch_output_at(worker->batch->request, result->number).name;
    const char *const known = worker->item->output[result->number];
    const bool alone = gf_batch_is_single(worker->batch->request);
    const struct gf_template_values values = {.input = worker->input,
                                              .number = alone ? (size_t)number : worker->index + 1,
                                              .width = format.width,
                                              .height = format.height,
                                              .content = content};
    enum gf_status status = GF_OK;
    free(result->path);
    result->path = NULL;
    if (output->is_stdout)
        result->path = strdup("-");
    else if (known)
        result->path = strdup(known);
    else
        status = gf_template_expand(output, &values, &result->path, error);
    GF_THEN(status, result->path ? GF_OK : gf_fail_memory(error));
    if (!status && !output->is_stdout && !known)
        status = check_other_paths(result, error);
    if (!status && !known && output->is_pattern && !worker->input->data)
        status = check_own_input(worker, result->path, error);
    if (!status && !output->is_stdout && !known && worker->batch->claims)
        status = claim_path(worker->batch, worker, result->path, error);
    if (!status && !output->is_stdout && worker->batch->request->plain_members)
        status = gf_refuse_links(output, result->path, error);
    if (!status && !output->is_stdout)
        status = gf_make_folders_of(result->path, error);
    *path = result->path;
    return status;
}

/* Whether the line is already noted. Outputs that share a picture give the same warning. */
static bool is_noted(struct gf_batch_worker *worker, const char *line)
{
    const size_t length = strlen(line);
    fflush(worker->notes_file);
    const long end = ftell(worker->notes_file);
    for (const char *at = worker->notes; at && at < worker->notes + end;) {
        const size_t rest = (size_t)(worker->notes + end - at);
        const char *const next = memchr(at, '\n', rest);
        if (*at == 'w' && rest > length + 1 && !strncmp(at + 1, line, length) &&
            at[length + 1] == '\n')
            return true;
        at = next ? next + 1 : NULL;
    }
    return false;
}

static void note_warning(void *context, const char *text)
{
    struct gf_batch_worker *const worker = context;
    struct gf_error line;
    (void)gf_fail(&line, GF_OK, "%s", text);
    gf_name_options_as_typed(line.text);
    if (!worker->batch->request->more_outputs || !is_noted(worker, line.text))
        fprintf(worker->notes_file, "w%s\n", line.text);
}

static enum gf_status open_outputs(struct gf_batch_worker *worker, const struct gf_options *options,
                                   struct gf_error *error)
{
    const struct gf_batch_request *const request = worker->batch->request;
    const int count = gf_batch_outputs(request);
    struct gf_pipeline_output output[GF_PIPELINE_OUTPUTS_MAX];
    for (int k = 0; k < count; k++) {
        const struct gf_batch_output given = gf_batch_output_at(request, k);
        output[k] = (struct gf_pipeline_output){given.chain, *options};
        gf_options_of_output(&output[k].options, &given.options);
    }
    return gf_pipeline_open_outputs(output, count, &worker->pipeline, error);
}

/* Returns the index of the worker's device in this process. A worker of a helper gets the device to
 * which it falls back. */
static int own_device_index(const struct gf_batch_worker *worker)
{
    const struct gf_batch_devices *const devices = &worker->batch->devices;
    if (worker->device < 0)
        return 0;
    return devices->device[worker->device < devices->here ? worker->device : 0].index;
}

/* Connects the worker to the process, a helper or the server, that filters its pictures. The
 * pipeline then owns the connection. Returns NULL if this process filters them. Only one worker
 * uses the server. */
static struct gf_remote *connect_worker(struct gf_batch_worker *worker)
{
    struct gf_batch_devices *const devices = &worker->batch->devices;
    if (worker->device < 0)
        return NULL;
    if (worker->device >= devices->here)
        return gf_helper_connect(devices->device[worker->device].helper);
    struct gf_remote *const server = devices->remote;
    if (server)
        devices->remote = NULL;
    return server;
}

static enum gf_status open_pipeline(struct gf_batch_worker *worker, struct gf_error *error)
{
    const struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    struct gf_options options = batch->options;
    /* For a single input the pipeline itself falls back to the CPU, since only the pipeline still
     * has the bytes of a pipe. */
    options.device = worker->device < 0 ? GF_DEVICE_CPU
                     : batch->devices.falls_back && gf_batch_is_single(batch->request)
                         ? GF_DEVICE_AUTO
                         : GF_DEVICE_CUDA;
    options.device_index = own_device_index(worker);
    options.warn = request->options.warn ? note_warning : NULL;
    options.warn_context = worker;
    struct gf_remote *const remote = connect_worker(worker);
    enum gf_status status;
    /* Filters such as overlay open a second picture, which all workers share: its limits are those
     * of the whole batch. */
    const struct gf_options *const outer = gf_second_pictures_limits();
    gf_second_pictures_set_limits(&request->options);
    if (remote) {
        status =
            gf_pipeline_open_remote(request->chain, &options, remote, &worker->pipeline, error);
        if (!status && batch->devices.choice.cpu_alone)
            gf_pipeline_set_cpu_for_remote(worker->pipeline);
    } else if (request->more_outputs) {
        status = open_outputs(worker, &options, error);
    } else if (request->open) {
        status =
            request->open(request->context, request->chain, &options, &worker->pipeline, error);
    } else {
        status = gf_pipeline_open(request->chain, &options, &worker->pipeline, error);
    }
    gf_second_pictures_set_limits(outer);
    if (!status && options.device == GF_DEVICE_AUTO)
        status = gf_pipeline_expect_gpu_sooner(worker->pipeline, error);
    if (status) {
        gf_pipeline_close(worker->pipeline);
        worker->pipeline = NULL;
    }
    if (!status &&
        !gf_cost_takes_slow(gf_batch_is_single(request), batch->devices.choice.slow_files))
        gf_pipeline_keep_slow_files(worker->pipeline);
    if (!status) {
        gf_pipeline_share_budget(worker->pipeline, &worker->batch->memory_budget);
        gf_pipeline_share_missed(worker->pipeline, &worker->batch->missed);
        gf_pipeline_set_reason(worker->pipeline, batch->devices.reason);
        if (gf_batch_is_single(batch->request))
            gf_pipeline_share_progress(worker->pipeline, &worker->batch->progress);
    }
    return status;
}

/* Makes the thread that called gf_batch_run() start the helper of device `number`, and waits until
 * it has started. Returns false if it does not start. The caller holds the lock. */
static bool wake_device(struct gf_batch *batch, int number)
{
    struct gf_batch_device *const device = &batch->devices.device[number];
    device->wanted = true;
    pthread_cond_broadcast(&batch->changed);
    while (batch->attended && !batch->stopped && !device->awake && !device->failed)
        pthread_cond_wait(&batch->changed, &batch->lock);
    return device->awake && !device->failed;
}

/* Returns the next device that still works, counted from the worker's own device; -1: there is
 * none. A helper is started only if no other device works and the CPU must not be used. The caller
 * holds the lock. */
static int other_device(const struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    const int count = batch->devices.count;
    for (int i = 1; i <= 2 * count; i++) {
        const int number = (worker->assigned_device + i) % count;
        const struct gf_batch_device *const device = &batch->devices.device[number];
        if (!device->failed && (device->awake || (i > count && !batch->devices.falls_back &&
                                                  wake_device(batch, number))))
            return number;
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

/* Notes why another device filters the picture. */
static void note_change(struct gf_batch_worker *worker, const char *why)
{
    const struct gf_batch *const batch = worker->batch;
    char where[32] = "the CPU";
    if (!*why || !batch->request->options.warn)
        return;
    if (worker->device >= 0)
        snprintf(where, sizeof where, "cuda:%d", batch->devices.device[worker->device].index);
    fprintf(worker->notes_file, "w%s; the picture is done on %s\n", why, where);
}

/* Returns the index of the device that filters a picture at which the worker's helper has failed;
 * -1: none. The caller holds the lock. */
static int device_beside_helper(const struct gf_batch_worker *worker)
{
    if (!worker->batch->devices.device[0].failed)
        return 0;
    const int device = other_device(worker);
    return device == worker->device ? -1 : device;
}

/* Whether a device of this process, which is whole, has refused the worker's file for its floats.
 */
static bool refused_floats(const struct gf_batch_worker *worker, enum gf_status failure)
{
    return failure == GF_ERROR_UNAVAILABLE && worker->pipeline &&
           gf_pipeline_refused_floats(worker->pipeline);
}

/* Moves the worker, after a failure of its device, to another device or to the CPU, which then
 * filters the file again. Returns false if there is none. A device that is out of memory, or takes
 * no floats, is tried again with the next picture; one that has failed is never used again. The end
 * of a helper is noted once, although it fails the pictures of several workers. */
static bool change_device(struct gf_batch_worker *worker, enum gf_status failure,
                          const struct gf_error *why)
{
    struct gf_batch *const batch = worker->batch;
    const bool floats = refused_floats(worker, failure);
    const bool broken = failure == GF_ERROR_DEVICE ||
                        (failure == GF_ERROR_UNAVAILABLE && !floats && batch->devices.falls_back);
    if (worker->device < 0 || (!broken && !floats && failure != GF_ERROR_DEVICE_MEMORY))
        return false;
    struct gf_batch_device *const failed = &batch->devices.device[worker->device];
    const bool helped = worker->device >= batch->devices.here;
    pthread_mutex_lock(&batch->lock);
    const bool noted = failure == GF_ERROR_UNAVAILABLE || (broken && helped && failed->failed);
    failed->failed |= broken;
    const int device = broken              ? other_device(worker)
                       : helped && !floats ? device_beside_helper(worker)
                                           : -1;
    pthread_mutex_unlock(&batch->lock);
    if (device < 0 && !batch->devices.falls_back)
        return false;
    if (broken)
        worker->assigned_device = device;
    use_device(worker, device);
    if (!noted)
        note_change(worker, why->text);
    return true;
}

/* Returns the worker to its own device before a file, unless another worker has seen that device
 * fail. */
static void return_to_device(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    if (worker->assigned_device >= 0 && batch->devices.device[worker->assigned_device].failed) {
        const int device = other_device(worker);
        if (device >= 0 || batch->devices.falls_back)
            worker->assigned_device = device;
    }
    pthread_mutex_unlock(&batch->lock);
    /* A pipe cannot be sent to a helper, and cannot be read again. */
    const bool helped = worker->assigned_device >= batch->devices.here;
    use_device(worker,
               helped && !worker->member.data && gf_input_named_is_stream(worker->input->path)
                   ? 0
                   : worker->assigned_device);
}

/* Processes the file, or the member of an archive, on the worker's present device. */
static enum gf_status try_file(struct gf_batch_worker *worker, struct gf_error *why)
{
    const struct gf_batch_request *const request = worker->batch->request;
    struct gf_destination destination[GF_PIPELINE_OUTPUTS_MAX];
    const int outputs = gf_batch_outputs(request);
    const bool archive = gf_batch_has_archives(request);
    bool several = !archive;
    for (int k = 0; k < outputs; k++)
        several &=
            gf_batch_output_at(request, k).name->is_stdout || gf_batch_numbers_pictures(request, k);
    for (int k = 0; k < outputs; k++)
        destination[k] = (struct gf_destination){
            .bytes = worker->result[k].bytes,
            .choose = batch_choose_path,
            .pattern = gf_batch_output_at(request, k).name->text,
            .done = gf_batch_picture_done,
            .number = gf_batch_is_single(request) ? 0 : (int)(worker->index + 1),
            .several = several,
            .each = several && gf_batch_numbers_pictures(request, k),
            .several_hint = archive          ? "each picture needs a name: a file of its own"
                            : request->sheet ? "each picture needs a file of its own"
                                             : "number the outputs by {n}, without "
                                               "--skip-existing and --update, or write to -",
            .left_out = worker->result[k].outcome != GF_OUTCOME_WAITING,
            .context = &worker->result[k]};
    const enum gf_status status = gf_pipeline_filter_pictures(
        worker->pipeline, worker->input->path,
        worker->member.data || worker->member.opened ? &worker->member : NULL, destination, why);
    worker->member.opened = NULL; /* the pipeline has closed the input */
    for (int k = 0; outputs > 1 && k < outputs; k++) {
        struct gf_batch_result *const result = &worker->result[k];
        if (destination[k].left_out)
            continue;
        result->status = destination[k].status;
        result->why = destination[k].error;
        /* After a failure in an input of several pictures, some pictures are missing from every
         * output. */
        if (destination[k].delivered && !(status && several))
            result->outcome = GF_OUTCOME_DONE;
    }
    return status;
}

/* Sets the results of the outputs that are still GF_OUTCOME_WAITING after the last try. */
static void set_results(struct gf_batch_worker *worker, enum gf_status status,
                        const struct gf_error *why)
{
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        struct gf_batch_result *const result = &worker->result[k];
        if (result->outcome != GF_OUTCOME_WAITING)
            continue;
        if (!result->status && status) {
            result->status = status;
            result->why = *why;
        }
        result->outcome = result->status ? GF_OUTCOME_FAILED : GF_OUTCOME_DONE;
        gf_name_options_as_typed(result->why.text);
    }
}

/* Processes the worker's file, on another device if the worker's device fails. Makes the outputs
 * whose results are GF_OUTCOME_WAITING, and sets their results. */
static void worker_do_file(struct gf_batch_worker *worker)
{
    struct gf_error why = {0};
    enum gf_status status;
    return_to_device(worker);
    do {
        status = worker->pipeline ? GF_OK : open_pipeline(worker, &why);
        GF_THEN(status, try_file(worker, &why));
        /* A pipe cannot be read again from its start. */
    } while (status && !gf_input_named_is_stream(worker->input->path) &&
             change_device(worker, status, &why));
    set_results(worker, status, &why);
}

/* ---- the worker's inputs, one after another ---- */

/* Finds out which outputs of the worker's input are to be made. Returns false if there is none. */
static bool begin_results(struct gf_batch_worker *worker)
{
    bool any = false;
    if (!worker->member.data && !worker->is_fetched)
        worker->identity = gf_identify_file(worker->input->path);
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        struct gf_batch_result *const result = &worker->result[k];
        struct gf_bytes *const bytes = worker->bytes ? &worker->bytes[k] : NULL;
        free(result->path);
        *result = (struct gf_batch_result){
            .worker = worker, .number = k, .bytes = bytes && bytes->name ? bytes : NULL};
        if (result->bytes)
            result->path = strdup(bytes->name);
        if (result->bytes && worker->item->is_link) {
            result->outcome = GF_OUTCOME_DONE;
            continue;
        }
        if (worker->is_fetched && worker->fetched.status) {
            result->outcome = GF_OUTCOME_FAILED;
            result->status = worker->fetched.status;
            result->why = worker->fetched.error;
            continue;
        }
        result->outcome =
            gf_batch_check_existing(worker->batch, worker->input->path, &worker->identity,
                                    worker->item, k, result->why.text, sizeof result->why.text);
        if (result->outcome == GF_OUTCOME_FAILED)
            result->status = gf_batch_status_of_existing(worker->item, k);
        any |= result->outcome == GF_OUTCOME_WAITING;
    }
    return any;
}

/* Returns the output that tells how the picture ended: the first output that failed, else the first
 * that was done, else the first. */
static const struct gf_batch_result *telling_result(const struct gf_batch_worker *worker)
{
    const struct gf_batch_result *telling = &worker->result[0];
    for (int k = 1; k < gf_batch_outputs(worker->batch->request); k++) {
        const struct gf_batch_result *const result = &worker->result[k];
        if (telling->outcome != GF_OUTCOME_FAILED &&
            (result->outcome == GF_OUTCOME_FAILED || telling->outcome == GF_OUTCOME_SKIPPED))
            telling = result;
    }
    return telling;
}

static void do_input(struct gf_batch_worker *worker)
{
    const struct gf_batch_request *const request = worker->batch->request;
    worker->counted = false;
    if (begin_results(worker))
        worker_do_file(worker);
    if (worker->supply->store)
        worker->supply->store(worker);
    /* A failure that ends the whole run, such as a failure of a closed standard output, becomes the
     * run's error. */
    bool ends = gf_batch_is_single(request);
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const enum gf_status status = worker->result[k].status;
        ends |= (status == GF_ERROR_UNAVAILABLE && !refused_floats(worker, status)) ||
                (gf_batch_output_at(request, k).name->is_stdout && status == GF_ERROR_OUTPUT);
    }
    gf_batch_end_item(worker, telling_result(worker), ends);
}

enum gf_status gf_batch_open_worker(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                    int number, struct gf_error *error)
{
    struct gf_batch_worker *const worker = &batch->worker[number];
    const int here = batch->workers_here;
    const int device = !batch->devices.count ? -1
                       : number < here
                           ? number % batch->devices.here
                           : batch->devices.here + (number - here) / batch->workers_of_helper;
    *worker = (struct gf_batch_worker){
        .batch = batch,
        .supply = supply,
        .number = number,
        .assigned_device = device,
        .device = device,
        .result = calloc((size_t)gf_batch_outputs(batch->request), sizeof *worker->result)};
    worker->notes_file = open_memstream(&worker->notes, &worker->notes_bytes);
    return worker->result && worker->notes_file ? GF_OK : gf_fail_memory(error);
}

void gf_batch_close_worker(struct gf_batch_worker *worker)
{
    if (worker->notes_file)
        fclose(worker->notes_file);
    free(worker->notes);
    free(worker->result);
}

/* Ends a worker's thread: closes the pipeline and tells the batch. */
static void end_worker(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    /* The pipeline of a device is not closed if the process ends, since that frees the device's
     * memory faster. */
    if (!batch->request->process_ends || worker->device < 0)
        gf_pipeline_close(worker->pipeline);
    for (int k = 0; k < gf_batch_outputs(batch->request); k++)
        free(worker->result[k].path);
    pthread_mutex_lock(&batch->lock);
    batch->working--;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Marks the input as done, so that the thread that called gf_batch_run() takes over its results. */
static void mark_done(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    struct gf_batch_order *const order = worker->supply->order;
    pthread_mutex_lock(&batch->lock);
    order->done[worker->place % order->room] = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

void gf_batch_run_worker(struct gf_batch_worker *worker)
{
    const struct gf_batch_supply *const supply = worker->supply;
    while (supply->take(worker)) {
        do_input(worker);
        supply->done(worker);
        if (supply->order)
            mark_done(worker);
    }
    end_worker(worker);
}

static void *worker_main(void *worker)
{
    gf_batch_run_worker(worker);
    return NULL;
}

int gf_batch_start_workers(struct gf_batch *batch, int first, int end)
{
    int started = 0;
    for (int i = first; i < end; i++) {
        struct gf_batch_worker *const worker = &batch->worker[i];
        worker->started = !pthread_create(&worker->thread, NULL, worker_main, worker);
        if (!worker->started)
            break;
        started++;
    }
    batch->working += started;
    return started;
}
