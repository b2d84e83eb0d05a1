/* Two rows of medians of large windows with vector instructions. A vector contains one element of
 * the sorted lists of as many neighbouring windows. The rows that both windows have in common are
 * sorted column by column. The lists of single columns are merged to lists of two neighbouring
 * columns, these to lists of four, and so on, once for all windows that contain them (K. E.
 * Batcher's odd-even merge). Samples that cannot be a window's median, since more than half of the
 * window is smaller or larger, are dropped. The row that only one of the windows has is sorted in
 * the same way. After A. Adams, Fast Median Filters using Separable Sorting Networks, 2021, which
 * merges columns and rows similarly. */
#ifndef GF_FILTERS_MEDIAN_MEDIAN_LISTS_SIMD_H
#define GF_FILTERS_MEDIAN_MEDIAN_LISTS_SIMD_H

#include <stddef.h>

#include "base/cpu.h"

enum {
    GF_MEDIAN_LISTS_RADIUS = 8,  /* largest radius; with more, the lists exceed the caches */
    GF_MEDIAN_LISTS_BEHIND = 768 /* bytes that are read behind the last sample of a row */
};

/* The bytes of scratch memory that gf_median_lists() needs. */
size_t gf_median_lists_scratch(int radius, int step);

/* Computes medians of (2 radius + 1)^2 samples of 8 or 16 bits, for a radius of at least 3; columns
 * are `step` bytes (up to 8) apart. `rows` has 2 radius + 2 rows, whose first samples are `radius`
 * columns left of the first result; result row 0 needs the first 2 radius + 1 of them, row 1 the
 * last. `size` bytes of each result row are written; the second row may be NULL. Needs
 * GF_CPU_AVX2. */
GF_X86_ONLY void gf_median_lists(int radius, int bits, int step, const unsigned char *const *rows,
                                 unsigned char *const *out, size_t size, void *scratch);

#endif
