/* lut: maps colours through a table from a .cube file. */
#include <stdlib.h>

#include "base/fail.h"
#include "pixel/files/cube.h"
#include "pixel/point/point.h"

struct lut {
    char file[GF_FILE_NAME_SIZE];
    double amount;
    const struct gf_cube *cube;
};

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct lut *const lut = params_;
    GF_TRY(gf_cube_load(lut->file, &lut->cube, error));
    if (lut->amount == 1 || !lut->cube->points || !lut->cube->size)
        return GF_OK;
    gf_cube_release(lut->cube);
    return gf_fail(error, GF_ERROR_USAGE,
                   "%.200s: a table of curves and a cube has no amount but 1", lut->file);
}

static void unload(void *params_)
{
    gf_cube_release(((const struct lut *)params_)->cube);
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct lut *const lut = params_;
    if (gf_is_float(in) && lut->amount != 1)
        return gf_fail(error, GF_ERROR_USAGE, "floats take no amount but 1");
    if (lut->cube->size || !lut->cube->same)
        out->channels = gf_has_alpha(in) ? 4 : 3;
    return GF_OK;
}

/* Returns the value of a 1D table at v. It is interpolated linearly between the points; outside of
 * the domain it is the value at the nearest end. If a cube follows, the result is a position in the
 * cube's domain. */
static double curve(const void *context, int channel, double v)
{
    const struct lut *const lut = context;
    const struct gf_cube *const cube = lut->cube;
    const double least = cube->domain.least[channel];
    const double range = cube->domain.greatest[channel] - least;
    const double at = fmin(fmax((v - least) / range, 0), 1) * (cube->points - 1);
    const int i = at < cube->points - 2 ? (int)at : cube->points - 2;
    const float *const value = cube->value + 3 * i + channel;
    const double to = (double)value[0] + (at - i) * ((double)value[3] - (double)value[0]);
    const double first = cube->cube_domain.least[channel];
    return cube->size ? (to - first) / (cube->cube_domain.greatest[channel] - first)
                      : v + lut->amount * (to - v);
}

static void append_curves(const struct lut *lut, bool floats, struct gf_point_builder *builder)
{
    const struct gf_cube *const cube = lut->cube;
    const struct gf_cube_domain *const domain = &cube->domain;
    bool is_plain = lut->amount == 1;
    for (int c = 0; c < 3; c++)
        is_plain &=
            domain->least[c] == domain->least[0] && domain->greatest[c] == domain->greatest[0];
    /* Integers are 0..1; floats reach the ends of all three domains. */
    double least = floats ? domain->least[0] : 0, greatest = floats ? domain->greatest[0] : 1;
    for (int c = 1; floats && c < 3; c++) {
        least = fmin(least, domain->least[c]);
        greatest = fmax(greatest, domain->greatest[c]);
    }
    const struct gf_point_curve curves = {
        .of = curve,
        .context = lut,
        .same = cube->same,
        .is_lines = is_plain,
        .points = is_plain ? cube->points : GF_CUBE_CURVE_MAX + 1,
        .least = is_plain ? domain->least[0] : least,
        .greatest = is_plain ? domain->greatest[0] : greatest,
    };
    if (!cube->same)
        gf_point_colour(builder);
    gf_point_curve(builder, &curves);
}

/* Appends the linear function from the full scale 0..1 to the domain of the table. */
static void append_domain(const struct gf_cube *cube, bool floats, struct gf_point_builder *builder)
{
    double matrix[3][4] = {{0}};
    bool is_whole = true, is_same = floats; /* a matrix would mix infinite channels */
    for (int c = 0; c < 3; c++) {
        const double least = cube->domain.least[c], range = cube->domain.greatest[c] - least;
        matrix[c][c] = 1 / range;
        matrix[c][3] = -least / range;
        is_whole &= least == 0 && range == 1;
        is_same &= matrix[c][c] == matrix[0][0] && least == cube->domain.least[0];
    }
    if (!is_whole && is_same)
        gf_point_linear(builder, cube->domain.least[0], matrix[0][0], 0);
    else if (!is_whole)
        gf_point_matrix(builder, matrix);
}

