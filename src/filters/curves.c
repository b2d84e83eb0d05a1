/* curves: changes tones by curves through points that the user gives. */
#include "pixel/point/point.h"

enum { ALL, CHANNELS = 4, POINTS_MAX = GF_MATRIX_SIDE_MAX };

struct curves {
    struct gf_matrix all, red, green, blue; /* the points of a curve: each row of the matrix is an
                                             * input level and an output level */
};

static const char *const names[] = {"lighter", "darker", "contrast", "matte", "negative", NULL};
static const char *const points[] = {
    "0 0/0.4 0.5/1 1",
    "0 0/0.5 0.4/1 1",
    "0 0/0.25 0.18/0.5 0.5/0.75 0.82/1 1",
    "0 0.12/0.25 0.25/0.75 0.8/1 0.92",
    "0 1/1 0",
};

#define CURVE(member, help) \
    GF_PARAM_MATRIX_OF(struct curves, member, false, 0, 1, names, points, help)

static const struct gf_param params[] = {
    CURVE(all, "points of the curve of all colour channels: from to/from to/.., parts of the full "
               "scale"),
    CURVE(red, "points of the curve of red, which is applied before the curve of all"),
    CURVE(green, "points of the curve of green"),
    CURVE(blue, "points of the curve of blue"),
    {0},
};

static const struct gf_matrix *matrix_of(const struct curves *curves, int index)
{
    return index == ALL ? &curves->all
                        : (const struct gf_matrix *[]){&curves->red, &curves->green,
                                                       &curves->blue}[index - 1];
}

static enum gf_status check(const void *params_, struct gf_error *error)
{
    for (int i = 0; i < CHANNELS; i++) {
        const struct gf_matrix *const matrix = matrix_of(params_, i);
        const char *const name = params[i].name;
        if (matrix->height && (matrix->width != 2 || matrix->height < 2))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: two points or more are needed, each two "
                           "numbers, such as 0 0/0.4 0.5/1 1",
                           name);
        for (int k = 1; k < matrix->height; k++) {
            if (matrix->value[2 * k] <= matrix->value[2 * k - 2])
                return gf_fail(error, GF_ERROR_USAGE, "%s: point %g does not lie beyond %g", name,
                               (double)matrix->value[2 * k], (double)matrix->value[2 * k - 2]);
        }
    }
    return GF_OK;
}

struct curve {
    int count; /* number of points; 0: the identity */
    double x[POINTS_MAX], y[POINTS_MAX], slope[POINTS_MAX];
};

struct set {
    struct curve curve[CHANNELS];
};

/* Returns the curve's slope at its first or last point: the slope of a parabola through three
 * points, limited to avoid overshoot. */
static double end_slope(double h0, double h1, double m0, double m1)
{
    const double slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
    if (slope * m0 <= 0)
        return 0;
    return m0 * m1 <= 0 && fabs(slope) > 3 * fabs(m0) ? 3 * m0 : slope;
}

static void fill_curve(struct curve *curve, const struct gf_matrix *matrix)
{
    const int n = matrix->height;
    double h[POINTS_MAX], m[POINTS_MAX];
    *curve = (struct curve){.count = n};
    for (int i = 0; i < n; i++) {
        curve->x[i] = (double)matrix->value[2 * i];
        curve->y[i] = (double)matrix->value[2 * i + 1];
    }
    for (int i = 0; i + 1 < n; i++) {
        h[i] = curve->x[i + 1] - curve->x[i];
        m[i] = (curve->y[i + 1] - curve->y[i]) / h[i];
    }
    for (int i = 1; i + 1 < n; i++) {
        const double w1 = 2 * h[i] + h[i - 1], w2 = h[i] + 2 * h[i - 1];
        curve->slope[i] = m[i - 1] * m[i] > 0 ? (w1 + w2) / (w1 / m[i - 1] + w2 / m[i]) : 0;
    }
    if (n == 2)
        curve->slope[0] = curve->slope[1] = m[0];
    if (n > 2) {
        curve->slope[0] = end_slope(h[0], h[1], m[0], m[1]);
        curve->slope[n - 1] = end_slope(h[n - 2], h[n - 3], m[n - 2], m[n - 3]);
    }
}

/* Returns the value of a curve at v. Between two points it is a cubic Hermite spline; outside of
 * the points it is the value of the nearest point. */
static double curve_at(const struct curve *curve, double v)
{
    const int n = curve->count;
    if (!n)
        return v;
    if (v <= curve->x[0])
        return curve->y[0];
    if (v >= curve->x[n - 1])
        return curve->y[n - 1];
    int i = 0;
    while (v > curve->x[i + 1])
        i++;
    const double h = curve->x[i + 1] - curve->x[i], t = (v - curve->x[i]) / h, u = 1 - t;
    return u * u * ((1 + 2 * t) * curve->y[i] + t * h * curve->slope[i]) +
           t * t * ((1 + 2 * u) * curve->y[i + 1] - u * h * curve->slope[i + 1]);
}

static double value(const void *context, int channel, double v)
{
    const struct set *const set = context;
    return curve_at(&set->curve[ALL], curve_at(&set->curve[channel + 1], v));
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const bool gray = gf_colour_channels(stage->in) == 1;
    struct set set;
    bool same = true, any = false;
    for (int i = 0; i < CHANNELS; i++) {
        const struct gf_matrix *const matrix = matrix_of(stage->params, i);
        fill_curve(&set.curve[i], matrix);
        if (gray && i != ALL)
            set.curve[i].count = 0;
        same &= i == ALL || !set.curve[i].count;
        any |= set.curve[i].count;
    }
    const struct gf_point_curve curve = {value,          &set,       same,
                                         .points = 4097, .least = 0, .greatest = 1};
    if (any)
        gf_point_curve(builder, &curve);
}

const struct gf_filter gf_curves_filter = {
    .name = "curves",
    .synonyms = "curve tonecurve splines",
    .summary = "tones through a smooth curve",
    .definition = "Each colour sample v / M goes through a monotone cubic spline between the "
                  "points (Fritsch and Butland, 1984: PCHIP), first that of its channel, then that "
                  "of all. A curve is flat before its first and beyond its last point, and "
                  "overshoots no point. Gray pictures use only the curve of all. After a filter "
                  "that mixes channels a curve consists of 4096 straight lines.",
    .example = "curves=contrast:blue=0 0.1/1 0.9",
    GF_PARAMS(struct curves, params),
    .kind = GF_POINT,
    .check = check,
    .point = point,
};
