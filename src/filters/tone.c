/* Point filters of a sample's tone: invert, brightness, contrast, exposure, gamma, levels,
 * curves, solarize, posterize. */
#include "filters/tone.h"

#include "base/elementary.h"
#include "pixel/point/point.h"

/* invert: makes the negative. */

static void invert_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_linear(builder, 0, -1, gf_sample_max(stage->in));
}

const struct gf_filter gf_invert_filter = {
    .name = "invert",
    .names = "negate",
    .synonyms = "negative inverse",
    .summary = "negative",
    .definition = "M - v for each colour sample.",
    .kind = GF_POINT,
    .takes_floats = true,
    .point = invert_point,
};

/* brightness: adds a constant. */

struct brightness {
    double x;
};

static void brightness_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct brightness *const brightness = stage->params;
    gf_point_linear(builder, 0, 1, brightness->x * gf_sample_max(stage->in));
}

const struct gf_filter gf_brightness_filter = {
    .name = "brightness",
    .synonyms = "lighten darken",
    .summary = "lighter or darker",
    .definition = "v + x M for each colour sample, clamped.",
    .example = "brightness=0.2",
    GF_TAKES(struct brightness, GF_PARAM(struct brightness, x, 0, -1, 1,
                                         "what is added, as a part of the full scale")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = brightness_point,
};

/* contrast: spreads samples about the middle of the scale. */

struct contrast {
    double x;
};

static void contrast_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct contrast *const contrast = stage->params;
    const double middle = gf_sample_max(stage->in) / 2.0;
    gf_point_linear(builder, middle, contrast->x, middle);
}

const struct gf_filter gf_contrast_filter = {
    .name = "contrast",
    .summary = "more or less contrast",
    .definition = "(v - M/2) x + M/2 for each colour sample, clamped.",
    .example = "contrast=1.8",
    GF_TAKES(struct contrast, GF_PARAM(struct contrast, x, 1, 0, 10,
                                       "factor: 0 is all gray, above 1 more contrast")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = contrast_point,
};

/* exposure: simulates more or less light. */

struct exposure {
    double ev;
};

static void exposure_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct exposure *const exposure = stage->params;
    const double factor =
        exposure->ev == 0 ? 1 : gf_exp_double(exposure->ev * 0.69314718055994530942);
    gf_point_light_gain(builder, (const double[3]){factor, factor, factor});
}

const struct gf_filter gf_exposure_filter = {
    .name = "exposure",
    .synonyms = "ev stops gain",
    .summary = "more or less light, in stops",
    .definition = "sRGB to linear light (IEC 61966-2-1), times 2^ev, clamped, back to sRGB; for "
                  "each colour sample.",
    .example = "exposure=1.5",
    GF_TAKES(struct exposure, GF_PARAM(struct exposure, ev, 0, -10, 10,
                                       "stops: each doubles the light, -1 halves it")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = exposure_point,
};

/* gamma: lightens or darkens the middle tones. */

static void gamma_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_gamma *const gamma = stage->params;
    gf_point_power(builder, 1 / gamma->value);
}

