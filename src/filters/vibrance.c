/* vibrance: intensifies pale colours. */
#include "pixel/point/point.h"

struct vibrance {
    double amount;
};

static const struct gf_param params[] = {
    GF_PARAM(struct vibrance, amount, 0, -1, 2, "above 0 more colour, below 0 less"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_vibrance(builder, ((const struct vibrance *)stage->params)->amount);
}

const struct gf_filter gf_vibrance_filter = {
    .name = "vibrance",
    .summary = "more colour where there is little",
    .definition =
        "Y + (v - Y) (1 + amount (1 - s)), clamped, for R, G and B: Y is the luma of bt709, s the "
        "largest of R, G, B less\n"
        "the smallest, over M. For amounts above 0 it is FFmpeg's vibrance. Gray pictures stay as "
        "they are.",
    .example = "vibrance=1.5",
    GF_PARAMS(struct vibrance, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1},
    .point = point,
};
