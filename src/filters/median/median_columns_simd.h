/* Medians of 8-bit samples, by a histogram for each column of the windows in a row. The histogram
 * of a window is that of the window before, plus one column and minus another, so that the time
 * does not grow with the radius. After S. Perreault and P. Hebert, Median Filtering in Constant
 * Time, IEEE Transactions on Image Processing 16(9), 2007. */
#ifndef GF_FILTERS_MEDIAN_MEDIAN_COLUMNS_SIMD_H
#define GF_FILTERS_MEDIAN_MEDIAN_COLUMNS_SIMD_H

#include "base/cpu.h"
#include "stage/stage.h"

/* The radius from which on this is faster than gf_median_lists() with 8 bits. */
enum { GF_MEDIAN_COLUMNS_RADIUS = 6 };

/* The bytes of scratch memory that gf_median_columns() needs. */
size_t gf_median_columns_scratch(struct gf_format format, int radius);

/* Computes medians of (2 radius + 1)^2 samples, with a radius of at most 90, for the rows of `out`;
 * `in` has the rows that they need. Needs GF_CPU_AVX2. */
GF_X86_ONLY void gf_median_columns(const struct gf_view *in, const struct gf_view *out, int radius,
                                   int border, void *scratch);

#endif
