/* Macros for hand-written vector code. A file of such code is between #if GF_X86 and #endif; its
 * functions are declared GF_X86_ONLY, and callers call gf_cpu_has() for their level first. */
#pragma once

#include <stdint.h>

#include "base/cpu.h"

#if GF_X86
#include <immintrin.h>

/* Attributes that compile a function for processors of one level (enum gf_cpu_level). */
#define GF_SSSE3 __attribute__((target("ssse3")))
#define GF_AVX2 __attribute__((target("avx2,fma")))
/* The targets leave out AVX-512 VL, which processors of these levels have: gcc's code is up to 4 %
 * slower with VL. */
#define GF_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq")))
#define GF_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni")))
#define GF_VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni,avx512vbmi")))
#endif

/* Returns a word whose lowest `count` bits are set; all 64 bits if `count` is larger. */
static inline uint64_t gf_first_bits(uint64_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0);
}

/* Returns the bytes of the widest vectors (base/vec.h) that filters may use on this processor, or
 * 0. */
static inline int gf_vec_bytes(void)
{
#if GF_X86
    return gf_cpu_has(GF_CPU_VBMI)    ? 64
           : gf_cpu_has(GF_CPU_AVX2)  ? 32
           : gf_cpu_has(GF_CPU_SSSE3) ? 16
                                      : 0;
#else
    return gf_cpu_intrinsics_allowed() ? 16 : 0;
#endif
}

/* Calls name_64(), name_32() or name_16(), for vectors of gf_vec_bytes() bytes, which must not be
 * 0. */
#if GF_X86
#define GF_BY_VEC(name, ...) \
    (gf_vec_bytes() == 64   ? name##_64(__VA_ARGS__) \
     : gf_vec_bytes() == 32 ? name##_32(__VA_ARGS__) \
                            : name##_16(__VA_ARGS__))
#else
#define GF_BY_VEC(name, ...) name##_16(__VA_ARGS__)
#endif
