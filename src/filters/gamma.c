/* gamma: lightens or darkens the middle tones. */
#include "point.h"

struct gamma {
    double value;
};

static const struct gf_param params[] = {
    GF_PARAM(struct gamma, value, 1, 0.01, 100, "the exponent is 1 / value: above 1 lightens"),
    {0},
};

static enum gf_status point(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    (void)error;
    const struct gamma *const gamma = stage->params;
    gf_point_power(builder, 1 / gamma->value);
    return GF_OK;
}

const struct gf_filter gf_gamma_filter = {
    .name = "gamma",
    .summary = "gamma correction",
    .definition = "M (v / M)^(1 / value) for each colour sample.",
    .example = "gamma=2.2",
    .params = params,
    .params_size = sizeof(struct gamma),
    .kind = GF_POINT,
    .point = point,
};
