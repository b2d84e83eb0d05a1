/* Rows of 3x3 and 5x5 medians with vector instructions (GF_CPU_VBMI). */
#ifndef GF_FILTERS_MEDIAN_MEDIAN_SIMD_H
#define GF_FILTERS_MEDIAN_MEDIAN_SIMD_H

#include <stddef.h>

#include "base/cpu.h"

/* The rows of a window, or of four windows one below the other, from `radius` columns left of the
 * first result on. Byte i of row k is left[k][i] below 64, between[k][i - 64] from there to end +
 * 64, a multiple of 64, and right[k][i - end] behind; with an `end` of 0 it is right[k][i]. */
enum { GF_MEDIAN_ROWS = 6 };
struct gf_median_rows {
    const unsigned char *left[GF_MEDIAN_ROWS], *between[GF_MEDIAN_ROWS], *right[GF_MEDIAN_ROWS];
    size_t end;
};

/* Computes a row of medians of (2 radius + 1)^2 samples, for a radius of 1 or 2, with 8 or 16 bits;
 * columns are `step` bytes (up to 8) apart. `size` bytes of medians are written, and rows are read
 * up to 64 bytes behind the next multiple of 64. */
GF_X86_ONLY void gf_median_simd(int radius, int bits, const struct gf_median_rows *rows,
                                unsigned char *out, size_t size, int step);

/* Computes four rows of 3x3 medians from six rows; otherwise like gf_median_simd(). */
GF_X86_ONLY void gf_median_simd_four(int bits, const struct gf_median_rows *rows,
                                     unsigned char *const *out, size_t size, int step);

#endif
