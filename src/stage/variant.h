/* The declaration of a filter's CUDA kernels: launchers, and the list of variants that a user can
 * choose from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stage/histogram.h"
#include "stage/picture.h"

struct gf_stage;
struct CUstream_st; /* a cudaStream_t points to it */

/* The most pictures of a stack whose inputs need not lie at equal distances (gf_stack.in). */
enum { GF_LISTED_MOST = 64 };

/* Pictures of one size that one launch filters. The input of each begins in_rows rows after that of
 * the picture before, and its result out_rows rows after. If `in` is set, the inputs lie anywhere,
 * and in[i] are their addresses, with the pitch of the launch's input. */
struct gf_stack {
    int count, in_rows, out_rows;
    const unsigned char *const *in;
};

/* One launch for one band. The launcher computes the grid, launches on the stream that it gets and
 * returns the launch status (cudaError_t). It neither allocates nor synchronises. Kernels access
 * only the rows' own bytes. */
struct gf_launch {
    const struct gf_stage *stage;
    /* Views of device memory; `in` holds at least the input rows that `out` needs. */
    struct gf_view in, out;
    void *scratch; /* cuda_scratch() bytes of device memory, 256-byte aligned, not cleared */
    const void *constants; /* stage->constants on the device, 256-byte aligned */
    struct CUstream_st *stream;
    /* For cuda_fused alone: tables on the device, 256 bytes each, 16-byte aligned. Each sample that
     * is read goes through `before` first, and each result through `after` before it is written;
     * NULL: no table. */
    const void *before, *after;
    /* For cuda_fused and cuda_floats alone: the bits of `in` and `out` if they are straight RGBA,
     * while the stage works on their premultiplied colour, of 16 bits (GF_FUSES_ALPHA) or of the
     * same type of floats (GF_FUSES_FLOAT_ALPHA); otherwise 0. */
    int straight;
    const struct gf_view *pictures; /* the stage's second pictures, whole, in device memory, in the
                                     * order of gf_stage_pictures() */
    /* For cuda_counting alone: what is counted, and the counters in device memory, as gf_counter
     * has them. */
    enum gf_statistic statistic;
    unsigned long long *count;
    /* For cuda_stacked alone: the pictures, of one format. `in` and `out` are views of the first of
     * them. */
    struct gf_stack stack;
};
typedef int gf_launcher(const struct gf_launch *launch);

/* Adds the view's pixels to count[channels][bins], 64-bit counters in device memory. `tables` is
 * gf_lightness_tables() on the device for LIGHTNESS, otherwise NULL. Like a launcher, it neither
 * allocates nor synchronises, and returns the launch status. */
typedef int gf_counter(const struct gf_view *view, enum gf_statistic statistic,
                       unsigned long long *count, const void *tables, struct CUstream_st *stream);

/* A variant of a filter's kernels, which the user chooses by `variant=name`. Variants make the same
 * picture as the CPU, except those that demonstrate the effect of an intrinsic or a library
 * function. A build without CUDA has the same table without the functions, so that it accepts the
 * same chains. */
struct gf_variant {
    const char *name;    /* the name in a chain: "tiled" */
    const char *summary; /* the technique, and the section of the CUDA guides that explains it */
    gf_launcher *launch; /* NULL: the launcher of the default */
    /* Counts the histogram of the filter's input; NULL: the counter of the default. */
    gf_counter *count;
    bool count_extremes; /* count marks only the lowest and the highest level of the picture */
    int tolerance; /* the largest difference of an 8-bit sample from the CPU's result; 0: there is
                    * none */
    int tolerance_16; /* the largest difference of a 16-bit sample from the CPU's result */
    int architecture; /* the lowest compute capability that it runs on, 90 for 9.0; 0: any */
    /* Returns the reason why the variant cannot run this stage, such as "takes 8 bits only"; NULL:
     * it can. The pointer itself is NULL if the variant runs every stage. */
    const char *(*refuses)(const struct gf_stage *stage);
    /* Returns the bytes of scratch memory that the variant needs; NULL: those of the filter's
     * cuda_scratch. */
    size_t (*scratch)(const struct gf_stage *stage, int rows);
};

/* Returns the largest difference from the CPU's result of samples with that many bits. `variant`
 * may be NULL, for the default kernels, which differ in nothing. */
static inline int gf_variant_tolerance(const struct gf_variant *variant, int bits)
{
    return !variant ? 0 : bits == 8 ? variant->tolerance : variant->tolerance_16;
}

#ifdef GF_WITH_CUDA
#define GF_LAUNCHER(function_) function_
#else
#define GF_LAUNCHER(function_) NULL
#endif
#define GF_VARIANT(name_, launcher_, summary_) \
    .name = name_, .launch = GF_LAUNCHER(launcher_), .summary = summary_
/* Makes a filter's list of variants, of which the first is the default:
 * GF_CUDA({GF_VARIANT("tiled", gf_blur_cuda, "...")}). Further variants, for study, are in
 * cuda/study/variants/variants.def. */
#define GF_CUDA(...) ((const struct gf_variant[]){__VA_ARGS__, {0}})
/* Declares the kernels for floats. scratch_ is NULL if they need no scratch memory. */
#define GF_CUDA_FLOATS(launcher_, scratch_) \
    (&(const struct gf_variant){.launch = GF_LAUNCHER(launcher_), .scratch = scratch_})
