/* Macros for the declarations of public functions. */
#ifndef GPUFILTER_API_H
#define GPUFILTER_API_H

/* GF_API marks the functions that the shared library exports; it exports nothing else. GF_CHECKED
 * makes the compiler warn if a caller ignores the result. */
#if defined(__GNUC__)
#ifndef GF_API
#define GF_API __attribute__((visibility("default")))
#endif
#define GF_CHECKED __attribute__((warn_unused_result))
#define GF_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define GF_API
#define GF_CHECKED
#define GF_PRINTF(f, a)
#endif

#endif