/* Mixes each node's value, in units of 1/65535, with the unchanged colour according to `amount`.
 * Mixing the nodes and interpolating between them gives the same as mixing the filter's result with
 * the picture. */
static void mix_values(const struct lut *lut, double *value)
{
    const struct gf_cube *const cube = lut->cube;
    const struct gf_table3d_nodes *const nodes = &cube->nodes;
    const int size = cube->size;
    for (int i = 0; i < size * size * size; i++) {
        const int index[3] = {i % size, i / size % size, i / size / size};
        for (int c = 0; c < 3; c++) {
            const double range = cube->domain.greatest[c] - cube->domain.least[c];
            const double same = 65535 * (cube->domain.least[c] + range * index[c] / (size - 1));
            const double to =
                65535 * nodes->least + (nodes->greatest - nodes->least) * nodes->node[3 * i + c];
            value[3 * i + c] = same + lut->amount * (to - same);
        }
    }
}

static void append_mixed(const struct lut *lut, struct gf_point_builder *builder)
{
    const size_t side = (size_t)lut->cube->size;
    struct gf_cube mixed = {.size = lut->cube->size};
    double *const value = malloc(side * side * side * 3 * sizeof *value);
    if (!value)
        return gf_point_fail_memory(builder);
    mix_values(lut, value);
    if (gf_cube_set_nodes(&mixed, value, NULL)) /* it fails for lack of memory alone */
        gf_point_fail_memory(builder);
    else
        gf_point_table3d(builder, mixed.size, &mixed.nodes);
    gf_cube_free(&mixed);
    free(value);
}

static void append_cube(const struct lut *lut, bool floats, struct gf_point_builder *builder)
{
    const struct gf_cube *const cube = lut->cube;
    if (!cube->points)
        append_domain(cube, floats, builder);
    if (lut->amount == 1)
        gf_point_table3d(builder, cube->size, &cube->nodes);
    else
        append_mixed(lut, builder);
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct lut *const lut = stage->params;
    if (lut->cube->points)
        append_curves(lut, gf_is_float(stage->in), builder);
    if (lut->cube->size)
        append_cube(lut, gf_is_float(stage->in), builder);
}

const struct gf_filter gf_lut_filter = {
    .name = "lut",
    .synonyms = "lut3d lut1d cube haldclut clut look grade",
    .summary = "colours through a table, a .cube file",
    .definition =
        "A .cube file (Adobe's Cube LUT Specification 1.0) of curves, LUT_1D_SIZE: straight lines "
        "between its points; or of\n"
        "colours on a cube's nodes, LUT_3D_SIZE: tetrahedral interpolation, the nodes rounded to "
        "16 bits of their range; or of\n"
        "both: curves, then the cube (DaVinci Resolve). Its values and domain are parts of the "
        "full "
        "scale; what is interpolated\n"
        "is limited to 0..1, but of floats, whose amount is 1, to the domain alone; a NaN makes "
        "its "
        "pixel NaN in a cube. A gray picture has R = G = B, and becomes colour unless there are "
        "three equal curves and no cube.",
    .example = "lut",
    GF_TAKES(struct lut,
             {.name = "file",
              .type = GF_TYPE_FILE,
              .offset = offsetof(struct lut, file),
              .help = "a .cube file, of curves, of a cube of up to 129 nodes a side, or of both; "
                      "without one a "
                      "built-in look: shadows to teal, highlights to orange"},
             GF_PARAM(struct lut, amount, 1, 0, 1, "0 is the picture as it is, 1 the table")),
    .kind = GF_POINT,
    .cost = {.pixel = 3.5},
    .takes_floats = true,
    .load = load,
    .unload = unload,
    .shape = shape,
    .point = point,
};
