/* How a filter is declared: its parameters, the rows that it reads, what it costs, and its entries
 * on both backends. */
#ifndef GF_STAGE_FILTER_H
#define GF_STAGE_FILTER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "icc/icc.h"
#include "stage/border.h"
#include "stage/gravity.h"
#include "stage/histogram.h"
#include "stage/parts.h"
#include "stage/picture.h"
#include "stage/variant.h"
#include "stage/view.h"

GF_C_BEGIN

struct gf_stage;
struct gf_point_builder; /* pixel/point/point.h */

/* What a filter does with pixels decides where the planner lets it stand. */
enum gf_filter_kind {
    GF_POINT,    /* makes each pixel of the same pixel: fused with its neighbours in the chain */
    GF_STENCIL,  /* mixes pixels: the planner hands it premultiplied colour */
    GF_COLOUR,   /* makes each pixel of the same pixel by the profile of its colours */
    GF_STRAIGHT, /* makes pixels of colour that is not premultiplied, by itself */
    GF_GEOMETRY, /* moves pixels: of any format, with alpha of either kind */
};

/* Nanoseconds that one thread of the CPU backend (AVX-512, 8-bit RGB) takes for a pixel of the
 * result: pixel + row * radius + tap * (2 radius + 1)^2, beyond radius_max pixel_beyond +
 * row_beyond * radius. The program chooses between CPU and GPU by it. All zeros stand for
 * GF_COST_PIXEL: the pixel is read, changed a little, and written. */
struct gf_filter_cost {
    double pixel, row, tap;
    int radius_max; /* 0: all radii have the same algorithm */
    double pixel_beyond, row_beyond;
};
#define GF_COST_PIXEL 0.8

/* Where a stencil's kernels look samples up in a table: as they read, as they write; or both.
 * ALPHA: they read and write RGBA8 instead of the premultiplied colour between. */
enum gf_fusing { GF_FUSES_NOTHING, GF_FUSES_BEFORE, GF_FUSES_AFTER, GF_FUSES_BOTH, GF_FUSES_ALPHA };

struct gf_filter {
    const char *name, *alias, *summary, *definition;
    /* What other programs call it, between spaces: it is suggested for these words; or NULL. */
    const char *synonyms;
    /* A chain for its help, where one made of the defaults would show nothing; or NULL. */
    const char *example;
    const struct gf_param *params; /* or NULL */
    size_t params_size;
    enum gf_filter_kind kind;
    struct gf_filter_cost cost;

    /* GF_COLOUR: the profile of the result, for an input of that format and profile, which it may
     * replace. Where both are the same, and shape() changes nothing, the planner leaves the stage
     * out. */
    enum gf_status (*colours)(const void *params, struct gf_format in, struct gf_icc *from,
                              struct gf_icc *to, struct gf_error *error);

