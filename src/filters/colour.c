/* Point filters of colours: grayscale, saturation, vibrance, hue, temperature, whitebalance,
 * colormatrix, duotone. */
#include "pixel/colour.h"
#include "pixel/point/point.h"

/* grayscale: makes one channel of luma. */

struct grayscale {
    int weights;
};

enum { BT601, BT709, RED, GREEN, BLUE, ALPHA };

static enum gf_status grayscale_shape(const void *params, struct gf_format in,
                                      struct gf_format *out, struct gf_error *error)
{
    const struct grayscale *const grayscale = params;
    out->channels = gf_has_alpha(in) && grayscale->weights != ALPHA ? 2 : 1;
    return GF_OK;
}

static void grayscale_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct grayscale *const grayscale = stage->params;
    const int taken = grayscale->weights;
    if (taken == ALPHA) { /* white with the picture's alpha, laid on black */
        gf_point_linear(builder, 0, 0, gf_sample_max(stage->in));
        gf_point_luma(builder);
        gf_point_flatten(builder, (const double[3]){0});
    } else if (taken >= RED) {
        gf_point_gray(builder, (const int[3]){taken == RED, taken == GREEN, taken == BLUE}, 1);
    } else if (taken == BT601) {
        gf_point_luma(builder);
    } else {
        gf_point_gray(builder, (const int[3]){13933, 46871, 4732}, 65536);
    }
}

const struct gf_filter gf_grayscale_filter = {
    .name = "grayscale",
    .names = "greyscale gray grey desaturate",
    .synonyms = "mono monochrome colorspace bw",
    .summary = "luma, in one channel",
    .definition =
        "bt601: (77 R + 150 G + 29 B) / 256 in 8 bits, (19595 R + 38470 G + 7471 B) / "
        "65536 in 16. bt709: (13933 R + 46871 G + 4732 B) / 65536. red, green, "
        "blue: that channel. Alpha is kept. Gray pictures stay as they are. alpha: alpha, "
        "or white where there is none, and without alpha.",
    GF_TAKES(struct grayscale,
             GF_PARAM_CHOICE(struct grayscale, weights, BT601,
                             GF_WORDS("bt601", "bt709", "red", "green", "blue", "alpha"),
                             "luma weights; or the channel that is taken")),
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = grayscale_shape,
    .point = grayscale_point,
};

/* saturation: makes colours paler or more intense at the same lightness. */

struct saturation {
    double factor;
};

static void saturation_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct saturation *const saturation = stage->params;
    gf_point_saturate(builder, saturation->factor);
}

const struct gf_filter gf_saturation_filter = {
    .name = "saturation",
    .names = "saturate",
    .summary = "more or less colour",
    .definition = "sRGB to CIELAB (D65), a* and b* times factor, back to sRGB, clamped. Gray "
                  "pictures stay as\n"
                  "they are.",
    .example = "saturation=2",
    GF_TAKES(struct saturation,
             GF_PARAM(struct saturation, factor, 1, 0, 10, "0 is gray, above 1 more colourful")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 8.5},
    .point = saturation_point,
};

/* vibrance: intensifies pale colours. */

struct vibrance {
    double amount;
};

static void vibrance_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_vibrance(builder, ((const struct vibrance *)stage->params)->amount);
}

const struct gf_filter gf_vibrance_filter = {
    .name = "vibrance",
    .summary = "more colour where there is little",
    .definition =
        "Y + (v - Y) (1 + amount (1 - s)), clamped, for R, G and B: Y is the luma of bt709, s the "
        "largest of R, G, B less\n"
        "the smallest, over M. For amounts above 0 it is FFmpeg's vibrance. Gray pictures stay as "
        "they are.",
    .example = "vibrance=1.5",
    GF_TAKES(struct vibrance,
             GF_PARAM(struct vibrance, amount, 0, -1, 2, "above 0 more colour, below 0 less")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1},
    .point = vibrance_point,
};

/* hue: rotates hues. */

struct hue {
    double angle;
};

static void hue_point(const struct gf_stage *stage, struct gf_point_builder *builder)
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
    GF_TAKES(struct hue,
             GF_PARAM(struct hue, angle, 0, -360, 360, "degrees: 120 turns red to green")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1},
    .point = hue_point,
};

/* temperature: makes the light warmer or cooler. */

struct temperature {
    double kelvin, tint;
};

/* Computes the chromaticity x, y (CIE 1931) of a black body. */
static void planckian(double kelvin, double *x, double *y)
{
    const double t = 1000 / kelvin;
    const double a = kelvin <= 4000 ? ((-0.2661239 * t - 0.2343589) * t + 0.8776956) * t + 0.179910
                                    : ((-3.0258469 * t + 2.1070379) * t + 0.2226347) * t + 0.240390;
    *x = a;
    *y = kelvin <= 2222   ? ((-1.1063814 * a - 1.34811020) * a + 2.18555832) * a - 0.20219683
         : kelvin <= 4000 ? ((-0.9549476 * a - 1.37418593) * a + 2.09137015) * a - 0.16748867
                          : ((3.0817580 * a - 5.87338670) * a + 3.75112997) * a - 0.37001483;
}

