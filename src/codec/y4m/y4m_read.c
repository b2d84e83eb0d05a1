/* Reads the first frame of a Y4M. The program reads films frame by frame (batch/frames). */
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/y4m/y4m_header.h"

struct y4m_source {
    struct gf_source base;
    struct gf_input *input;
    struct gf_options options;
    struct gf_yuv yuv;
    struct gf_yuv_reader *reader;
    const unsigned char *frame; /* NULL: not read yet */
    unsigned char *own;         /* memory for the frame; NULL: it lies in the input's */
    size_t bytes;
    int row;
};

/* Finds the frame in the memory of the input, or reads it. */
static enum gf_status read_frame(struct y4m_source *y4m, struct gf_error *error)
{
    unsigned char *data;
    size_t size, got;
    const size_t at = (size_t)gf_input_position(y4m->input);
    if (gf_input_borrow(y4m->input, &data, &size) && at <= size && size - at >= y4m->bytes &&
        (uintptr_t)(data + at) % 2 == 0) {
        y4m->frame = data + at;
        gf_input_go_to(y4m->input, (int64_t)(at + y4m->bytes));
        return GF_OK;
    }
    y4m->own = calloc(y4m->bytes, 1);
    if (!y4m->own)
        return gf_fail_memory(error);
    GF_TRY(gf_input_read(y4m->input, y4m->own, y4m->bytes, &got, error));
    y4m->frame = y4m->own;
    if (got == y4m->bytes)
        return GF_OK;
    GF_TRY(gf_input_check_size(y4m->input, error));
    if (!y4m->options.allow_truncated)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: a frame has %zu of its %zu bytes%s",
                       gf_input_name(y4m->input), got, y4m->bytes,
                       gf_truncated_hint(&y4m->options));
    gf_warn(&y4m->options, "%s: truncated: a frame has %zu of its %zu bytes",
            gf_input_name(y4m->input), got, y4m->bytes);
    return GF_OK;
}

static enum gf_status y4m_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    if (!y4m->frame)
        GF_TRY(read_frame(y4m, error));
    for (int y = 0; y < rows; y++)
        gf_yuv_reader_row(y4m->reader, y4m->frame, y4m->row++, dst + (size_t)y * pitch);
    return GF_OK;
}

static enum gf_status y4m_finish(struct gf_source *base, struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    unsigned char next;
    size_t got;
    GF_TRY(gf_input_peek(y4m->input, &next, 1, &got, error));
    if (got)
        gf_warn(&y4m->options,
                "%s: its first frame is read: more follow (to have them: number the outputs by "
                "{n}, or write a film)",
                gf_input_name(y4m->input));
    return GF_OK;
}

static enum gf_status y4m_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    gf_input_go_to(((struct y4m_source *)base)->input, end);
    return y4m_finish(base, error);
}

static void y4m_close(struct gf_source *base)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    gf_metadata_free(&base->metadata);
    gf_yuv_reader_close(y4m->reader);
    free(y4m->own);
    free(y4m);
}

/* Keeps the header, a line break, and the line of the frame for an output that is a Y4M. */
static bool keep_lines(struct gf_metadata *metadata, const char *header, const char *frame)
{
    char lines[2 * GF_Y4M_LINE_MOST + 2];
    const int length = snprintf(lines, sizeof lines, "%s\n%s", header, frame);
    return gf_blob_set(&metadata->y4m, lines, (size_t)length + 1);
}

static enum gf_status read_lines(struct y4m_source *y4m, const struct gf_options *options,
                                 struct gf_error *error)
{
    char header[GF_Y4M_LINE_MOST], frame[GF_Y4M_LINE_MOST];
    const char *const name = gf_input_name(y4m->input);
    struct gf_yuv *const yuv = &y4m->yuv;
    size_t length;
    GF_TRY(gf_y4m_read_line(y4m->input, header, &length, error));
    GF_TRY(gf_y4m_parse(header, name, yuv, error));
    GF_TRY(gf_size_check(name, (uint64_t)yuv->width, (uint64_t)yuv->height, options, error));
    GF_TRY(gf_y4m_read_line(y4m->input, frame, &length, error));
    if (!length)
        return gf_fail(error, GF_ERROR_INPUT, "%s: holds no frame", name);
    GF_TRY(gf_y4m_check_frame(frame, name, error));
    gf_y4m_choose(options, yuv);
    y4m->base.yuv = yuv;
    y4m->bytes = gf_yuv_frame_bytes(yuv);
    y4m->base.format =
        (struct gf_format){yuv->width, yuv->height, yuv->mono ? 1 : 3, yuv->bits > 8 ? 16 : 8};
    y4m->base.stored = (struct gf_stored){.bits = yuv->bits,
                                          .colour = yuv->mono ? GF_STORED_PLAIN : GF_STORED_YCBCR};
    y4m->base.memory =
        (struct gf_codec_memory){y4m->bytes, "the planes of a frame are read as a whole"};
    if (yuv->interlaced && yuv->half_height)
        gf_warn(options,
                "%s: is interlaced, and filtered as if it were not: colours of the two fields mix",
                name);
    y4m->reader = gf_yuv_reader_open(yuv);
    return y4m->reader && keep_lines(&y4m->base.metadata, header, frame) ? GF_OK
                                                                         : gf_fail_memory(error);
}

enum gf_status gf_y4m_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct y4m_source *const y4m = calloc(1, sizeof *y4m);
    if (!y4m)
        return gf_fail_memory(error);
    y4m->base = (struct gf_source){.metadata = {.orientation = 1},
                                   .read = y4m_read,
                                   .finish = y4m_finish,
                                   .leave = y4m_leave,
                                   .close = y4m_close};
    y4m->input = input;
    y4m->options = *options;
    enum gf_status status = read_lines(y4m, options, error);
    if (!status)
        status = gf_memory_check_proportion(&y4m->base, input, options, error);
    if (status)
        y4m_close(&y4m->base);
    else
        *source = &y4m->base;
    return status;
}
