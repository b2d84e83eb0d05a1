/* Chooses the device that scores pictures. A GPU has a few measurers, each with a stream and memory
 * of its own, which threads take in turn, so that one's copies overlap with another's kernels. They
 * are kept until the process ends. */
#include "bench/score.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "batch/devices/figures.h"
#include "engine/backend.h"
#include "gpufilter/device.h"
#include "measure/ssimulacra2.h"

enum { MEASURERS = 4, LARGE_PIXELS = 4 << 20 };

struct place {
    bool taken;
    int device;
    uint64_t most;                            /* the budget of its memory */
    struct gf_ssimulacra2_measurer *measurer; /* NULL: not created */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two, and `taken` */
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static double cpu_s; /* the estimated time of what was measured while no GPU had started */
static struct place places[MEASURERS];
static atomic_bool failed; /* a GPU has failed: GF_DEVICE_AUTO is the CPU */

/* As long as the CPU has worked no longer than a GPU takes to start, it goes on. */
bool gf_score_takes_gpu(const struct gf_options *options)
{
    const char *why_not;
    bool shared;
    if (options->device != GF_DEVICE_AUTO)
        return options->device == GF_DEVICE_CUDA;
    if (failed || !gf_backend_cuda_likely(&why_not))
        return false;
    pthread_mutex_lock(&lock);
    const bool pays = cpu_s > 1e-3 * gf_figure(NULL, GF_FIGURE_CUDA_START);
    pthread_mutex_unlock(&lock);
    return pays || gf_backend_cuda_started(&shared);
}

/* Counts a picture for the CPU, beside which others are measured if it has one thread alone. */
static void count_picture(struct gf_format format, const struct gf_options *options)
{
    const int threads = options->threads && !options->serial ? options->threads : gf_cpu_count();
    pthread_mutex_lock(&lock);
    cpu_s += 60e-9 * format.width * format.height / threads;
    pthread_mutex_unlock(&lock);
}

/* Takes a place, and waits until one is free. A budget of memory is for one of them, and large
 * pictures, which keep a GPU busy one by one, take the first one's memory alone. */
static struct place *take_place(const struct gf_options *options, struct gf_format format)
{
    const bool large = (int64_t)format.width * format.height > LARGE_PIXELS;
    const int count = options->device_memory_bytes || large ? 1 : MEASURERS;
    int i = 0;
    pthread_mutex_lock(&lock);
    while (places[i].taken) {
        if (++i < count)
            continue;
        pthread_cond_wait(&given_back, &lock);
        i = 0;
    }
    places[i].taken = true;
    pthread_mutex_unlock(&lock);
    return &places[i];
}

static void give_place(struct place *place)
{
    pthread_mutex_lock(&lock);
    place->taken = false;
    pthread_cond_broadcast(&given_back);
    pthread_mutex_unlock(&lock);
}

/* Makes sure that the place, which the thread has taken, has a measurer of the device. */
static enum gf_status fill(struct place *place, const struct gf_options *options,
                           struct gf_error *error)
{
    const uint64_t most = options->device_memory_bytes ? options->device_memory_bytes : UINT64_MAX;
    const int device = options->device_index;
    const char *why;
    if (place->measurer && place->device == device && place->most == most)
        return GF_OK;
    gf_ssimulacra2_measurer_destroy(place->measurer);
    place->measurer = NULL;
    place->device = device;
    place->most = most;
    if (!gf_device_count(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    gf_backend_cuda_begin(device);
    GF_TRY(gf_device_start_wait(device, error));
    return gf_ssimulacra2_measurer_create(device, most, &place->measurer, error);
}

void gf_score_rest(void)
{
    for (int i = 0; i < MEASURERS; i++) {
        pthread_mutex_lock(&lock);
        const bool rests = !places[i].taken;
        places[i].taken = true;
        pthread_mutex_unlock(&lock);
        if (!rests)
            continue;
        gf_ssimulacra2_measurer_destroy(places[i].measurer);
        places[i].measurer = NULL;
        give_place(&places[i]);
    }
}

enum gf_status gf_score_on_gpu(struct gf_ssimulacra2_measure_picture *pair,
                               const struct gf_options *options, struct gf_error *error)
{
    struct place *const place = take_place(options, pair->original->format);
    enum gf_status status = fill(place, options, error);
    GF_THEN(status, gf_ssimulacra2_measurer_run(place->measurer, pair, 1, error));
    give_place(place);
    pair->measured &= !status;
    return status == GF_ERROR_DEVICE_MEMORY ? GF_OK : status;
}

enum gf_status gf_score_ssimulacra2(const struct gf_image *original, const struct gf_image *changed,
                                    const struct gf_options *options, double *score,
                                    struct gf_error *error)
{
    const struct gf_format format = original->format;
    const int threads = options->threads ? options->threads : gf_cpu_count();
    const bool large = format.width >= GF_SSIMULACRA2_SIDE && format.height >= GF_SSIMULACRA2_SIDE;
    struct gf_ssimulacra2_measure_picture pair = {.original = original, .changed = changed};
    count_picture(format, options);
    if (large && gf_score_takes_gpu(options)) {
        const enum gf_status status = gf_score_on_gpu(&pair, options, error);
        *score = pair.score;
        if (pair.measured || (status && options->device == GF_DEVICE_CUDA))
            return status;
        failed |= status != GF_OK;
    }
    return gf_ssimulacra2(original, changed, threads, score, error);
}
