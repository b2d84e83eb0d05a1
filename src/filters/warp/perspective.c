/* perspective: maps four points of the picture to the corners of the result, or the corners of the
 * picture to four points of the result. */
#include "filters/warp/warp.h"

struct perspective {
    struct gf_matrix points;
    int kernel;
    struct gf_colour colour;
    int direction, unit;
    struct gf_length w, h;
};

enum { FROM, TO };
enum { PERCENT, PIXELS };

static const char *const names[] = {"keystone", "side", NULL};
static const char *const matrices[] = {"15 0/85 0/100 100/0 100", "0 12/100 0/100 100/0 88"};
static const char *const directions[] = {"from", "to", NULL};
static const char *const units[] = {"percent", "pixels", NULL};

static const struct gf_param params[] = {
    GF_PARAM_MATRIX_OF(struct perspective, points, true, -1000000, 1000000, names, matrices,
                       "x y/x y/x y/x y: top left, top right, bottom right, bottom left"),
    GF_WARP_PARAMS(struct perspective),
    GF_PARAM_CHOICE(struct perspective, direction, FROM, directions,
                    "from: these points of the picture become the corners of the result; to: the "
                    "picture's corners go to these points of the result"),
    GF_PARAM_CHOICE(struct perspective, unit, PERCENT, units,
                    "unit of the points: per cent of width and height, or pixels"),
    GF_PARAM_LENGTH(struct perspective, w, 0.001, 65535,
                    "columns of the result; by default the picture's"),
    GF_PARAM_LENGTH(struct perspective, h, 0.001, 65535,
                    "rows of the result; by default the picture's"),
    {0},
};

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

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct gf_matrix *const points = &((const struct perspective *)params_)->points;
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

static const struct gf_filter stage_filter = GF_WARP_STAGE("perspective");

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct perspective *const perspective = params_;
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
    gf_warp_parts(&stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_perspective_filter = {
    .name = "perspective",
    .synonyms = "keystone homography quad rectify projective distort",
    .summary = "four points of the picture become its corners",
    .definition = "The projective map that four points determine. " GF_WARP_DEFINITION,
    .example = "perspective=keystone",
    GF_PARAMS(struct perspective, params),
    .kind = GF_STENCIL,
    .check = check,
    .expand = expand,
    .cuda = GF_CUDA(GF_WARP_KERNELS),
};
