/* falloff: the corners are darkened, as by a lens. */
#include "pixel/point/point.h"

struct falloff {
    double strength;
};

struct lens {
    double middle_x, middle_y, corner; /* pixels; the corner's distance from the middle */
    double strength;
};

/* A part of the squared distance from the middle, which is 1 in the corners. */
static double column(const void *context, int x)
{
    const struct lens *const lens = context;
    return pow((x + 0.5 - lens->middle_x) / lens->corner, 2);
}

static double row(const void *context, int y)
{
    const struct lens *const lens = context;
    return pow((y + 0.5 - lens->middle_y) / lens->corner, 2);
}

static double shade(const void *context, double square)
{
    const struct lens *const lens = context;
    return lens->strength * square;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct falloff *const falloff = stage->params;
    const double x = stage->in.width / 2.0, y = stage->in.height / 2.0;
    const struct lens lens = {x, y, hypot(x, y), falloff->strength};
    const struct gf_point_field field = {column, row, shade, &lens};
    const double black[3] = {0};
    gf_point_mix(builder, &field, black);
}

const struct gf_filter gf_falloff_filter = {
    .name = "falloff",
    .summary = "darker corners",
    .definition = "v (1 - strength d^2), d the distance from the middle, 1 in the corners.",
    GF_TAKES(struct falloff,
             GF_PARAM(struct falloff, strength, 0.5, 0, 1, "how dark the corners get: 1 is black")),
    .kind = GF_POINT,
    .cost = {.pixel = 2},
    .point = point,
};
