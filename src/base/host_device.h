/* Marks functions that host and device share: one definition, so that both backends compute the
 * same picture (Best Practices Guide, 6.1.2). Both compilers run with contraction off (-ffp-
 * contract=off, -fmad=false), so that a * b + c rounds twice on both. */
#pragma once

#ifdef __CUDACC__
#define GF_HOST_DEVICE static __host__ __device__ __forceinline__
#else
#define GF_HOST_DEVICE static inline
#endif
