/* Reads and writes QOI. Dominic Szablewski, "The Quite OK Image Format Specification", version
 * 1.0, 2022. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/byte_reader.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"

enum {
    GF_QOI_HEADER = 14,
    GF_QOI_END = 8, /* bytes of the end marker: seven zeros and a 1 */
    GF_QOI_SEEN = 64,
    GF_QOI_LINEAR = 1, /* header's colour space with samples linear in light; 0 is sRGB */
    GF_QOI_RUN_MOST = 62,
    /* The first byte of each operation; the two highest bits decide unless it is RGB or RGBA. */
    GF_QOI_INDEX = 0x00,
    GF_QOI_DIFF = 0x40,
    GF_QOI_LUMA = 0x80,
    GF_QOI_RUN = 0xc0,
    GF_QOI_RGB = 0xfe,
    GF_QOI_RGBA = 0xff
};

struct gf_qoi_pixel {
    uint8_t r, g, b, a;
};

/* The previous pixel, and the latest pixel seen for each value of a hash of its samples. */
struct gf_qoi_state {
    struct gf_qoi_pixel last, seen[GF_QOI_SEEN];
};

static inline struct gf_qoi_state qoi_begin(void)
{
    return (struct gf_qoi_state){.last = {0, 0, 0, 255}};
}

static inline unsigned qoi_place(struct gf_qoi_pixel pixel)
{
    return (pixel.r * 3u + pixel.g * 5u + pixel.b * 7u + pixel.a * 11u) % GF_QOI_SEEN;
}

/* ---- reading ---- */

enum { BT709 = 1, LINEAR = 8 /* of ITU-T H.273 */ };

struct qoi_source {
    struct gf_source base;
    struct gf_qoi_state state;
    int run; /* pixels that are left of the present run */
    struct gf_byte_reader reader;
};

/* Reads the next operation, and makes its pixel state.last. Returns false if the input ends. */
static bool next_operation(struct qoi_source *qoi)
{
    struct gf_qoi_pixel *const pixel = &qoi->state.last;
    unsigned char first, more[4] = {0};
    if (!gf_byte_take(&qoi->reader, &first, 1))
        return false;
    if (first >= GF_QOI_RGB) {
        if (!gf_byte_take(&qoi->reader, more, first == GF_QOI_RGBA ? 4 : 3))
            return false;
        *pixel = (struct gf_qoi_pixel){more[0], more[1], more[2],
                                       first == GF_QOI_RGBA ? more[3] : pixel->a};
    } else if (first >= GF_QOI_RUN) {
        qoi->run = first - GF_QOI_RUN;
    } else if (first >= GF_QOI_LUMA) {
        if (!gf_byte_take(&qoi->reader, more, 1))
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
    qoi->state.seen[qoi_place(*pixel)] = *pixel;
    return true;
}

static enum gf_status qoi_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct qoi_source *const qoi = (struct qoi_source *)base;
    const size_t channels = (size_t)base->format.channels;
    qoi->reader.error = error;
    for (int y = 0; y < rows; y++, qoi->reader.row++) {
        unsigned char *to = dst + (size_t)y * pitch;
        for (int x = 0; x < base->format.width; x++, to += channels) {
            if (qoi->run)
                qoi->run--;
            else if (!next_operation(qoi))
                return gf_byte_fail_short(&qoi->reader);
            memcpy(to, &qoi->state.last, channels);
        }
    }
    return GF_OK;
}

/* Checks that the end marker follows the last pixel; if it does not, that may be the only trace of
 * damaged pixels. Gives back bytes behind it, which may belong to the next picture. */
static enum gf_status qoi_source_finish(struct gf_source *base, struct gf_error *error)
{
    static const unsigned char end[GF_QOI_END] = {0, 0, 0, 0, 0, 0, 0, 1};
    struct qoi_source *const qoi = (struct qoi_source *)base;
    unsigned char marker[GF_QOI_END];
    qoi->reader.error = error;
    if (!gf_byte_take(&qoi->reader, marker, GF_QOI_END))
        return gf_byte_fail_short(&qoi->reader);
    if (qoi->run || memcmp(marker, end, GF_QOI_END) != 0)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: damaged: the end marker does not follow the last pixel",
                       gf_input_name(qoi->reader.input));
    const size_t left = qoi->reader.end - qoi->reader.first;
    qoi->reader.end = qoi->reader.first;
    return gf_input_give_back(qoi->reader.input, qoi->reader.buffer + qoi->reader.first, left,
                              error);
}

