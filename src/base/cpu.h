/* The processors of this machine. */
#pragma once

#include <stdbool.h>

/* Returns the number of processors that this process may use. The quota of its control group,
 * rounded up, limits it. */
int gf_cpu_count(void);

/* Hand-written vector code exists on x86-64 only. Elsewhere gf_cpu_has() has no level, and the
 * symbols of vector functions are weak, so that programs link without them. */
#if defined(__x86_64__) && defined(__GNUC__)
#define GF_X86 1
#define GF_X86_ONLY
#else
#define GF_X86 0
#define GF_X86_ONLY __attribute__((weak))
#endif

/* The instruction sets that hand-written vector code needs (base/simd.h). Each level includes the
 * levels before it. */
enum gf_cpu_level {
    GF_CPU_SSSE3,
    GF_CPU_AVX2,   /* AVX2 and FMA */
    GF_CPU_AVX512, /* AVX-512 F, BW and DQ */
    GF_CPU_VNNI,   /* AVX-512 VNNI: sums of products of bytes */
    GF_CPU_VBMI    /* AVX-512 VBMI: permutations of bytes */
};

/* Sets whether filters may use hand-written vector instructions. Otherwise they run portable C,
 * which the compiler vectorizes; the results are the same. The setting applies to the whole
 * process; a comparison turns it off for some of its runs. */
void gf_cpu_allow_intrinsics(bool allowed);
bool gf_cpu_intrinsics_allowed(void);
/* Whether filters may use hand-written vector code of this level, and this processor has the
 * level. */
bool gf_cpu_has(enum gf_cpu_level level);
