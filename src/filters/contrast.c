/* contrast: spreads samples about the middle of the scale. */
#include "pixel/point/point.h"

struct contrast {
    double x;
};

static const struct gf_param params[] = {
    GF_PARAM(struct contrast, x, 1, 0, 10, "factor: 0 is all gray, above 1 more contrast"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct contrast *const contrast = stage->params;
    const double middle = stage->in.bits == 8 ? 127.5 : 32767.5;
    gf_point_linear(builder, middle, contrast->x, middle);
}

const struct gf_filter gf_contrast_filter = {
    .name = "contrast",
    .summary = "more or less contrast",
    .definition = "(v - M/2) x + M/2 for each colour sample, clamped.",
    .example = "contrast=1.8",
    GF_PARAMS(struct contrast, params),
    .kind = GF_POINT,
    .point = point,
};
