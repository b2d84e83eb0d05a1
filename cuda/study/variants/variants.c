/* The table of variants.def: the reasons why variants refuse a stage, or NULL, and the scratch
 * memory that they need. */
#include "cuda/study/variants/variants.h"

#include <string.h>

#include "base/text/plain_text.h"
#include "filters/bilateral/bilateral.h"
#include "filters/boxblur/boxblur.h"
#include "filters/convolve/convolve.h"
#include "filters/median/median.h"
#include "pixel/gauss/gauss.h"
#include "pixel/orient/orient.h"
#include "pixel/point/point.h"
#include "pixel/stencil.h"
#include "pixel/warp/warp.h"

/* The largest radii, in pixels, of variants that read each window from global memory, and of
 * variants that hold tiles in shared memory. */
enum { WINDOW_REACH_MAX = 60, TILE_REACH_MAX = 16 };

/* Returns the filter of a stage and its parameters; of a list of point filters, those of the
 * first. */
static const struct gf_filter *filter_of(const struct gf_stage *stage, const void **params)
{
    const struct gf_point_list *const points = stage->filter == &gf_point ? stage->params : NULL;
    *params = points ? points->item[0].params : stage->params;
    return points ? points->item[0].filter : stage->filter;
}

/* Returns the address of the stage's parameter `name`, which its filter must have. *param becomes
 * its description. */
static const void *value_of(const struct gf_stage *stage, const char *name,
                            const struct gf_param **param)
{
    const void *params;
    *param = filter_of(stage, &params)->params;
    while (strcmp((*param)->name, name) != 0)
        ++*param;
    return (const char *)params + (*param)->offset;
}

/* Whether the stage's parameter `name` has the value `choice`, one of its words. */
static bool has_choice(const struct gf_stage *stage, const char *name, const char *choice)
{
    const struct gf_param *param;
    const int *const value = value_of(stage, name, &param);
    return !strcmp(param->choices[*value], choice);
}

/* ---- reasons that several variants have ---- */

static const char *unless_within(const struct gf_stage *stage, int radius_max, const char *why)
{
    return gf_stage_radius(stage) > radius_max ? why : NULL;
}

static const char *unless_opaque_8_bits(const struct gf_stage *stage)
{
    return stage->in.bits != 8 || gf_has_alpha(stage->in) ? "takes pictures of 8 bits without alpha"
                                                          : NULL;
}

/* ---- blur, unsharp, boxblur ---- */

static const char *blur_window(const struct gf_stage *stage)
{
    return unless_within(stage, WINDOW_REACH_MAX,
                         "takes sigma up to 20: its work grows with the square");
}

static const char *blur_tile(const struct gf_stage *stage)
{
    return unless_within(
        stage, TILE_REACH_MAX,
        "takes sigma up to 5.33: what the taps reach has to fit into shared memory");
}

static const char *blur_words(const struct gf_stage *stage)
{
    return stage->in.bits != 8 ? "takes pictures of 8 bits without alpha" : blur_tile(stage);
}

static const char *blur_strip(const struct gf_stage *stage)
{
    const char *const why = "takes pictures of 16 bits or with alpha, and sigma up to 2";
    return stage->in.bits != 16 ? why : unless_within(stage, GF_GAUSS_STRIP_MAX, why);
}

static const char *blur_tensor(const struct gf_stage *stage)
{
    const struct gf_param *param;
    const char *const alpha = unless_opaque_8_bits(stage);
    const bool reaches =
        *(const double *)value_of(stage, "sigma", &param) >= GF_GAUSS_TENSOR_SIGMA_MIN;
    return alpha ? alpha
                 : unless_within(stage, reaches ? GF_GAUSS_TENSOR_MAX : -1,
                                 "takes sigma from 0.22 to 21.33");
}

static size_t blur_separable_scratch(const struct gf_stage *stage, int rows)
{
    return gf_gauss_mid_pitch(stage->in) * (size_t)rows;
}

static size_t no_scratch(const struct gf_stage *stage, int rows)
{
    (void)stage, (void)rows;
    return 0;
}

static const char *unsharp_strip(const struct gf_stage *stage)
{
    return has_choice(stage, "onset", "hard") ? blur_strip(stage) : "takes onset=hard alone";
}

static const char *unsharp_tensor(const struct gf_stage *stage)
{
    return has_choice(stage, "onset", "hard") ? blur_tensor(stage) : "takes onset=hard alone";
}

static const char *boxblur_window(const struct gf_stage *stage)
{
    return unless_within(stage, WINDOW_REACH_MAX,
                         "takes a radius up to 60: its work grows with the square");
}

static const char *boxblur_tile(const struct gf_stage *stage)
{
    return unless_within(
        stage, TILE_REACH_MAX,
        "takes a radius up to 16: what the window reaches has to fit into shared memory");
}

static size_t boxblur_separable_scratch(const struct gf_stage *stage, int rows)
{
    return gf_box_wide_pitch(stage->in) * (size_t)rows;
}

/* ---- other stencils ---- */

static const char *convolve_texture(const struct gf_stage *stage)
{
    return gf_samples(stage->in) > GF_TEXTURE_WIDTH_MAX || stage->in.height > GF_TEXTURE_HEIGHT_MAX
               ? "takes rows of up to 131072 samples, and 65000 of them: textures are no larger"
               : NULL;
}

static size_t convolve_texture_scratch(const struct gf_stage *stage, int rows)
{
    const int height = ((const struct gf_convolve_params *)stage->params)->kernel.height;
    return gf_texture_scratch(stage->in,
                              gf_stage_needs_whole(stage) ? stage->in.height : rows + height - 1);
}