const struct gf_filter gf_gamma_filter = {
    .name = "gamma",
    .synonyms = "pow",
    .summary = "gamma correction",
    .definition = "M (v / M)^(1 / value) for each colour sample.",
    .example = "gamma=2.2",
    GF_TAKES(struct gf_gamma, GF_PARAM(struct gf_gamma, value, 1, 0.01, 100,
                                       "the exponent is 1 / value: above 1 lightens")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = gamma_point,
};

/* levels: sets a new black, white and middle. */

struct levels {
    double black, white, gamma;
    int channel;
};

enum { LEVELS_ALL };

static void levels_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct levels *const levels = stage->params;
    const double span = levels->white - levels->black;
    if (levels->channel != LEVELS_ALL && gf_colour_channels(stage->in) == 1)
        return;
    if (levels->channel != LEVELS_ALL)
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
    GF_TAKES(
        struct levels,
        GF_PARAM(struct levels, black, 0, 0, 1, "what becomes black, as a part of the full scale"),
        GF_PARAM(struct levels, white, 1, 0, 1, "what becomes white; below black: a negative"),
        GF_PARAM(struct levels, gamma, 1, 0.01, 100, "the exponent is 1 / gamma: above 1 lightens"),
        GF_PARAM_CHOICE(struct levels, channel, LEVELS_ALL, GF_WORDS("all", "red", "green", "blue"),
                        "all colour channels, or one, which a gray picture does not have")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = levels_point,
};

/* curves: changes tones by curves through points that the user gives. */

enum { CURVES_ALL, CHANNELS = 4, POINTS_MAX = GF_MATRIX_SIDE_MAX };

struct curves {
    struct gf_matrix all, red, green, blue; /* the points of a curve: each row of the matrix is an
                                             * input level and an output level */
};

static const char *const points[] = {
    "0 0/0.4 0.5/1 1",
    "0 0/0.5 0.4/1 1",
    "0 0/0.25 0.18/0.5 0.5/0.75 0.82/1 1",
    "0 0.12/0.25 0.25/0.75 0.8/1 0.92",
    "0 1/1 0",
};

#define CURVE(member, help) \
    GF_PARAM_MATRIX_OF(struct curves, member, false, 0, 1, \
                       GF_WORDS("lighter", "darker", "contrast", "matte", "negative"), points, \
                       help)

static const struct gf_param curves_params[] = {
    CURVE(all, "points of the curve of all colour channels: from to/from to/.., parts of the full "
               "scale"),
    CURVE(red, "points of the curve of red, which is applied before the curve of all"),
    CURVE(green, "points of the curve of green"),
    CURVE(blue, "points of the curve of blue"),
    {0},
};

static const struct gf_matrix *matrix_of(const struct curves *curves, int index)
{
    return index == CURVES_ALL ? &curves->all
                               : (const struct gf_matrix *[]){&curves->red, &curves->green,
                                                              &curves->blue}[index - 1];
}

static enum gf_status check(const void *params, struct gf_error *error)
{
    for (int i = 0; i < CHANNELS; i++) {
        const struct gf_matrix *const matrix = matrix_of(params, i);
        const char *const name = curves_params[i].name;
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
    return curve_at(&set->curve[CURVES_ALL], curve_at(&set->curve[channel + 1], v));
}

static void curves_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const bool gray = gf_colour_channels(stage->in) == 1;
    struct set set;
    bool same = true, any = false;
    for (int i = 0; i < CHANNELS; i++) {
        const struct gf_matrix *const matrix = matrix_of(stage->params, i);
        fill_curve(&set.curve[i], matrix);
        if (gray && i != CURVES_ALL)
            set.curve[i].count = 0;
        same &= i == CURVES_ALL || !set.curve[i].count;
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
    GF_PARAMS(struct curves, curves_params),
    .kind = GF_POINT,
    .takes_floats = true,
    .check = check,
    .point = curves_point,
};

/* solarize: inverts the bright tones. */

struct solarize {
    double threshold;
};

static void solarize_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct solarize *const solarize = stage->params;
    gf_point_solarize(builder, solarize->threshold * gf_sample_max(stage->in));
}

const struct gf_filter gf_solarize_filter = {
    .name = "solarize",
    .names = "solarise",
    .synonyms = "sabattier",
    .summary = "bright tones turn into their negative",
    .definition = "M - v where the sample, rounded, is threshold M or more, else v; as Pillow's "
                  "ImageOps.solarize.",
    GF_TAKES(struct solarize,
             GF_PARAM(struct solarize, threshold, 0.5, 0, 1, "part of the full scale")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = solarize_point,
};

/* posterize: reduces the picture to few levels, with or without an ordered dither. */

/* An ordered dither's matrix of thresholds, which has 2^order rows and columns. */
struct bayer {
    int order;
};

/* Returns the part of a threshold's number that column x determines, in units of 1/4096. */
static double column(const void *context, int x)
{
    const struct bayer *const bayer = context;
    return (double)(x & ((1 << bayer->order) - 1)) / 4096;
}

static double row(const void *context, int y)
{
    const struct bayer *const bayer = context;
    return (double)((y & ((1 << bayer->order) - 1)) << bayer->order) / 4096;
}

/* Returns threshold number 4096 * sum, less a half, in -1/2..1/2. The matrix B of side 2n consists
 * of four copies of 4 B(n), to which 0, 2, 3 and 1 are added. */
static double threshold(const void *context, double sum)
{
    const struct bayer *const bayer = context;
    const int order = bayer->order, side = 1 << order;
    const int index = (int)(sum * 4096) % (side * side), x = index % side, y = index / side;
    int rank = 0;
    for (int bit = 0; bit < order; bit++) {
        const int right = x >> bit & 1, below = y >> bit & 1;
        rank = 4 * rank + 2 * (right ^ below) + below;
    }
    return (rank + 0.5) / (side * side) - 0.5;
}

static void posterize_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_posterize *const posterize = stage->params;
    const struct bayer bayer = {posterize->dither};
    const struct gf_point_field field = {column, row, threshold, &bayer};
    if (posterize->dither != GF_DITHER_NONE)
        gf_point_add(builder, &field, 1.0 / (posterize->levels - 1));
    gf_point_quantize(builder, posterize->levels);
}

const struct gf_filter gf_posterize_filter = {
    .name = "posterize",
    .names = "posterise",
    .synonyms = "dither ordered-dither quantize reduce elbg",
    .summary = "few levels, with or without dither",
    .definition =
        "round(v (levels - 1) / M) M / (levels - 1), a half up. With dither the threshold of a "
        "pixel is not 1/2 but\n"
        "(B + 1/2) / side^2, B of Bayer's matrix (B. E. Bayer, 1973): 0 2/3 1 of side 2, and 4 B + "
        "0 2/3 1 of twice the side.",
    .example = "posterize=3:bayer4",
    GF_TAKES(
        struct gf_posterize,
        GF_PARAM_INT(struct gf_posterize, levels, 4, 2, 256, "levels a channel, evenly spaced"),
        GF_PARAM_CHOICE(
            struct gf_posterize, dither, GF_DITHER_NONE,
            GF_WORDS("none", "bayer2", "bayer4", "bayer8"),
            "the side of the Bayer matrix by which pixels between two levels are shared "
            "out")),
    .kind = GF_POINT,
    .takes_floats = true,
    .by_place = true,
    .cost = {.pixel = 2.5},
    .point = posterize_point,
};
