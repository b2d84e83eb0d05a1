/* The declaration of a filter: its parameters, the rows that it reads, its cost, and its
 * functions for both backends. */
#pragma once

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/image.h"
#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "icc/icc.h"
#include "stage/border.h"
#include "stage/histogram.h"
#include "stage/picture.h"
#include "stage/variant.h"

/* The position of a smaller rectangle on a larger one: at a side, in a corner, or in the middle.
 * The values are indices into gf_gravity_names, whose last name is the American spelling of the
 * first, and into gf_window_names, which goes on with those whose position the picture's content
 * decides. */
enum gf_gravity {
    GF_GRAVITY_CENTRE,
    GF_GRAVITY_NORTH,
    GF_GRAVITY_NORTHEAST,
    GF_GRAVITY_EAST,
    GF_GRAVITY_SOUTHEAST,
    GF_GRAVITY_SOUTH,
    GF_GRAVITY_SOUTHWEST,
    GF_GRAVITY_WEST,
    GF_GRAVITY_NORTHWEST,
    GF_GRAVITY_CENTER,
    GF_GRAVITY_ATTENTION,
    GF_GRAVITY_ENTROPY
};

static inline bool gf_gravity_is_found(int gravity)
{
    return gravity >= GF_GRAVITY_ATTENTION;
}

/* Returns the left offset of the smaller rectangle, if it is `room` columns narrower than the
 * larger one, rounded down; gf_gravity_y() returns the upper one in rows. Before the content is
 * known it counts as the middle. */
static inline int gf_gravity_x(int gravity, double room)
{
    /* part[gravity] is the offset in halves of `room`. */
    static const signed char part[] = {1, 1, 2, 2, 2, 1, 0, 0, 0, 1, 1, 1};
    return (int)floor(room * part[gravity] / 2);
}

static inline int gf_gravity_y(int gravity, double room)
{
    static const signed char part[] = {1, 0, 0, 1, 2, 2, 2, 1, 0, 1, 1, 1};
    return (int)floor(room * part[gravity] / 2);
}

struct gf_filter;

/* GF_PART_BYTES has room for the parameters of a filter with a matrix. */
enum { GF_PARTS_MAX = 6, GF_PART_BYTES = 4096 };

/* A filter that does a part of another filter's work. */
struct gf_part {
    const struct gf_filter *filter;
    size_t size;
    double params[GF_PART_BYTES / sizeof(double)]; /* the part's parameters, aligned for any
                                                    * struct */
};

/* The parts of a filter in the order in which they run. If a part has parts itself, those take its
 * place, unless it is the same filter that appended it. */
struct gf_parts {
    int count;
    struct gf_part part[GF_PARTS_MAX];
};

static inline void gf_parts_add(struct gf_parts *parts, const struct gf_filter *filter,
                                const void *params, size_t size)
{
    assert(parts->count < GF_PARTS_MAX && size <= GF_PART_BYTES);
    struct gf_part *const part = &parts->part[parts->count++];
    part->filter = filter;
    part->size = size;
    if (size)
        memcpy(part->params, params, size);
}

/* What a filter's find() has found in the picture, as those of trim and deskew do. */
struct gf_found {
    bool is_known;           /* false: find() has not looked for anything */
    struct gf_rectangle box; /* the rectangle of the picture that is kept */
    double angle;            /* the angle by which the picture is turned, in degrees, clockwise */
    char text[64];           /* a line for --verbose that says what was found, or "" */
};

/* The picture for which a filter works. If it was read at a fraction of its size (`reduction`), the
 * filter's input is smaller than this picture by that fraction, rounded up or down. */
struct gf_extent {
    int width, height;     /* the size of the whole picture, to which sizes in parameters refer */
    int reduction;         /* the divisor of both sides */
    struct gf_found found; /* what find() found in the picture */
    int bits;              /* bits of a sample, before a stencil premultiplies it */
    bool has_alpha;
    const struct gf_facts_of_picture *facts; /* NULL: nothing else is known of the picture */
};

static inline struct gf_extent gf_extent_of(struct gf_format format)
{
    struct gf_extent extent;
    memset(&extent, 0, sizeof extent); /* C++ warns of initializers that leave members out */
    extent.width = format.width;
    extent.height = format.height;
    extent.reduction = 1;
    extent.bits = format.bits;
    extent.has_alpha = gf_has_alpha(format);
    return extent;
}

struct gf_stage;
struct gf_point_builder; /* pixel/point/point.h */

/* The kind of a filter determines which stages the planner puts around it. */
enum gf_filter_kind {
    GF_POINT,    /* a result pixel depends on the same input pixel; adjacent point filters are
                  * fused */
    GF_STENCIL,  /* mixes pixels: the planner gives it premultiplied colour */
    GF_COLOUR,   /* converts each pixel's colour between ICC profiles */
    GF_STRAIGHT, /* makes pixels from straight (not premultiplied) colour, and is not fused */
    GF_GEOMETRY, /* moves pixels of any format, with straight or premultiplied alpha */
};

