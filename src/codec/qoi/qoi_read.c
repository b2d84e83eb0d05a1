/* Reads QOI. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/qoi/qoi.h"

enum { BUFFER_BYTES = 64 << 10, NO_BYTE = -1, BT709 = 1, LINEAR = 8 /* of ITU-T H.273 */ };

struct qoi_source {
    struct gf_source base;
    struct gf_input *input;
    struct gf_error *error;
    enum gf_status status; /* of the last read from the input */
    struct gf_qoi_state state;
    int run; /* pixels of a run that are left */
    int row;
    size_t first, end; /* the part of the buffer that is not read yet */
    unsigned char buffer[BUFFER_BYTES];
};

static int refill(struct qoi_source *qoi)
{
    qoi->first = qoi->end = 0;
    qoi->status = gf_input_read_some(qoi->input, qoi->buffer, BUFFER_BYTES, &qoi->end, qoi->error);
    return !qoi->status && qoi->end ? qoi->buffer[qoi->first++] : NO_BYTE;
}

static inline int next_byte(struct qoi_source *qoi)
{
    return qoi->first < qoi->end ? qoi->buffer[qoi->first++] : refill(qoi);
}

static enum gf_status fail_short(const struct qoi_source *qoi)
{
    const int rows = qoi->base.format.height;
    return qoi->status ? qoi->status
                       : gf_fail_truncated(qoi->error, gf_input_name(qoi->input),
                                           rows ? qoi->row : -1, rows);
}

/* Reads the next `count` bytes. Returns false if the input ends before. */
static bool take(struct qoi_source *qoi, unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++) {
        const int byte = next_byte(qoi);
        if (byte == NO_BYTE)
            return false;
        bytes[i] = (unsigned char)byte;
    }
    return true;
}

/* Reads an operation, and makes its pixel the last one. Returns false if the input ends. */
static bool next_operation(struct qoi_source *qoi)
{
    struct gf_qoi_pixel *const pixel = &qoi->state.last;
    unsigned char first, more[4] = {0};
    if (!take(qoi, &first, 1))
        return false;
    if (first >= GF_QOI_RGB) {
        if (!take(qoi, more, first == GF_QOI_RGBA ? 4 : 3))
            return false;
        *pixel = (struct gf_qoi_pixel){more[0], more[1], more[2],
                                       first == GF_QOI_RGBA ? more[3] : pixel->a};
    } else if (first >= GF_QOI_RUN) {
        qoi->run = first - GF_QOI_RUN;
    } else if (first >= GF_QOI_LUMA) {
        if (!take(qoi, more, 1))
            return false;
        const int green = first - GF_QOI_LUMA - 32;
        pixel->r = (uint8_t)(pixel->r + green + (more[0] >> 4) - 8);
        pixel->g = (uint8_t)(pixel->g + green);
        pixel->b = (uint8_t)(pixel->b + green + (more[0] & 15) - 8);
    } else if (first >= GF_QOI_DIFF) {
        pixel->r = (uint8_t)(pixel->r + (first >> 4 & 3) - 2);
        pixel->g = (uint8_t)(pixel->g + (first >> 2 & 3) - 2);
        pixel->b = (uint8_t)(pixel->b + (first & 3) - 2);
    } else {
        *pixel = qoi->state.seen[first];
    }
    qoi->state.seen[gf_qoi_place(*pixel)] = *pixel;
    return true;
}

static enum gf_status qoi_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct qoi_source *const qoi = (struct qoi_source *)base;
    const size_t channels = (size_t)base->format.channels;
    qoi->error = error;
    for (int y = 0; y < rows; y++, qoi->row++) {
        unsigned char *to = dst + (size_t)y * pitch;
        for (int x = 0; x < base->format.width; x++, to += channels) {
            if (qoi->run)
                qoi->run--;
            else if (!next_operation(qoi))
                return fail_short(qoi);
            memcpy(to, &qoi->state.last, channels);
        }
    }
    return GF_OK;
}

/* The end marker must follow the last pixel: that it does not may be the only trace of damaged
 * pixels. What was read beyond it may belong to the next picture. */
static enum gf_status qoi_finish(struct gf_source *base, struct gf_error *error)
{
    static const unsigned char end[GF_QOI_END] = {0, 0, 0, 0, 0, 0, 0, 1};
    struct qoi_source *const qoi = (struct qoi_source *)base;
    unsigned char marker[GF_QOI_END];
    qoi->error = error;
    if (!take(qoi, marker, GF_QOI_END))
        return fail_short(qoi);
    if (qoi->run || memcmp(marker, end, GF_QOI_END) != 0)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: damaged: the end marker does not follow the last pixel",
                       gf_input_name(qoi->input));
    const size_t left = qoi->end - qoi->first;
    qoi->end = qoi->first;
    return gf_input_give_back(qoi->input, qoi->buffer + qoi->first, left, error);
}

static void qoi_close(struct gf_source *base)
{
    gf_metadata_free(&base->metadata);
    free(base);
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum gf_status read_header(struct qoi_source *qoi, const struct gf_options *options)
{
    unsigned char header[GF_QOI_HEADER];
    const char *const name = gf_input_name(qoi->input);
    if (!take(qoi, header, GF_QOI_HEADER))
        return fail_short(qoi);
    const uint32_t width = big_endian(header + 4), height = big_endian(header + 8);
    if (header[12] < 3 || header[12] > 4 || header[13] > GF_QOI_LINEAR)
        return gf_fail(qoi->error, GF_ERROR_INPUT, "%s: damaged: %d channels, colour space %d",
                       name, header[12], header[13]);
    GF_TRY(gf_size_check(name, width, height, options, qoi->error));
    qoi->base.format = (struct gf_format){(int)width, (int)height, header[12], 8};
    if (header[13] == GF_QOI_LINEAR)
        gf_colour_tags_set_cicp(&qoi->base.metadata.colour, BT709, LINEAR);
    return GF_OK;
}

enum gf_status gf_qoi_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct qoi_source *const qoi = malloc(sizeof *qoi);
    if (!qoi)
        return gf_fail_memory(error);
    memset(qoi, 0, offsetof(struct qoi_source, buffer));
    qoi->base = (struct gf_source){
        .metadata = {.orientation = 1}, .read = qoi_read, .finish = qoi_finish, .close = qoi_close};
    qoi->input = input;
    qoi->error = error;
    qoi->state = gf_qoi_begin();
    const enum gf_status status = read_header(qoi, options);
    if (status)
        qoi_close(&qoi->base);
    else
        *source = &qoi->base;
    return status;
}
