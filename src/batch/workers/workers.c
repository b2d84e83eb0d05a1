/* The calling thread of a batch: starts workers, further devices if they pay, and waits for all;
 * or reports for --dry-run what they would do. */
#include "batch/workers/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/process/program.h"
#include "base/text/plain_text.h"
#include "server/server.h"

/* Times in seconds. never_s: until the next look if no helper is to start; look_s: between looks
 * while one starts; window_s: the least length of a window in which the pace is measured;
 * long_window_s: that of a window with fewer than WINDOW_PICTURES pictures. */
static const double never_s = 3600, look_s = 0.01, window_s = 0.25, long_window_s = 1;
enum { WINDOW_PICTURES = 16 };

/* Returns how many workers each helper has if this process's devices have `workers_here`
 * workers. */
static int batch_workers_of_helper(const struct gf_batch *batch, int workers_here)
{
    const int helpers = batch->devices.count - batch->devices.here;
    if (!helpers)
        return 0;
    const int most = gf_batch_most_workers(workers_here * (1 + helpers));
    return most > workers_here ? (most - workers_here) / helpers : 0;
}

bool gf_batch_device_pays(const struct gf_batch_pace *pace, int awake, size_t left, bool starting,
                          const struct gf_figures *figures)
{
    const double busy_most = 0.8; /* if the processors are busier, they cannot keep another device
                                   * busy */
    const double start_s = starting ? 1e-3 * gf_figure(figures, GF_FIGURE_CUDA_START) : 0;
    return pace->inputs_a_second > 0 &&
           start_s + (double)left / (pace->inputs_a_second * awake) >
               1e-3 * gf_figure(figures, GF_FIGURE_CUDA_MORE) &&
           pace->busy * awake < busy_most;
}

static double processor_s(const struct gf_batch *batch)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double sum = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    for (int i = batch->devices.here; i < batch->devices.count; i++) {
        if (batch->devices.device[i].helper)
            sum += gf_helper_processor_s(batch->devices.device[i].helper);
    }
    return sum;
}

static void begin_window(struct gf_batch *batch)
{
    batch->window = (struct gf_batch_window){
        .begin_s = gf_now(), .processor_s = processor_s(batch), .taken = batch->next};
}

/* Computes the pace once enough pictures were done since the window began. The first pictures wait
 * for the device, and do not count. */
static void measure_pace(struct gf_batch *batch, int awake)
{
    const struct gf_batch_window window = batch->window;
    const double time_s = gf_now() - window.begin_s;
    const size_t taken = batch->next - window.taken;
    if (window.begin_s == 0 && batch->state.pictures)
        begin_window(batch);
    if (window.begin_s == 0 || time_s < window_s || !taken ||
        (taken < WINDOW_PICTURES && time_s < long_window_s))
        return;
    batch->pace = (struct gf_batch_pace){.inputs_a_second = (double)taken / time_s / awake,
                                         .busy = (processor_s(batch) - window.processor_s) /
                                                 (time_s * gf_cpu_count()) / awake};
    begin_window(batch);
}

/* Whether another device pays. Until the pace is measured, the estimated pace decides. */
static bool pays(const struct gf_batch *batch, int awake)
{
    const size_t expected = batch->devices.expected,
                 left = batch->next < expected ? expected - batch->next : 0;
    const bool measured = batch->pace.inputs_a_second > 0;
    return gf_batch_device_pays(measured ? &batch->pace : &batch->devices.choice.pace, awake, left,
                                !batch->state.pictures, batch->request->figures);
}

static void fail_device(struct gf_batch *batch, struct gf_batch_device *device)
{
    device->failed = true;
    if (batch->request->devices && batch->request->options.warn)
        gf_batch_tell(batch->request, GF_MESSAGE_WARNING,
                      "cuda:%d does not start; the other devices do its part", device->index);
    pthread_cond_broadcast(&batch->changed);
}

static void start_helper(struct gf_batch *batch, struct gf_batch_device *device)
{
    const struct gf_helper_settings settings = {.device = device->index,
                                                .workers = batch->workers_of_helper,
                                                .memory_bytes = gf_memory_pictures_bytes() /
                                                                (uint64_t)batch->devices.count};
    device->helper = batch->workers_of_helper ? gf_helper_start(&settings) : NULL;
    if (!device->helper)
        fail_device(batch, device);
}

