/* The type Finish of blur (gauss_common.cuh): it rounds the blurred samples. */
#pragma once

#include "cuda/filters/gauss/gauss_common.cuh"
#include "cuda/filters/gauss/gauss_straight.cuh"
#include "filters/blur/blur.h"

struct rounded {
    static constexpr unsigned START = 1u << 23; /* a half: the sum has 24 fraction bits */
    static constexpr int BLOCKS = 3, BYTE = 3;
    static constexpr bool ORIGINAL = false;

    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned) const
    {
        return sum;
    }
    __device__ __forceinline__ unsigned four(const unsigned sum[4], unsigned) const
    {
        return pack_bytes<BYTE>(sum[0], sum[1], sum[2], sum[3]);
    }
    __device__ __forceinline__ unsigned sample16(float blurred, const unsigned short *) const
    {
        return round_bits(blurred, 65535.0f);
    }
    __device__ __forceinline__ unsigned sample16_near(float blurred, const unsigned short *) const
    {
        return __float_as_uint(raised_level(blurred));
    }
};
