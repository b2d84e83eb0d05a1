/* Chooses the device that scores pictures. */
#include "bench/score.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "batch/devices/figures.h"
#include "engine/backend.h"
#include "engine/device_score.h"
#include "gpufilter/device.h"
#include "measure/ssimulacra2.h"

/* The estimated time of what was measured while no GPU had started. */
static _Atomic double cpu_s;
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
    return cpu_s > 1e-3 * gf_figure(NULL, GF_FIGURE_CUDA_START) || gf_backend_cuda_started(&shared);
}

/* Counts a picture for the CPU, beside which others are measured if it has one thread alone. */
static void count_picture(struct gf_format format, const struct gf_options *options)
{
    const int threads = options->threads && !options->serial ? options->threads : gf_cpu_count();
    cpu_s += 60e-9 * format.width * format.height / threads;
}

static enum gf_status start_gpu(const struct gf_options *options, struct gf_error *error)
{
    const char *why;
    if (!gf_device_count(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    gf_backend_cuda_begin(options->device_index);
    return gf_device_start_wait(options->device_index, error);
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
        enum gf_status status = start_gpu(options, error);
        GF_THEN(status, gf_score_on_gpu(&pair, options, error));
        *score = pair.score;
        if (pair.measured || (status && options->device == GF_DEVICE_CUDA))
            return status;
        failed |= status != GF_OK;
    }
    return gf_ssimulacra2(original, changed, threads, score, error);
}
