/* The median filter's parameters, for both backends. */
#pragma once

#include <stddef.h>

#include "base/cpu.h"
#include "stage/stage.h"

enum {
    GF_MEDIAN_RADIUS_MAX = 15,
    GF_MEDIAN_NETWORK_MAX = 2, /* largest radius of the kernels with a sorting network */
};

struct gf_median {
    int radius, border;
};

/* Medians by vector instructions. gf_median_simd() uses networks of minima and maxima for windows
 * of 3x3 and 5x5 samples (GF_CPU_VBMI). */

/* The rows of a window, or of four windows one below the other. Each begins `radius` columns to the
 * left of the first result. Byte i of row k is left[k][i] for i < 64; between[k][i - 64] for i <
 * end + 64, a multiple of 64; and right[k][i - end] from there on. If `end` is 0, every byte is
 * right[k][i]. */
enum { GF_MEDIAN_ROWS = 6 };
struct gf_median_rows {
    const unsigned char *left[GF_MEDIAN_ROWS], *between[GF_MEDIAN_ROWS], *right[GF_MEDIAN_ROWS];
    size_t end;
};

/* Computes a row of medians of (2 radius + 1)^2 samples, for a radius of 1 or 2, with 8 or 16 bits;
 * columns are `step` bytes (up to 8) apart. `size` bytes of medians are written, and rows are read
 * up to 64 bytes after the next multiple of 64. */
GF_X86_ONLY void gf_median_simd(int radius, int bits, const struct gf_median_rows *rows,
                                unsigned char *out, size_t size, int step);

/* Computes four rows of 3x3 medians from six rows; otherwise like gf_median_simd(). */
GF_X86_ONLY void gf_median_simd_four(int bits, const struct gf_median_rows *rows,
                                     unsigned char *const *out, size_t size, int step);

/* Computes medians of the largest windows of 8-bit samples, by a histogram for each column of the
 * windows in a row. The histogram of a window is the histogram of the window before, plus one
 * column and minus another, so that the time does not grow with the radius. After S. Perreault and
 * P. Hebert, Median Filtering in Constant Time, IEEE Transactions on Image Processing 16(9),
 * 2007. */

/* The radius from which gf_median_columns() is faster than gf_median_lists() for 8 bits. */
enum { GF_MEDIAN_COLUMNS_RADIUS = 6 };

/* Returns the bytes of scratch memory that gf_median_columns() needs. */
size_t gf_median_columns_scratch(struct gf_format format, int radius);

/* Computes medians of (2 radius + 1)^2 samples, with a radius of at most 90, for the rows of `out`.
 * `in` contains all rows of their windows. Needs GF_CPU_AVX2. */
GF_X86_ONLY void gf_median_columns(const struct gf_view *in, const struct gf_view *out, int radius,
                                   int border, void *scratch);

/* Two rows of medians of large windows with vector instructions. A vector contains one element of
 * the sorted lists of as many neighbouring windows. The rows that both windows have in common are
 * sorted column by column. The lists of single columns are merged to lists of two neighbouring
 * columns, these to lists of four, and so on, once for all windows that contain them (K. E.
 * Batcher's odd-even merge). Samples that cannot be a window's median, since more than half of the
 * window is smaller or larger, are dropped. The row that only one of the windows has is sorted in
 * the same way. After A. Adams, Fast Median Filters using Separable Sorting Networks, 2021, which
 * merges columns and rows similarly. */

enum {
    GF_MEDIAN_LISTS_RADIUS = 8,  /* the largest radius; with larger ones the lists exceed the
                                  * caches */
    GF_MEDIAN_LISTS_BEHIND = 768 /* the bytes after the last sample of a row that are read */
};

/* Returns the bytes of scratch memory that gf_median_lists() needs. */
size_t gf_median_lists_scratch(int radius, int step);

/* Computes medians of (2 radius + 1)^2 samples of 8 or 16 bits, for a radius of at least 3; columns
 * are `step` bytes (up to 8) apart. `rows` has 2 radius + 2 rows, whose first samples are `radius`
 * columns left of the first result; result row 0 needs the first 2 radius + 1 of them, row 1 the
 * last. `size` bytes of each result row are written; the second row may be NULL. Needs
 * GF_CPU_AVX2. */
GF_X86_ONLY void gf_median_lists(int radius, int bits, int step, const unsigned char *const *rows,
                                 unsigned char *const *out, size_t size, void *scratch);

/* Medians of large windows of keys of floats. The samples of a tile are replaced by their ranks
 * among each other, of which the filter finds the medians as of 16 bits. */
void gf_median_ranks(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch);
size_t gf_median_ranks_scratch(const struct gf_stage *stage, int rows);