/* Starts the workers of a device that has started. */
static void join(struct gf_batch *batch, int number)
{
    struct gf_batch_device *const device = &batch->devices.device[number];
    const int workers = batch->workers_of_helper,
              first = batch->workers_here + (number - batch->devices.here) * workers;
    device->awake = true;
    batch->window.begin_s = 0; /* a new window begins, since the pace changes */
    (void)gf_batch_start_workers(batch, first, first + workers);
    pthread_cond_broadcast(&batch->changed);
    if (batch->request->verbose)
        gf_batch_tell(batch->request, GF_MESSAGE_CHOICE,
                      "cuda:%d joins after %.2f s, when %zu pictures are done", device->index,
                      gf_now() - batch->begin_s, batch->state.pictures);
}

/* Starts the helper of a device if a worker wants the device, and starts the device's workers once
 * the helper runs. */
static void attend_device(struct gf_batch *batch, int number)
{
    struct gf_batch_device *const device = &batch->devices.device[number];
    if (!device->helper && device->wanted && !device->failed)
        start_helper(batch, device);
    if (!device->helper || device->awake || device->failed)
        return;
    const enum gf_helper_state state = gf_helper_look(device->helper);
    if (state == GF_HELPER_FAILED)
        fail_device(batch, device);
    else if (state == GF_HELPER_AWAKE)
        join(batch, number);
}

/* Whether starting another helper could still be useful. */
static bool has_use(const struct gf_batch *batch)
{
    bool wanted = false;
    for (int i = batch->devices.here; i < batch->devices.count; i++)
        wanted |= batch->devices.device[i].wanted;
    return batch->devices.here < batch->devices.count &&
           (wanted || (!batch->stopped && batch->next < batch->devices.expected));
}

/* Returns the next device whose helper has not been started; NULL: there is none. */
static struct gf_batch_device *sleeping_device(struct gf_batch *batch)
{
    for (int i = batch->devices.here; i < batch->devices.count; i++) {
        struct gf_batch_device *const device = &batch->devices.device[i];
        if (!device->helper && !device->failed)
            return device;
    }
    return NULL;
}

/* Starts helpers as they pay, one at a time, and returns the seconds until the next look. The
 * driver starts one GPU after another anyway, even for different processes; so the first helper
 * joins early. */
static double batch_attend_helpers(struct gf_batch *batch)
{
    const int here = batch->devices.here;
    int awake = here, starting = 0;
    if (!has_use(batch))
        return never_s;
    for (int i = here; i < batch->devices.count; i++) {
        const struct gf_batch_device *const device = &batch->devices.device[i];
        attend_device(batch, i);
        awake += device->awake && !device->failed;
        starting += device->helper && !device->awake && !device->failed;
    }
    struct gf_batch_device *const next = sleeping_device(batch);
    if (next)
        measure_pace(batch, awake);
    if (starting || !next)
        return starting ? look_s : never_s;
    if (!pays(batch, awake))
        return window_s / 5;
    start_helper(batch, next);
    return look_s;
}

/* Ends all helpers after the workers have ended. */
static void batch_end_helpers(struct gf_batch *batch)
{
    for (int i = batch->devices.here; i < batch->devices.count; i++) {
        struct gf_helper *const helper = batch->devices.device[i].helper;
        if (helper)
            gf_helper_end(helper, !batch->request->process_ends);
    }
}

/* ---- starting the workers, and waiting for them ---- */

void gf_batch_tick(struct gf_batch *batch, bool at_end)
{
    const struct gf_batch_request *const request = batch->request;
    const int bands = batch->progress.total;
    batch->state.elapsed_s = gf_now() - batch->begin_s;
    batch->state.tiles_done = batch->progress.tiles_done;
    batch->state.tiles = batch->progress.tiles;
    batch->state.part = bands ? (double)batch->progress.done / bands : 0;
    const struct gf_batch_state state = batch->state;
    if (request->tick)
        request->tick(request->context, &state, at_end);
}

void gf_batch_wait(struct gf_batch *batch, struct timespec *next)
{
    const double tick_s =
        batch->request->tick && batch->request->tick_s > 0 ? batch->request->tick_s : 3600;
    if (!next->tv_sec)
        *next = gf_time_after(tick_s);
    const struct timespec look = gf_time_after(batch_attend_helpers(batch));
    const bool ticks = gf_is_earlier(next, &look);
    if (pthread_cond_timedwait(&batch->changed, &batch->lock, ticks ? next : &look) == ETIMEDOUT &&
        ticks) {
        gf_batch_tick(batch, false);
        *next = gf_time_after(tick_s);
    }
}

