/* brightness: adds a constant. */
#include "pixel/point/point.h"

struct brightness {
    double x;
};

static const struct gf_param params[] = {
    GF_PARAM(struct brightness, x, 0, -1, 1, "what is added, as a part of the full scale"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct brightness *const brightness = stage->params;
    gf_point_linear(builder, 0, 1, brightness->x * gf_sample_max(stage->in));
}

const struct gf_filter gf_brightness_filter = {
    .name = "brightness",
    .synonyms = "lighten darken",
    .summary = "lighter or darker",
    .definition = "v + x M for each colour sample, clamped.",
    .example = "brightness=0.2",
    GF_PARAMS(struct brightness, params),
    .kind = GF_POINT,
    .point = point,
};
