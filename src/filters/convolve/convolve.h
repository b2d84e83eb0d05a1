/* The parameters and constants of convolve, and the arithmetic after its sums, for both
 * backends. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "gpufilter/filter.h"
#include "stage/stage.h"

/* The parameters of convolve. The filters lensblur and motionblur make them, too. */
struct gf_convolve_params {
    struct gf_matrix kernel;
    double divisor, bias;
    int border;
};

struct gf_convolve {
    int width, height; /* size of the kernel in weights */
    int border;
    int keep_alpha;                                        /* whether the alpha channel is copied */
    float divisor, bias;                                   /* the bias is in samples */
    float weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX]; /* row by row, without gaps */
};

/* Returns the result in samples, before rounding. */
GF_HOST_DEVICE float gf_convolve_finish(float sum, float divisor, float bias)
{
    return (divisor == 1.0f ? sum : sum / divisor) + bias;
}

/* A weighted mean of 8-bit samples by whole weights whose sum is n, 256 < n < 65536. Returns 256
 * times the mean, with a fraction that is rounded down: the sum has begun with n / 2, and `inverse`
 * is 2^40 / n, rounded up. Sums are below 256 n and rounding up adds less than 1 to the inverse, so
 * that the product comes nowhere to the next multiple of 2^40. The mean is the CPU's result:
 * its float quotient lies on the same side of each half as the exact one. */
static inline uint32_t gf_convolve_inverse(uint32_t n)
{
    return (uint32_t)((((uint64_t)1 << 40) + n - 1) / n);
}

GF_HOST_DEVICE uint32_t gf_convolve_mean(uint32_t sum, uint32_t inverse)
{
    return (uint32_t)((uint64_t)sum * inverse >> 32);
}

/* Returns the smallest power of 2 that makes all weights integers of 15 bits and a sign (two signed
 * digits of 8 bits) whose sums over 8-bit samples are exact in float, in any order; 0 if there is
 * none. *most becomes the largest of these integers. */
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

/* Bounds the difference between two 8-bit results before rounding, in samples. One is the CPU's.
 * The other is computed by fused multiply-adds in the same order (sums_rounded is 2) or exactly
 * (1), and divided and shifted by one more fused multiply-add, in units of 255. Each operation has
 * a relative rounding error of at most u = 2^-24. Let A_k = 255 (|w_1| + .. + |w_k|), which no
 * partial sum exceeds. The error of the CPU's products and sums is at most u (A_n + A_1 + .. +
 * A_n); the error of the fused sums is at most u (A_1 + .. + A_n). The CPU then rounds q = s / d, q
 * + b, and the sum with a half; the fused operation rounds 1 / d, b, and the sum of both. One per
 * cent is added for terms of the order of u^2. All numbers must be normal floats (see
 * gf_convolve_is_normal()). */
static inline double gf_convolve_doubt_of(const struct gf_convolve *convolve, int sums_rounded)
{
    const double u = 1.0 / 16777216, d = fabs((double)convolve->divisor);
    const double b = fabs((double)convolve->bias);
    double reach = 0, reaches = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        reach += 255 * fabs((double)convolve->weight[i]);
        reaches += convolve->weight[i] != 0 ? reach : 0;
    }
    const double sums = u * (reach + sums_rounded * reaches), q = (reach + sums) / d;
    return 1.01 * (sums / d + u * (4 * q + 3 * b + 258));
}

static inline double gf_convolve_doubt(const struct gf_convolve *convolve)
{
    return gf_convolve_doubt_of(convolve, 2);
}

/* The interval that contains the CPU's result, in units of 255. It extends from sum * scale + low
 * to sum * scale + high, where `sum` is the fused sum. */
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

/* Factors for sums with integer weights that are close to the real weights times a scale. An
 * integer is one signed digit of 8 bits, or two digits whose sums are computed separately, with the
 * upper digit in `first`. Sums start at GF_CONVOLVE_START as floats if they are short, and become
 * floats at the end if they are not, so that (first * high + last * scale) + shift is the lower end
 * of the interval that contains the CPU's result, in units of 255. This number is clamped,
 * multiplied by 255, increased by a half, and rounded down to 1/256. Its integer part is certainly
 * the result, unless all fraction bits outside `zone` are set. */
struct gf_convolve_digits {
    float scale, high, shift;
    uint32_t zone; /* a mask of fraction bits, repeated in each byte */
};

#define GF_CONVOLVE_START 12582912.0 /* 1.5 * 2^23: from 2^23 on, floats are integers */

/* Returns the scale that brings the weights closest to integers. It tries the `tries` largest
 * integers up to `most` for the largest weight. Decimal weights become almost exact integers. */
