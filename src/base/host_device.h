/* What C and the kernels' C++ share: functions of both, which have one definition, and the
 * linkage of C. */
#pragma once

/* Marks functions that host and device share: one definition, so that both backends compute the
 * same picture (Best Practices Guide, 6.1.2). Both compilers run with contraction off (-ffp-
 * contract=off, -fmad=false), so that a * b + c rounds twice on both. */
#ifdef __CUDACC__
#define GF_HOST_DEVICE static __host__ __device__ __forceinline__
#else
#define GF_HOST_DEVICE static inline
#endif

/* Linkage of C functions that kernels' files, which are C++, call, too. A header declares them
 * between GF_C_BEGIN and GF_C_END. */
#ifdef __cplusplus
#define GF_C_BEGIN extern "C" {
#define GF_C_END }
#else
#define GF_C_BEGIN
#define GF_C_END
#endif
