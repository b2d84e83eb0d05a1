/* Writes a Y4M of one frame. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/y4m/y4m.h"

struct y4m_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format; /* the format of the rows that write() gets */
    struct gf_yuv yuv;
    struct gf_yuv_writer *writer; /* converts rows; NULL: no row was written yet */
    unsigned char *frame;
    unsigned char *own; /* memory for the frame; NULL: the output lends it */
    size_t bytes;
    unsigned char *row; /* a row whose alpha was dropped; NULL: rows have no alpha */
    int rows;
};

static enum gf_status begin_frame(struct y4m_sink *y4m, struct gf_error *error)
{
    const struct gf_format format = y4m->format;
    y4m->frame = gf_output_lend(y4m->output, y4m->bytes);
    if (!y4m->frame || (y4m->yuv.bits > 8 && (uintptr_t)y4m->frame % 2))
        y4m->frame = y4m->own = malloc(y4m->bytes);
    if (gf_has_alpha(format))
        y4m->row = malloc(gf_row_bytes(format));
    y4m->writer = gf_yuv_writer_open(&y4m->yuv, gf_colour_channels(format), format.bits);
    return y4m->frame && y4m->writer && (y4m->row || !gf_has_alpha(format)) ? GF_OK
                                                                            : gf_fail_memory(error);
}

static enum gf_status y4m_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct y4m_sink *const y4m = (struct y4m_sink *)base;
    if (!y4m->writer)
        GF_TRY(begin_frame(y4m, error));
    for (int y = 0; y < rows; y++) {
        const unsigned char *row = src + (size_t)y * pitch;
        if (y4m->row) {
            gf_pixels_drop_alpha(row, y4m->row, (size_t)y4m->format.width, y4m->format.channels,
                                 y4m->format.bits);
            row = y4m->row;
        }
        gf_yuv_writer_row(y4m->writer, row, y4m->rows++, y4m->frame);
    }
    return GF_OK;
}

static enum gf_status y4m_splice(struct gf_sink *base, const unsigned char *frame, size_t size,
                                 bool last, struct gf_error *error)
{
    (void)last;
    return gf_output_write(((struct y4m_sink *)base)->output, frame, size, error);
}

static enum gf_status y4m_finish(struct gf_sink *base, struct gf_error *error)
{
    struct y4m_sink *const y4m = (struct y4m_sink *)base;
    return gf_output_write(y4m->output, y4m->frame, y4m->bytes, error);
}

static void y4m_close(struct gf_sink *base)
{
    struct y4m_sink *const y4m = (struct y4m_sink *)base;
    gf_yuv_writer_close(y4m->writer);
    free(y4m->own);
    free(y4m->row);
    free(y4m);
}

/* Writes the header and the line of the frame, and decides from the header how the frame's samples
 * are stored. */
static enum gf_status write_lines(struct y4m_sink *y4m, const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_error *error)
{
    char kept[2 * GF_Y4M_LINE_MOST + 2] = "", header[GF_Y4M_LINE_MOST];
    char lines[2 * GF_Y4M_LINE_MOST + 2];
    const struct gf_format format = y4m->format;
    const bool from_y4m = metadata && metadata->y4m.size && metadata->y4m.size <= sizeof kept;
    if (from_y4m)
        memcpy(kept, metadata->y4m.data, metadata->y4m.size);
    char *frame = kept;
    char *const first = strsep(&frame, "\n");
    gf_y4m_compose(from_y4m ? first : NULL, format.width, format.height,
                   gf_colour_channels(format) == 1, format.bits, options, header);
    GF_TRY(gf_y4m_parse(header, gf_output_name(y4m->output), &y4m->yuv, error));
    gf_y4m_choose(options, &y4m->yuv);
    y4m->bytes = gf_yuv_frame_bytes(&y4m->yuv);
    const int length =
        snprintf(lines, sizeof lines, "%s\n%s\n", header, frame && *frame ? frame : "FRAME");
    return gf_output_write(y4m->output, lines, (size_t)length, error);
}

enum gf_status gf_y4m_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    GF_NEW(struct y4m_sink, y4m, error);
    y4m->base = (struct gf_sink){.write = y4m_write,
                                 .finish = y4m_finish,
                                 .close = y4m_close,
                                 .splice = y4m_splice,
                                 .yuv = &y4m->yuv};
    y4m->output = order->output;
    y4m->format = order->format;
    const enum gf_status status = write_lines(y4m, order->metadata, order->options, error);
    if (status) {
        y4m_close(&y4m->base);
        return status;
    }
    if (gf_has_alpha(order->format))
        gf_warn(order->options, "%s: Y4M has no alpha channel: it is left out",
                gf_output_name(order->output));
    gf_output_expect(order->output, (int64_t)y4m->bytes, gf_codec_threads(order->options));
    *sink = &y4m->base;
    return GF_OK;
}

struct gf_codec_memory gf_y4m_sink_memory(struct gf_format format, const struct gf_options *options)
{
    /* Three planes of the full size are the most that a frame has. */
    const uint64_t samples = (uint64_t)format.width * (uint64_t)format.height * 3;
    return (struct gf_codec_memory){samples * (uint64_t)(format.bits / 8),
                                    "the planes of a frame are written as a whole"};
}
