/* Searches for the quality of a file whose picture a device holds. */
#include <math.h>

#include "base/fail.h"
#include "base/image.h"
#include "codec/io/input.h"
#include "engine/backend.h"
#include "engine/device_codec.h"
#include "engine/device_score.h"
#include "measure/ssim.h"
#include "measure/ssimulacra2.h"

struct trials {
    struct gf_trials base;
    struct gf_device_coders *coders;
    enum gf_file_format file_format;
    const struct gf_image *image;
    struct gf_buffer_pool *buffers;
};

static enum gf_status encode(const struct gf_trials *base, const struct gf_options *options,
                             struct gf_sink *sink, struct gf_error *error)
{
    const struct trials *const trials = (const struct trials *)base;
    double coded_s;
    return gf_device_encode(trials->coders, trials->file_format, trials->image, sink, options,
                            &coded_s, error);
}

/* Decodes a file in host memory. decoded->data stays NULL if the device cannot do that. */
static enum gf_status decode(const struct trials *trials, const void *file, size_t size,
                             struct gf_image *decoded, struct gf_error *error)
{
    struct gf_device_file coded = {.data = NULL};
    struct gf_input *input;
    GF_TRY(gf_input_open_memory(file, size, "trial", &input, error));
    enum gf_status status =
        gf_device_file_read(input, trials->file_format, NULL, true, true, trials->image->format,
                            UINT64_MAX, trials->buffers, &coded, error);
    gf_input_close(input);
    if (!status && coded.data)
        status = gf_device_file_decode(trials->coders, &coded, trials->image->format,
                                       trials->buffers, decoded, error);
    return status;
}

static enum gf_status score(const struct gf_trials *base, const struct gf_options *options,
                            const void *file, size_t size, double *score, struct gf_error *error)
{
    const struct trials *const trials = (const struct trials *)base;
    struct gf_backend *const backend = trials->buffers->backend;
    const struct gf_format format = trials->image->format;
    const bool ssim = options->target_ssim > 0;
    const int side = ssim ? GF_SSIM_SIDE : GF_SSIMULACRA2_SIDE;
    struct gf_image decoded = {.data = NULL};
    struct gf_measure_picture pair = {.original = trials->image,
                                      .changed = &decoded,
                                      .wanted = ssim ? GF_SCORE_SSIM : GF_SCORE_SSIMULACRA2};
    *score = NAN;
    if (format.width < side || format.height < side)
        return GF_OK;
    GF_TRY(decode(trials, file, size, &decoded, error));
    enum gf_status status = GF_OK;
    if (decoded.data) {
        const int before = backend->calls->bind ? backend->calls->bind(backend) : 0;
        status = gf_score_on_gpu(&pair, options, error);
        if (backend->calls->bind)
            backend->calls->unbind(backend, before);
        gf_buffer_pool_return(trials->buffers, decoded.data);
    }
    *score = ssim ? pair.ssim : pair.score;
    return status || pair.measured
               ? status
               : gf_fail(error, GF_ERROR_DEVICE_MEMORY, "out of memory to score a picture of %dx%d",
                         format.width, format.height);
}

enum gf_status gf_device_search(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                struct gf_buffer_pool *buffers, struct gf_error *error)
{
    const struct trials trials = {{encode, score}, coders, file_format, image, buffers};
    return sink->search(sink, &trials.base, error);
}
