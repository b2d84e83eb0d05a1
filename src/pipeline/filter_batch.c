/* Filters many pictures in a device's memory to pictures that are complete, and are allocated where
 * the caller has no memory for them. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/pipeline_state.h"

/* Allocates the pictures without memory, in the formats of the results. */
static enum gf_status allocate(struct gf_pipeline *pipeline, const struct gf_image *inputs,
                               struct gf_image *images, int count, struct gf_error *error)
{
    struct gf_format format = {0};
    for (int i = 0; i < count; i++) {
        if (!i || memcmp(&inputs[i].format, &inputs[i - 1].format, sizeof format))
            GF_TRY(gf_pipeline_number(
                gf_pipeline_format(pipeline, inputs[i].format, &format, error), i, count, error));
        if (!images[i].data)
            GF_TRY(gf_pipeline_number(gf_pipeline_alloc_image(pipeline, format, &images[i], error),
                                      i, count, error));
    }
    return GF_OK;
}

static enum gf_status run_bound(struct gf_pipeline *pipeline, const struct gf_image *inputs,
                                struct gf_image *images, int count, void *stream,
                                struct gf_error *error)
{
    GF_TRY(allocate(pipeline, inputs, images, count, error));
    GF_TRY(gf_pipeline_run_device_batch(pipeline, inputs, images, count, stream, error));
    return gf_resident_wait(pipeline->resident, stream, error);
}

enum gf_status gf_filter_batch(struct gf_pipeline *pipeline, int count,
                               const struct gf_image *inputs, struct gf_image *outputs,
                               void *stream, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(inputs, error);
    GF_NOT_NULL(outputs, error);
    /* This checks the chain, and starts the device. */
    enum gf_status status = gf_pipeline_run_device_batch(pipeline, inputs, outputs,
                                                         count < 0 ? count : 0, stream, error);
    if (status || !count)
        return status;
    struct gf_image *const images = malloc((size_t)count * sizeof *images);
    if (!images)
        return gf_fail_memory(error);
    memcpy(images, outputs, (size_t)count * sizeof *images);
    const struct gf_backend_calls *const calls = pipeline->backend->calls;
    const int before = calls->bind(pipeline->backend);
    status = run_bound(pipeline, inputs, images, count, stream, error);
    if (pipeline->backend)
        calls->unbind(pipeline->backend, before);
    for (int i = 0; status && i < count; i++) {
        if (!outputs[i].data)
            gf_pipeline_free_images(pipeline, &images[i], 1);
    }
    if (!status)
        memcpy(outputs, images, (size_t)count * sizeof *images);
    free(images);
    return status;
}
