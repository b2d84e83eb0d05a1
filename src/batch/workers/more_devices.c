/* Starts devices after the first during the run, if the rest of the work pays for it. A helper
 * process runs each device; the device's workers in this process send it their pictures. */
#include <sys/resource.h>

#include "base/cpu.h"
#include "batch/workers/workers.h"
#include "server/helper.h"

static const double never_s = 3600, look_s = 0.01, /* look_s: the time between two looks while a
                                                    * helper starts */
    window_s = 0.25, long_window_s = 1;
enum { WINDOW_PICTURES = 16 };

int gf_batch_workers_of_helper(const struct gf_batch *batch, int workers_here)
{
    const int helpers = batch->devices.count - batch->devices.here;
    if (!helpers)
        return 0;
    const int most = gf_batch_most_workers(workers_here * (1 + helpers));
    return most > workers_here ? (most - workers_here) / helpers : 0;
}

bool gf_batch_device_pays(const struct gf_batch_pace *pace, int awake, size_t left, double start_s)
{
    const double busy_most = 0.8; /* if the processors are busier, they cannot keep another device
                                   * busy */
    return pace->inputs_a_second > 0 && (double)left / (pace->inputs_a_second * awake) > start_s &&
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

/* Measures the pace when enough has been done since the window began. The first pictures wait for
 * the device, and do not count. */
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

/* Whether another device pays. Before the pace is known, a long estimate decides for the second
 * device, since an estimate may be several times too long. */
static bool pays(const struct gf_batch *batch, int awake)
{
    const double start_s = 1e-3 * gf_figure(batch->request->figures, GF_FIGURE_CUDA_MORE);
    const size_t expected = batch->devices.expected,
                 left = batch->next < expected ? expected - batch->next : 0;
    if (batch->pace.inputs_a_second == 0)
        return batch->state.pictures && gf_batch_is_long(batch->request, &batch->devices);
    return gf_batch_device_pays(&batch->pace, awake, left, start_s);
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
    batch->window.begin_s = 0; /* the pace changes from here on */
    (void)gf_batch_start_workers(batch, first, first + workers);
    pthread_cond_broadcast(&batch->changed);
    if (batch->request->verbose)
        gf_batch_tell(batch->request, GF_MESSAGE_CHOICE,
                      "cuda:%d joins after %.2f s, when %zu pictures are done", device->index,
                      gf_now() - batch->begin_s, batch->state.pictures);
}

/* Starts a device if a worker wants it, and starts its workers when it has started. */
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

/* Whether a helper could still be useful. */
static bool has_use(const struct gf_batch *batch)
{
    bool wanted = false;
    for (int i = batch->devices.here; i < batch->devices.count; i++)
        wanted |= batch->devices.device[i].wanted;
    return batch->devices.here < batch->devices.count &&
           (wanted || (!batch->stopped && batch->next < batch->devices.expected));
}

/* Returns the next device that has not been started; NULL: there is none. */
static struct gf_batch_device *sleeping_device(struct gf_batch *batch)
{
    for (int i = batch->devices.here; i < batch->devices.count; i++) {
        struct gf_batch_device *const device = &batch->devices.device[i];
        if (!device->helper && !device->failed)
            return device;
    }
    return NULL;
}

/* One helper starts at a time. The driver starts one GPU after another, even for different
 * processes; in this way the first of them joins soon. */
double gf_batch_attend_helpers(struct gf_batch *batch)
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

void gf_batch_end_helpers(struct gf_batch *batch)
{
    for (int i = batch->devices.here; i < batch->devices.count; i++) {
        struct gf_helper *const helper = batch->devices.device[i].helper;
        if (helper)
            gf_helper_end(helper, !batch->request->process_ends);
    }
}
