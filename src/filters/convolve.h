/* The constants of convolve and the end of its sums, for both backends. */
#ifndef GF_FILTERS_CONVOLVE_H
#define GF_FILTERS_CONVOLVE_H

#include <math.h>

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

/* The least power of 2 that makes all weights whole numbers, of 15 bits and a sign (two balanced
 * bytes), with sums that floats hold exactly in any order for samples of 8 bits; 0 if there is
 * none. *most: the largest of the whole numbers. */
static inline int gf_convolve_whole(const float *weight, int count, int *most)
{
    for (int whole = 1; whole <= 1 << 14; whole *= 2) {
        float sum = 0, largest = 0;
        int i = 0;
        for (; i < count; i++) {
            const float scaled = fabsf(weight[i]) * (float)whole;
            if (!(scaled <= 32639.0f) || scaled != (float)(int)scaled)
                break;
            sum += scaled;
            largest = scaled > largest ? scaled : largest;
        }
        *most = (int)largest;
        if (i == count)
            return sum * 255.0f < 16777216.0f ? whole : 0;
    }
    return 0;
}

#endif
