/* invert: makes the negative. */
#include "pixel/point/point.h"

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_linear(builder, 0, -1, gf_sample_max(stage->in));
}

const struct gf_filter gf_invert_filter = {
    .name = "invert",
    .names = "negate",
    .synonyms = "negative inverse",
    .summary = "negative",
    .definition = "M - v for each colour sample.",
    .kind = GF_POINT,
    .point = point,
};
