/* Chooses the devices of a batch, and how its workers share the devices, the processors and the
 * memory. */
#include "batch/devices/devices.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "batch/names/names.h"
#include "codec/formats.h"
#include "engine/backend.h"
#include "server/server.h"

/* Sets an environment variable that makes CUDA start faster, unless the user has set it. CUDA reads
 * the variable only when it starts. */
static void set_unless_set(const char *name, const char *value)
{
    if (!getenv(name))
        (void)setenv(name, value, 0);
}

/* Chooses the number of queues to the device. 8 queues instead of 1 make the start 0.1 s longer;
 * but with one queue the lanes of several pictures wait for one another, and filters wait for the
 * JPEG codec's kernels. `slow` tells that decoding a group takes long, which others must not wait
 * for: on an H200 600 progressive JPEGs took 960 ms with 2 queues and 534 ms with 8, and 10,000
 * took 3.8 s with 8 queues and 2.2 s with 16. */
static void choose_queues(size_t pictures, bool device_codec, bool slow)
{
    const char *queues = "2";
    if (pictures == 1)
        queues = "1";
    else if (slow && pictures >= GF_BATCH_MANY_PICTURES)
        queues = "16";
    else if (slow || (device_codec && pictures >= GF_BATCH_MANY_PICTURES))
        queues = "8";
    set_unless_set("CUDA_DEVICE_MAX_CONNECTIONS", queues);
}

/* Starts the devices. The driver starts every device that it sees. If only one is used, the others
 * are hidden from it. */
static void start_devices(const int *device, int devices)
{
    if (devices == 1)
        (void)gf_visible_hide_others(device[0]);
    set_unless_set("CUDA_MODULE_LOADING", "LAZY"); /* the default of newer drivers */
    for (int i = 0; i < devices; i++)
        gf_backend_cuda_begin(device[i]);
}

static bool asks_for_cuda(const struct gf_batch_request *request)
{
    return request->options.device == GF_DEVICE_CUDA || request->devices ||
           request->options.codec == GF_CODEC_GPU;
}

/* In a long list some files are looked at. If no GPU is asked for, none starts before the files
 * have been looked at: gf_batch_choose_devices() chooses then. */
void gf_batch_choose_queues(const struct gf_batch_request *request)
{
    const size_t pictures = request->inputs->count;
    struct gf_cost_work work = {0};
    if (pictures < 2 || !asks_for_cuda(request))
        return;
    if (pictures >= GF_BATCH_MANY_PICTURES && request->options.codec != GF_CODEC_CPU)
        (void)gf_cost_look(request, GF_COST_NO_SERVER, &work);
    choose_queues(pictures, work.device_codec, work.slow_files);
}

/* Whether helpers (src/server/server.h) may run further devices. */
static bool may_use_helpers(const struct gf_batch_request *request)
{
    return request->helpers && !request->more_outputs && !gf_batch_writes_stdout(request) &&
           !request->profile && gf_visible_count() > 1 &&
           gf_server_may_run_all(request->chain, &request->options);
}

/* Starts the first device. Later devices wait until it is known whether they are needed. */
void gf_batch_begin_devices(const struct gf_batch_request *request)
{
    if (request->dry_run || request->inputs->count < 2 || request->open || !asks_for_cuda(request))
        return;
    if (!request->devices)
        start_devices(&request->options.device_index, 1);
    else if (request->devices == 1 || may_use_helpers(request))
        start_devices(request->device, 1);
}

struct gf_remote *gf_batch_find_server(int use, int device, int idle_s, bool *silent)
{
    *silent = false;
    if (use == GF_SERVER_OFF)
        return NULL;
    struct gf_remote *const remote = gf_server_connect(device, silent);
    if (!remote && !*silent && use == GF_SERVER_START)
        gf_server_start(device, idle_s);
    return remote;
}

/* Looks for a server if there is a single picture, which would otherwise wait for the device's
 * start. A batch of several pictures keeps a device of its own busy. */
static void find_server(const struct gf_batch_request *request, struct gf_batch_devices *devices)
{
    const int device = request->devices ? request->device[0] : request->options.device_index;
    const bool asked = asks_for_cuda(request);
    bool silent;
    if (request->server == GF_SERVER_OFF)
        return;
    /* The estimate is reported even if the user has named a device. */
    if (request->inputs->count > 1 && (!asked || request->verbose) && gf_server_present(device))
        devices->server = GF_COST_SERVER_BESIDE;
    if (request->more_outputs || !gf_batch_is_single(request) || request->devices > 1 ||
        !gf_server_may_run(request->chain, &request->options))
        return;
    devices->remote =
        gf_batch_find_server(request->server, device, request->server_idle_s, &silent);
    if (devices->remote)
        devices->server = GF_COST_SERVER_WORKS;
    if (silent && request->options.warn)
        request->message(request->context, GF_MESSAGE_WARNING,
                         "the server does not answer; the picture is done without it");
}

void gf_batch_drop_server(struct gf_batch_devices *devices)
{
    if (devices->remote)
        devices->remote->close(devices->remote);
    devices->remote = NULL;
}

