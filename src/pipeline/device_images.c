/* Pictures that the GPU's codec decodes and encodes in device memory. */
#include "pipeline/pipeline_state.h"

#include "codec/common/source.h"
#include "engine/bands.h"

/* The largest file that is decoded on the device: the budget of host memory has to hold the file
 * and the encoded result, which may be as large. */
static uint64_t file_bytes_most(const struct gf_pipeline *pipeline)
{
    return gf_pipeline_resolved(pipeline).memory_bytes / 2;
}

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       const struct gf_picture_task *task,
                                       const struct gf_plan *plan, struct gf_image *image,
                                       struct gf_error *error)
{
    const double begin_s = gf_now();
    const enum gf_status status =
        gf_device_codec_decode(&pipeline->codec, task->input, plan->in, file_bytes_most(pipeline),
                               &pipeline->buffers, image, error);
    if (!status && image->data)
        gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                     gf_row_bytes(plan->in) * (size_t)plan->in.height);
    return status;
}

enum gf_status gf_pipeline_encode_on_device(struct gf_pipeline *pipeline, struct gf_sink *sink,
                                            const struct gf_image *image, struct gf_error *error)
{
    gf_device_codec_acquire(&pipeline->codec);
    const double begin_s = gf_now();
    const enum gf_status status = gf_device_codec_encode(
        &pipeline->codec, image, &pipeline->buffers, sink, &pipeline->options, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(image->format) * (size_t)image->format.height);
    return status;
}

enum gf_status gf_pipeline_take_device_images(struct gf_pipeline *pipeline,
                                              const struct gf_picture_task *task,
                                              const struct gf_plan *plan,
                                              struct gf_device_images *device_images,
                                              struct gf_error *error)
{
    *device_images = (struct gf_device_images){0};
    pipeline->device_images_taken = false;
    if (!pipeline->codec.jpeg || !task->input || pipeline->no_device_images)
        return GF_OK;
    const bool decodes = task->own_format == GF_FILE_JPEG;
    const bool encodes =
        gf_device_codec_encodes(&pipeline->codec, task->file_format, plan->out, &pipeline->options);
    if (plan->stage_count ? !decodes && !encodes : !decodes || !encodes)
        return GF_OK; /* before the codec's start is waited for */
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, error);
    if (!status)
        status = gf_device_codec_ready(&pipeline->codec,
                                       pipeline->options.codec == GF_CODEC_GPU_IF_FAST, error);
    if (status || !pipeline->codec.jpeg)
        return status;
    if (decodes)
        status = decode_on_device(pipeline, task, plan, &device_images->in, error);
    pipeline->device_images_taken = device_images->in.data;
    if (status || !encodes)
        return status;
    if (!plan->stage_count) {
        device_images->out = device_images->in;
        return GF_OK;
    }
    device_images->out = (struct gf_image){.format = plan->out,
                                           .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    device_images->out.data = gf_buffer_pool_take(&pipeline->buffers, device_images->out.pitch *
                                                                          (size_t)plan->out.height);
    pipeline->device_images_taken |= device_images->out.data != NULL;
    return GF_OK;
}

void gf_pipeline_drop_device_images(struct gf_pipeline *pipeline,
                                    const struct gf_device_images *device_images)
{
    if (device_images->in.data)
        gf_buffer_pool_return(&pipeline->buffers, device_images->in.data);
    if (device_images->out.data)
        gf_buffer_pool_return(&pipeline->buffers, device_images->out.data);
}
