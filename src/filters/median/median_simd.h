/* Rows of 3x3 and 5x5 medians by vector instructions (GF_CPU_VBMI). */
#ifndef GF_FILTERS_MEDIAN_MEDIAN_SIMD_H
#define GF_FILTERS_MEDIAN_MEDIAN_SIMD_H

#include <stddef.h>

#include "base/cpu.h"

/* The rows of the window, or of four windows one below the other, from a radius left of the first
 * result on. Byte i of row k, counted from there, is left[k][i] up to 64, between[k][i - 64] from
 * there up to end + 64, a multiple of 64, and right[k][i - end] behind; with an `end` of 0 it is
 * right[k][i]. */
enum { GF_MEDIAN_ROWS = 6 };
struct gf_median_rows {
    const unsigned char *left[GF_MEDIAN_ROWS], *between[GF_MEDIAN_ROWS], *right[GF_MEDIAN_ROWS];
    size_t end;
};

/* A row of medians of (2 radius + 1)^2 samples, radius 1 or 2, of 8 or 16 bits; `step` bytes (up to
 * 8) lie between the columns. `size` bytes of medians are written, and rows are read up to 64 bytes
 * behind the next multiple of 64. */
GF_X86_ONLY void gf_median_simd(int radius, int bits, const struct gf_median_rows *rows,
                                unsigned char *out, size_t size, int step);

/* Four rows of medians of 3x3 samples of six rows; else as gf_median_simd(). */
GF_X86_ONLY void gf_median_simd_four(int bits, const struct gf_median_rows *rows,
                                     unsigned char *const *out, size_t size, int step);

#endif
