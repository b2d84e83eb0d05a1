/* Two rows of medians of large windows by vector instructions. Each vector holds one element of the
 * sorted list of as many neighbouring windows. The rows that both windows have in common are sorted
 * column by column; the lists of one column are merged into those of two neighbours, those into
 * four, and so on, once for all windows that they lie in (K. E. Batcher's odd-even merge); what
 * cannot be a window's median, as more than half of its samples are less or greater, is left out.
 * The row that only one of the windows has is sorted alike. After A. Adams, Fast Median Filters
 * using Separable Sorting Networks, 2021, whose columns and rows are merged likewise. */
#ifndef GF_FILTERS_MEDIAN_MEDIAN_LISTS_SIMD_H
#define GF_FILTERS_MEDIAN_MEDIAN_LISTS_SIMD_H

#include <stddef.h>

#include "base/cpu.h"

enum {
    GF_MEDIAN_LISTS_RADIUS = 8,  /* the largest: beyond it the lists outgrow the caches */
    GF_MEDIAN_LISTS_BEHIND = 768 /* bytes behind the last sample of a row that are read */
};

/* The bytes of scratch memory that gf_median_lists() needs. */
size_t gf_median_lists_scratch(int radius, int step);

/* Medians of (2 radius + 1)^2 samples of 8 or 16 bits, radius 3 or more; `step` bytes (up to 8) lie
 * between the columns. `rows` are 2 radius + 2, the first sample of each a radius left of the first
 * result; result row 0 has the first 2 radius + 1 of them, row 1 the last. `size` bytes of each of
 * the results are written; the second may be NULL. GF_CPU_AVX2. */
GF_X86_ONLY void gf_median_lists(int radius, int bits, int step, const unsigned char *const *rows,
                                 unsigned char *const *out, size_t size, void *scratch);

#endif