/* The cost of a filter: nanoseconds that one thread of the CPU backend (AVX-512, 8-bit RGB) takes
 * for a pixel of the result. They are pixel + row * radius + tap * (2 radius + 1)^2, and above
 * radius_max pixel_beyond + row_beyond * radius. The program uses them to choose between CPU and
 * GPU. All zeros stand for GF_COST_PIXEL: the pixel is read, changed a little, and written. */
struct gf_filter_cost {
    double pixel, row, tap;
    int radius_max; /* 0: all radii have the same algorithm */
    double pixel_beyond, row_beyond;
};
#define GF_COST_PIXEL 0.8

/* Whether a stencil's kernels can apply a table to samples before the stencil, after it, or both.
 * GF_FUSES_ALPHA: they read and write straight RGBA of integers and convert it to premultiplied
 * colour and back themselves; GF_FUSES_FLOAT_ALPHA: the kernels for floats do. */
enum gf_fusing {
    GF_FUSES_NOTHING,
    GF_FUSES_BEFORE,
    GF_FUSES_AFTER,
    GF_FUSES_BOTH,
    GF_FUSES_ALPHA,
    GF_FUSES_FLOAT_ALPHA = 8
};

enum gf_keys { GF_NO_KEYS, GF_WIDE_KEYS, GF_KEYS };

struct gf_filter {
    const char *name, *alias, *summary, *definition;
    /* Names that other programs have for the filter, separated by blanks; NULL: none. A chain may
     * name the filter by them, since their first parameters mean the same. */
    const char *names;
    /* Words of other programs for what the filter does. An unknown name that is one of them gets
     * this filter as a suggestion. */
    const char *synonyms;
    /* A chain for the filter's help whose effect one sees; NULL: the filter with its defaults. */
    const char *example;
    const struct gf_param *params; /* the declarations of the parameters; NULL: there are none */
    size_t params_size;
    enum gf_filter_kind kind;
    struct gf_filter_cost cost;
    /* The filter takes pictures of floats: what point() appends, or cpu() computes, or floats()
     * does. The planner refuses them before other filters. Of a filter that others do the work of
     * the flag is for its help alone. */
    bool takes_floats;

    /* GF_COLOUR: sets *to, the profile of the result, for an input of that format and profile
     * *from, which the function may replace. If both profiles are the same, and shape() changes
     * nothing, the planner leaves the stage out. */
    enum gf_status (*colours)(const void *params, struct gf_format in, struct gf_icc *from,
                              struct gf_icc *to, struct gf_error *error);

