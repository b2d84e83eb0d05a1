/* Converts gray or RGB to frames of YCbCr. Chroma is computed for each pixel, and then averaged
 * over the pixels around its place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/target_clones.h"
#include "pixel/yuv/yuv_formula.h"
#include "pixel/yuv/yuv_simd.h"

struct gf_yuv_writer {
    struct gf_yuv yuv;
    struct gf_yuv_planes planes;
    int channels, bits;
    struct gf_yuv_from_rgb from_rgb;
    float *full[2]; /* the chroma of each pixel of the present row, with one more at each end */
    float *narrow[2][3]; /* the chroma of the last three rows, averaged horizontally */
    bool simd;
    struct gf_yuv_orders orders; /* for vectors */
};

struct gf_yuv_writer *gf_yuv_writer_open(const struct gf_yuv *yuv, int channels, int bits)
{
    const size_t width = (size_t)yuv->width + 3 + GF_YUV_LANES;
    struct gf_yuv_writer *const writer = calloc(1, sizeof *writer);
    float *const rows = malloc(8 * width * sizeof *rows);
    if (!writer || !rows) {
        free(rows);
        free(writer);
        return NULL;
    }
    *writer = (struct gf_yuv_writer){.yuv = *yuv,
                                     .planes = gf_yuv_planes_of(yuv),
                                     .channels = channels,
                                     .bits = bits,
                                     .from_rgb = gf_yuv_from_rgb_of(yuv, channels, bits)};
    for (size_t i = 0; i < 2; i++) {
        writer->full[i] = rows + i * width;
        for (size_t k = 0; k < 3; k++)
            writer->narrow[i][k] = rows + (2 + 3 * i + k) * width;
    }
    writer->simd = yuv->bits == 8 && bits == 8 && channels == 3 && gf_cpu_has(GF_CPU_VBMI);
    if (writer->simd)
        gf_yuv_orders_prepare(&writer->orders);
    return writer;
}

void gf_yuv_writer_close(struct gf_yuv_writer *writer)
{
    if (writer)
        free(writer->full[0]);
    free(writer);
}

GF_INLINE float sample_at(const void *row, size_t index, const int row_bytes)
{
    return row_bytes == 2 ? (float)((const uint16_t *)row)[index]
                          : (float)((const uint8_t *)row)[index];
}

GF_INLINE void put(void *plane, size_t index, int value, const int bytes)
{
    if (bytes == 2)
        ((uint16_t *)plane)[index] = (uint16_t)value;
    else
        ((uint8_t *)plane)[index] = (uint8_t)value;
}

/* ---- luma, and the chroma of each pixel ---- */

GF_INLINE void from_rgb(const struct gf_yuv_writer *writer, const void *restrict row,
                        void *restrict luma, const int row_bytes, const int bytes)
{
    const struct gf_yuv_from_rgb by = writer->from_rgb;
    float *restrict const to_u = writer->full[0] + 1, *restrict const to_v = writer->full[1] + 1;
    const size_t width = (size_t)writer->yuv.width;
    for (size_t i = 0; i < width; i++) {
        const float red = sample_at(row, 3 * i, row_bytes),
                    green = sample_at(row, 3 * i + 1, row_bytes),
                    blue = sample_at(row, 3 * i + 2, row_bytes);
        put(luma, i, gf_yuv_luma_of(&by, red, green, blue), bytes);
        to_u[i] = gf_yuv_mixed(&by.u, red, green, blue);
        to_v[i] = gf_yuv_mixed(&by.v, red, green, blue);
    }
}

GF_INLINE void from_gray(const struct gf_yuv_writer *writer, const void *restrict row,
                         void *restrict luma, const int row_bytes, const int bytes)
{
    const struct gf_yuv_from_rgb by = writer->from_rgb;
    for (size_t i = 0; i < (size_t)writer->yuv.width; i++)
        put(luma, i, gf_yuv_luma_of_gray(&by, sample_at(row, i, row_bytes)), bytes);
}

#define GF_FROM(name, row_bytes, bytes) \
    GF_TARGET_CLONES static void name(const struct gf_yuv_writer *writer, const void *row, \
                                      void *luma) \
    { \
        if (writer->channels == 1) \
            from_gray(writer, row, luma, row_bytes, bytes); \
        else \
            from_rgb(writer, row, luma, row_bytes, bytes); \
    }
GF_FROM(bytes_of_bytes, 1, 1)
GF_FROM(words_of_bytes, 1, 2)
GF_FROM(bytes_of_words, 2, 1)
GF_FROM(words_of_words, 2, 2)

