/* rotate: rotates exactly by quarter turns, and by sampling for other angles. */
#include "base/elementary.h"
#include "filters/warp/warp.h"
#include "pixel/orient/orient.h"

extern const struct gf_filter gf_rotate_filter;

const char *const gf_warp_fit_names[] = {"grow", "keep", NULL};

static const struct gf_param rotate_params[] = {
    GF_PARAM(struct gf_rotate_params, angle, 90, -1000, 1000, "degrees, clockwise"),
    GF_WARP_PARAMS(struct gf_rotate_params),
    GF_PARAM_CHOICE(
        struct gf_rotate_params, fit, GF_WARP_GROW, gf_warp_fit_names,
        "grow: the result holds the whole picture; keep: the result has the picture's size"),
    {0},
};

/* Returns the number of quarter turns, 0..3, or -1 for any other angle. */
static int quarters(const struct gf_rotate_params *rotate)
{
    const double turns = rotate->angle / 90;
    return turns == floor(turns) ? ((int)turns % 4 + 4) % 4 : -1;
}

static struct gf_orient rotation(const void *params)
{
    static const struct gf_orient turn[] = {
        {.mirror_x = false},
        {.transpose = true, .mirror_x = true},
        {.mirror_x = true, .mirror_y = true},
        {.transpose = true, .mirror_y = true},
    };
    return turn[quarters(params)];
}

/* Returns the warp that maps the centre of the picture to the centre of the result. */
static struct gf_warp_params warp_of(const struct gf_rotate_params *rotate, int width, int height)
{
    const double cosine = gf_sin_pi_double(rotate->angle / 180 + 0.5);
    const double sine = gf_sin_pi_double(rotate->angle / 180);
    struct gf_warp_params warp = {
        .map.kind = GF_WARP_AFFINE,
        .width = width,
        .height = height,
        .kernel = rotate->kernel,
        .colour = rotate->colour,
    };
    if (rotate->fit == GF_WARP_GROW) {
        warp.width = gf_warp_side(width * fabs(cosine) + height * fabs(sine));
        warp.height = gf_warp_side(width * fabs(sine) + height * fabs(cosine));
    }
    const double x = (warp.width - 1) / 2.0, y = (warp.height - 1) / 2.0;
    const double c[6] = {cosine, sine,   (width - 1) / 2.0 - cosine * x - sine * y,
                         -sine,  cosine, (height - 1) / 2.0 + sine * x - cosine * y};
    memcpy(warp.map.c, c, sizeof c);
    return warp;
}

static const struct gf_filter stage_filter = GF_WARP_STAGE("rotate");

static void rotate_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    if (quarters(params) < 0) {
        struct gf_warp_params warp = warp_of(params, extent->width, extent->height);
        gf_warp_parts(&stage_filter, &warp, extent, parts);
    } else if (quarters(params)) {
        gf_parts_add(parts, &gf_rotate_filter, params, sizeof(struct gf_rotate_params));
    }
}

GF_ORIENT_FUNCTIONS(rotation)

static const char *refuses(const struct gf_stage *stage)
{
    return rotation(stage->params).transpose ? NULL : "takes angles of 90 and 270 only";
}

const struct gf_filter gf_rotate_filter = {
    .name = "rotate",
    .synonyms = "turn similarity rot",
    .summary = "rotation, clockwise",
    .definition =
        "Multiples of 90 degrees are exact permutations of the pixels: 90 moves the top "
        "row to the right edge. Other angles\nkeep the middle in the middle. " GF_WARP_DEFINITION,
    .example = "rotate=12",
    GF_PARAMS(struct gf_rotate_params, rotate_params),
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 1.2},
    .expand = rotate_expand,
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA(GF_TRANSPOSE_KERNELS(refuses)),
};