    /* Checks parameters against each other; may be NULL. Messages begin with the filter's name,
     * which the caller adds. */
    enum gf_status (*check)(const void *params, struct gf_error *error);
    /* Appends the filters that do this filter's work on such a picture; if it appends none, the
     * picture does not change. NULL: the filter does its work itself. */
    void (*expand)(const void *params, const struct gf_extent *extent, struct gf_parts *parts);
    /* Whether expand() reads extent->facts with these parameters; NULL: no. */
    bool (*reads_facts)(const void *params);
    /* Finds in the picture what the parts of the filter depend on, such as the size of the result;
     * expand() gets it. *found is zero before the call. The stages before the filter then make a
     * whole picture in host memory. NULL: the parts depend on no pixels. */
    void (*find)(const void *params, const struct gf_view *picture, struct gf_found *found);
    bool for_screens; /* files that are written from the result have 8 bits a sample unless
                       * options.depth says otherwise */
    /* The filter cannot be limited to a region of the picture: it changes the picture's size, or
     * goes through the picture several times. */
    bool takes_no_region;
    /* Returns the largest number by which a picture's sides may be divided when it is read for this
     * filter, if the filter is the first of a chain; NULL: 1. It is negative if the file's levels
     * do not count, nor a picture that an orientation turns. */
    int (*reduction)(const void *params, int width, int height);
    /* Reads the files that the parameters name and keeps their contents in `params`; unload() frees
     * them. Each is called once for a chain, load() after check(); for a part of another filter,
     * once for a plan. NULL: the filter reads no files. The caller adds the filter's name to
     * messages. */
    enum gf_status (*load)(void *params, struct gf_error *error);
    void (*unload)(void *params);
    /* Writes the pictures that load() has read, 2 at most, to `list`, and returns their number.
     * NULL: none. */
    int (*pictures)(const void *params, const struct gf_picture **list);
    /* Sets the format of the result. *out is a copy of `in` before the call. NULL: input and result
     * have the same format. */
    enum gf_status (*shape)(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error);
    /* GF_STENCIL: the number of rows above and below a result row that the row depends on.
     * GF_PARAM_BORDER declares what lies beyond the picture. NULL: see input_rows. */
    int (*radius)(const void *params);
    /* GF_STENCIL with radius(): the number of columns to the left and to the right that a result
     * pixel depends on, if it depends in no other way on its column. NULL: a part of the columns
     * cannot be filtered alone. */
    int (*columns)(const void *params);
    /* GF_STENCIL: if no premultiplied colour of the input exceeds its alpha, no colour of the
     * result does, as with means and medians. After other stencils the planner limits the
     * colour. */
    bool within_alpha;
    /* For a filter without radius(): sets *first and *end to the rows first .. end - 1 of the
     * input, within the picture, that rows y0 .. y1 - 1 of the result depend on. Neither may
     * decrease when y0 and y1 grow, unless needs_whole() returns true. NULL: a row depends on the
     * same row of the input. */
    void (*input_rows)(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
    /* With input_rows(): the largest number of input rows that any `rows` rows of the result depend
     * on. NULL: a band may depend on the whole input, and only a device's kernels can read straight
     * alpha (see fuses). */
    int (*input_rows_most)(const struct gf_stage *stage, int rows);
    /* Whether the filter needs the whole input before it makes the first row; NULL: no. */
    bool (*needs_whole)(const void *params);
    /* Returns the kind of histogram of its input that the filter needs; NULL: none. */
    enum gf_statistic (*statistic)(const void *params);
    /* With statistic(): whether the filter needs only the lowest and the highest level that occur;
     * NULL: no. */
    bool (*extremes)(const void *params);
    /* With statistic(): the number of a film's frames whose histograms are added; NULL: the
     * parameter of GF_PARAM_SMOOTH, or 1 without such a parameter. */
    int (*smooth)(const void *params);

    /* GF_POINT: a pixel of the result also depends on its position, so that a part of the picture
     * cannot be filtered alone. */
    bool by_place;
    /* GF_POINT: appends the filter's operations for each pixel. All members below are then NULL. */
    void (*point)(const struct gf_stage *stage, struct gf_point_builder *builder);

    /* Returns a hint for the user if the stage changes nothing although the user surely expects a
     * change; otherwise NULL. The pointer itself may be NULL. */
    const char *(*idle)(const struct gf_stage *stage);
    /* Returns a hint for the user if the result of a picture of this size is smaller than asked;
     * otherwise NULL. The pointer itself may be NULL. */
    const char *(*smaller)(const void *params, const struct gf_extent *extent);

    /* prepare() fills stage->constants; it may be NULL. It is called once, after the histogram is
     * counted. It gets constants_size bytes, all zero; if constants_size is 0, it allocates them
     * itself. */
    size_t constants_size;
    enum gf_status (*prepare)(struct gf_stage *stage, struct gf_error *error);
    /* Return the bytes of scratch memory, on the CPU and on a device, for a band of `rows` rows of
     * the result; NULL: none. */
    size_t (*cpu_scratch)(const struct gf_stage *stage, int rows);
    size_t (*cuda_scratch)(const struct gf_stage *stage, int rows);
    /* Computes rows out->y .. out->y + out->rows - 1. Rows start at any multiple of the sample
     * size. Several threads call it at once, each with scratch memory of its own (64-byte
     * aligned). */
    void (*cpu)(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch);
    /* Does what cpu() does for floats of 32 bits; halves are converted before and after
     * (pixel/float_stage.h). NULL, if takes_floats is set: cpu() takes floats, or there is point().
     */
    void (*floats)(const struct gf_stage *stage, const struct gf_view *in,
                   const struct gf_view *out, void *scratch);
    size_t (*floats_scratch)(const struct gf_stage *stage, int rows); /* as cpu_scratch */
    /* floats() gets keys in place of floats, and makes keys (pixel/float_keys.h). GF_KEYS: the
     * filter only compares samples and copies some, so that cpu() may do so with keys of halves. */
    enum gf_keys keys;
    bool cpu_intrinsics; /* cpu() has hand-written vector code, which gf_cpu_allow_intrinsics() can
                          * turn off */
    /* The filter's CUDA kernels; the first variant is the default. A point filter has the kernels
     * of gf_point, which run a list of operations. NULL, if there is cpu(): the filter has no
     * kernels, and its chains run on the CPU. */
    const struct gf_variant *cuda;
    /* The kernels for a stage whose input or result has floats, and their scratch memory
     * (GF_CUDA_FLOATS). The kernels above never get such a stage. NULL, or if they refuse it: it
     * runs on the CPU alone. With GF_FUSES_FLOAT_ALPHA they get launch->straight as cuda_fused
     * does. */
    const struct gf_variant *cuda_floats;
    /* GF_STENCIL: what cuda_fused can do with these parameters: apply launch->before and
     * launch->after for 8-bit pictures without alpha, or read straight RGBA (GF_FUSES_ALPHA); and
     * whether cuda_floats can read straight RGBA. The planner sets no launch->before if the border
     * is constant or wraps. NULL: nothing. */
    enum gf_fusing (*fuses)(const void *params);
    /* Launches the default kernels with launch->before and launch->after; for GF_FUSES_ALPHA,
     * kernels that read and write straight RGBA although the stage's formats are premultiplied. It
     * returns cudaErrorNotSupported, and does nothing, if the device has no such kernel. That of a
     * filter without radius() and input_rows_most() never does; its launch->in may also be opaque
     * RGB of 8 bits. */
    gf_launcher *cuda_fused;
    /* Launches the default kernels, which also count their result into launch->count. It returns
     * cudaErrorNotSupported, and does nothing, if a separate kernel must count the result. NULL: a
     * separate kernel always counts. */
    gf_launcher *cuda_counting;
    /* Launches the default kernels once for all pictures of launch->stack, each of them whole. It
     * returns cudaErrorNotSupported, and does nothing, if a launch for each picture is as fast, or
     * if it does not take such pictures. NULL: see cuda/filters/README.md. */
    gf_launcher *cuda_stacked;
};

/* Initialise a filter's parameters: type_ is the struct that holds them; their declarations follow,
 * or are list_, which several filters share. */
#define GF_TAKES(type_, ...) GF_PARAMS(type_, ((const struct gf_param[]){__VA_ARGS__, {0}}))
#define GF_PARAMS(type_, list_) .params = list_, .params_size = sizeof(type_)

/* The words of a choice, or those that a number or a colour may be instead. */
#define GF_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Declares a parameter of a filter: member_ of the struct type_, its default, its range, and its
 * help, which names the unit. */
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
/* Declares `smooth`, a parameter of filters that need a histogram. */
enum { GF_SMOOTH_MOST = 100 };
#define GF_PARAM_SMOOTH(type_) \
    GF_PARAM_INT( \
        type_, smooth, 1, 1, GF_SMOOTH_MOST, \
        "in a film the histogram is that of so many frames: this one and those before it")
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
/* Returns the index in choices of the word that the value of a GF_TYPE_WORD stands for, or -1 if it
 * is a number. */
static inline int gf_param_word(const struct gf_param *param, double value)
{
    return isnan(value) ? 0 : value > param->greatest ? (int)(value - param->greatest) : -1;
}
#define GF_PARAM_LENGTH(type_, member, least_, greatest_, help_) \
    { \
        .name = #member, .type = GF_TYPE_LENGTH, .offset = offsetof(type_, member), \
        .least = least_, .greatest = greatest_, .help = help_ \
    }
/* Declares a number that may also be given in per cent of a side of the picture. */
#define GF_PARAM_RELATIVE(type_, member, value_, least_, greatest_, help_) \
    { \
        .name = #member, .type = GF_TYPE_RELATIVE, .offset = offsetof(type_, member), \
        .value = value_, .least = least_, .greatest = greatest_, .help = help_ \
    }
#define GF_PARAM_MATRIX(type_, member, help_) \
    { \
        .name = #member, .type = GF_TYPE_MATRIX, .offset = offsetof(type_, member), \
        .required = true, .help = help_ \
    }
/* Declares the name of a file. choices_: words that the parameter accepts instead, or NULL. */
#define GF_PARAM_FILE(type_, member, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_FILE, .offset = offsetof(type_, member), \
        .choices = choices_, .help = help_ \
    }
#define GF_PARAM_TEXT(type_, member, help_) \
    { \
        .name = #member, .type = GF_TYPE_TEXT, .offset = offsetof(type_, member), .help = help_ \
    }
/* Declares a colour. value_: 0xRRGGBB, or -1 - i for choice i. choices_: words that the parameter
 * accepts instead of a colour, or NULL. */
#define GF_PARAM_COLOUR(type_, member, value_, choices_, help_) \
    { \
        .name = #member, .type = GF_TYPE_COLOUR, .offset = offsetof(type_, member), \
        .value = value_, .choices = choices_, .help = help_ \
    }
/* Declares a matrix whose numbers have a range. choices_: names that the parameter accepts instead;
 * matrices_: their matrices, as text. Both may be NULL. */
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

/* Declares the gravity of a filter that cuts a part out of the picture. */
#define GF_PARAM_WINDOW(type_, help_) \
    GF_PARAM_CHOICE(type_, gravity, GF_GRAVITY_CENTRE, gf_window_names, \
                    help_ "; attention and entropy look for it in the picture")

extern const char *const gf_border_names[]; /* edge, reflect, wrap, constant */
extern const char *const gf_gravity_names[], *const gf_window_names[];
