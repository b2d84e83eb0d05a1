/* levels: sets a new black, white and middle. */
#include "pixel/point/point.h"

struct levels {
    double black, white, gamma;
    int channel;
};

enum { ALL };

static const char *const channel_names[] = {"all", "red", "green", "blue", NULL};

static const struct gf_param params[] = {
    GF_PARAM(struct levels, black, 0, 0, 1, "what becomes black, as a part of the full scale"),
    GF_PARAM(struct levels, white, 1, 0, 1, "what becomes white; below black: a negative"),
    GF_PARAM(struct levels, gamma, 1, 0.01, 100, "the exponent is 1 / gamma: above 1 lightens"),
    GF_PARAM_CHOICE(struct levels, channel, ALL, channel_names,
                    "all colour channels, or one, which a gray picture does not have"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct levels *const levels = stage->params;
    const double span = levels->white - levels->black;
    if (levels->channel != ALL && gf_colour_channels(stage->in) == 1)
        return;
    if (levels->channel != ALL)
        gf_point_only(builder, 1u << (levels->channel - 1));
    gf_point_linear(builder, levels->black * gf_sample_max(stage->in),
                    1 / (fabs(span) < 1e-9 ? 1e-9 : span), 0);
    gf_point_power(builder, 1 / levels->gamma);
}

const struct gf_filter gf_levels_filter = {
    .name = "levels",
    .synonyms = "level blackpoint whitepoint",
    .summary = "black, white and middle tones",
    .definition = "M ((v / M - black) / (white - black))^(1 / gamma), clamped. white = black: M "
                  "above it, else 0.\n"
                  "Gray pictures have no red, green or blue, and stay as they are where one of "
                  "these is asked for.",
    .example = "levels=0.1:0.5:1.2",
    GF_PARAMS(struct levels, params),
    .kind = GF_POINT,
    .point = point,
};
