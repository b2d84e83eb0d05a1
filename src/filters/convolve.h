/* The constants of convolve and the end of its sums, for both backends. */
#ifndef GF_FILTERS_CONVOLVE_H
#define GF_FILTERS_CONVOLVE_H

#include "base/host_device.h"
#include "gpufilter/filter.h"

struct gf_convolve {
    int width, height; /* of the kernel */
    int border;
    int keep_alpha;                                        /* the alpha channel is passed through */
    float divisor, bias;                                   /* bias in steps of the sample format */
    float weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX]; /* row by row, tightly */
};

/* The result in steps of the sample format. */
GF_HOST_DEVICE float gf_convolve_finish(float sum, float divisor, float bias)
{
    return (divisor == 1.0f ? sum : sum / divisor) + bias;
}

#endif
