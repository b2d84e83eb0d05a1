/* What the kernels of the median share: the rows and samples that stand for those beyond the
 * picture. */
#ifndef GF_CUDA_FILTERS_MEDIAN_MEDIAN_CUH
#define GF_CUDA_FILTERS_MEDIAN_MEDIAN_CUH

#include <stdint.h>

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "filters/median.h"
#include "stage/border.h"

/* A row of the picture, or NULL where the border's constant stands for it. */
static __device__ __forceinline__ const unsigned char *median_row(const struct view_pair &p, int y)
{
    const int from = gf_border_index(y, p.height, p.border);
    return from < 0 ? NULL : p.in + (from - p.in_y) * (ptrdiff_t)p.in_pitch;
}

/* The sample of a row that stands for `sample`, counted from the left edge of the picture and at
 * most reach pixels left of it; -1 for the border's constant. */
static __device__ __forceinline__ int median_column(int sample, int channels, int width, int border,
                                                    int reach)
{
    const int pixel = (sample + reach * channels) / channels - reach;
    const int from = gf_border_index(pixel, width, border);
    return from < 0 ? -1 : sample + (from - pixel) * channels;
}

/* cudaError_t; in median_large.cu */
int gf_median_large(const struct view_pair &p, int radius, cudaStream_t stream);

#endif
