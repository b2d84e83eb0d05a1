/* Converts frames of YCbCr to gray or RGB. Chroma is interpolated linearly: its sums of four
 * weights by four weights are whole numbers, and exact as floats. */
#include <stdint.h>
#include <stdlib.h>

#include "base/target_clones.h"
#include "pixel/yuv/yuv_formula.h"
#include "pixel/yuv/yuv_simd.h"

struct gf_yuv_reader {
    struct gf_yuv yuv;
    struct gf_yuv_planes planes;
    struct gf_yuv_to_rgb to_rgb;
    float *sums; /* a row of chroma after the vertical weights, with a sample at each end */
    float *row_u, *row_v;
    bool simd;
    struct gf_yuv_orders orders; /* for vectors */
};

struct gf_yuv_reader *gf_yuv_reader_open(const struct gf_yuv *yuv)
{
    const size_t width = (size_t)yuv->width + 2 + GF_YUV_LANES;
    struct gf_yuv_reader *const reader = calloc(1, sizeof *reader);
    float *const rows = malloc(3 * width * sizeof *rows);
    if (!reader || !rows) {
        free(rows);
        free(reader);
        return NULL;
    }
    *reader = (struct gf_yuv_reader){.yuv = *yuv,
                                     .planes = gf_yuv_planes_of(yuv),
                                     .to_rgb = gf_yuv_to_rgb_of(yuv),
                                     .sums = rows,
                                     .row_u = rows + width,
                                     .row_v = rows + 2 * width};
    reader->simd = yuv->bits == 8 && !yuv->mono && gf_cpu_has(GF_CPU_VBMI);
    if (reader->simd)
        gf_yuv_orders_prepare(&reader->orders);
    return reader;
}

void gf_yuv_reader_close(struct gf_yuv_reader *reader)
{
    if (reader)
        free(reader->sums);
    free(reader);
}

/* ---- chroma ---- */

GF_INLINE void weigh_rows(const void *near, const void *far, struct gf_yuv_near rows,
                          float *restrict sums, size_t count, const int bytes)
{
    for (size_t i = 0; i < count; i++) {
        const int a = bytes == 2 ? ((const uint16_t *)near)[i] : ((const uint8_t *)near)[i];
        const int b = bytes == 2 ? ((const uint16_t *)far)[i] : ((const uint8_t *)far)[i];
        sums[i] = gf_yuv_near_sum(rows, a, b);
    }
}

GF_TARGET_CLONES static void weigh_bytes(const void *near, const void *far, struct gf_yuv_near rows,
                                         float *restrict sums, size_t count)
{
    weigh_rows(near, far, rows, sums, count, 1);
}

GF_TARGET_CLONES static void weigh_words(const void *near, const void *far, struct gf_yuv_near rows,
                                         float *restrict sums, size_t count)
{
    weigh_rows(near, far, rows, sums, count, 2);
}

/* Makes a row of the picture's width of sums[-1..count]. */
GF_TARGET_CLONES static void widen(const float *restrict sums, size_t count,
                                   struct gf_yuv_widening by, float *restrict row)
{
    for (size_t k = 0; k < count; k++) {
        row[2 * k] = by.even * sums[k] + by.even_before * sums[(ptrdiff_t)k - 1];
        row[2 * k + 1] = by.odd * sums[k] + by.odd_after * sums[k + 1];
    }
}

GF_TARGET_CLONES static void scale(const float *restrict sums, size_t count, float by,
                                   float *restrict row)
{
    for (size_t k = 0; k < count; k++)
        row[k] = by * sums[k];
}

/* The rows of chroma that belong to row y, and where they are. */
struct chroma_rows {
    struct gf_yuv_near rows;
    const unsigned char *near, *far;
};

static struct chroma_rows chroma_rows_of(const struct gf_yuv_reader *reader,
                                         const unsigned char *frame, int plane, int y)
{
    const struct gf_yuv_planes *const planes = &reader->planes;
    const size_t bytes = planes->sample_bytes, row = planes->chroma_width * bytes;
    const struct gf_yuv_near rows = gf_yuv_near_of(&reader->yuv, (int)planes->chroma_height, y);
    const unsigned char *const first = frame + planes->first[plane] * bytes;
    return (struct chroma_rows){rows, first + (size_t)rows.near * row,
                                first + (size_t)rows.far * row};
}

/* Repeats the first and the last sum. */
static void put_ends(float *sums, size_t count)
{
    sums[-1] = sums[0];
    sums[count] = sums[count - 1];
}

