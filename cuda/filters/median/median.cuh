/* What the kernels of the median share: one band, and how samples beyond the picture are read. */
#ifndef GF_CUDA_FILTERS_MEDIAN_MEDIAN_CUH
#define GF_CUDA_FILTERS_MEDIAN_MEDIAN_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "filters/median.h"
#include "stage/border.h"
#include "stage/stage.h"

struct median_band {
    const unsigned char *in; /* row in_first of the picture */
    unsigned char *out;      /* row first of the result */
    size_t in_pitch, out_pitch;
    int in_first, first, rows;
    int width, height, channels, bits;
    int radius, border;
};

/* A row of the picture, or NULL where the border's constant stands for it. */
static __device__ __forceinline__ const unsigned char *median_row(const struct median_band &band,
                                                                  int row)
{
    const int from = gf_border_index(row, band.height, band.border);
    return from < 0 ? NULL : band.in + (from - band.in_first) * (ptrdiff_t)band.in_pitch;
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
int gf_median_large(const struct median_band &band, cudaStream_t stream);

#endif
