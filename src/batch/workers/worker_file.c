#include <string.h>

#include "batch/request/request.h"
#include "batch/workers/workers.h"
#include "server/helper.h"

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

/* Connects the worker to the process that filters its pictures. The pipeline then owns the
 * connection. Returns NULL if this process filters them. Only one worker uses the server. */
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
    /* Second pictures are limited by the options of the whole batch, since all workers share
     * them. */
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
    if (!status) {
        gf_pipeline_share_budget(worker->pipeline, &worker->batch->memory_budget);
        gf_pipeline_share_missed(worker->pipeline, &worker->batch->missed);
        gf_pipeline_set_reason(worker->pipeline, batch->devices.reason);
        if (gf_batch_is_single(batch->request))
            gf_pipeline_share_progress(worker->pipeline, &worker->batch->progress);
    }
    return status;
}

/* Makes the calling thread start a helper, and waits until it has started. Returns false if it does
 * not start. The caller holds the lock. */
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

/* Returns the device that filters a picture that the worker's helper has not filtered; -1: there is
 * none. The caller holds the lock. */
static int device_beside_helper(const struct gf_batch_worker *worker)
{
    if (!worker->batch->devices.device[0].failed)
        return 0;
    const int device = other_device(worker);
    return device == worker->device ? -1 : device;
}

/* Moves the worker, after a failure of its device, to another device or to the CPU, which then
 * filters the file again. Returns false if there is none. A device that is out of memory is tried
 * again with the next picture; a device that has failed is never used again. The end of a helper is
 * noted once, although it fails the pictures of several workers. */
static bool change_device(struct gf_batch_worker *worker, enum gf_status failure,
                          const struct gf_error *why)
{
    struct gf_batch *const batch = worker->batch;
    const bool broken = failure == GF_ERROR_DEVICE ||
                        (failure == GF_ERROR_UNAVAILABLE && batch->devices.falls_back);
    if (worker->device < 0 || (!broken && failure != GF_ERROR_DEVICE_MEMORY))
        return false;
    struct gf_batch_device *const failed = &batch->devices.device[worker->device];
    const bool helped = worker->device >= batch->devices.here;
    pthread_mutex_lock(&batch->lock);
    const bool noted = failure == GF_ERROR_UNAVAILABLE || (broken && helped && failed->failed);
    failed->failed |= broken;
    const int device = broken ? other_device(worker) : helped ? device_beside_helper(worker) : -1;
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
            .choose = gf_batch_choose_path,
            .pattern = gf_batch_output_at(request, k).name->text,
            .done = gf_batch_picture_done,
            .number = gf_batch_is_single(request) ? 0 : (int)(worker->index + 1),
            .several = several,
            .each = several && outputs == 1 && gf_batch_numbers_pictures(request, k),
            .several_hint = archive          ? "each picture needs a name: a file of its own"
                            : request->sheet ? "each picture needs a file of its own"
                                             : "number the outputs by {n}, without "
                                               "--skip-existing and --update, or write to -",
            .left_out = worker->result[k].outcome != GF_OUTCOME_WAITING,
            .context = &worker->result[k]};
    const enum gf_status status = gf_pipeline_filter_pictures(
        worker->pipeline, worker->input->path,
        worker->member.data || worker->member.opened ? &worker->member : NULL, destination, why);
    worker->member.opened = NULL; /* the pipeline has closed it */
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

/* Sets the results of the outputs that were tried last. */
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

void gf_worker_do_file(struct gf_batch_worker *worker)
{
    struct gf_error why = {0};
    enum gf_status status;
    return_to_device(worker);
    do {
        status = worker->pipeline ? GF_OK : open_pipeline(worker, &why);
        if (!status)
            status = try_file(worker, &why);
        /* A pipe cannot be read again from its start. */
    } while (status && !gf_input_named_is_stream(worker->input->path) &&
             change_device(worker, status, &why));
    set_results(worker, status, &why);
}