/* Interpolates the chroma of plane 1 or 2 for row y of the picture. */
static void chroma_row(const struct gf_yuv_reader *reader, const unsigned char *frame, int plane,
                       int y, float *row)
{
    const struct gf_yuv *const yuv = &reader->yuv;
    const size_t width = reader->planes.chroma_width;
    const struct chroma_rows rows = chroma_rows_of(reader, frame, plane, y);
    float *const sums = reader->sums + 1;
    (yuv->bits > 8 ? weigh_words : weigh_bytes)(rows.near, rows.far, rows.rows, sums, width);
    put_ends(sums, width);
    const struct gf_yuv_widening by = gf_yuv_widening_of(yuv);
    if (yuv->half_width)
        widen(sums, width, by, row);
    else
        scale(sums, width, by.even, row);
}

/* ---- pixels ---- */

GF_INLINE void to_rgb(const struct gf_yuv_reader *reader, const void *luma, void *rgb,
                      const int bytes)
{
    const struct gf_yuv_reader r = *reader;
    const float *restrict const u = r.row_u, *restrict const v = r.row_v;
    const uint8_t *const y8 = luma;
    const uint16_t *const y16 = luma;
    uint8_t *restrict const rgb8 = rgb;
    uint16_t *restrict const rgb16 = rgb;
    for (int i = 0; i < r.yuv.width; i++) {
        const struct gf_yuv_pixel pixel =
            gf_yuv_pixel_of(&r.to_rgb, bytes == 2 ? y16[i] : y8[i], u[i], v[i]);
        if (bytes == 2) {
            rgb16[3 * i] = (uint16_t)pixel.red;
            rgb16[3 * i + 1] = (uint16_t)pixel.green;
            rgb16[3 * i + 2] = (uint16_t)pixel.blue;
        } else {
            rgb8[3 * i] = (uint8_t)pixel.red;
            rgb8[3 * i + 1] = (uint8_t)pixel.green;
            rgb8[3 * i + 2] = (uint8_t)pixel.blue;
        }
    }
}

GF_TARGET_CLONES static void to_rgb_bytes(const struct gf_yuv_reader *reader, const void *luma,
                                          void *rgb)
{
    to_rgb(reader, luma, rgb, 1);
}

GF_TARGET_CLONES static void to_rgb_words(const struct gf_yuv_reader *reader, const void *luma,
                                          void *rgb)
{
    to_rgb(reader, luma, rgb, 2);
}

GF_INLINE void to_gray(const struct gf_yuv_reader *reader, const void *restrict luma,
                       void *restrict gray, const int bytes)
{
    const struct gf_yuv_reader r = *reader;
    for (int i = 0; i < r.yuv.width; i++) {
        const int sample = bytes == 2 ? ((const uint16_t *)luma)[i] : ((const uint8_t *)luma)[i];
        const int value = gf_yuv_gray_of(&r.to_rgb, sample);
        if (bytes == 2)
            ((uint16_t *)gray)[i] = (uint16_t)value;
        else
            ((uint8_t *)gray)[i] = (uint8_t)value;
    }
}

GF_TARGET_CLONES static void to_gray_bytes(const struct gf_yuv_reader *reader, const void *luma,
                                           void *gray)
{
    to_gray(reader, luma, gray, 1);
}

GF_TARGET_CLONES static void to_gray_words(const struct gf_yuv_reader *reader, const void *luma,
                                           void *gray)
{
    to_gray(reader, luma, gray, 2);
}

static void to_rgb_simd(const struct gf_yuv_reader *reader, const unsigned char *frame,
                        const uint8_t *luma, int y, uint8_t *rgb)
{
    float *const sums[] = {reader->row_u + 1, reader->row_v + 1};
    const size_t width = reader->planes.chroma_width;
    for (int i = 0; i < 2; i++) {
        const struct chroma_rows rows = chroma_rows_of(reader, frame, 1 + i, y);
        gf_yuv_weigh_simd(rows.near, rows.far, rows.rows.far_weight, width, sums[i]);
        put_ends(sums[i], width);
    }
    gf_yuv_to_rgb_simd(&reader->to_rgb, &reader->orders, gf_yuv_columns_of(&reader->yuv), luma,
                       sums[0], sums[1], (size_t)reader->yuv.width, rgb);
}

void gf_yuv_reader_row(struct gf_yuv_reader *reader, const unsigned char *frame, int y, void *row)
{
    const size_t bytes = reader->planes.sample_bytes;
    const unsigned char *const luma = frame + (size_t)y * (size_t)reader->yuv.width * bytes;
    if (reader->yuv.mono) {
        (bytes == 2 ? to_gray_words : to_gray_bytes)(reader, luma, row);
    } else if (reader->simd) {
        to_rgb_simd(reader, frame, luma, y, row);
    } else {
        chroma_row(reader, frame, 1, y, reader->row_u);
        chroma_row(reader, frame, 2, y, reader->row_v);
        (bytes == 2 ? to_rgb_words : to_rgb_bytes)(reader, luma, row);
    }
}
