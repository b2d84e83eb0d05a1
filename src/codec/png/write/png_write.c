/* Writes PNG files: gray and RGB, with and without alpha, of 8 and 16 bits. This file writes the
 * header and the end, png_metadata_write.c the metadata, png_stripes.c the pixels. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/opening.h"
#include "codec/common/samples.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_mark.h"
#include "codec/png/png_metadata.h"
#include "codec/png/write/png_picture.h"
#include "codec/png/write/png_pack.h"
#include "codec/png/write/png_palette.h"
#include "codec/png/write/png_stripes.h"

struct png_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format;
    unsigned char *packed; /* a row of single bits; NULL: samples have 8 or 16 bits */
    struct gf_options options;
    struct gf_png_stripes *stripes; /* NULL before the first row, because a GPU may encode the
                                     * picture */
};

/* Returns the format of the stripes' rows, which are bytes if samples are single bits. */
static struct gf_format stripes_format(struct gf_format format, int depth)
{
    if (depth != 1)
        return format;
    return (struct gf_format){
        .width = (format.width + 7) / 8, .height = format.height, .channels = 1, .bits = 8};
}

/* Writes rows of single bits, which are not filtered. */
static enum gf_status write_bits(struct png_sink *sink, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    const size_t width = (size_t)sink->format.width;
    for (int y = 0; y < rows; y++) {
        gf_samples_to_bits(src + (size_t)y * pitch, sink->packed, width, sink->format.bits);
        GF_TRY(gf_png_stripes_write(sink->stripes, 1, sink->packed, (width + 7) / 8, error));
    }
    return GF_OK;
}

static enum gf_status png_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    if (!sink->stripes)
        GF_TRY(gf_png_stripes_open(sink->output, stripes_format(sink->format, sink->options.depth),
                                   sink->packed, &sink->options, &sink->stripes, error));
    if (sink->packed)
        return write_bits(sink, rows, src, pitch, error);
    return gf_png_stripes_write(sink->stripes, rows, src, pitch, error);
}

static enum gf_status png_finish(struct gf_sink *base, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    GF_TRY(gf_png_stripes_finish(sink->stripes, error));
    return gf_png_chunk_write(sink->output, "IEND", NULL, 0, error);
}

/* Writes coded bytes, which are whole IDAT chunks. */
static enum gf_status png_splice(struct gf_sink *base, const unsigned char *coded, size_t size,
                                 bool last, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    GF_TRY(gf_output_write(sink->output, coded, size, error));
    return last ? gf_png_chunk_write(sink->output, "IEND", NULL, 0, error) : GF_OK;
}

static void png_close(struct gf_sink *base)
{
    struct png_sink *const sink = (struct png_sink *)base;
    gf_png_stripes_close(sink->stripes);
    free(sink->packed);
    free(sink);
}

struct gf_codec_memory gf_png_sink_memory(struct gf_format format, const struct gf_options *options)
{
    enum { USUAL_BYTES = 8 << 20 };
    const uint64_t counted = gf_png_palette_memory(format, options),
                   bytes = gf_png_stripes_memory(format, options) + counted;
    return (struct gf_codec_memory){bytes > USUAL_BYTES ? bytes : 0,
                                    counted ? "its colours are counted before it is written"
                                            : "several of its long rows are packed at once"};
}

enum gf_status gf_png_picture_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                        struct gf_error *error)
{
    const struct gf_format format = order->format;
    if (order->options->depth != 1 &&
        gf_png_wants_palette(order->output, format, order->metadata, order->options))
        return gf_png_palette_sink_open(order, sink, error);
    const struct gf_format packed = stripes_format(format, order->options->depth);
    struct png_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base = (struct gf_sink){.write = png_write,
                                    .finish = png_finish,
                                    .close = png_close,
                                    .splice = order->options->depth == 1 ? NULL : png_splice};
    opened->output = order->output;
    opened->format = format;
    opened->options = *order->options;
    enum gf_status status = gf_png_write_header(order->output, format, order->options->depth,
                                                gf_png_colour_type(format), error);
    if (order->options->depth == 1 && !(opened->packed = malloc(gf_row_bytes(packed))) && !status)
        status = gf_fail_memory(error);
    if (!status)
        status = gf_png_write_metadata(order->output, order->metadata, error);
    if (!status && order->options->png_level == GF_PNG_FAST_LEVEL)
        status = gf_png_mark_write(order->output,
                                   gf_png_mark_rows(gf_row_bytes(packed), format.height), error);
    if (status) {
        png_close(&opened->base);
        return status;
    }
    *sink = &opened->base;
    return GF_OK;
}
