/* saturation: makes colours paler or more intense at the same lightness. */
#include "pixel/point/point.h"

struct saturation {
    double factor;
};

static const struct gf_param params[] = {
    GF_PARAM(struct saturation, factor, 1, 0, 10, "0 is gray, above 1 more colourful"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct saturation *const saturation = stage->params;
    gf_point_saturate(builder, saturation->factor);
}

extern gf_launcher gf_point_powf_cuda, gf_point_cbrtf_cuda;

const struct gf_filter gf_saturation_filter = {
    .name = "saturation",
    .names = "saturate",
    .summary = "more or less colour",
    .definition = "sRGB to CIELAB (D65), a* and b* times factor, back to sRGB, clamped. Gray "
                  "pictures stay as\n"
                  "they are.",
    .example = "saturation=2",
    GF_PARAMS(struct saturation, params),
    .kind = GF_POINT,
    .cost = {.pixel = 8.5},
    .point = point,
    .cuda =
        GF_CUDA({GF_STUDIED("powf", gf_point_powf_cuda, "roots by powf (Best Practices 11.1.5)"),
                 .tolerance = 1, .tolerance_16 = 8, .refuses = gf_point_refuses_gray},
                {GF_STUDIED("cbrtf", gf_point_cbrtf_cuda, "roots by cbrtf (Best Practices 11.1.5)"),
                 .tolerance = 1, .tolerance_16 = 8, .refuses = gf_point_refuses_gray}),
};
