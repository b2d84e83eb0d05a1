/* The parameters and constants of convolve, and the end of its sums, for both backends. */
#ifndef GF_FILTERS_CONVOLVE_H
#define GF_FILTERS_CONVOLVE_H

#include <math.h>

#include "base/host_device.h"
#include "gpufilter/filter.h"

/* The parameters, which lensblur and motionblur fill in too. */
struct gf_convolve_params {
    struct gf_matrix kernel;
    double divisor, bias;
    int border;
};

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

/* How far, in steps, a result of 8 bits before it is rounded may be from the CPU's if its sum is
 * made by fused operations, row by row and from left to right too, and if it is divided and shifted
 * by one more of them, in parts of 255.
 *
 * Every operation rounds by at most u = 2^-24 of its result. With A_k = 255 (|w_1| + .. + |w_k|),
 * which no partial sum exceeds, the CPU's products and sums are off by u (A_n + A_1 + .. + A_n) at
 * most, the fused ones by u (A_1 + .. + A_n). The CPU then rounds q = s / d, q + b and the sum with
 * a half; the fused way has rounded 1 / d, b and the sum of both. One per cent more covers what is
 * of the order of u^2, as long as no number leaves the range of normal floats (see
 * gf_convolve_is_normal()). */
static inline double gf_convolve_doubt(const struct gf_convolve *convolve)
{
    const double u = 1.0 / 16777216, d = fabs((double)convolve->divisor);
    const double b = fabs((double)convolve->bias);
    double reach = 0, reaches = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        reach += 255 * fabs((double)convolve->weight[i]);
        reaches += convolve->weight[i] != 0 ? reach : 0;
    }
    const double sums = u * (reach + 2 * reaches), q = (reach + sums) / d;
    return 1.01 * (sums / d + u * (4 * q + 3 * b + 258));
}

/* A fused sum times scale, plus low or high, is an end of the interval, in parts of 255, in which
 * the CPU's result lies. */
struct gf_convolve_near {
    float scale, low, high;
};

static inline struct gf_convolve_near gf_convolve_near_of(const struct gf_convolve *convolve)
{
    const double doubt = gf_convolve_doubt(convolve) / 255, bias = (double)convolve->bias / 255;
    struct gf_convolve_near near;
    near.scale = (float)(1 / (255 * (double)convolve->divisor));
    near.low = (float)(bias - doubt);
    near.high = (float)(bias + doubt);
    return near;
}

/* Whether no weight and no divisor is so large or so small that a product with a sample, scaled by
 * 2^24, or a quotient would leave the range of normal floats. */
static inline int gf_convolve_is_normal(const struct gf_convolve *convolve)
{
    const float divisor = fabsf(convolve->divisor);
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const float weight = fabsf(convolve->weight[i]);
        if (weight != 0.0f && !(weight > 1e-9f && weight < 1e9f))
            return 0;
    }
    return divisor > 1e-9f && divisor < 1e10f;
}

#endif
