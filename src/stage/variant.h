/* The CUDA kernels of a filter: how they are launched, and which variants of them there are. */
#ifndef GF_STAGE_VARIANT_H
#define GF_STAGE_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "stage/histogram.h"
#include "stage/view.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_stage;

/* One launch on one band. The launcher computes the grid, launches on the stream it is given and
 * returns the launch status (cudaError_t): no allocation, no synchronisation. Kernels neither read
 * nor write beyond the rows' own bytes. */
struct gf_launch {
    const struct gf_stage *stage;
    struct gf_view in, out; /* device memory; `in` holds at least the rows that needs() named */
    void *scratch; /* cuda_scratch() bytes of device memory, 256-byte aligned, not cleared */
    const void *constants; /* stage->constants on the device, 256-byte aligned */
    void *stream;          /* cudaStream_t */
};
typedef int gf_launcher(const struct gf_launch *launch);

/* Adds the view's pixels to count[channels][bins], 64-bit counters in device memory; `tables` is
 * gf_lightness_tables on the device for LIGHTNESS, else NULL. The rules of launchers hold. */
typedef int gf_counter(const struct gf_view *view, enum gf_statistic statistic,
                       unsigned long long *count, const void *tables, void *stream);

/* A variant of a filter's kernels, chosen by `variant=name`; all give the default's picture, within
 * the filter's tolerance. The table is the same in a build without CUDA, so that a chain is; only
 * the functions are missing there. */
struct gf_variant {
    const char *name;    /* "tiled" */
    const char *summary; /* the technique, and the guide's section it is of */
    gf_launcher *launch; /* NULL: the default's */
    gf_counter *count;   /* of a filter that wants a statistic; NULL: the default's */
    bool count_extremes; /* count only marks the lowest and the highest level that are there */
    bool count_first; /* counts by default too, what it does not refuse, before gf_histogram_cuda */
    int architecture; /* the least compute capability, 90 for 9.0; 0: any that is built for */
    /* Why it cannot run this stage ("takes 8 bits only"); NULL, the function or its result: it can.
     */
    const char *(*refuses)(const struct gf_stage *stage);
    size_t (*scratch)(const struct gf_stage *stage, int rows); /* NULL: the filter's cuda_scratch */
};

#ifdef GF_WITH_CUDA
#define GF_LAUNCHER(function_) function_
#else
#define GF_LAUNCHER(function_) NULL
#endif
#define GF_VARIANT(name_, launcher_, summary_) \
    .name = name_, .launch = GF_LAUNCHER(launcher_), .summary = summary_
#define GF_COUNTER(name_, counter_, summary_) \
    .name = name_, .count = GF_LAUNCHER(counter_), .summary = summary_
/* The variants of a filter, first the default: {GF_VARIANT("tiled", gf_blur_cuda, "..."), .refuses
 * =
 * ...}, ... */
#define GF_CUDA(...) ((const struct gf_variant[]){__VA_ARGS__, {0}})

#ifdef __cplusplus
}
#endif
#endif
