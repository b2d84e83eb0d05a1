/* One band of a resize on the device. */
#ifndef GF_RESIZE_CUH
#define GF_RESIZE_CUH

#include <cuda_runtime.h>

#include "resample.h"

struct resize_band {
    const unsigned char *in; /* row in_first of the picture */
    unsigned char *out;      /* row first of the result */
    size_t in_pitch, out_pitch;
    int in_first, first, rows;
    int in_width, width, height, bits;
    bool linear;
    float max; /* what the first pass is clamped to: 1 or M */
    const float *decode;
    /* Of struct gf_resample_table: the arrays of groups of columns (for the nearest, of columns),
     * those of rows and of groups of rows. */
    const int *column_start, *column_count, *row_start, *row_count, *group_start, *group_count;
    const float *column_weight, *group_weight;
    int column_taps, group_taps;
};

/* cudaError_t; in resize_nearest.cu */
int gf_resize_nearest(const struct resize_band &band, int pixel_bytes, cudaStream_t stream);

#endif
