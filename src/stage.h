/* What a filter is to the rest of the program: its declaration, the rows it needs, its entries on
 * both backends. A stage is a filter with its parameters, bound to the format of its input. */
#ifndef GF_STAGE_H
#define GF_STAGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "hd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows y .. y + rows - 1 of a picture whose whole format is `format` (its height is the picture's).
 * Row r lies at data + (r - y) * pitch. In device memory data and pitch are multiples of 16. */
struct gf_view {
    unsigned char *data;
    size_t pitch;
    struct gf_format format;
    int y, rows;
};

static inline unsigned char *gf_view_row(const struct gf_view *view, int row)
{
    return view->data + (ptrdiff_t)(row - view->y) * (ptrdiff_t)view->pitch;
}

/* A histogram that a stage wants of its input. Pixels of zero alpha are not counted. */
enum gf_statistic {
    GF_STATISTIC_NONE,
    GF_STATISTIC_CHANNELS,  /* each colour channel by itself */
    GF_STATISTIC_LUMA,      /* gf_luma601, or the gray channel */
    GF_STATISTIC_JOINT,     /* all colour channels in one */
    GF_STATISTIC_LIGHTNESS, /* CIELAB L* scaled to 0..M; gray: of the gray as RGB */
    GF_STATISTIC_KINDS
};

struct gf_histogram {
    int channels;    /* colour channels for CHANNELS, else 1 */
    int bins;        /* M + 1 */
    uint64_t *count; /* [channels][bins] */
};

struct gf_stage {
    const struct gf_filter *filter;
    const void *params;             /* the filter's own struct */
    const struct gf_kernel *kernel; /* the variant asked for; NULL: the default */
    struct gf_format in, out;
    const struct gf_histogram *histogram; /* of the stage's input, where it asked for one */
    /* Computed once by prepare() for both backends: taps, tables. A flat block without pointers,
     * since the CUDA backend copies it to the device; owned by the stage (malloc). */
    void *constants;
    size_t constants_size;
};

enum gf_kind {
    GF_POINT, /* each output pixel from the same input pixel: fused with its neighbours in the chain
               */
    GF_STENCIL,  /* mixes pixels: works on premultiplied colour (the planner sees to it) */
    GF_GEOMETRY, /* moves pixels: any format, alpha of either kind */
};

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
struct gf_kernel {
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
#define GF_KERNEL(name_, launcher_, summary_) \
    .name = name_, .launch = GF_LAUNCHER(launcher_), .summary = summary_
#define GF_COUNTER(name_, counter_, summary_) \
    .name = name_, .count = GF_LAUNCHER(counter_), .summary = summary_
/* The variants of a filter, first the default: {GF_KERNEL("tiled", gf_blur_cuda, "..."), .refuses =
 * ...}, ... */
#define GF_CUDA(...) ((const struct gf_kernel[]){__VA_ARGS__, {0}})

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
    /* Variants, first the default. Of a point filter only those that it has besides gf_point's:
     * they are launched on a stage of gf_point with a run of that one filter. */
    const struct gf_kernel *cuda;
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

/* needs() of a stencil of that radius in rows, for any border, and its whole(): only wrap reaches
 * the opposite edge. */
void gf_needs_radius(const struct gf_stage *stage, int radius, int border, int y0, int y1,
                     int *first, int *end);

/* A run of adjacent point filters is one stage of this pseudo-filter: read once, evaluated in float
 * or through one table, rounded once, written once. A filter whose variant was chosen stands alone.
 */
enum { GF_POINT_RUN_MAX = 32 };
struct gf_point_run {
    int count;
    struct {
        const struct gf_filter *filter;
        const void *params;
    } item[GF_POINT_RUN_MAX];
};
extern const struct gf_filter
    gf_point; /* its params are a struct gf_point_run; item 0 gets stage->histogram */

/* Internal point filters that the planner puts around stencils of pictures with alpha. The colour
 * is held premultiplied in 16 bits: p = v * 65535/M * a/M, alpha a * 65535/M. */
struct gf_unpremultiply {
    int bits; /* of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* no params: NULL */
extern const struct gf_filter gf_unpremultiply;

/* Internal geometry filter: the eight symmetries of the rectangle, behind transpose, rotate, hflip,
 * vflip and the EXIF orientation. First transpose (if so), then mirror left-right, then top-bottom.
 */
struct gf_orient {
    bool transpose, mirror_x, mirror_y;
};
extern const struct gf_filter gf_orient;

/* Binds a filter to an input format: sets out by shape(). Does not prepare. */
enum gf_status gf_stage_bind(struct gf_stage *stage, const struct gf_filter *filter,
                             const void *params, struct gf_format in,
                             struct gf_error *error) GF_CHECKED;
/* The kernels that the stage runs: its variant's, or the default's where the variant has none of
 * its own. */
/* The filter whose variants the stage can run: its own, or that of the only one in a run of point
 * filters. */
const struct gf_filter *gf_stage_variants(const struct gf_stage *stage);
gf_launcher *gf_stage_launcher(const struct gf_stage *stage);
gf_counter *gf_stage_counter(const struct gf_stage *stage);
/* Whose counter that is: the variant's, or one of count_first (which needs no architecture); NULL:
 * gf_histogram_cuda. */
const struct gf_kernel *gf_stage_counting(const struct gf_stage *stage);
size_t gf_stage_cuda_scratch(const struct gf_stage *stage, int rows);
enum gf_status gf_stage_prepare(struct gf_stage *stage, struct gf_error *error) GF_CHECKED;
void gf_stage_release(struct gf_stage *stage); /* frees constants */
void gf_stage_needs(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
bool gf_stage_whole(const struct gf_stage *stage);
/* Allocates stage->constants, zeroed. */
enum gf_status gf_stage_constants(struct gf_stage *stage, size_t size,
                                  struct gf_error *error) GF_CHECKED;

/* Histogram of rows y0..y1-1 of view, added to histogram->count (CPU). */
void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram);
/* The default of counters, in cuda/histogram.cu. */
extern gf_counter gf_histogram_cuda;
enum gf_statistic gf_stage_statistic(const struct gf_stage *stage); /* that it wants of its input */
/* The block that LIGHTNESS needs for that depth, computed once; malloc. NULL when out of memory. */
void *gf_lightness_tables(int bits, size_t *size);
int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format);

/* The registry's internals (filter.c). */
struct gf_chain_item {
    const struct gf_filter *filter;
    void *params;                   /* malloc */
    const struct gf_kernel *kernel; /* of variant=name; NULL: not given */
};
struct gf_chain {
    struct gf_chain_item *item;
    int count;
    bool apart; /* adjacent point filters are not fused: rounded after each */
};
enum gf_status gf_chain_parse(const char *text, struct gf_chain *chain,
                              struct gf_error *error) GF_CHECKED;
void gf_chain_free(struct gf_chain *chain);
/* What variant=naive runs whatever its own name: lists go from the naive one of the guides up,
 * behind the default. NULL: the default is all there is. */
const struct gf_kernel *gf_filter_naive(const struct gf_filter *filter);
/* The variants of a filter, first the default; NULL past the last one. */
const struct gf_kernel *gf_filter_kernel(const struct gf_filter *filter, int index);
/* The parameters after a name, "=value:key=value", up to ',' or the end; *text moves there. Needs
 * the filter's name, params and check alone: labs are read by it too. */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
