/* Decides how many workers a batch has, and how the workers share the processors and the memory. */
#include <malloc.h>
#include <sys/resource.h>

#include "base/cpu.h"
#include "batch/devices/devices.h"

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

/* Returns how many pictures fit in the devices' memory at one time, each in three forms: decoded,
 * filtered, and about to be encoded. The codec uses the other half of that memory. */
static double pictures_that_fit(const struct gf_batch_devices *devices, uint64_t device_bytes)
{
    enum { PIXEL_BYTES = 3, COPIES = 5 };
    const double bytes = (double)device_bytes * devices->here / 2, pixels = devices->choice.pixels;
    return bytes > 0 && pixels > 0 ? bytes / (pixels * PIXEL_BYTES * COPIES) : GF_BATCH_WORKERS_MAX;
}

/* Makes malloc() keep that much at most of what the workers free. It would keep up to 64 MiB for
 * each of them. */
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
    const uint64_t memory = options->memory_bytes, least = (uint64_t)1 << 20;
    int threads = options->threads > 0 ? options->threads : gf_cpu_count();
    const int most = gf_batch_most_workers(GF_BATCH_WORKERS_MAX);
    threads = threads < most ? threads : most;
    int workers = pictures < (size_t)threads ? (int)pictures : threads;
    if (devices->choice.device_codec && pictures > 1) {
        /* Workers mostly wait for the GPU's codec, which is fastest with many pictures at once. */
        workers =
            (pictures < GF_BATCH_MANY_PICTURES ? GF_BATCH_CODEC_WORKERS : GF_BATCH_MANY_WORKERS) *
            devices->here;
        const double fit = pictures_that_fit(devices, options->device_memory_bytes);
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
    /* Half of the memory is for bands, half for whole pictures. A larger one takes of the bands'
     * half, too, while other workers wait. */
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
