/* hue: rotates hues. */
#include "base/elementary.h"
#include "pixel/point/point.h"

struct hue {
    double angle;
};

static const struct gf_param params[] = {
    GF_PARAM(struct hue, angle, 0, -360, 360, "degrees: 120 turns red to green"),
    {0},
};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    /* The matrix is part[.][.][0] + cosine * part[.][.][1] + sine * part[.][.][2]. The first
     * addends are the weights of luma. */
    static const double part[3][3][3] = {
        {{0.213, 0.715, 0.072}, {0.787, -0.715, -0.072}, {-0.213, -0.715, 0.928}},
        {{0.213, 0.715, 0.072}, {-0.213, 0.285, -0.072}, {0.143, 0.140, -0.283}},
        {{0.213, 0.715, 0.072}, {-0.213, -0.715, 0.928}, {-0.787, 0.715, 0.072}},
    };
    const double turns = ((const struct hue *)stage->params)->angle / 180;
    const double cosine = gf_sin_pi_double(turns + 0.5), sine = gf_sin_pi_double(turns);
    double matrix[3][4] = {{0}};
    if (turns == 0 || gf_colour_channels(stage->in) == 1)
        return;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            matrix[row][k] = part[row][0][k] + cosine * part[row][1][k] + sine * part[row][2][k];
    gf_point_matrix(builder, matrix);
}

const struct gf_filter gf_hue_filter = {
    .name = "hue",
    .names = "huerotate",
    .synonyms = "modulate",
    .summary = "turns the hues",
    .definition = "The matrix of hue-rotate() of CSS (Filter Effects Module Level 1): a rotation "
                  "about the axis of grays that\n"
                  "keeps the luma, of sRGB samples, clamped. Gray pictures stay as they are.",
    .example = "hue=120",
    GF_PARAMS(struct hue, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1},
    .point = point,
};