bool gf_batch_wait_for_room(struct gf_batch *batch, const struct gf_batch_order *order)
{
    while (!batch->stopped && !order->at_end && batch->next >= order->written + order->room)
        pthread_cond_wait(&batch->changed, &batch->lock);
    return !batch->stopped && !order->at_end;
}

/* Takes over the results of the next input. The caller holds the lock; it is released while the
 * results are written. */
static enum gf_status write_next(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                 struct gf_error *error)
{
    struct gf_batch_order *const order = supply->order;
    const size_t number = order->written;
    order->report(supply->context, number);
    pthread_mutex_unlock(&batch->lock);
    const enum gf_status status = order->write(supply->context, number, error);
    pthread_mutex_lock(&batch->lock);
    order->done[number % order->room] = false;
    order->written++;
    pthread_cond_broadcast(&batch->changed);
    return status;
}

/* Takes over all results, or those finished before the batch was stopped. */
static enum gf_status write_in_order(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                     struct gf_error *error)
{
    const struct gf_batch_order *const order = supply->order;
    struct timespec next = {0};
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&batch->lock);
    while (!status && !batch->stopped && !(order->at_end && order->written == batch->next)) {
        if (order->done[order->written % order->room])
            status = write_next(batch, supply, error);
        else
            gf_batch_wait(batch, &next);
    }
    batch->stopped |= status != GF_OK;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

static void wait_for_workers(struct gf_batch *batch, const struct gf_batch_supply *supply)
{
    const struct gf_batch_order *const order = supply->order;
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (batch->working)
        gf_batch_wait(batch, &next);
    for (size_t i = order ? order->written : 0; order && order->reports_all && i < batch->next; i++)
        order->report(supply->context, i);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
}

/* Starts the workers of this process's devices, and waits for the end of all workers. A single
 * worker needs no thread where the calling thread would only wait for it. */
static enum gf_status run_workers(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                  struct gf_error *error)
{
    const bool attends = supply->attend || supply->order;
    const bool alone = batch->workers_here == 1 && batch->devices.count == batch->devices.here &&
                       !batch->request->tick && !batch->transfers && !attends;
    pthread_mutex_lock(&batch->lock);
    const int started = alone ? 0 : gf_batch_start_workers(batch, 0, batch->workers_here);
    batch->attended = started > 0;
    batch->working += !started;
    pthread_mutex_unlock(&batch->lock);
    if (!started && attends)
        return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    if (!started)
        gf_batch_run_worker(&batch->worker[0]); /* the calling thread itself does the work */
    if (supply->attend)
        return supply->attend(supply->context, error);
    const enum gf_status status = supply->order ? write_in_order(batch, supply, error) : GF_OK;
    wait_for_workers(batch, supply);
    return status;
}

enum gf_status gf_batch_work(struct gf_batch *batch, const struct gf_batch_supply *supply,
                             int count, struct gf_error *error)
{
    batch->workers_here = count;
    batch->workers_of_helper = batch_workers_of_helper(batch, count);
    const int helpers = batch->devices.count - batch->devices.here,
              all = count + helpers * batch->workers_of_helper;
    struct gf_batch_worker *const worker = calloc((size_t)all, sizeof *worker);
    struct gf_batch_order *const order = supply->order;
    if (order)
        order->done = calloc(order->room, sizeof *order->done);
    batch->worker = worker;
    enum gf_status status = worker && (!order || order->done) ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < all; i++)
        status = gf_batch_open_worker(batch, supply, i, error);
    GF_THEN(status, run_workers(batch, supply, error));
    for (int i = 0; worker && i < all; i++) {
        if (worker[i].started)
            pthread_join(worker[i].thread, NULL);
    }
    batch_end_helpers(batch);
    for (int i = 0; worker && i < all; i++)
        gf_batch_close_worker(&worker[i]);
    if (order)
        free(order->done);
    free(worker);
    batch->worker = NULL;
    return status;
}

/* ---- how a worker takes an input of the request ---- */

