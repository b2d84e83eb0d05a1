/* colormatrix: makes each channel a weighted sum of all three. */
#include "pixel/point/point.h"

struct colormatrix {
    struct gf_matrix matrix;
    double amount;
};

/* The names of matrices. "sepia" is the matrix of the CSS filter function. The other names list
 * which channel of the picture becomes red, green and blue. */
static const char *const names[] = {"sepia", "bgr", "rbg", "grb", "gbr", "brg", NULL};
static const char *const matrices[] = {
    "0.393 0.769 0.189/0.349 0.686 0.168/0.272 0.534 0.131",
    "0 0 1/0 1 0/1 0 0",
    "1 0 0/0 0 1/0 1 0",
    "0 1 0/1 0 0/0 0 1",
    "0 1 0/0 0 1/1 0 0",
    "0 0 1/1 0 0/0 1 0",
};

static const struct gf_param params[] = {
    GF_PARAM_MATRIX_OF(struct colormatrix, matrix, true, -100, 100, names, matrices,
                       "three rows, for red, green and blue: the weights of red, green and "
                       "blue, and, if there are four columns, what is added, as a part of "
                       "the full scale"),
    GF_PARAM(struct colormatrix, amount, 1, 0, 1, "0 is the picture as it is, 1 the matrix"),
    {0},
};

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct gf_matrix *const matrix = &((const struct colormatrix *)params_)->matrix;
    if (matrix->height == 3 && (matrix->width == 3 || matrix->width == 4))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE,
                   "matrix has %d rows of %d; three rows of three or four are needed",
                   matrix->height, matrix->width);
}

static void fill(const struct colormatrix *from, double matrix[3][4])
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++) {
            const double same = row == column ? 1 : 0;
            const double value = column < from->matrix.width
                                     ? (double)from->matrix.value[row * from->matrix.width + column]
                                     : 0;
            matrix[row][column] = same + from->amount * (value - same);
        }
    }
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    double matrix[3][4];
    fill(params_, matrix);
    gf_point_matrix_shape(matrix, out);
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    double matrix[3][4];
    fill(stage->params, matrix);
    gf_point_matrix(builder, matrix);
}

const struct gf_filter gf_colormatrix_filter = {
    .name = "colormatrix",
    .synonyms = "sepia recolor color-matrix channelmixer colorchannelmixer swap",
    .summary = "sepia, channel swaps, or a matrix of your own",
    .definition =
        "R' = m11 R + m12 G + m13 B + m14 M, and so on, clamped; the matrix is the identity + "
        "amount (m - the identity).\n"
        "sepia is that of CSS (Filter Effects Module Level 1). A gray picture has R = G = B, and "
        "becomes colour unless\n"
        "every gray stays gray.",
    .example = "colormatrix=sepia",
    GF_PARAMS(struct colormatrix, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1},
    .check = check,
    .shape = shape,
    .point = point,
};