static const char *convolve_tensor(const struct gf_stage *stage)
{
    const struct gf_matrix *const kernel =
        &((const struct gf_convolve_params *)stage->params)->kernel;
    int most;
    const char *const alpha = unless_opaque_8_bits(stage);
    if (alpha)
        return alpha;
    return gf_convolve_whole(kernel->value, kernel->width * kernel->height, &most)
               ? NULL
               : "takes weights that are whole numbers, or halves, quarters .. of them, and sums "
                 "below 2^24";
}

static const char *sobel_sqrtf(const struct gf_stage *stage)
{
    return has_choice(stage, "kernel", "sobel") ? NULL : "takes kernel=sobel alone";
}

static const char *bilateral_tile(const struct gf_stage *stage)
{
    return unless_within(
        stage, TILE_REACH_MAX,
        "takes sigma_s up to 8: what the window reaches has to fit into shared memory");
}

static const char *median_local(const struct gf_stage *stage)
{
    return unless_within(stage, GF_MEDIAN_LOCAL_MAX,
                         "takes a radius up to 5: a thread has to hold its window, and its work "
                         "grows with the fourth power");
}

static const char *median_registers(const struct gf_stage *stage)
{
    return unless_within(stage, GF_MEDIAN_NETWORK_MAX,
                         "takes radius 1 and 2: there are networks for these");
}

static const char *resize_window(const struct gf_stage *stage)
{
    return has_choice(stage, "kernel", "nearest")
               ? "does not take kernel=nearest, which sums nothing"
               : NULL;
}

static const char *resize_texture(const struct gf_stage *stage)
{
    return convolve_texture(stage) ? "takes up to 131072 samples a row and 65000 rows"
                                   : resize_window(stage);
}

static size_t resize_separable_scratch(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->out) * sizeof(float) *
           (size_t)stage->filter->input_rows_most(stage, rows);
}

static size_t resize_texture_scratch(const struct gf_stage *stage, int rows)
{
    return gf_texture_scratch(stage->in, stage->filter->input_rows_most(stage, rows));
}

/* The kernels that transpose take only symmetries that exchange rows and columns. */
static const char *unless_transposing(const struct gf_stage *stage)
{
    struct gf_orient orient = {0};
    struct gf_stage copy = *stage;
    copy.constants = &orient;
    return !copy.filter->prepare(&copy, NULL) && orient.transpose
               ? NULL
               : "takes angles of 90 and 270 only";
}

/* ---- point filters, and how they count levels ---- */

static const char *gamma_intrinsic(const struct gf_stage *stage)
{
    return stage->in.bits == 8 ? NULL : "takes 8 bits only: its error can exceed a step of 16 bits";
}

static const char *colour_roots(const struct gf_stage *stage)
{
    return gf_colour_channels(stage->in) == 1 ? "takes pictures with colour only" : NULL;
}

static const char *equalize_roots(const struct gf_stage *stage)
{
    return has_choice(stage, "mode", "lightness") ? colour_roots(stage)
                                                  : "takes mode=lightness only";
}

static const char *unless_counting(const struct gf_stage *stage)
{
    const void *params;
    return filter_of(stage, &params)->statistic(params)
               ? NULL
               : "counts levels, which only value=otsu asks for";
}

static const char *unless_counting_8_bits(const struct gf_stage *stage)
{
    const char *const why = unless_counting(stage);
    return why || stage->in.bits == 8
               ? why
               : "takes 8 bits only: several tables of 65,536 counters do not fit in a block's "
                 "shared memory";
}

static const char *unless_counting_16_bits(const struct gf_stage *stage)
{
    const char *const why = unless_counting(stage);
    return why || stage->in.bits == 16 ? why
                                       : "takes 16 bits only: small tables need not be packed";
}

static const char *unless_extremes(const struct gf_stage *stage)
{
    const void *params;
    return filter_of(stage, &params)->extremes(params)
               ? NULL
               : "takes clip=0 only: it finds the lowest and the highest level, and counts nothing";
}

/* ---- the table ---- */

#define GF_STUDIED_OF(filters_, ...) __VA_ARGS__
#define GF_STUDIED(name_, launcher_, ...) extern gf_launcher launcher_;
#define GF_COUNTED(name_, counter_, ...) extern gf_counter counter_;
#include "cuda/study/variants/variants.def"
#undef GF_STUDIED_OF
#undef GF_STUDIED
#undef GF_COUNTED

static const struct {
    const char *filters;
    const struct gf_variant *variants;
} table[] = {
#define GF_STUDIED_OF(filters_, ...) {filters_, (const struct gf_variant[]){__VA_ARGS__{0}}},
#define GF_STUDIED(name_, launcher_, ...) \
    {.name = name_, .launch = GF_LAUNCHER(launcher_), .summary = __VA_ARGS__},
#define GF_COUNTED(name_, counter_, ...) \
    {.name = name_, .count = GF_LAUNCHER(counter_), .summary = __VA_ARGS__},
#include "cuda/study/variants/variants.def"
};

const struct gf_variant *gf_studied_variants(const struct gf_filter *filter, int index)
{
    /* A stage that warps has the name of its filter, such as rotate, but the kernels of "warp". */
    const char *const name = filter->prepare == gf_warp_prepare ? "warp" : filter->name;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (gf_suggest_listed(table[i].filters, name) && !index--)
            return table[i].variants;
    }
    return NULL;
}