static void qoi_source_close(struct gf_source *base)
{
    gf_metadata_free(&base->metadata);
    free(base);
}

static enum gf_status read_header(struct qoi_source *qoi, const struct gf_options *options)
{
    unsigned char header[GF_QOI_HEADER];
    const char *const name = gf_input_name(qoi->reader.input);
    if (!gf_byte_take(&qoi->reader, header, GF_QOI_HEADER))
        return gf_byte_fail_short(&qoi->reader);
    const uint32_t width = gf_get_be(header + 4, 4), height = gf_get_be(header + 8, 4);
    if (header[12] < 3 || header[12] > 4 || header[13] > GF_QOI_LINEAR)
        return gf_fail(qoi->reader.error, GF_ERROR_INPUT,
                       "%s: damaged: %d channels, colour space %d", name, header[12], header[13]);
    GF_TRY(gf_size_check(name, width, height, options, qoi->reader.error));
    qoi->base.format =
        (struct gf_format){(int)width, (int)height, header[12], 8, GF_SAMPLES_INTEGER};
    qoi->reader.rows = (int)height;
    if (header[13] == GF_QOI_LINEAR)
        gf_colour_tags_set_cicp(&qoi->base.metadata.colour, BT709, LINEAR);
    return GF_OK;
}

enum gf_status gf_qoi_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct qoi_source *const qoi = malloc(sizeof *qoi);
    GF_ALLOCATED(qoi, error);
    memset(qoi, 0, offsetof(struct qoi_source, reader.buffer));
    qoi->base = (struct gf_source){.metadata = {.orientation = 1},
                                   .read = qoi_read,
                                   .finish = qoi_source_finish,
                                   .close = qoi_source_close};
    qoi->reader.input = input;
    qoi->reader.error = error;
    qoi->state = qoi_begin();
    GF_OPENED(read_header(qoi, options), qoi_source_close, &qoi->base, source);
}

/* ---- writing, with the choices of the specification's encoder ---- */

enum { OPERATION_MOST = 5 };

struct qoi_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format; /* the format of the rows that write() gets */
    struct gf_qoi_state state;
    int run;
    unsigned char *row;   /* a row of RGB or RGBA of 8 bits */
    unsigned char *coded; /* the operations of a row */
};

static unsigned char *end_run(struct qoi_sink *qoi, unsigned char *to)
{
    if (qoi->run)
        *to++ = (unsigned char)(GF_QOI_RUN + qoi->run - 1);
    qoi->run = 0;
    return to;
}

static bool is_within(int value, int least, int most)
{
    return value >= least && value <= most;
}

/* Writes the shortest operation for a pixel that differs from the last one and is not in `seen`.
 * Returns where it ends. */
static unsigned char *put_new(const struct gf_qoi_pixel *last, const struct gf_qoi_pixel *pixel,
                              unsigned char *to)
{
    const int red = (int8_t)(pixel->r - last->r), green = (int8_t)(pixel->g - last->g),
              blue = (int8_t)(pixel->b - last->b);
    const int red_green = (int8_t)(red - green), blue_green = (int8_t)(blue - green);
    if (pixel->a == last->a && is_within(red, -2, 1) && is_within(green, -2, 1) &&
        is_within(blue, -2, 1)) {
        *to++ = (unsigned char)(GF_QOI_DIFF | (red + 2) << 4 | (green + 2) << 2 | (blue + 2));
    } else if (pixel->a == last->a && is_within(green, -32, 31) && is_within(red_green, -8, 7) &&
               is_within(blue_green, -8, 7)) {
        *to++ = (unsigned char)(GF_QOI_LUMA | (green + 32));
        *to++ = (unsigned char)((red_green + 8) << 4 | (blue_green + 8));
    } else {
        const int size = pixel->a == last->a ? 3 : 4;
        *to++ = size == 3 ? GF_QOI_RGB : GF_QOI_RGBA;
        memcpy(to, pixel, (size_t)size);
        to += size;
    }
    return to;
}