/* Computes the chromaticity u, v (CIE 1960) of a black body. */
static void planckian_uv(double kelvin, double *u, double *v)
{
    double x, y;
    planckian(kelvin, &x, &y);
    *u = 4 * x / (12 * y - 2 * x + 3);
    *v = 6 * y / (12 * y - 2 * x + 3);
}

/* Computes the colour of the light in linear sRGB, with luminance 1. In u, v the colour is tint /
 * 20 away from the curve of black bodies, at a right angle to the curve. */
static void light(double kelvin, double tint, double rgb[3])
{
    double u, v, u1, v1;
    planckian_uv(kelvin, &u, &v);
    planckian_uv(kelvin * 1.001, &u1, &v1);
    const double du = u1 - u, dv = v1 - v, length = sqrt(du * du + dv * dv);
    u -= tint / 20 * (dv / length);
    v += tint / 20 * (du / length);
    const double x = 3 * u / (2 * u - 8 * v + 4), y = 2 * v / (2 * u - 8 * v + 4);
    const double X = x / y, Z = (1 - x - y) / y;
    rgb[0] = fmax(3.2406 * X - 1.5372 - 0.4986 * Z, 0);
    rgb[1] = fmax(-0.9689 * X + 1.8758 + 0.0415 * Z, 0);
    rgb[2] = fmax(0.0557 * X - 0.2040 + 1.0570 * Z, 0);
}

static void temperature_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    static const double luminance[3] = {0.2126, 0.7152, 0.0722};
    const struct temperature *const temperature = stage->params;
    double to[3], from[3], gain[3], sum = 0;
    if (gf_colour_channels(stage->in) == 1)
        return;
    light(temperature->kelvin, temperature->tint, to);
    light(6500, 0, from);
    for (int c = 0; c < 3; c++) {
        gain[c] = to[c] / from[c];
        sum += luminance[c] * gain[c];
    }
    for (int c = 0; c < 3; c++)
        gain[c] /= sum;
    gf_point_light_gain(builder, gain);
}

const struct gf_filter gf_temperature_filter = {
    .name = "temperature",
    .synonyms = "colortemperature warm cool kelvin tint",
    .summary = "warmer or cooler light",
    .definition =
        "Linear light of R, G, B times the ratio of the light asked for to that of 6500 K, scaled "
        "so that grays keep their\n"
        "luminance. The light is a black body's (Kim et al., US patent 7024034), moved by tint / "
        "20 across the locus in CIE\n"
        "1960 u, v, in linear sRGB. Gray pictures stay as they are.",
    .example = "temperature=3200",
    GF_TAKES(struct temperature,
             GF_PARAM(struct temperature, kelvin, 6500, 1667, 25000,
                      "colour temperature of the light: below 6500 warmer, above 6500 cooler"),
             GF_PARAM(struct temperature, tint, 0, -1, 1,
                      "above 0 towards magenta, below 0 towards green")),
    .kind = GF_POINT,
    .takes_floats = true,
    .point = temperature_point,
};

/* whitebalance: removes the colour of the light. */

struct whitebalance {
    int mode;
    double clip;
    int smooth;
};

enum { GRAY_WORLD, WHITE_PATCH };

static enum gf_statistic statistic(const void *params)
{
    return GF_STATISTIC_CHANNELS;
}

/* Returns the mean of a channel in linear light, 0..1. */
static double mean(const uint64_t *count, int bins)
{
    double sum = 0, total = 0;
    for (int v = 0; v < bins; v++) {
        if (count[v])
            sum += (double)count[v] * gf_srgb_decode_exact((double)v / (bins - 1));
        total += (double)count[v];
    }
    return total > 0 ? sum / total : 0;
}

/* Returns the highest level, in linear light, with more than `clip` per cent of the pixels at or
 * above it. */
static double brightest(const uint64_t *count, int bins, double clip)
{
    double total = 0, above = 0;
    for (int v = 0; v < bins; v++)
        total += (double)count[v];
    int high = bins - 1;
    for (; high > 0; high--) {
        above += (double)count[high];
        if (above > total * clip / 100)
            break;
    }
    return gf_srgb_decode_exact((double)high / (bins - 1));
}

static void whitebalance_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct whitebalance *const balance = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    double light[3], gain[3];
    if (histogram->channels != 3)
        return;
    for (int c = 0; c < 3; c++) {
        const uint64_t *const count = histogram->count + c * histogram->bins;
        light[c] = balance->mode == GRAY_WORLD ? mean(count, histogram->bins)
                                               : brightest(count, histogram->bins, balance->clip);
    }
    const double to = balance->mode == GRAY_WORLD
                          ? 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
                          : fmax(fmax(light[0], light[1]), light[2]);
    for (int c = 0; c < 3; c++)
        gain[c] = light[c] > 0 ? to / light[c] : 1;
    gf_point_light_gain(builder, gain);
}

