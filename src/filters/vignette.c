/* vignette: fades the corners into a colour. */
#include "pixel/point/point.h"

struct vignette {
    double strength, radius;
    struct gf_colour colour;
};

static const struct gf_param params[] = {
    GF_PARAM(struct vignette, strength, 0.6, 0, 1, "how far the corners fade: 1 is the colour"),
    GF_PARAM(struct vignette, radius, 0.3, 0, 0.99,
             "where the fading begins: 0 is the middle, 1 a corner; 0.7 touches the sides"),
    GF_PARAM_COLOUR(struct vignette, colour, 0x000000, NULL, "what the corners fade into"),
    {0},
};

struct lens {
    double width, height;
    const struct vignette *vignette;
};

/* Returns half the square of the distance from the centre along one axis, where the picture extends
 * from -1 to 1. */
static double part(double at, double size)
{
    const double distance = (2 * at + 1) / size - 1;
    return distance * distance / 2;
}

static double column(const void *context, int x)
{
    return part(x, ((const struct lens *)context)->width);
}

static double row(const void *context, int y)
{
    return part(y, ((const struct lens *)context)->height);
}

static double shade(const void *context, double square)
{
    const struct vignette *const vignette = ((const struct lens *)context)->vignette;
    const double t = fmax((sqrt(square) - vignette->radius) / (1 - vignette->radius), 0);
    return vignette->strength * t * t * (3 - 2 * t);
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct vignette *const vignette = stage->params;
    const struct lens lens = {stage->in.width, stage->in.height, vignette};
    const struct gf_point_field field = {column, row, shade, &lens};
    double colour[3];
    gf_point_colour_of(stage->in, &vignette->colour, colour);
    gf_point_mix(builder, &field, colour);
}

const struct gf_filter gf_vignette_filter = {
    .name = "vignette",
    .synonyms = "falloff corners",
    .summary = "corners fade into a colour",
    .definition = "v + (colour - v) strength t^2 (3 - 2 t) with t = (d - radius) / (1 - radius), "
                  "at least 0. d is the distance from the middle by ellipses of the picture's "
                  "shape: 1 in the corners. Gray pictures take the colour's luma.",
    GF_PARAMS(struct vignette, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2},
    .point = point,
};
