/* rotate, affine, perspective and lens: filters that sample the picture at real positions. */
#include "filters/warp/warp.h"

#include "base/elementary.h"
#include "pixel/orient/orient.h"

/* rotate: rotates exactly by quarter turns, and by sampling for other angles. */

extern const struct gf_filter gf_rotate_filter;

const char *const gf_warp_fit_names[] = {"grow", "keep", NULL};

/* Returns the number of quarter turns, 0..3, or -1 for any other angle. */
static int quarters(const struct gf_rotate_params *rotate)
{
    const double turns = rotate->angle / 90;
    return turns == floor(turns) ? ((int)turns % 4 + 4) % 4 : -1;
}

static struct gf_orient rotation(const void *params)
{
    static const struct gf_orient turn[] = {
        {.mirror_x = false},
        {.transpose = true, .mirror_x = true},
        {.mirror_x = true, .mirror_y = true},
        {.transpose = true, .mirror_y = true},
    };
    return turn[quarters(params)];
}

/* Returns the warp that maps the centre of the picture to the centre of the result. */
static struct gf_warp_params warp_of(const struct gf_rotate_params *rotate, int width, int height)
{
    const double cosine = gf_sin_pi_double(rotate->angle / 180 + 0.5);
    const double sine = gf_sin_pi_double(rotate->angle / 180);
    struct gf_warp_params warp = {
        .map.kind = GF_WARP_AFFINE,
        .width = width,
        .height = height,
        .kernel = rotate->kernel,
        .colour = rotate->colour,
    };
    if (rotate->fit == GF_WARP_GROW) {
        warp.width = gf_warp_side(width * fabs(cosine) + height * fabs(sine));
        warp.height = gf_warp_side(width * fabs(sine) + height * fabs(cosine));
    }
    const double x = (warp.width - 1) / 2.0, y = (warp.height - 1) / 2.0;
    const double c[6] = {cosine, sine,   (width - 1) / 2.0 - cosine * x - sine * y,
                         -sine,  cosine, (height - 1) / 2.0 + sine * x - cosine * y};
    memcpy(warp.map.c, c, sizeof c);
    return warp;
}

static const struct gf_filter rotate_stage_filter = GF_WARP_STAGE("rotate");

static void rotate_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    if (quarters(params) < 0) {
        struct gf_warp_params warp = warp_of(params, extent->width, extent->height);
        gf_warp_parts(&rotate_stage_filter, &warp, extent, parts);
    } else if (quarters(params)) {
        gf_parts_add(parts, &gf_rotate_filter, params, sizeof(struct gf_rotate_params));
    }
}

GF_ORIENT_FUNCTIONS(rotation)

const struct gf_filter gf_rotate_filter = {
    .name = "rotate",
    .synonyms = "turn similarity rot",
    .summary = "rotation, clockwise",
    .definition =
        "Multiples of 90 degrees are exact permutations of the pixels: 90 moves the top "
        "row to the right edge. Other angles\nkeep the middle in the middle. " GF_WARP_DEFINITION,
    .example = "rotate=12",
    GF_TAKES(
        struct gf_rotate_params,
        GF_PARAM(struct gf_rotate_params, angle, 90, -1000, 1000, "degrees, clockwise"),
        GF_WARP_PARAMS(struct gf_rotate_params),
        GF_PARAM_CHOICE(
            struct gf_rotate_params, fit, GF_WARP_GROW, gf_warp_fit_names,
            "grow: the result holds the whole picture; keep: the result has the picture's size")),
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 1.2},
    .expand = rotate_expand,
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA(GF_TRANSPOSE_KERNEL),
};

/* affine: rotates, shears, scales and mirrors the picture in one step. */

struct affine {
    struct gf_matrix matrix;
    int kernel;
    struct gf_colour colour;
    int fit;
};

static const char *const affine_matrices[] = {"1 0.3/0 1", "1 0/0.3 1", "0.5 0/0 0.5", "-1 0/0 1"};

