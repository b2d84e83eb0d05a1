/* How a filter is declared: its parameters, the rows that it needs, and its entries on both
 * backends. */
#ifndef GF_STAGE_FILTER_H
#define GF_STAGE_FILTER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "stage/border.h"
#include "stage/histogram.h"
#include "stage/variant.h"
#include "stage/view.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_stage;
enum gf_kind {
    GF_POINT, /* each output pixel from the same input pixel: fused with its neighbours in the chain
               */
    GF_STENCIL,  /* mixes pixels: works on premultiplied colour (the planner sees to it) */
    GF_GEOMETRY, /* moves pixels: any format, alpha of either kind */
};

struct gf_point_builder; /* point.h */

struct gf_filter {
    const char *name, *alias, *summary, *definition;
    const char *example; /* a chain for its help, where one made of the defaults would show nothing;
                            or NULL */
    const struct gf_param *params; /* or NULL */
    size_t params_size;
    enum gf_kind kind;
    /* Tolerance of the CUDA backend against the CPU backend, in steps of the sample format; 0: bit
     * for bit. */
    int tolerance;

    /* What cannot be said of one parameter alone; may be NULL. "w=0: ..." without the filter's
     * name. */
    enum gf_status (*check)(const void *params, struct gf_error *error);
    /* *out is preset to in; NULL: the same format. */
    enum gf_status (*shape)(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error);
    /* Whether the stage must see the whole picture before its first row (transpose); NULL: no. */
    bool (*whole)(const void *params);
    /* Input rows first..end-1 for output rows y0..y1-1, within the picture; both ends never
     * decrease with y0, y1 unless whole(). NULL: the same rows. */
    void (*needs)(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
    /* The histogram of its input that it wants; NULL: none. */
    enum gf_statistic (*statistic)(const void *params);

    /* GF_POINT: appends the filter's operations; everything below is then NULL. */
    enum gf_status (*point)(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error);

    /* Fills stage->constants; may be NULL. Called once, after the statistic is known. */
    enum gf_status (*prepare)(struct gf_stage *stage, struct gf_error *error);
    /* Bytes of scratch for a band of that many output rows; NULL: none. */
    size_t (*cpu_scratch)(const struct gf_stage *stage, int rows);
    size_t (*cuda_scratch)(const struct gf_stage *stage, int rows);
    /* Computes rows out->y .. out->y + out->rows - 1. Any pitch, any alignment of rows to the
     * sample size. Called from several threads at once, each with its own scratch (64-byte
     * aligned). */
    void (*cpu)(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch);
    bool cpu_intrinsics; /* cpu() has code that gf_cpu_allow_intrinsics() can leave out */
    /* Variants, first the default. Of a point filter only those that it has besides gf_point's:
     * they are launched on a stage of gf_point with a run of that one filter. */
    const struct gf_variant *cuda;
};

/* Declaring parameters: struct, member, default, range, help with the unit. */
#define GF_PARAM(type_, member, value_, least_, greatest_, help_) \
    { \
        .name = #member, .type = GF_TYPE_FLOAT, .offset = offsetof(type_, member), \
        .value = value_, .least = least_, .greatest = greatest_, .help = help_ \
    }
#define GF_PARAM_INT(type_, member, value_, least_, greatest_, help_) \
    { \
        .name = #member, .type = GF_TYPE_INT, .offset = offsetof(type_, member), .value = value_, \
        .least = least_, .greatest = greatest_, .help = help_ \
    }
#define GF_PARAM_CHOICE(type_, member, value_, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_CHOICE, .offset = offsetof(type_, member), \
        .value = value_, .choices = choices_, .help = help_ \
    }
#define GF_PARAM_WORD(type_, member, value_, least_, greatest_, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_WORD, .offset = offsetof(type_, member), .value = value_, \
        .least = least_, .greatest = greatest_, .choices = choices_, .help = help_ \
    }
#define GF_PARAM_LENGTH(type_, member, least_, greatest_, help_) \
    { \
        .name = #member, .type = GF_TYPE_LENGTH, .offset = offsetof(type_, member), \
        .least = least_, .greatest = greatest_, .help = help_ \
    }
#define GF_PARAM_MATRIX(type_, member, help_) \
    { \
        .name = #member, .type = GF_TYPE_MATRIX, .offset = offsetof(type_, member), \
        .required = true, .help = help_ \
    }
/* Every stencil's: int border, of enum gf_border. */
#define GF_PARAM_BORDER(type_) \
    GF_PARAM_CHOICE( \
        type_, border, 0, gf_border_names, \
        "what lies beyond the picture; reflect does not repeat the edge, constant is 0")

extern const char *const gf_border_names[]; /* edge, reflect, wrap, constant */

#ifdef __cplusplus
}
#endif
#endif
