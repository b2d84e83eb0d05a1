/* Converts pixels of R, G, B and A between straight alpha, of 8 or 16 bits, and premultiplied
 * colour of 16 bits. The results equal the results of the stages that the planner puts around a
 * stencil (pixel/point/premultiply.h), bit for bit, in fewer steps. A pixel of 8 bits is a word,
 * and a pixel of 16 bits two words. */
#pragma once

#include "cuda/common/stencil.cuh"

/* What holds a pixel. */
template <int BITS> struct straight_pixel {
    typedef unsigned type;
};
template <> struct straight_pixel<16> {
    typedef uint2 type;
};

constexpr float TWO_23 = 8388608.0f; /* floats from 2^23 to 2^24 are integers */

/* Returns premultiplied colour as 2^23 + v, for a pixel of 8 bits. Adding 2^23 rounds the colour v
 * * 257 * alpha / 255 to an integer: the colour differs from a half by at least 1/510, and the
 * product's error is below 1/1000. */
static __device__ __forceinline__ void premultiply_raised(unsigned pixel, float alpha, float v[3])
{
    const float minus = -TWO_23 * alpha;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float raised = __uint_as_float(__byte_perm(pixel, 0x4B000000u, 0x7440 | c));
        v[c] = fmaf(fmaf(raised, alpha, minus), 257.0f / 255.0f, TWO_23);
    }
}

static __device__ __forceinline__ float alpha_of(unsigned pixel)
{
    return __uint_as_float(__byte_perm(pixel, 0x4B000000u, 0x7443)) - TWO_23;
}

static __device__ __forceinline__ unsigned joined(float low, float high)
{
    return __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x5410);
}

static __device__ __forceinline__ uint2 premultiplied(unsigned pixel)
{
    float v[3];
    premultiply_raised(pixel, alpha_of(pixel), v);
    return make_uint2(joined(v[0], v[1]), __byte_perm(__float_as_uint(v[2]), pixel, 0x7710));
}

/* The three steps of the quotient of v * alpha, which is rounded, and 65535 round it as a division
 * does. All floats up to 65535^2 were tried. */
static __device__ __forceinline__ uint2 premultiplied(uint2 pixel)
{
    constexpr float PART = 1.0f / 65535.0f;
    const float alpha = float_of_high(pixel.y);
    const float v[3] = {float_of_low(pixel.x), float_of_high(pixel.x), float_of_low(pixel.y)};
    float to[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float product = v[c] * alpha, near = product * PART;
        const float quotient = fmaf(fmaf(-65535.0f, near, product), PART, near);
        to[c] = __fadd_rz(quotient + 0.5f, TWO_23);
    }
    return make_uint2(joined(to[0], to[1]), __byte_perm(__float_as_uint(to[2]), pixel.y, 0x7610));
}

/* Returns a straight pixel, a word or two words. 1 / alpha is the sum of two floats. All colours
 * and all alphas were tried, with reciprocals that are wrong by up to two units of the last place:
 * the results equal those of a division. */
template <class PIXEL> static __device__ __forceinline__ PIXEL straightened(uint2 pixel)
{
    constexpr float MAX = sizeof(PIXEL) == 4 ? 255.0f : 65535.0f;
    const float alpha = float_of_high(pixel.y), divisor = fmaxf(alpha, 1.0f);
    const float high = alpha > 0.0f ? reciprocal_near(divisor) : 0.0f;
    const float low = fmaf(-divisor, high, 1.0f) * high;
    const unsigned raised[3] = {__byte_perm(pixel.x, 0x4B00u, 0x5410),
                                __byte_perm(pixel.x, 0x4B00u, 0x5432),
                                __byte_perm(pixel.y, 0x4B00u, 0x5410)};
    float v[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float scaled = fmaf(__uint_as_float(raised[c]), MAX, -MAX * TWO_23);
        const float quotient = fminf(fmaf(scaled, high, scaled * low), MAX);
        v[c] = __fadd_rz(quotient + 0.5f, TWO_23);
    }
    if constexpr (sizeof(PIXEL) == 4) {
        const unsigned level = __float_as_uint(fmaf(alpha, 1.0f / 257.0f, TWO_23));
        return __byte_perm(__byte_perm(__float_as_uint(v[0]), __float_as_uint(v[1]), 0x0040),
                           __byte_perm(__float_as_uint(v[2]), level, 0x0040), 0x5410);
    } else {
        return make_uint2(joined(v[0], v[1]), __byte_perm(__float_as_uint(v[2]), pixel.y, 0x7610));
    }
}
