/* exposure: simulates more or less light. */
#include "base/elementary.h"
#include "pixel/point/point.h"

struct exposure {
    double ev;
};

static const struct gf_param params[] = {
    GF_PARAM(struct exposure, ev, 0, -10, 10, "stops: each doubles the light, -1 halves it"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct exposure *const exposure = stage->params;
    const double factor =
        exposure->ev == 0 ? 1 : gf_exp_double(exposure->ev * 0.69314718055994530942);
    gf_point_light_gain(builder, (const double[3]){factor, factor, factor});
}

const struct gf_filter gf_exposure_filter = {
    .name = "exposure",
    .synonyms = "ev stops gain",
    .summary = "more or less light, in stops",
    .definition = "sRGB to linear light (IEC 61966-2-1), times 2^ev, clamped, back to sRGB; for "
                  "each colour sample.",
    .example = "exposure=1.5",
    GF_PARAMS(struct exposure, params),
    .kind = GF_POINT,
    .point = point,
};
