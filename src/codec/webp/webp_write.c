#include <stdlib.h>

#include "codec/common/opening.h"
#include "codec/webp/webp_write.h"

/* Writes the file: the picture with its metadata. */
static enum gf_status write_with_metadata(const struct gf_whole_sink *sink, const WebPData *picture,
                                          struct gf_error *error)
{
    WebPMux *const mux = gf_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    const enum gf_status status =
        mux && gf_webp.WebPMuxSetImage(mux, picture, 0) == WEBP_MUX_OK
            ? gf_webp_write_muxed(sink, mux, error)
            : gf_webp_fail(sink, "the file cannot be put together", error);
    gf_webp.WebPMuxDelete(mux);
    return status;
}

static enum gf_status webp_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_metadata *const metadata = &sink->metadata;
    const struct gf_format format = sink->format;
    struct gf_webp_encoder encoder;
    enum gf_status status =
        gf_webp_prepare(sink, 0, 0, format.width, format.height, &encoder, error);
    free(sink->pixels);
    sink->pixels = NULL;
    status = gf_webp_encode(sink, &encoder, status, error);
    const WebPData data = {encoder.writer.mem, encoder.writer.size};
    const bool bare = !metadata->icc.size && !metadata->exif.size && !metadata->xmp.size;
    if (!status)
        status = bare ? gf_output_write(sink->output, data.bytes, data.size, error)
                      : write_with_metadata(sink, &data, error);
    gf_webp.WebPMemoryWriterClear(&encoder.writer);
    return status;
}

static struct gf_format in_file(struct gf_format format)
{
    format.bits = 8;
    format.channels = gf_has_alpha(format) ? 4 : 3;
    return format;
}

struct gf_codec_memory gf_webp_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    /* Measured bytes for each pixel. Alpha is packed without loss, and noise takes more than twice
     * as much as a photograph. */
    const double lossy_bytes = 23.5, alpha_bytes = 46, lossless_bytes = 37;
    return gf_whole_sink_memory(in_file(format), options->lossless      ? lossless_bytes
                                                 : gf_has_alpha(format) ? alpha_bytes
                                                                        : lossy_bytes);
}

enum gf_status gf_webp_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                 struct gf_error *error)
{
    static const struct gf_whole_encoder encoder = {.name = "WebP",
                                                    .side_most = WEBP_MAX_DIMENSION,
                                                    .encode = webp_encode,
                                                    .add = gf_webp_add,
                                                    .end = gf_webp_end,
                                                    .release = gf_webp_release};
    return gf_whole_sink_open(&encoder, order, in_file(order->format), sink, error);
}
