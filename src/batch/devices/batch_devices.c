/* Chooses the devices of a batch, and how many workers share them and the memory. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cpu.h"
#include "batch/workers/batch_work.h"
#include "batch/devices/cost.h"
#include "codec/formats.h"
#include "engine/backend.h"
#include "server/client.h"

/* From this number of pictures on, settings that make the start longer pay off. 150 PNGs of 1080p
 * took 407 ms with 96 workers and 340 with 32, 600 took 480 and 461, 4,000 took 1.73 s and 2.03
 * (H200). */
enum { MANY_PICTURES = 1500 };

uint64_t gf_batch_physical_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30;
}

/* How many workers the limit of open files allows. */
static int most_workers(void)
{
    enum { FILES_OF_ALL = 8, FILES_OF_EACH = 4 };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) ||
        files.rlim_cur >= FILES_OF_ALL + FILES_OF_EACH * GF_BATCH_WORKERS_MAX)
        return GF_BATCH_WORKERS_MAX;
    const int affordable = ((int)files.rlim_cur - FILES_OF_ALL) / FILES_OF_EACH;
    return affordable > 1 ? affordable : 1;
}

/* How many pictures lie in the devices' memory at one time: decoded, filtered, and about to be
 * encoded. The codec has the other half of that memory. */
static double pictures_that_fit(const struct gf_batch *batch)
{
    enum { PIXEL_BYTES = 3, COPIES = 5 };
    const double bytes = (double)batch->options.device_memory_bytes * batch->devices / 2;
    return bytes > 0 && batch->pixels > 0 ? bytes / (batch->pixels * PIXEL_BYTES * COPIES)
                                          : GF_BATCH_WORKERS_MAX;
}

bool gf_batch_one_thread_each(size_t pictures, int workers)
{
    const size_t turns = (pictures + (size_t)workers - 1) / (size_t)workers;
    return pictures > 1 && 2 * turns * (size_t)workers <= 3 * pictures;
}

/* Divides the work. With enough pictures there is a worker for each processor, and each worker uses
 * one thread; with fewer pictures or little memory there are fewer workers, which share the
 * processors. */
int gf_batch_divide_work(struct gf_batch *batch)
{
    struct gf_options *const options = &batch->options;
    const uint64_t memory = options->memory_bytes, least = (uint64_t)1 << 20;
    int threads = options->threads > 0 ? options->threads : gf_cpu_count();
    const int most = most_workers();
    threads = threads < most ? threads : most;
    int workers = batch->count < (size_t)threads ? (int)batch->count : threads;
    if (batch->device_codec && batch->count > 1) {
        /* Workers mostly wait for the GPU's codec, which is fast with many pictures at once. */
        workers =
            (batch->device_unpacks && batch->count >= MANY_PICTURES ? GF_BATCH_UNPACK_WORKERS
                                                                    : GF_BATCH_CODEC_WORKERS) *
            batch->devices;
        const double fit = pictures_that_fit(batch);
        workers = fit < workers ? (int)fit : workers;
        workers = options->threads > 0 || workers < threads ? threads : workers;
        workers = workers < most ? workers : most;
        workers = batch->count < (size_t)workers ? (int)batch->count : workers;
        options->serial = true;
    }
    if (gf_batch_writes_stdout(batch->request))
        workers = 1;
    if (memory && (uint64_t)workers > memory / 2 / least)
        workers = memory / 2 / least ? (int)(memory / 2 / least) : 1;
    if (workers == threads && !options->lanes && gf_batch_one_thread_each(batch->count, workers))
        options->serial = true;
    if (options->serial)
        options->threads = 1;
    else if (workers > 1) /* twice as many threads where there is room, since the parts of a picture
                           * wait for one another */
        options->threads = (memory ? 1 : 2) * threads / workers;
    /* Half of the memory is for bands, half for whole pictures. */
    gf_memory_budget_open(&batch->memory_budget,
                          memory ? memory / 2 : gf_batch_physical_bytes() / 4, workers);
    if (memory && workers > 1)
        options->memory_bytes = memory / 2 / (uint64_t)workers;
    if (options->device_memory_bytes && batch->devices)
        options->device_memory_bytes = options->device_memory_bytes * (uint64_t)batch->devices /
                                       (uint64_t)(workers + batch->devices - 1);
    return workers ? workers : 1;
}

/* Sets an environment variable that makes CUDA start faster, unless the user has set it. CUDA reads
 * it only when it starts. */
static void set_unless_set(const char *name, const char *value)
{
    if (!getenv(name))
        (void)setenv(name, value, 0);
}

/* Each queue to the device makes the start longer, by 0.1 s from 1 to 8; but with one queue the
 * lanes of several pictures wait for one another, and filters wait for the JPEG codec's kernels. */
static void choose_queues(size_t pictures, bool device_codec)
{
    const char *queues = "2";
    if (pictures == 1)
        queues = "1";
    else if (device_codec && pictures >= MANY_PICTURES)
        queues = "4";
    set_unless_set("CUDA_DEVICE_MAX_CONNECTIONS", queues);
}

/* The driver starts with every device that it sees. Where only device 0 is used, the driver need
 * not see the others, and device 0 keeps its number. */
