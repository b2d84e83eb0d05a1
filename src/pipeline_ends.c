/* The ends of a picture's way that lie on the device. */
#include "pipeline_state.h"

#include "bands.h"

/* Bytes that a file may have in pinned memory: the budget holds it and, at worst, as large a
 * result. */
static uint64_t file_bytes_most(const struct gf_pipeline *pipeline)
{
    return gf_pipeline_resolved(pipeline).memory_bytes / 2;
}

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       const struct gf_passage *passage, const struct gf_plan *plan,
                                       struct gf_image *image, struct gf_error *error)
{
    const double begin_s = gf_now();
    const enum gf_status status =
        gf_codec_device_decode(&pipeline->codec, passage->input, plan->in,
                               file_bytes_most(pipeline), &pipeline->store, image, error);
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
    pipeline->ends_taken = false;
    if (!pipeline->codec.jpeg || !passage->input || pipeline->no_ends)
        return GF_OK;
    const bool decodes = passage->own_format == GF_FILE_JPEG;
    const bool encodes = gf_codec_device_encodes(&pipeline->codec, passage->file_format, plan->out,
                                                 &pipeline->options);
    if (plan->stage_count ? !decodes && !encodes : !decodes || !encodes)
        return GF_OK; /* without having waited for the codec's start */
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, error);
    if (!status)
        status = gf_codec_device_ready(&pipeline->codec,
                                       pipeline->options.codec == GF_CODEC_GPU_IF_FAST, error);
    if (status || !pipeline->codec.jpeg)
        return status;
    if (decodes)
        status = decode_on_device(pipeline, passage, plan, &ends->in, error);
    pipeline->ends_taken = ends->in.data;
    if (status || !encodes)
        return status;
    if (!plan->stage_count) {
        ends->out = ends->in;
        return GF_OK;
    }
    ends->out = (struct gf_image){.format = plan->out,
                                  .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    ends->out.data = gf_store_take(&pipeline->store, ends->out.pitch * (size_t)plan->out.height);
    pipeline->ends_taken |= ends->out.data != NULL;
    return GF_OK;
}

void gf_pipeline_drop_ends(struct gf_pipeline *pipeline, const struct gf_ends *ends)
{
    if (ends->in.data)
        gf_store_give(&pipeline->store, ends->in.data);
    if (ends->out.data)
        gf_store_give(&pipeline->store, ends->out.data);
}
