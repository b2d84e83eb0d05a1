/* NAME: lighter middle tones. */
#include "pixel/point/point.h"

struct NAME {
    double strength;
};

/* The filter's own formula: what it makes of a colour sample, both as parts of the full scale. */
static double formula(const void *context, int channel, double v)
{
    const struct NAME *const NAME = context;
    return v + NAME->strength * v * (1 - v);
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_point_curve curve = {formula,        stage->params, .same = true,
                                         .points = 4097, .least = 0,    .greatest = 1};
    gf_point_curve(builder, &curve);
}

const struct gf_filter gf_NAME_filter = {
    .name = "NAME",
    .summary = "lighter middle tones",
    .definition = "v + strength v (1 - v) for each colour sample v, a part of the full scale.",
    GF_TAKES(struct NAME, GF_PARAM(struct NAME, strength, 0.5, 0, 1,
                                   "how much lighter: 0 leaves the picture as it is")),
    .kind = GF_POINT,
    .point = point,
};
