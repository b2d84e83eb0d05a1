/* Conversions of RGBA floats between straight and premultiplied colour. They give the bits of the
 * stages that the planner puts around a stencil, which store premultiplied samples of the same
 * type: halves are rounded after each step. */
#pragma once

#include "cuda/common/floats.cuh"
#include "cuda/common/stencil.cuh"

/* Converts four samples, a pixel if it is straight RGBA, to floats. */
static __device__ __forceinline__ void floats_of_four(const __half *four, bool straight, float v[4])
{
    __half2 pair[2] = {((const __half2 *)four)[0], ((const __half2 *)four)[1]};
    if (straight) {
        const unsigned last = ((const unsigned *)four)[1];
        const unsigned factor[2] = {__byte_perm(last, 0, 0x3232),        /* alpha and alpha */
                                    __byte_perm(last, 0x3C00u, 0x5432)}; /* alpha and 1 */
#pragma unroll
        for (int i = 0; i < 2; i++)
            pair[i] = __hmul2(pair[i], ((const __half2 *)factor)[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float2 two = __half22float2(pair[i]);
        v[2 * i] = two.x;
        v[2 * i + 1] = two.y;
    }
}

static __device__ __forceinline__ void floats_of_four(const float *four, bool straight, float v[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        v[j] = straight && j < 3 ? four[j] * four[3] : four[j];
}

/* Rounds premultiplied samples to their type. */
template <class Sample> static __device__ __forceinline__ void round_four(float v[4])
{
    if constexpr (sizeof(Sample) == 2) {
        const __half2 pair[2] = {__floats2half2_rn(v[0], v[1]), __floats2half2_rn(v[2], v[3])};
        floats_of_four((const __half *)pair, false, v);
    }
}

/* Divides colour by alpha; where alpha is 0, the result is 0. The second step gives halves the
 * quotient of a division: a quotient of numbers of 11 bits is never close to the middle between two
 * floats. A remainder of 0 or NaN belongs to a quotient that is 0, infinite, a NaN or exact. */
template <class Sample>
static __device__ __forceinline__ float straight_sample(float v, float alpha)
{
    float quotient;
    if constexpr (sizeof(Sample) == 2) {
        const float part = reciprocal_near(alpha), near = v * part, rest = fmaf(-alpha, near, v);
        quotient = fabsf(rest) > 0.0f ? fmaf(rest, part, near) : near;
    } else {
        quotient = v / alpha;
    }
    return alpha != 0.0f ? quotient : 0.0f;
}

static __device__ __forceinline__ void store_pair(float *to, float a, float b)
{
    *(float2 *)to = make_float2(a, b);
}

static __device__ __forceinline__ void store_pair(__half *to, float a, float b)
{
    *(__half2 *)to = __floats2half2_rn(a, b);
}
