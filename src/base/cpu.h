/* The processors of this machine: how many there are, which vector instructions they have, and
 * macros that compile a function for several of them. */
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

/* Compiles one function for several instruction sets; the loader picks the widest that the
 * processor has. The results do not depend on the choice, since contraction is off. Builds with
 * sanitizers have one version only, since sanitizers run before the loader can choose. Only for
 * static functions: gcc exports other clones from the shared library, whatever their visibility. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GF_TARGET_CLONES \
    __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))

/* Returns the instruction set of the clones that run on this processor. */
static inline const char *gf_cpu_instruction_set(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v4")   ? "AVX-512"
           : __builtin_cpu_supports("x86-64-v3") ? "AVX2"
                                                 : "SSE2";
}
#else
#define GF_TARGET_CLONES
static inline const char *gf_cpu_instruction_set(void)
{
    return "plain";
}
#endif

/* Declares a function that is always inlined, so that constant arguments are constants inside
 * it. */
#define GF_INLINE static inline __attribute__((always_inline))

/* Runs the statement with the value (bits, channels, or bytes of a pixel) as a constant with the
 * given name. The compiler then makes a version of each GF_INLINE function for each value. */
#define GF_CASE_(value, name, ...) \
    case value: { \
        enum { name = value }; \
        __VA_ARGS__; \
        break; \
    }
#define GF_CASES_1_TO_4_(name, ...) \
    GF_CASE_(1, name, __VA_ARGS__) \
    GF_CASE_(2, name, __VA_ARGS__) \
    GF_CASE_(3, name, __VA_ARGS__) \
    GF_CASE_(4, name, __VA_ARGS__)
#define GF_BY_DEPTH(bits, name, ...) \
    switch (bits) { \
        GF_CASE_(8, name, __VA_ARGS__) \
        GF_CASE_(16, name, __VA_ARGS__) \
    }
#define GF_BY_CHANNELS(channels, name, ...) \
    switch (channels) { \
        GF_CASES_1_TO_4_(name, __VA_ARGS__) \
    }
#define GF_BY_PIXEL_BYTES(bytes, name, ...) \
    switch (bytes) { \
        GF_CASES_1_TO_4_(name, __VA_ARGS__) \
        GF_CASE_(6, name, __VA_ARGS__) \
        GF_CASE_(8, name, __VA_ARGS__) \
        GF_CASE_(12, name, __VA_ARGS__) \
        GF_CASE_(16, name, __VA_ARGS__) \
    }

/* Stands before a loop of independent iterations: no iteration reads what another one writes. */
#if defined(__clang__)
#define GF_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GF_INDEPENDENT _Pragma("GCC ivdep")
#else
#define GF_INDEPENDENT
#endif
