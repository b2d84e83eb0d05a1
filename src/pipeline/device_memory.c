/* Pictures in the memory of a pipeline's device that the caller frees. */
#include "gpufilter/pipeline_batch.h"
#include "engine/bands.h"
#include "pipeline/pipeline_state.h"

enum gf_status gf_pipeline_alloc_image(const struct gf_pipeline *pipeline, struct gf_format format,
                                       struct gf_image *image, struct gf_error *error)
{
    struct gf_backend *const backend = pipeline->backend;
    const size_t pitch = gf_band_pitch(backend, format);
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = backend->calls->alloc(backend, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                                 "out of device memory for a picture of %dx%d", format.width,
                                 format.height);
}

void gf_pipeline_free_images(struct gf_pipeline *pipeline, struct gf_image *images, int count)
{
    if (!pipeline || !images || !pipeline->backend || !pipeline->backend->calls->settle)
        return;
    struct gf_backend *const backend = pipeline->backend;
    backend->calls->settle(backend); /* another picture may get the memory at once */
    for (int i = 0; i < count; i++) {
        struct gf_image *const image = &images[i];
        if (image->data)
            backend->calls->release(backend, image->data,
                                    image->pitch * (size_t)image->format.height);
        image->data = NULL;
    }
}