/* Whether the estimate of the run is so long that the start of further devices pays, even if the
 * estimate is several times too long. */
static bool is_long(const struct gf_batch_request *request, const struct gf_batch_devices *devices)
{
    enum { STARTS = 8 }; /* an estimate may be several times too long */
    const double start_s = 1e-3 * gf_figure(request->figures, GF_FIGURE_CUDA_MORE);
    return devices->choice.cuda_s >= STARTS * start_s;
}

/* Lists the devices that the run may use. Without helpers all devices would be started before the
 * first picture, which only pays in long runs. */
static void list_devices(const struct gf_batch_request *request, struct gf_batch_devices *devices)
{
    const bool helpers = devices->expected > 0 && may_use_helpers(request);
    int count = request->devices ? request->devices : 1;
    if (!request->devices && helpers && devices->expected > 1 &&
        request->options.device == GF_DEVICE_AUTO)
        count = gf_visible_count();
    if (!helpers && !request->open && devices->choice.cuda_s > 0 && !is_long(request, devices))
        count = 1;
    devices->count = count < GF_BATCH_DEVICES_MAX ? count : GF_BATCH_DEVICES_MAX;
    devices->here = helpers ? 1 : devices->count;
    for (int i = 0; i < devices->count; i++)
        devices->device[i] = (struct gf_batch_device){
            .index = request->devices ? request->device[i] : request->options.device_index + i,
            .awake = i < devices->here};
}

static void tell_line(void *context, const char *text)
{
    const struct gf_batch_request *const request = context;
    request->message(request->context, GF_MESSAGE_CHOICE, text);
}

void gf_batch_tell_estimate(const struct gf_batch_request *request,
                            const struct gf_batch_request *look, enum gf_cost_server server)
{
    const char *why_not;
    struct gf_cost_work work;
    if (!gf_cost_look(look, server, &work))
        return;
    const bool gpu = work.server != GF_COST_NO_SERVER || gf_backend_cuda_likely(&why_not);
    gf_cost_describe(&work, gpu && !gf_batch_check_kernels(request, NULL), tell_line,
                     (void *)request);
}

void gf_batch_choose_devices(const struct gf_batch_request *request,
                             const struct gf_batch_request *look, size_t pictures,
                             struct gf_batch_devices *devices)
{
    const enum gf_device_kind kind = request->options.device;
    snprintf(devices->reason, sizeof devices->reason, "asked for");
    devices->falls_back = kind == GF_DEVICE_AUTO && request->options.codec != GF_CODEC_GPU;
    if (kind != GF_DEVICE_CPU)
        find_server(request, devices);
    if (request->verbose)
        gf_batch_tell_estimate(request, look, devices->server);
    if (kind == GF_DEVICE_CPU)
        return;
    devices->choice =
        gf_cost_choose(look, devices->server, devices->reason, sizeof devices->reason);
    if (devices->choice.device == GF_DEVICE_CPU) {
        devices->choice = (struct gf_cost_choice){0};
        gf_batch_drop_server(devices);
        return;
    }
    devices->expected = look->expected ? look->expected : pictures;
    if (!look->expected && gf_archive_named(request->inputs->item[0].path))
        devices->expected = 0; /* 0: the length of the archive is not known */
    list_devices(request, devices);
    int index[GF_BATCH_DEVICES_MAX];
    for (int i = 0; i < devices->here; i++)
        index[i] = devices->device[i].index;
    choose_queues(pictures, devices->choice.device_codec, devices->choice.slow_files);
    if (!devices->remote && !request->open)
        start_devices(index, devices->here);
}

int gf_batch_count_devices(const char **why)
{
    const int visible = gf_visible_count();
    return visible ? visible : gf_device_count(why);
}

/* Checks that the devices exist. Device 0 is not counted, since its start tells whether it
 * exists. */
enum gf_status gf_batch_check_devices(const struct gf_batch_request *request,
                                      const struct gf_batch_devices *devices,
                                      struct gf_error *error)
{
    const char *why = "";
    int highest = 0;
    if (asks_for_cuda(request))
        GF_TRY(gf_batch_check_kernels(request, error));
    if (!devices->count || devices->falls_back || devices->remote || request->open)
        return GF_OK;
    if (!gf_backend_cuda_likely(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    for (int i = 0; i < devices->count; i++)
        highest = devices->device[i].index > highest ? devices->device[i].index : highest;
    const int count = highest ? gf_batch_count_devices(&why) : 1;
    if (highest < count)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there %s %d)", highest,
                   count == 1 ? "is" : "are", count);
}

/* ---- how many workers there are, and what each gets ---- */

int gf_batch_most_workers(int wanted)
{
    enum { FILES_OF_ALL = 8, FILES_OF_EACH = 5 };
    const rlim_t needed = FILES_OF_ALL + FILES_OF_EACH * (rlim_t)wanted;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= needed)
        return wanted;
    files.rlim_cur = needed < files.rlim_max ? needed : files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= needed)
        return wanted;
    const int affordable = ((int)files.rlim_cur - FILES_OF_ALL) / FILES_OF_EACH;
    return affordable > 1 ? affordable : 1;
}

