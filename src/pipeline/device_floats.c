/* Pictures in a device's memory as the floating-point numbers that networks take. */
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/image.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/pipeline_state.h"
#include "pixel/floats.h"

/* Checks the pictures, which have one format. */
static enum gf_status check_images(const struct gf_image *images, int count, struct gf_error *error)
{
    if (count < 1)
        return gf_fail(error, GF_ERROR_USAGE, "count=%d is below 1", count);
    for (int i = 0; i < count; i++) {
        GF_TRY(gf_image_check(&images[i], "picture", error));
        if (memcmp(&images[i].format, &images[0].format, sizeof images[0].format))
            return gf_fail(error, GF_ERROR_UNFIT, "[%d]: its format is not that of [0]", i);
    }
    return GF_OK;
}

enum gf_status gf_pipeline_to_floats(struct gf_pipeline *pipeline, int count,
                                     const struct gf_image *images, enum gf_floats layout,
                                     int channels, const float *mean, const float *deviation,
                                     float *values, void *stream, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(images, error);
    GF_NOT_NULL(values, error);
    struct gf_float_form form;
    GF_TRY(check_images(images, count, error));
    if (pipeline->options.device != GF_DEVICE_CUDA || !pipeline->backend->calls->to_floats)
        return gf_fail(error, GF_ERROR_USAGE,
                       "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    GF_TRY(gf_float_form_make(images[0].format, layout, channels, mean, deviation, &form, error));
    struct gf_backend *const backend = pipeline->backend;
    const int before = backend->calls->bind(backend);
    enum gf_status status = backend->calls->ready(backend, error);
    if (!status)
        status = backend->calls->to_floats(backend, images, count, &form, values, stream, error);
    backend->calls->unbind(backend, before);
    return status;
}
