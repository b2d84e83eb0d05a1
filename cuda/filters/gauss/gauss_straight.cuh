/* Converts a pixel of RGBA8 to premultiplied colour and back. The results equal the results of the
 * stages that the planner puts around a stencil (pixel/point/premultiply.h), bit for bit, in fewer
 * steps. Only the steps that round are inexact. */
#pragma once

#include "cuda/common/straight.cuh"

/* Computes premultiplied colour and alpha of 16 bits. */
static __device__ __forceinline__ void premultiply_pixel(unsigned pixel, float v[4])
{
    const float alpha = alpha_of(pixel);
    premultiply_raised(pixel, alpha, v);
    v[3] = 257.0f * alpha;
#pragma unroll
    for (int c = 0; c < 3; c++)
        v[c] -= TWO_23;
}

/* 1 / alpha as the sum of two floats; alpha is rounded and at least 1. */
struct straight_alpha {
    float high, low;
};

/* Returns v + 1/2 without its fraction, plus 2^23, for 0 <= v < 65535.5. */
static __device__ __forceinline__ float raised_level(float v)
{
    return __fadd_rz(v + 0.5f, TWO_23);
}

/* Returns 8-bit alpha in the lowest byte, from the blurred alpha. */
static __device__ __forceinline__ unsigned straighten_alpha(float blurred,
                                                            struct straight_alpha *alpha)
{
    const float level = raised_level(blurred) - TWO_23, divisor = fmaxf(level, 1.0f);
    alpha->high = reciprocal_near(divisor);
    alpha->low = fmaf(-divisor, alpha->high, 1.0f) * alpha->high;
    return __float_as_uint(fmaf(level, 1.0f / 257.0f, TWO_23));
}

/* Returns 8-bit colour in the lowest byte: 255 v / alpha, rounded half up. The sums of a colour
 * never exceed the sums of alpha, because each step is monotonic, so that nothing has to be
 * clamped. The quotient plus 1/2 is an integer or at least 1/131070 below the next one. START adds
 * less than that to the half, and more than the error of the two floats of 1 / alpha. */
static __device__ __forceinline__ unsigned straighten_colour(float blurred,
                                                             const struct straight_alpha &alpha)
{
    constexpr float START = 0.5f + 1.0f / (1 << 20);
    const float scaled = fmaf(raised_level(blurred), 255.0f, -255.0f * TWO_23);
    const float quotient = __fmaf_rz(scaled, alpha.high, fmaf(scaled, alpha.low, START));
    return __float_as_uint(__fadd_rz(quotient, TWO_23));
}
