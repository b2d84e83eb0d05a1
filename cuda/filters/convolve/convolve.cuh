/* What the kernels of convolve share: the result from a sum of products, and weighted means. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "filters/convolve/convolve.h"
#include "stage/variant.h"

/* Returns the result in units of the sample, not rounded. `centre` is the pixel's alpha, if `alpha`
 * is set. */
template <class Args>
static __device__ __forceinline__ float finish(const Args &args, float sum, bool alpha,
                                               const float *centre)
{
    if (alpha && args.keep_alpha)
        return *centre;
    if (args.p.channels % 2 || args.bias == 0.0f)
        return gf_convolve_finish(sum, args.divisor, args.bias);
    const float v = gf_convolve_finish(sum, args.divisor, 0.0f);
    return alpha ? v : v + args.bias * (*centre / args.max);
}

/* Weighted means on tensor cores (mean.cu). */

/* Returns a cudaError_t; cudaErrorNotSupported means that another kernel must do the work. */
int gf_convolve_means(const struct gf_launch *launch, const struct gf_convolve *convolve);
