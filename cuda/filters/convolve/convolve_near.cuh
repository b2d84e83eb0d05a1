/* Results of 8 bits from sums of fused operations. gf_convolve_doubt() bounds the difference
 * between such a sum and the CPU's. Both ends of the interval of possible sums are rounded. Where
 * the rounded ends agree, they are the CPU's result, since rounding never decreases; where they
 * differ, the sum is computed again as the CPU computes it. */
#ifndef GF_CUDA_FILTERS_CONVOLVE_CONVOLVE_NEAR_CUH
#define GF_CUDA_FILTERS_CONVOLVE_CONVOLVE_NEAR_CUH

#include "cuda/common/stencil.cuh"
#include "filters/convolve/convolve.h"

/* How sums are made: each product rounded, as on the CPU; fused where that rounds nothing; or
 * fused, where doubtful results are computed again. */
enum convolve_way { CONVOLVE_APART, CONVOLVE_WHOLE, CONVOLVE_NEAR };

/* If a larger share of the results were doubtful, computing them again would take too long. */
static const double NEAR_DOUBT_MAX = 0.04;

/* Returns one end of the interval of possible results, rounded, in byte 1. */
static __device__ __forceinline__ unsigned near_end(float sum, float scale, float end)
{
    return __float_as_uint(__fmaf_rz(__saturatef(__fmaf_rn(sum, scale, end)), 255.0f, 32768.5f));
}

#endif
