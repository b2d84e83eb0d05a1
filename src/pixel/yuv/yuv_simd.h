/* Conversions of rows of 8 bits from and to YCbCr with vectors. They compute what yuv.c does, in
 * the same order, apart from factors that are powers of two. The functions need GF_CPU_VBMI. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "pixel/yuv/yuv_formula.h"

enum { GF_YUV_LANES = 64 }; /* the pixels that are converted at once */

/* How the samples of chroma in a row lie to its pixels: one for each, or one for two (enum
 * gf_yuv_siting). */
enum gf_yuv_columns { GF_YUV_EACH, GF_YUV_PAIRS_CENTRE, GF_YUV_PAIRS_LEFT };
static inline enum gf_yuv_columns gf_yuv_columns_of(const struct gf_yuv *yuv)
{
    return !yuv->half_width               ? GF_YUV_EACH
           : yuv->siting == GF_YUV_CENTRE ? GF_YUV_PAIRS_CENTRE
                                          : GF_YUV_PAIRS_LEFT;
}

/* The orders of bytes by which vectors put pixels together, and take them apart. */
struct gf_yuv_orders {
    uint8_t to_rgb[3 * GF_YUV_LANES], from_rgb[GF_YUV_LANES];
};
GF_X86_ONLY void gf_yuv_orders_prepare(struct gf_yuv_orders *orders);
/* Computes sums of two rows of chroma with weights of 4 - far_weight and far_weight, after
 * subtracting 128 from each sample. Up to 31 sums behind the last one are overwritten. */
GF_X86_ONLY void gf_yuv_weigh_simd(const uint8_t *near, const uint8_t *far, int far_weight,
                                   size_t count, float *sums);
/* Makes a row of RGB of luma and of sums by gf_yuv_weigh_simd(), `u` and `v`, of which one before
 * the first and 64 behind the last may be read. */
GF_X86_ONLY void gf_yuv_to_rgb_simd(const struct gf_yuv_to_rgb *to,
                                    const struct gf_yuv_orders *orders, enum gf_yuv_columns columns,
                                    const uint8_t *luma, const float *u, const float *v,
                                    size_t width, uint8_t *rgb);

/* Makes a row of luma, and in u and v two rows of chroma without `middle`: each number is a
 * weighted sum of columns whose weights add up to gf_yuv_columns_weight(). Up to 63 numbers behind
 * the last one are overwritten. */
GF_X86_ONLY void gf_yuv_from_rgb_simd(const struct gf_yuv_from_rgb *from,
                                      const struct gf_yuv_orders *orders,
                                      enum gf_yuv_columns columns, const uint8_t *rgb, size_t width,
                                      uint8_t *luma, float *u, float *v);
static inline int gf_yuv_columns_weight(enum gf_yuv_columns columns)
{
    return columns == GF_YUV_EACH ? 1 : columns == GF_YUV_PAIRS_CENTRE ? 2 : 4;
}
/* Adds two rows of chroma or, unless `above` is NULL, three with twice the one in the middle;
 * multiplies the sums by a factor, a power of two, adds `middle`, and rounds to 0..255. Up to 63
 * floats behind the last one may be read. */
GF_X86_ONLY void gf_yuv_average_simd(const float *above, const float *here, const float *below,
                                     float factor, float middle, size_t count, uint8_t *to);
