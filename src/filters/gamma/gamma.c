/* gamma: lightens or darkens the middle tones. */
#include "filters/gamma/gamma.h"

#include "pixel/point/point.h"

static const struct gf_param params[] = {
    GF_PARAM(struct gf_gamma, value, 1, 0.01, 100, "the exponent is 1 / value: above 1 lightens"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_gamma *const gamma = stage->params;
    gf_point_power(builder, 1 / gamma->value);
}

extern gf_launcher gf_gamma_powf_cuda, gf_gamma_exp2f_cuda, gf_gamma_intrinsic_cuda;

static const char *refuses_intrinsic(const struct gf_stage *stage)
{
    return stage->in.bits == 8 ? NULL : "takes 8 bits only: its error can exceed a step of 16 bits";
}

const struct gf_filter gf_gamma_filter = {
    .name = "gamma",
    .synonyms = "pow",
    .summary = "gamma correction",
    .definition = "M (v / M)^(1 / value) for each colour sample.",
    .example = "gamma=2.2",
    GF_PARAMS(struct gf_gamma, params),
    .kind = GF_POINT,
    .point = point,
    .cuda =
        GF_CUDA({GF_STUDIED("powf", gf_gamma_powf_cuda,
                            "powf for each sample, 16 bytes a thread (Best Practices 11.1.6)"),
                 .tolerance = 1, .tolerance_16 = 1},
                {GF_STUDIED("exp2f", gf_gamma_exp2f_cuda,
                            "exp2f(log2f(v) / value) (Best Practices 11.1.6)"),
                 .tolerance = 1, .tolerance_16 = 1},
                {GF_STUDIED("intrinsic", gf_gamma_intrinsic_cuda, "__powf (Best Practices 11.1.6)"),
                 .tolerance = 1, .tolerance_16 = 1, .refuses = refuses_intrinsic}),
};