/* Returns how many pictures fit in the devices' memory at one time, each in so many copies. The
 * codec uses the other half of that memory. */
static double pictures_that_fit(const struct gf_batch_devices *devices, uint64_t device_bytes,
                                int copies)
{
    enum { PIXEL_BYTES = 3 };
    const double bytes = (double)device_bytes * devices->here / 2, pixels = devices->choice.pixels;
    return bytes > 0 && pixels > 0 ? bytes / (pixels * PIXEL_BYTES * copies) : GF_BATCH_WORKERS_MAX;
}

/* Returns the number of workers for pictures of which the GPU decodes a few as slowly as many: as
 * many workers as pictures probably fit in the GPU's memory, whose size is not known yet, but not
 * fewer than `usual`. Most of these pictures wait for the decoder and have one copy, the memory for
 * the decoded picture. */
static int slow_workers(const struct gf_batch_devices *devices, size_t pictures, int usual)
{
    enum { WAITING_COPIES = 2 };
    const double fit = pictures_that_fit(devices, (uint64_t)16 << 30, WAITING_COPIES);
    const int each = pictures < GF_BATCH_MANY_PICTURES ? GF_BATCH_SLOW_WORKERS
                                                       : GF_BATCH_MANY_SLOW_WORKERS,
              most = each * devices->here, slow = fit < most ? (int)fit : most;
    return slow > usual ? slow : usual;
}

/* Makes malloc() keep at most `bytes` of the memory that the workers free. It would otherwise keep
 * up to 64 MiB for each worker. */
static void bound_kept_memory(uint64_t bytes, int workers)
{
    enum { BLOCKS_MOST = 32 << 20, KEPT_MOST = 64 << 20 };
    const uint64_t kept = bytes / (uint64_t)workers;
    if (kept >= KEPT_MOST)
        return;
    mallopt(M_MMAP_THRESHOLD, kept < BLOCKS_MOST ? (int)kept : BLOCKS_MOST);
    mallopt(M_TRIM_THRESHOLD, (int)kept);
}

/* Divides the work. With enough pictures there is a worker for each processor, and each worker uses
 * one thread; with fewer pictures or little memory there are fewer workers, which share the
 * processors. */
int gf_batch_divide_work(const struct gf_batch_request *request,
                         const struct gf_batch_devices *devices, size_t pictures,
                         struct gf_options *options, struct gf_memory_budget *memory_budget)
{
    enum { COPIES = 5, SEARCHES = 16 }; /* searches wait for the few measurers of a GPU */
    const uint64_t memory = options->memory_bytes, least = (uint64_t)1 << 20;
    int threads = options->threads > 0 ? options->threads : gf_cpu_count();
    const int most = gf_batch_most_workers(GF_BATCH_WORKERS_MAX);
    threads = threads < most ? threads : most;
    int workers = pictures < (size_t)threads ? (int)pictures : threads;
    if (devices->choice.device_codec && pictures > 1) {
        /* Workers mostly wait for the GPU's codec, which is fastest with many pictures at once. */
        workers = (gf_options_fit(options)             ? SEARCHES
                   : pictures < GF_BATCH_MANY_PICTURES ? GF_BATCH_CODEC_WORKERS
                                                       : GF_BATCH_MANY_WORKERS) *
                  devices->here;
        if (devices->choice.slow_files)
            workers = slow_workers(devices, pictures, workers);
        /* decoded, filtered, and about to be encoded */
        const double fit = pictures_that_fit(devices, options->device_memory_bytes, COPIES);
        workers = fit < workers ? (int)fit : workers;
        workers = options->threads > 0 || workers < threads ? threads : workers;
        workers = workers < most ? workers : most;
        workers = pictures < (size_t)workers ? (int)pictures : workers;
        options->serial = true;
    }
    if (gf_batch_writes_stdout(request) && !request->frames)
        workers = 1;
    if (memory && (uint64_t)workers > memory / 2 / least)
        workers = memory / 2 / least ? (int)(memory / 2 / least) : 1;
    if (workers == threads && !options->lanes && gf_cost_one_thread_each(pictures, workers))
        options->serial = true;
    if (options->serial)
        options->threads = 1;
    else if (workers > 1) /* twice as many threads if there is room, since the parts of a picture
                           * wait for one another */
        options->threads = (memory ? 1 : 2) * threads / workers;
    /* Half of the memory is for bands, half for whole pictures. A picture larger than its half also
     * takes memory from the bands' half, while other workers wait. */
    const uint64_t whole = memory ? memory / 2 : gf_memory_pictures_bytes();
    bound_kept_memory(whole / 2, workers ? workers : 1);
    gf_memory_budget_open(memory_budget, memory ? memory : whole, (memory ? 2 : 1) * workers);
    if (memory && workers > 1)
        options->memory_bytes = memory / 2 / (uint64_t)workers;
    if (options->device_memory_bytes && devices->here)
        options->device_memory_bytes = options->device_memory_bytes * (uint64_t)devices->here /
                                       (uint64_t)(workers + devices->here - 1);
    return workers ? workers : 1;
}
