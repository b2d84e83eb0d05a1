/* The CUDA kernels of a filter: their launchers, and the list of variants. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stage/histogram.h"
#include "stage/picture.h"

struct gf_stage;

/* The most pictures of a stack whose inputs lie anywhere. */
enum { GF_LISTED_MOST = 64 };

/* Pictures of one size that lie one below the other: the input of each begins in_rows rows after
 * that of the one before, and its result out_rows rows. If `in` is set, the inputs lie anywhere,
 * and these are their addresses, with the pitch of the launch's input. */
struct gf_stack {
    int count, in_rows, out_rows;
    const unsigned char *const *in;
};

/* One launch for one band. The launcher computes the grid, launches on the stream that it gets and
 * returns the launch status (cudaError_t). It neither allocates nor synchronises. Kernels access
 * only the rows' own bytes. */
struct gf_launch {
    const struct gf_stage *stage;
    struct gf_view in, out; /* device memory; `in` holds at least the input rows of `out` */
    void *scratch; /* cuda_scratch() bytes of device memory, 256-byte aligned, not cleared */
    const void *constants; /* stage->constants on the device, 256-byte aligned */
    void *stream;          /* cudaStream_t */
    /* For cuda_fused alone: tables on the device, 256 bytes each, 16-byte aligned. Each sample that
     * is read goes through `before` first, and each result through `after` before it is written;
     * NULL: no table. */
    const void *before, *after;
    /* For cuda_fused alone: the bits of `in` and `out` if they are straight RGBA, while the stage
     * works on the 16 bits of their premultiplied colour (GF_FUSES_ALPHA); otherwise 0. */
    int straight;
    const struct gf_view *pictures; /* the pictures of gf_stage_pictures(), whole, in device
                                     * memory */
    /* For cuda_counting alone: the counters of the result, as for a gf_counter. */
    enum gf_statistic statistic;
    unsigned long long *count;
    /* For cuda_stacked alone: pictures of one format. `in` and `out` are the first of them. */
    struct gf_stack stack;
};
typedef int gf_launcher(const struct gf_launch *launch);

/* Adds the view's pixels to count[channels][bins], 64-bit counters in device memory. `tables` is
 * gf_lightness_tables() on the device for LIGHTNESS, otherwise NULL. The rules for launchers
 * apply. */
typedef int gf_counter(const struct gf_view *view, enum gf_statistic statistic,
                       unsigned long long *count, const void *tables, void *stream);

/* A variant of a filter's kernels, which the user chooses by `variant=name`. Variants make the same
 * picture as the CPU, except those that demonstrate the effect of an intrinsic or a library
 * function. A build without CUDA has the same table without the functions, so that it accepts the
 * same chains. */
struct gf_variant {
    const char *name;    /* "tiled" */
    const char *summary; /* the technique, and the section of the CUDA guides that explains it */
    gf_launcher *launch; /* NULL: the launcher of the default */
    gf_counter *count;   /* the counter of a filter with a statistic; NULL: the counter of the
                          * default */
    bool count_extremes; /* count marks only the lowest and the highest level of the picture */
    int tolerance; /* the largest difference of its 8-bit samples from the CPU's; 0: the samples are
                      the same */
    int tolerance_16; /* the largest difference of its 16-bit samples */
    int architecture; /* the lowest compute capability that it runs on, 90 for 9.0; 0: any */
    /* Returns the reason why the variant cannot run this stage ("takes 8 bits only"), or NULL. The
     * pointer itself is NULL if the variant runs every stage. */
    const char *(*refuses)(const struct gf_stage *stage);
    size_t (*scratch)(const struct gf_stage *stage, int rows); /* NULL: the filter's cuda_scratch */
};

/* Returns the largest difference of samples with that many bits. `variant` may be NULL, for the
 * default. */
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
/* A filter's list; the first is the default: GF_CUDA({GF_VARIANT("tiled", gf_blur_cuda, "...")}).
 * Those that people study stand in cuda/study/variants/variants.def. */
#define GF_CUDA(...) ((const struct gf_variant[]){__VA_ARGS__, {0}})