static unsigned char *put_pixel(struct qoi_sink *qoi, struct gf_qoi_pixel pixel, unsigned char *to)
{
    struct gf_qoi_state *const state = &qoi->state;
    if (!memcmp(&pixel, &state->last, sizeof pixel))
        return ++qoi->run == GF_QOI_RUN_MOST ? end_run(qoi, to) : to;
    to = end_run(qoi, to);
    const unsigned place = qoi_place(pixel);
    if (!memcmp(&pixel, &state->seen[place], sizeof pixel))
        *to++ = (unsigned char)(GF_QOI_INDEX | place);
    else
        to = put_new(&state->last, &pixel, to);
    state->seen[place] = state->last = pixel;
    return to;
}

/* Returns the row as RGB or RGBA of 8 bits: itself, or a conversion in qoi->row. */
static const unsigned char *convert(const struct qoi_sink *qoi, const unsigned char *row)
{
    const struct gf_format format = qoi->format;
    const size_t width = (size_t)format.width, samples = width * (size_t)format.channels;
    /* Gray pixels stand at the end of qoi->row, since RGB takes 2 samples more for each. */
    unsigned char *const gray = qoi->row + 2 * width;
    unsigned char *const to = format.channels < 3 ? gray : qoi->row;
    if (format.bits == 8 && format.channels > 2)
        return row;
    if (format.bits == 16)
        gf_samples_narrow(row, to, samples);
    else
        memcpy(to, row, samples);
    if (format.channels < 3)
        gf_pixels_gray_to_rgb(gray, qoi->row, width, format.channels, 8);
    return qoi->row;
}

static enum gf_status qoi_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct qoi_sink *const qoi = (struct qoi_sink *)base;
    const size_t channels = gf_has_alpha(qoi->format) ? 4 : 3;
    for (int y = 0; y < rows; y++) {
        const unsigned char *from = convert(qoi, src + (size_t)y * pitch);
        struct gf_qoi_pixel pixel = {.a = 255};
        unsigned char *to = qoi->coded;
        for (int x = 0; x < qoi->format.width; x++, from += channels) {
            memcpy(&pixel, from, channels);
            to = put_pixel(qoi, pixel, to);
        }
        GF_TRY(gf_output_write(qoi->output, qoi->coded, (size_t)(to - qoi->coded), error));
    }
    return GF_OK;
}

static enum gf_status qoi_sink_finish(struct gf_sink *base, struct gf_error *error)
{
    struct qoi_sink *const qoi = (struct qoi_sink *)base;
    unsigned char last[1 + GF_QOI_END] = {0};
    unsigned char *const end = end_run(qoi, last) + GF_QOI_END;
    end[-1] = 1;
    return gf_output_write(qoi->output, last, (size_t)(end - last), error);
}

static void qoi_sink_close(struct gf_sink *base)
{
    struct qoi_sink *const qoi = (struct qoi_sink *)base;
    free(qoi->row);
    free(qoi->coded);
    free(qoi);
}

static enum gf_status write_header(const struct qoi_sink *qoi, struct gf_error *error)
{
    const unsigned width = (unsigned)qoi->format.width, height = (unsigned)qoi->format.height;
    const unsigned char header[GF_QOI_HEADER] = {'q',
                                                 'o',
                                                 'i',
                                                 'f',
                                                 (unsigned char)(width >> 24),
                                                 (unsigned char)(width >> 16),
                                                 (unsigned char)(width >> 8),
                                                 (unsigned char)width,
                                                 (unsigned char)(height >> 24),
                                                 (unsigned char)(height >> 16),
                                                 (unsigned char)(height >> 8),
                                                 (unsigned char)height,
                                                 gf_has_alpha(qoi->format) ? 4 : 3};
    return gf_output_write(qoi->output, header, sizeof header, error);
}

enum gf_status gf_qoi_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    const struct gf_format format = order->format;
    GF_NEW(struct qoi_sink, qoi, error);
    qoi->base =
        (struct gf_sink){.write = qoi_write, .finish = qoi_sink_finish, .close = qoi_sink_close};
    qoi->output = order->output;
    qoi->format = format;
    qoi->state = qoi_begin();
    qoi->row = malloc((size_t)format.width * 4);
    qoi->coded = malloc((size_t)format.width * OPERATION_MOST + 1);
    const enum gf_status status =
        qoi->row && qoi->coded ? write_header(qoi, error) : gf_fail_memory(error);
    GF_OPENED(status, qoi_sink_close, &qoi->base, sink);
}
