/* Finds the rows and samples that replace rows and samples beyond the picture, for the kernels of
 * the median. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "filters/median/median.h"
#include "stage/border.h"

/* Fills the block's table for rows first .. first + count - 1 of the picture with the offsets in
 * the input, in bytes, of these rows or of the rows that replace them; -1 stands for the border's
 * constant. The view has no rows from `end` on; its last row replaces them, and no result that
 * depends on them is kept. */
static __device__ __forceinline__ void find_rows(const struct view_pair &p, long long *offset,
                                                 int first, int count, int end)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int index = gf_border_index(min(first + i, end - 1), p.height, p.border);
        offset[i] = index < 0 ? -1 : (index - p.in_y) * (long long)p.in_pitch;
    }
}

/* Returns the sample of a row that replaces `sample`, which is counted from the left edge of the
 * picture and at most `reach` pixels to the left of it; -1 for the border's constant. */
static __device__ __forceinline__ int median_column(int sample, int channels, int width, int border,
                                                    int reach)
{
    const int pixel = (sample + reach * channels) / channels - reach;
    const int from = gf_border_index(pixel, width, border);
    return from < 0 ? -1 : sample + (from - pixel) * channels;
}