static void start_devices(const int *device, int devices)
{
    if (devices == 1 && !device[0])
        set_unless_set("CUDA_VISIBLE_DEVICES", "0");
    set_unless_set("CUDA_MODULE_LOADING", "LAZY"); /* the default of newer drivers */
    for (int i = 0; i < devices; i++)
        gf_backend_cuda_begin(device[i]);
}

static bool asks_for_cuda(const struct gf_batch_request *request)
{
    return request->options.device == GF_DEVICE_CUDA || request->devices ||
           request->options.codec == GF_CODEC_GPU;
}

/* Whether a GPU's codec takes such inputs, or the outputs that such inputs usually have. */
static bool suits_device_codec(const struct gf_options *options, enum gf_file_format format)
{
    return options->codec != GF_CODEC_CPU &&
           (format == GF_FILE_JPEG || (format == GF_FILE_PNG && options->png_level == 1));
}

/* No file has been opened yet: the first file's name stands for all. */
void gf_batch_choose_queues(const struct gf_batch_request *request)
{
    const size_t pictures = request->inputs->count;
    if (pictures > 1)
        choose_queues(pictures,
                      suits_device_codec(&request->options,
                                         gf_file_format_named(request->inputs->item[0].path)));
}

void gf_batch_begin_devices(const struct gf_batch_request *request)
{
    if (request->dry_run || request->inputs->count < 2 || request->open || !asks_for_cuda(request))
        return;
    if (request->devices)
        start_devices(request->device, request->devices);
    else
        start_devices(&request->options.device_index, 1);
}

/* Looks for a server where there is a single picture, which would wait for the device's start. A
 * batch keeps a device of its own busy. */
static void find_server(struct gf_batch *batch)
{
    const struct gf_batch_request *const request = batch->request;
    const int device = request->devices ? request->device[0] : request->options.device_index;
    const bool filters = request->chain && *request->chain;
    const bool asked = asks_for_cuda(request);
    bool silent;
    if (request->server == GF_SERVER_OFF)
        return;
    /* Reports the estimate even where the user has asked for the device. */
    if (request->inputs->count > 1 && (!asked || request->verbose) && gf_server_present(device))
        batch->server = GF_COST_SERVER_BESIDE;
    if (request->more_outputs || batch->archive || request->inputs->count != 1 ||
        request->devices > 1 || (!filters && !asked) ||
        !gf_server_may_run(request->chain, &request->options))
        return;
    batch->remote = gf_server_connect(device, &silent);
    if (batch->remote)
        batch->server = GF_COST_SERVER_WORKS;
    if (silent && request->options.warn)
        request->message(request->context, GF_MESSAGE_WARNING,
                         "the server does not answer; the picture is done without it");
    if (!batch->remote && !silent && request->server == GF_SERVER_START)
        gf_server_start(device, request->server_idle_s);
}

void gf_batch_drop_server(struct gf_batch *batch)
{
    if (batch->remote)
        batch->remote->close(batch->remote);
    batch->remote = NULL;
}

void gf_batch_choose_devices(struct gf_batch *batch, const struct gf_batch_request *look)
{
    const struct gf_batch_request *const request = batch->request;
    const enum gf_device_kind kind = request->options.device;
    snprintf(batch->reason, sizeof batch->reason, "asked for");
    batch->falls_back = kind == GF_DEVICE_AUTO && request->options.codec != GF_CODEC_GPU;
    if (kind == GF_DEVICE_CPU)
        return;
    find_server(batch);
    const struct gf_cost_choice choice =
        gf_cost_choose(look, batch->server, batch->reason, sizeof batch->reason);
    if (choice.device == GF_DEVICE_CPU) {
        gf_batch_drop_server(batch);
        return;
    }
    batch->device_codec = choice.device_codec;
    batch->device_unpacks = choice.device_unpacks;
    batch->pixels = choice.pixels;
    batch->cpu_alone = choice.cpu_alone;
    int index[GF_BATCH_DEVICES_MAX] = {request->options.device_index};
    for (int i = 0; i < request->devices && i < GF_BATCH_DEVICES_MAX; i++)
        index[batch->devices++] = request->device[i];
    batch->devices = batch->devices ? batch->devices : 1;
    for (int i = 0; i < batch->devices; i++)
        batch->device[i].index = index[i];
    choose_queues(batch->count, batch->device_codec);
    if (!batch->remote && !request->open)
        start_devices(index, batch->devices);
}

/* Checks that the devices exist. Counting them takes a tenth of a second, and is left out where
 * device 0 is enough. */
enum gf_status gf_batch_check_devices(const struct gf_batch *batch, struct gf_error *error)
{
    const char *why = "";
    int highest = 0;
    const enum gf_status status =
        asks_for_cuda(batch->request) ? gf_batch_check_kernels(batch->request, error) : GF_OK;
    if (status)
        return status;
    if (!batch->devices || batch->falls_back || batch->remote || batch->request->open)
        return GF_OK;
    if (!gf_backend_cuda_likely(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    for (int i = 0; i < batch->devices; i++)
        highest = batch->device[i].index > highest ? batch->device[i].index : highest;
    const int count = highest ? gf_device_count(&why) : 1;
    if (highest < count)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there %s %d)", highest,
                   count == 1 ? "is" : "are", count);
}
