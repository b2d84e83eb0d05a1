/* The processors of this machine. */
#ifndef GF_BASE_CPU_H
#define GF_BASE_CPU_H

#include <stdbool.h>

/* The number of processors that this process may run on, or keep busy by the quota of its control
 * group, which is rounded up. */
int gf_cpu_count(void);

/* Functions of hand-written vector code exist on x86-64 only. Elsewhere gf_cpu_has() none of the
 * levels below, and their symbols are weak, so that programs link without them. */
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

/* Whether filters may choose their code of hand-written vector instructions. Without it their
 * portable C runs, which the compiler vectorizes as it can; the results are the same. The switch is
 * the whole process's: a comparison turns it off around some of its runs. */
void gf_cpu_allow_intrinsics(bool allowed);
bool gf_cpu_intrinsics_allowed(void);
/* Whether filters may use hand-written vector code, and this processor has that level. */
bool gf_cpu_has(enum gf_cpu_level level);

#endif
