/* temperature: makes the light warmer or cooler. */
#include "pixel/point/point.h"

struct temperature {
    double kelvin, tint;
};

static const struct gf_param params[] = {
    GF_PARAM(struct temperature, kelvin, 6500, 1667, 25000,
             "colour temperature of the light: below 6500 warmer, above 6500 cooler"),
    GF_PARAM(struct temperature, tint, 0, -1, 1, "above 0 towards magenta, below 0 towards green"),
    {0},
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

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
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
    GF_PARAMS(struct temperature, params),
    .kind = GF_POINT,
    .point = point,
};
