/* Square roots for kernels that are compiled twice: by the approximate instruction for reciprocal
 * square roots, and rounded as IEEE 754 asks (Best Practices Guide 11.1.3). */
#ifndef GF_CUDA_COMMON_SQUARE_ROOT_CUH
#define GF_CUDA_COMMON_SQUARE_ROOT_CUH

#include "cuda/common/stencil.cuh"

struct by_rsqrt {
    static __device__ __forceinline__ float reciprocal(float v)
    {
        return rsqrt_normal(v);
    }
    /* The root of 0 is NaN; the callers clamp to 0..1, which turns NaN into 0. */
    static __device__ __forceinline__ float root(float v)
    {
        return v * rsqrt_normal(v);
    }
    static __device__ __forceinline__ float root_or_zero(float v)
    {
        return v * rsqrt_normal(fmaxf(v, 1e-30f));
    }
};

struct by_sqrt {
    static __device__ __forceinline__ float reciprocal(float v)
    {
        return 1.0f / sqrtf(v);
    }
    static __device__ __forceinline__ float root(float v)
    {
        return sqrtf(v);
    }
    static __device__ __forceinline__ float root_or_zero(float v)
    {
        return sqrtf(v);
    }
};

#endif
