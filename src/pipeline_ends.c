/* The ends of a picture's way that lie on the device. */
#include "pipeline_state.h"

#include "bands.h"

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       const struct gf_passage *passage, const struct gf_plan *plan,
                                       struct gf_image *image, struct gf_error *error)
{
    if (passage->own_format != GF_FILE_JPEG)
        return GF_OK;
    const double begin_s = gf_now();
    const enum gf_status status = gf_codec_device_decode(&pipeline->codec, passage->input, plan->in,
                                                         &pipeline->store, image, error);
    if (!status && image->data)
        gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                     gf_row_bytes(plan->in) * (size_t)plan->in.height);
    return status;
}

enum gf_status gf_pipeline_encode_on_device(struct gf_pipeline *pipeline, struct gf_sink *sink,
                                            const struct gf_image *image, struct gf_error *error)
{
    gf_codec_device_enter(&pipeline->codec);
    const double begin_s = gf_now();
    const enum gf_status status = gf_codec_device_encode(&pipeline->codec, image, &pipeline->store,
                                                         sink, &pipeline->options, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(image->format) * (size_t)image->format.height);
    return status;
}

enum gf_status gf_pipeline_take_ends(struct gf_pipeline *pipeline, const struct gf_passage *passage,
                                     const struct gf_plan *plan, struct gf_ends *ends,
                                     struct gf_error *error)
{
    *ends = (struct gf_ends){0};
    if (!pipeline->codec.jpeg || !passage->input)
        return GF_OK;
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, error);
    if (!status)
        status = gf_codec_device_ready(&pipeline->codec,
                                       pipeline->options.codec == GF_CODEC_GPU_IF_FAST, error);
    if (status || !pipeline->codec.jpeg)
        return status;
    const bool encodes = gf_codec_device_encodes(&pipeline->codec, passage->file_format, plan->out,
                                                 &pipeline->options);
    if (!plan->stage_count && !encodes)
        return GF_OK;
    status = decode_on_device(pipeline, passage, plan, &ends->in, error);
    if (status || !encodes)
        return status;
    if (!plan->stage_count) {
        ends->out = ends->in;
        return GF_OK;
    }
    ends->out = (struct gf_image){.format = plan->out,
                                  .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    ends->out.data = gf_store_take(&pipeline->store, ends->out.pitch * (size_t)plan->out.height);
    return GF_OK;
}

void gf_pipeline_drop_ends(struct gf_pipeline *pipeline, const struct gf_ends *ends)
{
    if (ends->in.data)
        gf_store_give(&pipeline->store, ends->in.data);
    if (ends->out.data)
        gf_store_give(&pipeline->store, ends->out.data);
}
