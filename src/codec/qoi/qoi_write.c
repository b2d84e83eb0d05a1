/* Writes QOI, with the choices of the specification's encoder. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/opening.h"
#include "codec/common/samples.h"
#include "codec/qoi/qoi.h"

enum { OPERATION_MOST = 5 };

struct qoi_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format; /* of the rows that write() gets */
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

/* Codes a pixel that differs from the last one and was not seen. */
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
    const unsigned place = gf_qoi_place(pixel);
    if (!memcmp(&pixel, &state->seen[place], sizeof pixel))
        *to++ = (unsigned char)(GF_QOI_INDEX | place);
    else
        to = put_new(&state->last, &pixel, to);
    state->seen[place] = state->last = pixel;
    return to;
}

/* Returns the row as RGB or RGBA of 8 bits. */
static const unsigned char *convert(const struct qoi_sink *qoi, const unsigned char *row)
{
    const struct gf_format format = qoi->format;
    const size_t width = (size_t)format.width, samples = width * (size_t)format.channels;
    unsigned char *const gray = qoi->row + 2 * width; /* RGB and RGBA take 2 samples more */
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

static enum gf_status qoi_finish(struct gf_sink *base, struct gf_error *error)
{
    struct qoi_sink *const qoi = (struct qoi_sink *)base;
    unsigned char last[1 + GF_QOI_END] = {0};
    unsigned char *const end = end_run(qoi, last) + GF_QOI_END;
    end[-1] = 1;
    return gf_output_write(qoi->output, last, (size_t)(end - last), error);
}

static void qoi_close(struct gf_sink *base)
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
    struct qoi_sink *const qoi = calloc(1, sizeof *qoi);
    if (!qoi)
        return gf_fail_memory(error);
    qoi->base = (struct gf_sink){.write = qoi_write, .finish = qoi_finish, .close = qoi_close};
    qoi->output = order->output;
    qoi->format = format;
    qoi->state = gf_qoi_begin();
    qoi->row = malloc((size_t)format.width * 4);
    qoi->coded = malloc((size_t)format.width * OPERATION_MOST + 1);
    const enum gf_status status =
        qoi->row && qoi->coded ? write_header(qoi, error) : gf_fail_memory(error);
    if (status)
        qoi_close(&qoi->base);
    else
        *sink = &qoi->base;
    return status;
}
