/* Square roots: estimates by the instruction for reciprocal square roots, and roots rounded as IEEE
 * 754 requires, by a correction of that estimate or by the compiler (Best Practices Guide 11.1.3).
 * Arguments are normal numbers. */
#pragma once

#include "cuda/common/stencil.cuh"

/* Computes a root with a relative error of at most 2^-22. The root of 0 is NaN, which clamping to
 * 0..1 makes 0. */
struct estimated_root {
    static constexpr bool EXACT = false;
    static __device__ __forceinline__ float root(float v)
    {
        return v * rsqrt_normal(v);
    }
};

/* Computes a root rounded as IEEE 754 requires. s = v r is the root with an error, which fmaf(-s,
 * s, v) shows; half of r is the factor from that error to the correction. The estimate of a
 * reciprocal is corrected in the same way. Both were compared with __fsqrt_rn and __frcp_rn for
 * every mantissa of two binades. */
struct corrected_root {
    static constexpr bool EXACT = true;
    static __device__ __forceinline__ float correct(float v, float r)
    {
        const float s = v * r;
        return fmaf(fmaf(-s, s, v), 0.5f * r, s);
    }
    static __device__ __forceinline__ float root(float v)
    {
        const float positive = fmaxf(v, 1e-30f);
        return correct(positive, rsqrt_normal(positive));
    }
    /* Returns 1 / sqrt(v). The root and the reciprocal are both rounded. */
    static __device__ __forceinline__ float reciprocal(float v)
    {
        const float s = correct(v, rsqrt_normal(v));
        float q;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(s));
        return fmaf(q, fmaf(-s, q, 1.0f), q);
    }
};

struct rounded_root {
    static constexpr bool EXACT = true;
    static __device__ __forceinline__ float root(float v)
    {
        return sqrtf(v);
    }
    static __device__ __forceinline__ float reciprocal(float v)
    {
        return 1.0f / sqrtf(v);
    }
};
