/* affine: rotates, shears, scales and mirrors the picture in one step. */
#include "filters/warp/warp.h"

struct affine {
    struct gf_matrix matrix;
    int kernel;
    struct gf_colour colour;
    int fit;
};

static const char *const names[] = {"shear-x", "shear-y", "half", "mirror", NULL};
static const char *const matrices[] = {"1 0.3/0 1", "1 0/0.3 1", "0.5 0/0 0.5", "-1 0/0 1"};

static const struct gf_param params[] = {
    GF_PARAM_MATRIX_OF(struct affine, matrix, true, -1000000, 1000000, names, matrices,
                       "a b/c d, or a b x/c d y with a move by x, y pixels"),
    GF_WARP_PARAMS(struct affine),
    GF_PARAM_CHOICE(struct affine, fit, GF_WARP_GROW, gf_warp_fit_names,
                    "grow: the result holds the whole picture, wherever the matrix moves it; keep: "
                    "the result has the picture's size"),
    {0},
};

/* Copies the matrix row by row; the third column is the translation. */
static void entries(const struct gf_matrix *matrix, double m[6])
{
    for (int i = 0; i < 6; i++)
        m[i] = i % 3 < matrix->width ? matrix->value[i / 3 * matrix->width + i % 3] : 0;
}

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct affine *const affine = params_;
    double m[6];
    if (affine->matrix.height != 2 || affine->matrix.width < 2 || affine->matrix.width > 3)
        return gf_fail(error, GF_ERROR_USAGE, "matrix is not two rows of two or three numbers");
    entries(&affine->matrix, m);
    if (fabs(m[0] * m[4] - m[1] * m[3]) < 1e-6)
        return gf_fail(error, GF_ERROR_USAGE, "matrix leaves nothing of the picture");
    return GF_OK;
}

static const struct gf_filter stage_filter = GF_WARP_STAGE("affine");

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct affine *const affine = params_;
    const bool grows = affine->fit == GF_WARP_GROW;
    const double width = extent->width, height = extent->height;
    double m[6];
    entries(&affine->matrix, m);
    struct gf_warp_params warp = {
        .map.kind = GF_WARP_AFFINE,
        .width = gf_warp_side(grows ? fabs(m[0]) * width + fabs(m[1]) * height : width),
        .height = gf_warp_side(grows ? fabs(m[3]) * width + fabs(m[4]) * height : height),
        .kernel = affine->kernel,
        .colour = affine->colour,
    };
    const double determinant = m[0] * m[4] - m[1] * m[3];
    const double a = m[4] / determinant, b = -m[1] / determinant;
    const double c = -m[3] / determinant, d = m[0] / determinant;
    /* The centres of the result and of the picture. The translation has an effect only if the
     * result's size is fixed. */
    const double x = (warp.width - 1) / 2.0 + (grows ? 0 : m[2]);
    const double y = (warp.height - 1) / 2.0 + (grows ? 0 : m[5]);
    const double map[6] = {a, b, (width - 1) / 2 - a * x - b * y,
                           c, d, (height - 1) / 2 - c * x - d * y};
    memcpy(warp.map.c, map, sizeof map);
    gf_warp_parts(&stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_affine_filter = {
    .name = "affine",
    .synonyms = "shear skew scale distort transform linear",
    .summary = "the picture turned, sheared, scaled by a matrix",
    .definition = "The pixel at p goes to A p + (x, y), where p counts from the middle, to the "
                  "right and down. " GF_WARP_DEFINITION,
    .example = "affine=shear-x",
    GF_PARAMS(struct affine, params),
    .kind = GF_STENCIL,
    .check = check,
    .expand = expand,
    .cuda = GF_CUDA(GF_WARP_KERNELS),
};
