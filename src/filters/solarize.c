/* solarize: inverts the bright tones. */
#include "pixel/point/point.h"

struct solarize {
    double threshold;
};

static const struct gf_param params[] = {
    GF_PARAM(struct solarize, threshold, 0.5, 0, 1, "part of the full scale"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct solarize *const solarize = stage->params;
    gf_point_solarize(builder, solarize->threshold * gf_sample_max(stage->in));
}

const struct gf_filter gf_solarize_filter = {
    .name = "solarize",
    .names = "solarise",
    .synonyms = "sabattier",
    .summary = "bright tones turn into their negative",
    .definition = "M - v where the sample, rounded, is threshold M or more, else v; as Pillow's "
                  "ImageOps.solarize.",
    GF_PARAMS(struct solarize, params),
    .kind = GF_POINT,
    .point = point,
};
