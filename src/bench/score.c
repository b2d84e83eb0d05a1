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
#include "measure/ssim.h"
#include "measure/ssimulacra2.h"

enum { OF_SSIM = GF_SCORE_SSIM | GF_SCORE_MS_SSIM };

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
static void count_picture(struct gf_format format, unsigned wanted,
                          const struct gf_options *options)
{
    const int threads = options->threads && !options->serial ? options->threads : gf_cpu_count();
    const double cost = (wanted & GF_SCORE_SSIMULACRA2 ? 60e-9 : 0) +
                        (wanted & OF_SSIM ? 13e-9 * format.channels : 0);
    cpu_s += cost * format.width * format.height / threads;
}

static enum gf_status start_gpu(const struct gf_options *options, struct gf_error *error)
{
    const char *why;
    if (!gf_device_count(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    gf_backend_cuda_begin(options->device_index);
    return gf_device_start_wait(options->device_index, error);
}

enum gf_status gf_score_pair(struct gf_measure_picture *pair, const struct gf_options *options,
                             struct gf_error *error)
{
    const struct gf_format format = pair->original->format;
    const int threads = options->threads ? options->threads : gf_cpu_count();
    const bool large = format.width >= GF_SSIMULACRA2_SIDE && format.height >= GF_SSIMULACRA2_SIDE;
    pair->measured = false;
    count_picture(format, pair->wanted, options);
    if (large && gf_score_takes_gpu(options)) {
        enum gf_status status = start_gpu(options, error);
        GF_THEN(status, gf_score_on_gpu(pair, options, error));
        if (pair->measured || (status && options->device == GF_DEVICE_CUDA))
            return status;
        failed |= status != GF_OK;
    }
    if (pair->wanted & OF_SSIM)
        GF_TRY(gf_ssim(pair->original, pair->changed, threads, &pair->ssim,
                       pair->wanted & GF_SCORE_MS_SSIM ? &pair->ms_ssim : NULL, error));
    return pair->wanted & GF_SCORE_SSIMULACRA2
               ? gf_ssimulacra2(pair->original, pair->changed, threads, &pair->score, error)
               : GF_OK;
}