/* ---- the planes of chroma ---- */

/* Averages full[-1..2 count] horizontally. */
GF_TARGET_CLONES static void narrow_row(const float *restrict full, size_t count,
                                        struct gf_yuv_three weight, float *restrict narrow)
{
    for (size_t k = 0; k < count; k++)
        narrow[k] =
            gf_yuv_average(weight, full[(ptrdiff_t)(2 * k) - 1], full[2 * k], full[2 * k + 1]);
}

/* Averages three rows, and rounds. */
GF_INLINE void average(const float *restrict above, const float *restrict here,
                       const float *restrict below, struct gf_yuv_three weight, float offset,
                       int most, void *restrict to, size_t count, const int bytes)
{
    for (size_t k = 0; k < count; k++)
        put(to, k, gf_yuv_round(gf_yuv_average(weight, above[k], here[k], below[k]) + offset, most),
            bytes);
}

GF_TARGET_CLONES static void average_bytes(const float *above, const float *here,
                                           const float *below, struct gf_yuv_three weight,
                                           float offset, int most, void *to, size_t count)
{
    average(above, here, below, weight, offset, most, to, count, 1);
}

GF_TARGET_CLONES static void average_words(const float *above, const float *here,
                                           const float *below, struct gf_yuv_three weight,
                                           float offset, int most, void *to, size_t count)
{
    average(above, here, below, weight, offset, most, to, count, 2);
}

/* Averages the chroma of a pixel's row horizontally. */
static void put_narrow(struct gf_yuv_writer *writer, int index, int y)
{
    const struct gf_yuv *const yuv = &writer->yuv;
    const size_t width = writer->planes.chroma_width;
    float *const full = writer->full[index] + 1, *const narrow = writer->narrow[index][y % 3];
    full[-1] = full[0];
    full[yuv->width] = full[yuv->width - 1];
    if (yuv->half_width) {
        narrow_row(full, width, gf_yuv_columns_under(yuv), narrow);
    } else {
        for (size_t k = 0; k < width; k++)
            narrow[k] = full[k];
    }
}

/* Makes the row of chroma that row y completes. */
static void put_chroma(struct gf_yuv_writer *writer, int index, int y, unsigned char *frame)
{
    const struct gf_yuv_planes *const planes = &writer->planes;
    const size_t width = planes->chroma_width, bytes = planes->sample_bytes;
    const float middle = writer->from_rgb.u.offset;
    const int row = writer->yuv.half_height ? y / 2 : y;
    const struct gf_yuv_under under = gf_yuv_under(&writer->yuv, row);
    if (y != under.below)
        return;
    float **const ring = writer->narrow[index], *const above = ring[under.above % 3],
                  *const here = ring[under.here % 3], *const below = ring[under.below % 3];
    unsigned char *const to = frame + (planes->first[1 + index] + (size_t)row * width) * bytes;
    if (writer->simd) {
        const int sum = gf_yuv_columns_weight(gf_yuv_columns_of(&writer->yuv));
        gf_yuv_average_simd(under.weight.before > 0 ? above : NULL, here, below,
                            under.weight.after / (float)sum, middle, width, to);
    } else {
        (bytes == 2 ? average_words : average_bytes)(above, here, below, under.weight, middle,
                                                     writer->from_rgb.most, to, width);
    }
}

void gf_yuv_writer_row(struct gf_yuv_writer *writer, const void *row, int y, unsigned char *frame)
{
    const size_t bytes = writer->planes.sample_bytes, width = (size_t)writer->yuv.width;
    unsigned char *const luma = frame + (size_t)y * width * bytes;
    if (writer->simd)
        gf_yuv_from_rgb_simd(&writer->from_rgb, &writer->orders, gf_yuv_columns_of(&writer->yuv),
                             row, width, luma, writer->narrow[0][y % 3], writer->narrow[1][y % 3]);
    else if (writer->bits == 8)
        (bytes == 2 ? words_of_bytes : bytes_of_bytes)(writer, row, luma);
    else
        (bytes == 2 ? words_of_words : bytes_of_words)(writer, row, luma);
    if (writer->yuv.mono)
        return;
    for (int index = 0; index < 2; index++) {
        for (size_t k = 0; writer->channels == 1 && !y && k < width; k++)
            writer->full[index][k + 1] = 0;
        if (!writer->simd)
            put_narrow(writer, index, y);
        put_chroma(writer, index, y, frame);
    }
}