static bool take_input(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    const bool taken = !batch->stopped && batch->next < batch->count;
    const size_t number = taken ? batch->next++ : 0;
    struct gf_input *const opened = batch->opened;
    if (taken)
        batch->opened = NULL;
    pthread_mutex_unlock(&batch->lock);
    if (taken) {
        worker->input = &batch->request->inputs->item[number];
        worker->item = &batch->item[number];
        worker->index = worker->input->index;
        worker->member = (struct gf_file_bytes){.opened = opened};
    }
    return taken;
}

void gf_batch_report_in_order(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    while (batch->reported < batch->count) {
        const size_t index = batch->reported;
        struct gf_batch_item *const item = &batch->item[index];
        if (item->outcome == GF_OUTCOME_WAITING)
            break;
        gf_batch_report(batch, item, batch->request->inputs->item[index].path);
        batch->reported++;
    }
    pthread_mutex_unlock(&batch->lock);
}

enum gf_status gf_batch_work_on_inputs(struct gf_batch *batch, int workers, struct gf_error *error)
{
    const struct gf_batch_supply supply = {.take = take_input, .done = gf_batch_report_in_order};
    return gf_batch_work(batch, &supply, workers, error);
}

/* ---- --dry-run: what the run would do with each input, as far as headers and names show ---- */

/* Checks by the input's header whether output `number` could be made. Does not open pipes. */
static enum gf_status check_header(const struct gf_batch *batch, const char *input, int number,
                                   struct gf_pipeline **reader, struct gf_error *error)
{
    struct gf_peek peek = {.pattern = gf_batch_output_at(batch->request, number).name->text};
    if (gf_input_named_is_stream(input))
        return GF_OK;
    GF_TRY(gf_batch_open_header_reader(batch->request, number, reader, error));
    return gf_pipeline_peek(*reader, input, &peek, error);
}

static enum gf_status send_line(const struct gf_batch *batch, size_t index, int number,
                                const char *comment, const char *why, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const output = batch->item[index].output[number];
    char *line = NULL;
    if (asprintf(&line, "%s -> %s%s%s%s", request->inputs->item[index].path,
                 output ? output : gf_batch_output_at(request, number).name->text, comment, why,
                 *comment ? ")" : "") < 0)
        return gf_fail_memory(error);
    gf_make_printable(line);
    request->message(request->context, GF_MESSAGE_DRY_RUN, line);
    free(line);
    return GF_OK;
}

/* Reports one output of an input. *fault becomes the status with which the output would fail, with
 * the reason in *why. */
static enum gf_status report_output(const struct gf_batch *batch, size_t index, int number,
                                    struct gf_pipeline **reader, enum gf_status *fault,
                                    struct gf_error *why, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const input = request->inputs->item[index].path;
    const struct gf_input_identity identity = gf_identify_file(input);
    const enum gf_outcome outcome = gf_batch_check_existing(
        batch, input, &identity, &batch->item[index], number, why->text, sizeof why->text);
    *fault = outcome == GF_OUTCOME_FAILED ? gf_batch_status_of_existing(&batch->item[index], number)
                                          : GF_OK;
    if (outcome == GF_OUTCOME_WAITING)
        *fault = check_header(batch, input, number, reader, why);
    gf_name_options_as_typed(why->text);
    if (*fault && gf_inputs_total(request->inputs) == 1) {
        *error = gf_batch_failure(request, input, number, NULL, *fault, why->text);
        return *fault;
    }
    return send_line(batch, index, number,
                     outcome == GF_OUTCOME_SKIPPED  ? " (skipped: "
                     : outcome == GF_OUTCOME_FAILED ? " (refused: "
                     : *fault                       ? " (fails: "
                                                    : "",
                     why->text, error);
}

enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error)
{
    const int outputs = gf_batch_outputs(batch->request);
    struct gf_pipeline *reader[GF_PIPELINE_OUTPUTS_MAX] = {0};
    enum gf_status status = GF_OK;
    size_t failing = 0;
    enum gf_status failure = GF_OK;
    for (size_t j = 0; !status && j < batch->count; j++) {
        bool fails = false;
        for (int k = 0; !status && k < outputs; k++) {
            struct gf_error why = {0};
            enum gf_status fault;
            status = report_output(batch, j, k, &reader[k], &fault, &why, error);
            fails |= fault != GF_OK;
            failure = gf_graver_status(failure, fault);
        }
        failing += fails;
    }
    for (int k = 0; k < outputs; k++)
        gf_pipeline_close(reader[k]);
    return status || !failing
               ? status
               : gf_fail(error, failure, "%zu of %zu files would fail", failing, batch->count);
}