static inline double gf_convolve_scale(const struct gf_convolve *convolve, int most, int tries)
{
    const int count = convolve->width * convolve->height;
    double largest = 0, least = HUGE_VAL, best = 0;
    for (int i = 0; i < count; i++) { /* GCC 12 for aarch64 fails in a loop of fmax */
        const double size = fabs((double)convolve->weight[i]);
        largest = size > largest ? size : largest;
    }
    for (int k = most; k > 0 && k > most - tries && largest > 0; k--) {
        const double scale = k / largest, step = largest / k, magic = 3 * 2251799813685248.0;
        double off = 0;
        for (int i = 0; i < count; i++) {
            const double weight = (double)convolve->weight[i];
            off += fabs(weight - (weight * scale + magic - magic) * step);
        }
        if (off < 0.999 * least) {
            least = off;
            best = scale;
        }
    }
    return best;
}

/* Replaces the weights by integers of `digits` digits, 1 or 2, and computes the factors for their
 * sums. If `brief` is set, no sum may reach 2^22, and sums start at GF_CONVOLVE_START. Returns the
 * share of samples whose result stays uncertain; 1: all, or the weights are all 0. `off` is the
 * error in samples that one integer causes where the sample is 255. `own` bounds the error of the
 * float operations: each rounds by at most 2^-24 of `start`, of the sums, or of 1. */
static inline double gf_convolve_digits_of(const struct gf_convolve *convolve, int digits,
                                           int brief, short *number, struct gf_convolve_digits *end)
{
    const double scale = digits == 1 ? gf_convolve_scale(convolve, 127, 127)
                                     : gf_convolve_scale(convolve, 32639, 32);
    const double divisor = (double)convolve->divisor, doubt = gf_convolve_doubt_of(convolve, 1);
    double low = 0, high = 0, reach = fabs((double)convolve->bias) / 255;
    if (scale == 0)
        return 1;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const double whole = rint((double)convolve->weight[i] * scale);
        const double off = ((double)convolve->weight[i] - whole / scale) * 255 / divisor;
        number[i] = (short)whole;
        *(off > 0 ? &high : &low) += off;
        reach += fabs(whole / scale / divisor) + 128 / scale / fabs(divisor);
    }
    end->scale = (float)(1 / (255 * scale * divisor));
    end->high = 256 * end->scale;
    const double start =
        brief ? GF_CONVOLVE_START * (double)end->scale * (digits == 1 ? 1 : 257) : 0;
    const double own = 255 * ((brief ? 2 * fabs(start) : 6 * reach) + 4) / 16777216;
    end->shift = (float)(((double)convolve->bias + low - doubt - own) / 255 - start);
    int zone = 1;
    while (zone < 256 && zone < 256 * (high - low + 2 * doubt + 2 * own) + 0.01)
        zone *= 2;
    end->zone = 0x01010101u * (uint32_t)(zone - 1);
    return zone / 256.0;
}

/* Whether all products of weights with samples, scaled by 2^24, and all quotients are normal
 * floats. */
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

/* Convolutions of 8 bits on the CPU by sums of products of bytes, in exact integers. */

/* The numbers of result rows that are computed together, and of groups of four picture rows that
 * they need. */
enum {
    GF_CONVOLVE_LINES = 4,
    GF_CONVOLVE_GROUPS_MAX = (GF_MATRIX_SIDE_MAX + 2 * GF_CONVOLVE_LINES - 2) / GF_CONVOLVE_LINES
};

/* The taps of one column of a group, for each of the four result rows: four signed bytes of a
 * word. */
struct gf_convolve_quad {
    int group, column;
    int32_t tap[GF_CONVOLVE_LINES];
};

/* How a sum of products of integers and samples becomes the result. */
enum gf_convolve_end {
    GF_CONVOLVE_NO_END, /* the sums cannot be computed from bytes */
    GF_CONVOLVE_SHIFT,  /* (sum + start) >> shift */
    GF_CONVOLVE_EXACT,  /* gf_convolve_finish(sum * scale), with the divisor and the bias */
    GF_CONVOLVE_NEAR    /* a value between sum * scale + low and sum * scale + high, which include
                         * the half for rounding */
};

struct gf_convolve_bytes {
    int width, height, groups; /* the kernel's columns and rows, and the number of groups of four
                                  picture rows that four result rows need */
    enum gf_convolve_end end;
    int start, shift;
    float scale, divisor, bias, low, high;
    /* Whether 15 bits and a sign are enough for the sum of the products of two neighbouring rows of
     * a group in one column, and for the sum over all columns and groups. */
    bool pairs_fit, brief;
    int count; /* the number of elements of quad, which has only columns with a tap other than 0 */
    struct gf_convolve_quad quad[GF_CONVOLVE_GROUPS_MAX * GF_MATRIX_SIDE_MAX];
};

/* Decides how the kernel's sums can be computed from bytes. Returns false if this processor cannot,
 * or if the results could differ from the results of the CPU's float sums. */
bool gf_convolve_bytes_of(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes);

/* The functions cpu() and cpu_scratch() for 8-bit pictures without alpha and kernels that
 * gf_convolve_bytes_of() accepts. */
void gf_convolve_bytes_cpu(const struct gf_convolve *convolve,
                           const struct gf_convolve_bytes *bytes, const struct gf_view *in,
                           const struct gf_view *out, void *scratch);
size_t gf_convolve_bytes_scratch(const struct gf_stage *stage);
