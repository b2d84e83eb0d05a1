/* Decodes and encodes pictures in device memory by the GPU's coders. */
#include "pipeline/pipeline_state.h"

#include "base/fail.h"
#include "base/time_limit.h"
#include "codec/common/source.h"
#include "engine/bands.h"

/* The budget of host memory has to hold the input's file and the encoded result, which may be as
 * large as the input. */
uint64_t gf_pipeline_file_bytes_most(const struct gf_pipeline *pipeline)
{
    return gf_pipeline_resolved(pipeline).memory_bytes / 2;
}

static size_t samples_of(struct gf_format format)
{
    return gf_row_bytes(format) * (size_t)format.height;
}

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       struct gf_device_coders *coders, struct gf_device_file *file,
                                       struct gf_format format, struct gf_image *image,
                                       struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_TRY(gf_device_file_decode(coders, file, format, &pipeline->buffers, image, error));
    if (image->data)
        gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                     samples_of(format));
    return GF_OK;
}

enum gf_status gf_pipeline_encode_on_device(struct gf_pipeline *pipeline,
                                            const struct gf_picture_task *task,
                                            struct gf_sink *sink,
                                            const struct gf_device_images *device_images,
                                            struct gf_error *error)
{
    const double begin_s = gf_now();
    double coded_s = begin_s;
    const enum gf_status status =
        gf_device_encode(device_images->coders, task->file_format, &device_images->out, sink,
                         &pipeline->options, &coded_s, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, coded_s,
                 samples_of(device_images->out.format));
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, coded_s, gf_now(), 0);
    return status ? status : gf_time_check(error); /* kernels and coders are not interrupted */
}

/* Decodes the file, and takes memory for the result if the device encodes it. */
static enum gf_status take_images(struct gf_pipeline *pipeline, struct gf_device_file *file,
                                  const struct gf_plan *plan, bool encodes,
                                  struct gf_device_images *images, struct gf_error *error)
{
    if (file->data)
        GF_TRY(decode_on_device(pipeline, images->coders, file, plan->in, &images->in, error));
    if (!encodes)
        return GF_OK;
    if (!plan->stage_count) {
        images->out = images->in;
        return GF_OK;
    }
    images->out = (struct gf_image){.format = plan->out,
                                    .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    images->out.data =
        gf_buffer_pool_take(&pipeline->buffers, images->out.pitch * (size_t)plan->out.height);
    return GF_OK;
}

enum gf_status gf_pipeline_take_device_images(struct gf_pipeline *pipeline,
                                              const struct gf_picture_task *task,
                                              const struct gf_plan *plan, struct gf_source *source,
                                              const struct gf_sink *sink,
                                              struct gf_device_images *device_images,
                                              struct gf_error *error)
{
    const struct gf_backend_calls *const calls = pipeline->backend->calls;
    const uint64_t encoded = gf_device_encoded_bytes(task->file_format, plan->out);
    const bool encodes = sink && sink->splice && encoded <= gf_pipeline_file_bytes_most(pipeline) &&
                         gf_device_encodes(task->file_format, plan->out, &pipeline->options);
    struct gf_device_file file = {.data = NULL};
    enum gf_status status = GF_OK;
    *device_images = (struct gf_device_images){.encoded_bytes = encoded};
    pipeline->device_codec_used = false;
    if (task->in_on_device)
        device_images->in = *task->image_in;
    if (!calls->coders || pipeline->options.codec == GF_CODEC_CPU ||
        (!task->input && !task->in_on_device) || pipeline->no_device_codec ||
        (!plan->stage_count && !encodes && !task->out_on_device))
        return GF_OK;
    if (!task->image_in)
        status = gf_device_file_read(
            task->input, task->own_format, source, pipeline->options.serial, plan->in,
            gf_pipeline_file_bytes_most(pipeline), &pipeline->buffers, &file, error);
    if (status || (!file.data && (!encodes || (!plan->stage_count && !task->in_on_device))))
        return status; /* a failure is reported before the thread waits for the device's start */
    const double begin_s = gf_now();
    status = calls->ready(pipeline->backend, error);
    gf_time_limit_excuse(begin_s); /* the device's start is not the picture's time */
    if (!status)
        status = calls->coders(pipeline->backend, &device_images->coders, error);
    pipeline->device_codec_used = !status;
    if (!status && file.data)
        gf_device_decoder_prepare(device_images->coders, &file);
    if (!status && encodes)
        gf_device_encoder_prepare(device_images->coders, task->file_format);
    if (!status)
        status = take_images(pipeline, &file, plan, encodes, device_images, error);
    if (!status && file.end && source && source->leave)
        status = source->leave(source, (int64_t)file.end, error);
    gf_buffer_pool_return(&pipeline->buffers, file.data);
    return status;
}

void gf_pipeline_drop_device_images(struct gf_pipeline *pipeline,
                                    const struct gf_picture_task *task,
                                    const struct gf_device_images *device_images)
{
    const unsigned char *const held = task->in_on_device ? task->image_in->data : NULL;
    if (device_images->in.data != held)
        gf_buffer_pool_return(&pipeline->buffers, device_images->in.data);
    if (device_images->out.data != held)
        gf_buffer_pool_return(&pipeline->buffers, device_images->out.data);
}