    /* Checks what the declaration of a single parameter cannot say; may be NULL. Its message is
     * preceded by the filter's name. */
    enum gf_status (*check)(const void *params, struct gf_error *error);
    /* Appends the filters that do the work on such a picture; if it appends none, the picture stays
     * as it is. NULL: the filter does the work itself. */
    void (*expand)(const void *params, const struct gf_extent *extent, struct gf_parts *parts);
    /* Finds the box in the picture that expand() needs before the size of the result is known. The
     * stages before the filter then make a whole picture in host memory. NULL: the filter needs no
     * box. */
    void (*find_box)(const void *params, const struct gf_view *picture, struct gf_rectangle *box);
    /* By what a picture's sides may be divided, 1, 2, 4 or 8, when it is decoded for this filter as
     * the first of a chain; NULL: 1. */
    int (*reduction)(const void *params, int width, int height);
    /* Reads the files that the parameters name and keeps their contents in `params`; unload() frees
     * them. Each is called once for a chain, load() after check(). NULL: the filter reads no files.
     * The filter's name precedes the message. */
    enum gf_status (*load)(void *params, struct gf_error *error);
    void (*unload)(void *params);
    /* The pictures that load() has read, 2 at most, go into `list`; returns how many. NULL: none.
     */
    int (*pictures)(const void *params, const struct gf_picture **list);
    /* Sets the format of the result. *out is preset to in; NULL: it stays so. */
    enum gf_status (*shape)(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error);
    /* GF_STENCIL: how many rows above and below its own a row of the result is made of. Beyond the
     * picture lies the border that GF_PARAM_BORDER declares. NULL: see input_rows. */
    int (*radius)(const void *params);
    /* GF_STENCIL: where no premultiplied colour of its input exceeds its alpha, none of its result
     * does, as with means and medians. The planner limits the colour that other stencils leave to
     * the next one. */
    bool within_alpha;
    /* Without radius(). The rows first..end-1 of the input, within the picture, that rows y0..y1-1
     * of the result are made of. Both ends never decrease with y0 and y1, unless needs_whole()
     * says so. NULL: the same rows. */
    void (*input_rows)(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
    /* Whether the filter needs the whole input before it makes the first row; NULL: no. */
    bool (*needs_whole)(const void *params);
    /* Which histogram of its input the filter wants; NULL: none. */
    enum gf_statistic (*statistic)(const void *params);
    /* Whether the filter looks only at the lowest and the highest level of that histogram; NULL:
     * no. */
    bool (*extremes)(const void *params);

    /* GF_POINT: appends the filter's operations. Everything below is then NULL. */
    enum gf_status (*point)(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error);

    /* Fills stage->constants; may be NULL. Called once, after the statistic is known. It finds
     * constants_size bytes there, all zero; if constants_size is 0, it allocates them itself. */
    size_t constants_size;
    enum gf_status (*prepare)(struct gf_stage *stage, struct gf_error *error);
    /* Bytes of scratch memory for a band of that many rows of the result; NULL: none. */
    size_t (*cpu_scratch)(const struct gf_stage *stage, int rows);
    size_t (*cuda_scratch)(const struct gf_stage *stage, int rows);
    /* Computes rows out->y .. out->y + out->rows - 1. Pitches are any, and rows start at any
     * multiple of the sample size. Called from several threads at once, each with scratch memory
     * of its own (64-byte aligned). */
    void (*cpu)(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch);
    bool cpu_intrinsics; /* cpu() has hand-written vector code, which gf_cpu_allow_intrinsics() can
                            turn off */
    /* Variants of the CUDA kernels, first the default. A point filter lists only those that it has
     * besides gf_point's: they are launched on a stage of gf_point with a run of that one filter.
     * NULL for a filter with cpu(): it has none, and its chains run on the CPU. */
    const struct gf_variant *cuda;
    /* GF_STENCIL: which of launch->before and launch->after cuda_fused can apply, for 8-bit
     * pictures without alpha, and whether it can read RGBA8 (GF_FUSES_ALPHA). The planner gives no
     * table as launch->before if the border is constant or wraps. NULL: neither. */
    enum gf_fusing (*fuses)(const void *params);
    /* The default kernels with launch->before and launch->after, and with ALPHA those whose
     * launch->in is RGBA8 though the stage's is premultiplied. They return
     * cudaErrorNotSupported, and do nothing, where the device has no such kernel. */
    gf_launcher *cuda_fused;
    /* The default kernels, which also count their result into launch->count. They return
     * cudaErrorNotSupported, and do nothing, where a separate kernel must count the result. NULL:
     * it always must. */
    gf_launcher *cuda_counting;
};

/* A filter's parameters: the struct that holds them, and their declarations. */
#define GF_PARAMS(type_, list_) .params = list_, .params_size = sizeof(type_)

/* Declares a parameter: struct, member, default, range, help with the unit. */
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
/* choices: names that the parameter accepts instead of a file's name, or NULL. */
#define GF_PARAM_FILE(type_, member, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_FILE, .offset = offsetof(type_, member), \
        .choices = choices_, .help = help_ \
    }
#define GF_PARAM_TEXT(type_, member, help_) \
    { \
        .name = #member, .type = GF_TYPE_TEXT, .offset = offsetof(type_, member), .help = help_ \
    }
/* value: 0xRRGGBB, or -1 - i for choice i. choices: words that the parameter accepts instead of a
 * colour, or NULL. */
#define GF_PARAM_COLOUR(type_, member, value_, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_COLOUR, .offset = offsetof(type_, member), \
        .value = value_, .choices = choices_, .help = help_ \
    }
/* A matrix of numbers in a range. choices: names of the matrices that the parameter accepts
 * instead, or NULL. */
#define GF_PARAM_MATRIX_OF(type_, member, required_, least_, greatest_, choices_, matrices_, \
                           help_) \
    { \
        .name = #member, .type = GF_TYPE_MATRIX, .offset = offsetof(type_, member), \
        .required = required_, .least = least_, .greatest = greatest_, .choices = choices_, \
        .matrices = matrices_, .help = help_ \
    }
/* Declares the border of a stencil: its struct has a member int border, of enum gf_border. */
#define GF_PARAM_BORDER(type_) \
    GF_PARAM_CHOICE( \
        type_, border, 0, gf_border_names, \
        "the pixels beyond the picture: edge repeats the outermost pixel, reflect mirrors " \
        "without repeating it, wrap continues on the other side, constant is 0")

#define GF_PARAM_GRAVITY(type_, help_) \
    GF_PARAM_CHOICE(type_, gravity, GF_GRAVITY_CENTRE, gf_gravity_names, help_)

extern const char *const gf_border_names[]; /* edge, reflect, wrap, constant */
extern const char *const gf_gravity_names[];

GF_C_END
#endif
