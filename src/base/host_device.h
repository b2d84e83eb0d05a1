/* Macros for code that C and CUDA's C++ share: functions for host and device with one definition,
 * and C linkage. */
#pragma once

/* Marks functions that host and device share: one definition, so that both backends compute the
 * same picture (Best Practices Guide, 6.1.2). Both compilers run with contraction off (-ffp-
 * contract=off, -fmad=false), so that a * b + c rounds twice on both. */
#ifdef __CUDACC__
#define GF_HOST_DEVICE static __host__ __device__ __forceinline__
#else
#define GF_HOST_DEVICE static inline
#endif

/* Between GF_C_BEGIN and GF_C_END a header declares functions with the linkage of C, which CUDA
 * files, compiled as C++, call, too. */
#ifdef __cplusplus
#define GF_C_BEGIN extern "C" {
#define GF_C_END }
#else
#define GF_C_BEGIN
#define GF_C_END
#endif
