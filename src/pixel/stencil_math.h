/* What the stencils compute at one sample or pixel, for both compilers. Plain float arithmetic in a
 * fixed order: both backends round alike. Only reciprocal square roots differ: the device has an
 * instruction for them (Best Practices Guide, 11.1.3), good to two units in the last place. */
#ifndef GF_PIXEL_STENCIL_MATH_H
#define GF_PIXEL_STENCIL_MATH_H

#include <math.h>
#include <stdint.h>

#include "base/host_device.h"

/* gf_round_sample without branches, for loops that are to become vectors. */
GF_HOST_DEVICE int gf_round_flat(float v, float max)
{
    const float floored = v > 0.0f ? v : 0.0f;
    return (int)((floored < max ? floored : max) + 0.5f);
}

/* Unsharp masking; limit is the threshold in steps of the sample format. */
GF_HOST_DEVICE float gf_unsharp_sample(float v, float blurred, float amount, float limit)
{
    const float difference = v - blurred;
    return fabsf(difference) > limit ? v + amount * difference : v;
}

/* The fixed-point Gaussian's sum, with 24 fraction bits, as a float: its upper 23 bits, which
 * convert exactly. */
enum { GF_UNSHARP_DROP = 9 };
GF_HOST_DEVICE float gf_unsharp_blurred(uint32_t sum)
{
    return (float)(int)(sum >> GF_UNSHARP_DROP) * (1.0f / 32768.0f);
}

/* The mean of n samples from their sum, rounded half up: (sum + n / 2) / n in integers, for odd n
 * up to 1001 x 1001, by a multiplication. With m = floor(2^(31 + shift) / n) + 1, shift =
 * floor(log2 n), the error of num * m / 2^(31 + shift) is below 1 / n as long as 256 n < 2^30.
 * Doubling num leaves 32 bits to shift out, which costs nothing. */
struct gf_box_mean {
    uint32_t half; /* n / 2 */
    uint32_t multiplier;
    int shift;
    uint64_t multiplier16; /* the same with 2^(63 + shift), for sums of 16-bit samples */
    double reciprocal;     /* 1 / n */
};

GF_HOST_DEVICE int gf_box_mean8(const struct gf_box_mean *mean, uint32_t sum)
{
    const uint32_t num = 2 * (sum + mean->half);
#ifdef __CUDA_ARCH__
    return (int)(__umulhi(num, mean->multiplier) >> mean->shift);
#else
    return (int)((uint64_t)num * mean->multiplier >> (32 + mean->shift));
#endif
}

#if defined(__CUDA_ARCH__) || defined(__SIZEOF_INT128__)
GF_HOST_DEVICE int gf_box_mean16(const struct gf_box_mean *mean, uint64_t sum)
{
    const uint64_t num = 2 * (sum + mean->half);
#ifdef __CUDA_ARCH__
    return (int)(__umul64hi(num, mean->multiplier16) >> mean->shift);
#else
    return (int)((uint64_t)((unsigned __int128)num * mean->multiplier16 >> 64) >> mean->shift);
#endif
}
#endif

/* The same by doubles, which hold the sums exactly, for vectors on the CPU: the added half of a
 * unit outweighs the rounding errors of the reciprocal and the product, and is too small to reach
 * the next integer. */
GF_HOST_DEVICE int gf_box_mean_double(const struct gf_box_mean *mean, double sum)
{
    return (int)((sum + ((double)mean->half + 0.5)) * mean->reciprocal);
}

/* A correlation's result in steps; bias already scaled by the pixel's alpha. */
GF_HOST_DEVICE float gf_convolve_finish(float sum, float divisor, float bias)
{
    return (divisor == 1.0f ? sum : sum / divisor) + bias;
}

/* 256 times the luma, not rounded: exact for 8 and 16 bits. */
GF_HOST_DEVICE int gf_luma601_fine(int r, int g, int b)
{
    return 77 * r + 150 * g + 29 * b;
}

/* The squared length of the vector (-strength gx, -strength gy, 1), and a component n/length of it
 * as a sample. */
GF_HOST_DEVICE float gf_normal_square(float x, float y)
{
    return x * x + y * y + 1.0f;
}

GF_HOST_DEVICE float gf_normal_sample(float component, float reciprocal_length, float max)
{
    return (component * reciprocal_length * 0.5f + 0.5f) * max;
}

#endif