const struct gf_filter gf_whitebalance_filter = {
    .name = "whitebalance",
    .names = "grayworld greyworld",
    .synonyms = "awb autowb white-balance",
    .summary = "takes out a colour cast",
    .definition = "Linear light of each channel times target / light of the channel, clamped. gray "
                  "(gray world, Buchsbaum 1980): the light of a channel is its mean, and the "
                  "target is the luminance of the means. white (white patch, Land 1977): the light "
                  "of a channel is that of the highest level with more than clip % of the pixels "
                  "at or above it, and the target is the largest of the three. Pixels of zero "
                  "alpha are not counted. Gray pictures stay as they are.",
    GF_TAKES(
        struct whitebalance,
        GF_PARAM_CHOICE(struct whitebalance, mode, GRAY_WORLD, GF_WORDS("gray", "white"),
                        "gray: the mean colour becomes gray; white: the brightest levels of the "
                        "channels become equal"),
        GF_PARAM(struct whitebalance, clip, 1, 0, 49.9,
                 "with white: per cent of the pixels that may be brighter"),
        GF_PARAM_SMOOTH(struct whitebalance)),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 2.2},
    .statistic = statistic,
    .point = whitebalance_point,
};

/* colormatrix: makes each channel a weighted sum of all three. */

struct colormatrix {
    struct gf_matrix matrix;
    double amount;
};

/* The names of matrices. "sepia" is the matrix of the CSS filter function. The other names list
 * which channel of the picture becomes red, green and blue. */
static const char *const matrices[] = {
    "0.393 0.769 0.189/0.349 0.686 0.168/0.272 0.534 0.131",
    "0 0 1/0 1 0/1 0 0",
    "1 0 0/0 0 1/0 1 0",
    "0 1 0/1 0 0/0 0 1",
    "0 1 0/0 0 1/1 0 0",
    "0 0 1/1 0 0/0 1 0",
};

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct gf_matrix *const matrix = &((const struct colormatrix *)params)->matrix;
    if (matrix->height == 3 && (matrix->width == 3 || matrix->width == 4))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE,
                   "matrix has %d rows of %d; three rows of three or four are needed",
                   matrix->height, matrix->width);
}

static void colormatrix_fill(const struct colormatrix *from, double matrix[3][4])
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

static enum gf_status colormatrix_shape(const void *params, struct gf_format in,
                                        struct gf_format *out, struct gf_error *error)
{
    double matrix[3][4];
    colormatrix_fill(params, matrix);
    gf_point_matrix_shape(matrix, out);
    return GF_OK;
}

static void colormatrix_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    double matrix[3][4];
    colormatrix_fill(stage->params, matrix);
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
    GF_TAKES(
        struct colormatrix,
        GF_PARAM_MATRIX_OF(struct colormatrix, matrix, true, -100, 100,
                           GF_WORDS("sepia", "bgr", "rbg", "grb", "gbr", "brg"), matrices,
                           "three rows, for red, green and blue: the weights of red, green and "
                           "blue, and, if there are four columns, what is added, as a part of "
                           "the full scale"),
        GF_PARAM(struct colormatrix, amount, 1, 0, 1, "0 is the picture as it is, 1 the matrix")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1},
    .check = check,
    .shape = colormatrix_shape,
    .point = colormatrix_point,
};

/* duotone: replaces black and white by two colours. */

struct duotone {
    struct gf_colour dark, light;
};

static void duotone_fill(const struct duotone *duotone, struct gf_format format,
                         double matrix[3][4])
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

static enum gf_status duotone_shape(const void *params, struct gf_format in, struct gf_format *out,
                                    struct gf_error *error)
{
    double matrix[3][4];
    duotone_fill(params, in, matrix);
    gf_point_matrix_shape(matrix, out);
    return GF_OK;
}

static void duotone_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    double matrix[3][4];
    duotone_fill(stage->params, stage->in, matrix);
    gf_point_matrix(builder, matrix);
}

const struct gf_filter gf_duotone_filter = {
    .name = "duotone",
    .synonyms = "tint colorize gradientmap",
    .summary = "two colours for black and white",
    .definition = "dark + (light - dark) Y / M, Y the luma of bt601, as grayscale has it. "
                  "A gray picture becomes "
                  "colour unless both are gray.",
    GF_TAKES(struct duotone,
             GF_PARAM_COLOUR(struct duotone, dark, 0x1b2a63, NULL, "the colour of black"),
             GF_PARAM_COLOUR(struct duotone, light, 0xffe7b3, NULL, "the colour of white")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1},
    .shape = duotone_shape,
    .point = duotone_point,
};
