/* duotone: replaces black and white by two colours. */
#include "pixel/point/point.h"

struct duotone {
    struct gf_colour dark, light;
};

static const struct gf_param params[] = {
    GF_PARAM_COLOUR(struct duotone, dark, 0x1b2a63, NULL, "the colour of black"),
    GF_PARAM_COLOUR(struct duotone, light, 0xffe7b3, NULL, "the colour of white"),
    {0},
};

static void fill(const struct duotone *duotone, struct gf_format format, double matrix[3][4])
{
    double luma[3];
    gf_point_luma_weights(format, luma);
    for (int row = 0; row < 3; row++) {
        const double dark = duotone->dark.part[row], span = duotone->light.part[row] - dark;
        for (int k = 0; k < 3; k++)
            matrix[row][k] = span * luma[k];
        matrix[row][3] = dark;
    }
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    double matrix[3][4];
    fill(params_, in, matrix);
    gf_point_matrix_shape(matrix, out);
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    double matrix[3][4];
    fill(stage->params, stage->in, matrix);
    gf_point_matrix(builder, matrix);
}

const struct gf_filter gf_duotone_filter = {
    .name = "duotone",
    .synonyms = "tint colorize gradientmap",
    .summary = "two colours for black and white",
    .definition = "dark + (light - dark) Y / M, Y the luma of bt601, as grayscale has it. "
                  "A gray picture becomes "
                  "colour unless both are gray.",
    GF_PARAMS(struct duotone, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1},
    .shape = shape,
    .point = point,
};
