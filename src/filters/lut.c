/* lut: colours through a table from a .cube file. */
#include <stdlib.h>

#include "base/fail.h"
#include "pixel/cube.h"
#include "pixel/point.h"

struct lut {
    char file[GF_FILE_NAME_SIZE];
    double amount;
    const struct gf_cube *cube;
};

static const struct gf_param params[] = {
    {.name = "file",
     .type = GF_TYPE_FILE,
     .offset = offsetof(struct lut, file),
     .help = "a .cube file, of curves or of a cube of up to 129 nodes a side; without one a "
             "built-in look: shadows to teal, highlights to orange"},
    GF_PARAM(struct lut, amount, 1, 0, 1, "from the picture as it is, 0, to the table"),
    {0},
};

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct lut *const lut = params_;
    return gf_cube_load(lut->file, &lut->cube, error);
}

static void unload(void *params_)
{
    gf_cube_release(((const struct lut *)params_)->cube);
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct lut *const lut = params_;
    if (!lut->cube->same)
        out->channels = gf_has_alpha(in) ? 4 : 3;
    return GF_OK;
}

/* ---- curves ---- */

/* Straight lines between the points; beyond the domain what is at its end. */
static double curve(const void *context, int channel, double v)
{
    const struct lut *const lut = context;
    const struct gf_cube *const cube = lut->cube;
    const double range = cube->greatest[channel] - cube->least[channel];
    const double at = fmin(fmax((v - cube->least[channel]) / range, 0), 1) * (cube->size - 1);
    const int i = at < cube->size - 2 ? (int)at : cube->size - 2;
    const float *const value = cube->value + 3 * i + channel;
    const double to = (double)value[0] + (at - i) * ((double)value[3] - (double)value[0]);
    return v + lut->amount * (to - v);
}

static enum gf_status append_curves(const struct lut *lut, struct gf_point_builder *builder,
                                    struct gf_error *error)
{
    const struct gf_cube *const cube = lut->cube;
    bool is_plain = lut->amount == 1;
    for (int c = 0; c < 3; c++)
        is_plain &= cube->least[c] == cube->least[0] && cube->greatest[c] == cube->greatest[0];
    const struct gf_point_curve curves = {
        .of = curve,
        .context = lut,
        .same = cube->same,
        .points = is_plain ? cube->size : GF_CUBE_CURVE_MAX + 1,
        .least = is_plain ? cube->least[0] : 0,
        .greatest = is_plain ? cube->greatest[0] : 1,
    };
    if (!cube->same)
        gf_point_colour(builder);
    return gf_point_curve(builder, &curves, error);
}

/* ---- cubes ---- */

/* From the full scale to the domain of the table. */
static void append_domain(const struct gf_cube *cube, struct gf_point_builder *builder)
{
    double matrix[3][4] = {{0}};
    bool is_whole = true;
    for (int c = 0; c < 3; c++) {
        const double range = cube->greatest[c] - cube->least[c];
        matrix[c][c] = 1 / range;
        matrix[c][3] = -cube->least[c] / range;
        is_whole &= cube->least[c] == 0 && range == 1;
    }
    if (!is_whole)
        gf_point_matrix(builder, matrix);
}

/* The nodes with a part of the picture as it is mixed in, which is what mixing the results makes.
 */
static void mix_nodes(const struct lut *lut, uint16_t *node)
{
    const struct gf_cube *const cube = lut->cube;
    const int size = cube->size;
    for (int i = 0; i < size * size * size; i++) {
        const int index[3] = {i % size, i / size % size, i / size / size};
        for (int c = 0; c < 3; c++) {
            const double range = cube->greatest[c] - cube->least[c];
            const double at = cube->least[c] + range * index[c] / (size - 1);
            const double same = 65535 * fmin(fmax(at, 0), 1), to = cube->node[3 * i + c];
            node[3 * i + c] = (uint16_t)(same + lut->amount * (to - same) + 0.5);
        }
    }
}

static enum gf_status append_cube(const struct lut *lut, struct gf_point_builder *builder,
                                  struct gf_error *error)
{
    const struct gf_cube *const cube = lut->cube;
    const size_t side = (size_t)cube->size;
    append_domain(cube, builder);
    if (lut->amount == 1)
        return gf_point_table3d(builder, cube->size, cube->node, error);
    uint16_t *const node = malloc(side * side * side * 3 * sizeof *node);
    if (!node)
        return gf_fail_memory(error);
    mix_nodes(lut, node);
    const enum gf_status status = gf_point_table3d(builder, cube->size, node, error);
    free(node);
    return status;
}

static enum gf_status point(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    const struct lut *const lut = stage->params;
    return lut->cube->is_3d ? append_cube(lut, builder, error) : append_curves(lut, builder, error);
}

const struct gf_filter gf_lut_filter = {
    .name = "lut",
    .synonyms = "lut3d lut1d cube haldclut clut look grade",
    .summary = "colours through a table, a .cube file",
    .definition =
        "A .cube file (Adobe's Cube LUT Specification 1.0) of curves, LUT_1D_SIZE: straight lines "
        "between its points; or of\n"
        "colours on a cube's nodes, LUT_3D_SIZE: tetrahedral interpolation, the nodes rounded to "
        "16 bits. Its values and\n"
        "domain are parts of the full scale, values limited to 0..1. A gray picture has R = G = "
        "B, and becomes colour unless\n"
        "there are three equal curves.",
    .example = "lut",
    .params = params,
    .params_size = sizeof(struct lut),
    .kind = GF_POINT,
    .cost = {.pixel = 3.5},
    .load = load,
    .unload = unload,
    .shape = shape,
    .point = point,
};
