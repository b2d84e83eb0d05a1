/* Computes 8-bit results from sums of fused operations. gf_convolve_doubt() bounds the difference
 * between such a sum and the CPU's. Both ends of the interval of possible sums are rounded. If the
 * rounded ends are equal, they are the CPU's result, since rounding never decreases; otherwise the
 * sum is computed again as on the CPU. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "filters/convolve/convolve.h"

/* How sums are computed. APART: each product is rounded, as on the CPU. WHOLE: fused, where fusing
 * rounds nothing. NEAR: fused, and doubtful results are computed again. */
enum convolve_way { CONVOLVE_APART, CONVOLVE_WHOLE, CONVOLVE_NEAR };

/* The largest share of doubtful results. With more, computing them again would take too long. */
static const double NEAR_DOUBT_MAX = 0.04;

/* Returns one end of the interval of possible results, rounded, in byte 1. */
static __device__ __forceinline__ unsigned near_end(float sum, float scale, float end)
{
    return __float_as_uint(__fmaf_rz(__saturatef(__fmaf_rn(sum, scale, end)), 255.0f, 32768.5f));
}