/* Copies the matrix row by row; the third column is the translation. */
static void entries(const struct gf_matrix *matrix, double m[6])
{
    for (int i = 0; i < 6; i++)
        m[i] = i % 3 < matrix->width ? matrix->value[i / 3 * matrix->width + i % 3] : 0;
}

static enum gf_status affine_check(const void *params, struct gf_error *error)
{
    const struct affine *const affine = params;
    double m[6];
    if (affine->matrix.height != 2 || affine->matrix.width < 2 || affine->matrix.width > 3)
        return gf_fail(error, GF_ERROR_USAGE, "matrix is not two rows of two or three numbers");
    entries(&affine->matrix, m);
    if (fabs(m[0] * m[4] - m[1] * m[3]) < 1e-6)
        return gf_fail(error, GF_ERROR_USAGE, "matrix leaves nothing of the picture");
    return GF_OK;
}

static const struct gf_filter affine_stage_filter = GF_WARP_STAGE("affine");

static void affine_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    const struct affine *const affine = params;
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
    /* The position in the result that the picture's centre moves to: the result's centre, plus the
     * translation if the result's size is fixed. */
    const double x = (warp.width - 1) / 2.0 + (grows ? 0 : m[2]);
    const double y = (warp.height - 1) / 2.0 + (grows ? 0 : m[5]);
    const double map[6] = {a, b, (width - 1) / 2 - a * x - b * y,
                           c, d, (height - 1) / 2 - c * x - d * y};
    memcpy(warp.map.c, map, sizeof map);
    gf_warp_parts(&affine_stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_affine_filter = {
    .name = "affine",
    .synonyms = "shear skew scale distort transform linear",
    .summary = "the picture turned, sheared, scaled by a matrix",
    .definition = "The pixel at p goes to A p + (x, y), where p counts from the middle, to the "
                  "right and down. " GF_WARP_DEFINITION,
    .example = "affine=shear-x",
    GF_TAKES(struct affine,
             GF_PARAM_MATRIX_OF(struct affine, matrix, true, -1000000, 1000000,
                                GF_WORDS("shear-x", "shear-y", "half", "mirror"), affine_matrices,
                                "a b/c d, or a b x/c d y with a move by x, y pixels"),
             GF_WARP_PARAMS(struct affine),
             GF_PARAM_CHOICE(
                 struct affine, fit, GF_WARP_GROW, gf_warp_fit_names,
                 "grow: the result holds the whole picture, wherever the matrix moves it; keep: "
                 "the result has the picture's size")),
    .kind = GF_STENCIL,
    .check = affine_check,
    .takes_floats = true,
    .expand = affine_expand,
    .cuda = GF_CUDA(GF_WARP_KERNEL),
};

/* perspective: maps four points of the picture to the corners of the result, or the corners of the
 * picture to four points of the result. */

struct perspective {
    struct gf_matrix points;
    int kernel;
    struct gf_colour colour;
    int direction, unit;
    struct gf_length w, h;
};

enum { FROM, TO };
enum { PERCENT, PIXELS };

static const char *const perspective_matrices[] = {"15 0/85 0/100 100/0 100",
                                                   "0 12/100 0/100 100/0 88"};

/* Whether the corners form a convex quadrilateral, clockwise or counterclockwise. */
static bool is_convex(const float *point)
{
    int left = 0, right = 0;
    for (int i = 0; i < 4; i++) {
        const float *const a = point + 2 * i, *const b = point + 2 * ((i + 1) % 4),
                           *const c = point + 2 * ((i + 2) % 4);
        const double ux = (double)b[0] - a[0], uy = (double)b[1] - a[1];
        const double vx = (double)c[0] - b[0], vy = (double)c[1] - b[1];
        const double cross = ux * vy - uy * vx;
        left += cross > 1e-6;
        right += cross < -1e-6;
    }
    return left == 4 || right == 4;
}

static enum gf_status perspective_check(const void *params, struct gf_error *error)
{
    const struct gf_matrix *const points = &((const struct perspective *)params)->points;
    if (points->width != 2 || points->height != 4)
        return gf_fail(error, GF_ERROR_USAGE, "points is not four pairs of numbers");
    if (!is_convex(points->value))
        return gf_fail(error, GF_ERROR_USAGE,
                       "points are not the corners of a convex quadrilateral, one after another");
    return GF_OK;
}

/* Computes the map from the unit square to the quadrilateral (Heckbert 1989, 2.2.3). */
static void from_square(const float *point, double scale_x, double scale_y, double m[9])
{
    double x[4], y[4];
    for (int i = 0; i < 4; i++) {
        x[i] = point[2 * i] * scale_x;
        y[i] = point[2 * i + 1] * scale_y;
    }
    const double x1 = x[1] - x[2], x2 = x[3] - x[2], x3 = x[0] - x[1] + x[2] - x[3];
    const double y1 = y[1] - y[2], y2 = y[3] - y[2], y3 = y[0] - y[1] + y[2] - y[3];
    const double determinant = x1 * y2 - x2 * y1;
    const double g = (x3 * y2 - x2 * y3) / determinant, h = (x1 * y3 - x3 * y1) / determinant;
    const double result[9] = {x[1] - x[0] + g * x[1],
                              x[3] - x[0] + h * x[3],
                              x[0],
                              y[1] - y[0] + g * y[1],
                              y[3] - y[0] + h * y[3],
                              y[0],
                              g,
                              h,
                              1};
    memcpy(m, result, sizeof result);
}

/* Inverts the matrix, except for a constant factor. */
static void invert(double m[9])
{
    double r[9];
    for (int i = 0; i < 9; i++) {
        const int row = i % 3, column = i / 3;
        const int a = (row + 1) % 3 * 3, b = (row + 2) % 3 * 3;
        const int c = (column + 1) % 3, d = (column + 2) % 3;
        r[i] = m[a + c] * m[b + d] - m[a + d] * m[b + c];
    }
    memcpy(m, r, sizeof r);
}

static int side(struct gf_length length, int whole)
{
    return length.unit == GF_UNSET     ? whole
           : length.unit == GF_PERCENT ? gf_warp_side(length.value * whole / 100)
                                       : gf_warp_side(length.value);
}

/* Sets the warp from m, which maps the unit square to the picture's points. Coordinates in both
 * pictures are relative to pixels' centres. */
static void from_pixels(struct gf_warp_params *warp, const double m[9], double in_scale_x,
                        double in_scale_y, double out_width, double out_height)
{
    double *const c = warp->map.c;
    for (int row = 0; row < 3; row++) {
        c[3 * row] = m[3 * row] / out_width;
        c[3 * row + 1] = m[3 * row + 1] / out_height;
        c[3 * row + 2] = m[3 * row + 2] + (c[3 * row] + c[3 * row + 1]) / 2;
    }
    for (int i = 0; i < 3; i++) {
        c[i] = c[i] * in_scale_x - c[6 + i] / 2;
        c[3 + i] = c[3 + i] * in_scale_y - c[6 + i] / 2;
    }
}

static const struct gf_filter perspective_stage_filter = GF_WARP_STAGE("perspective");

static void perspective_expand(const void *params, const struct gf_extent *extent,
                               struct gf_parts *parts)
{
    const struct perspective *const perspective = params;
    const bool from = perspective->direction == FROM, percent = perspective->unit == PERCENT;
    struct gf_warp_params warp = {
        .map.kind = GF_WARP_PERSPECTIVE,
        .width = side(perspective->w, extent->width),
        .height = side(perspective->h, extent->height),
        .kernel = perspective->kernel,
        .colour = perspective->colour,
    };
    const int width = from ? extent->width : warp.width;
    const int height = from ? extent->height : warp.height;
    double m[9];
    from_square(perspective->points.value, percent ? width / 100.0 : 1,
                percent ? height / 100.0 : 1, m);
    if (from) {
        from_pixels(&warp, m, 1, 1, warp.width, warp.height);
    } else {
        /* The divisor must be positive at the first corner of the quadrilateral, which is in the
         * picture. */
        const double x = m[2], y = m[5];
        invert(m);
        const double sign = m[6] * x + m[7] * y + m[8] < 0 ? -1 : 1;
        for (int i = 0; i < 9; i++)
            m[i] *= sign;
        from_pixels(&warp, m, extent->width, extent->height, 1, 1);
    }
    gf_warp_parts(&perspective_stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_perspective_filter = {
    .name = "perspective",
    .synonyms = "keystone homography quad rectify projective distort",
    .summary = "four points of the picture become its corners",
    .definition = "The projective map that four points determine. " GF_WARP_DEFINITION,
    .example = "perspective=keystone",
    GF_TAKES(struct perspective,
             GF_PARAM_MATRIX_OF(struct perspective, points, true, -1000000, 1000000,
                                GF_WORDS("keystone", "side"), perspective_matrices,
                                "x y/x y/x y/x y: top left, top right, bottom right, bottom left"),
             GF_WARP_PARAMS(struct perspective),
             GF_PARAM_CHOICE(
                 struct perspective, direction, FROM, GF_WORDS("from", "to"),
                 "from: these points of the picture become the corners of the result; to: the "
                 "picture's corners go to these points of the result"),
             GF_PARAM_CHOICE(struct perspective, unit, PERCENT, GF_WORDS("percent", "pixels"),
                             "unit of the points: per cent of width and height, or pixels"),
             GF_PARAM_LENGTH(struct perspective, w, 0.001, 65535,
                             "columns of the result; by default the picture's"),
             GF_PARAM_LENGTH(struct perspective, h, 0.001, 65535,
                             "rows of the result; by default the picture's")),
    .kind = GF_STENCIL,
    .check = perspective_check,
    .takes_floats = true,
    .expand = perspective_expand,
    .cuda = GF_CUDA(GF_WARP_KERNEL),
};

/* lens: adds or corrects the curvature that a lens gives to straight lines. */

struct lens {
    double k1, k2, zoom;
    int kernel;
    struct gf_colour colour;
};

static const struct gf_filter lens_stage_filter = GF_WARP_STAGE("lens");

static void lens_expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct lens *const lens = params;
    const int width = extent->width, height = extent->height;
    const double unit = 2.0 / (width < height ? width : height);
    const double x = (width - 1) / 2.0, y = (height - 1) / 2.0;
    struct gf_warp_params warp = {
        .map = {GF_WARP_LENS, {x, y, unit * unit, x, y, 0, 1 / lens->zoom, lens->k1, lens->k2}},
        .width = width,
        .height = height,
        .kernel = lens->kernel,
        .colour = lens->colour,
    };
    gf_warp_parts(&lens_stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_lens_filter = {
    .name = "lens",
    .synonyms = "barrel pincushion distortion undistort fisheye radial",
    .summary = "curved lines straightened, or bent, as by a lens",
    .definition = "The pixel at d from the middle comes from d (1 + k1 r^2 + k2 r^4), with r = |d| "
                  "over half the shorter side,\nand d divided by the zoom (Brown's radial "
                  "terms). " GF_WARP_DEFINITION,
    .example = "lens=0.3",
    GF_TAKES(
        struct lens,
        GF_PARAM(
            struct lens, k1, -0.05, -1, 1,
            "coefficient of r^2; below 0 the edges are stretched, and below -0.1 the corners of a "
            "3:2 picture fold back; above 0 everything is drawn to the middle"),
        GF_PARAM(struct lens, k2, 0, -1, 1, "of r^4"),
        GF_PARAM(struct lens, zoom, 1, 0.05, 20, "enlargement in the middle"),
        GF_WARP_PARAMS(struct lens)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = lens_expand,
    .cuda = GF_CUDA(GF_WARP_KERNEL),
};
