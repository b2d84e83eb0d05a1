/* The arithmetic of SSIMULACRA2 that the CPU and CUDA devices share, so that a score has the same
 * bits from both: additions, multiplications, divisions and fused multiply-adds in a fixed order.
 * ssimulacra2.c tells what it is for. */
#pragma once

#include <stdbool.h>

#include "base/elementary.h"
#include "base/host_device.h"

enum {
    GF_S2_SCALES = 6,
    GF_S2_CHANNELS = 3,
    GF_S2_PLANES = 2 * GF_S2_CHANNELS, /* three of the original, then of the changed picture */
    GF_S2_QUANTITIES = 5, /* what is blurred of a channel: both pictures a and b, a^2, b^2, a b */
    GF_S2_SUMS = 6,       /* of each of the three maps its values, then their fourth powers */
    /* The values of the maps are added as doubles in this order: in each TILE columns of a row
     * those that are LANES apart, then the lanes, then the rows, then the tiles. */
    GF_S2_TILE = 256,
    GF_S2_LANES = 8,
    GF_S2_REACH = 5, /* the recursions' N */
    GF_S2_TERMS = 3  /* the recursions */
};

/* The factors of four steps of a recursion at once: step j adds input i times in[j - i], and the
 * last two results times last[j] and before[j]. */
struct gf_s2_four {
    float in[4], last[4], before[4];
};

/* Those of all recursions. A single step takes in[0] and last[0]. */
struct gf_s2_blur {
    struct gf_s2_four term[GF_S2_TERMS];
};

/* Always inlined: what a clone for newer processors calls would be code for old ones. */
#define GF_S2_FORMULA GF_HOST_DEVICE __attribute__((always_inline))

/* ---- a pixel ---- */

/* Returns a sample, 0..1, that is blended on gray. */
GF_S2_FORMULA float gf_s2_blend(float v, float alpha, float gray)
{
    return alpha * v + (1.0f - alpha) * gray;
}

/* Converts sRGB, 0..1, to linear light. The tool's quotient of two polynomials, whose error is
 * 5e-7, is a part of the definition, since the blur enlarges the last bits. */
GF_S2_FORMULA float gf_s2_linear(float v)
{
    float p = fmaf(8.210152774e-01f, v, 7.961564959e-01f);
    p = fmaf(fmaf(fmaf(p, v, 1.624820318e-01f), v, 1.043637593e-02f), v, 2.200248328e-04f);
    float q = fmaf(6.521209011e-03f, v, -5.512498495e-02f);
    q = fmaf(fmaf(fmaf(q, v, 4.987528350e-01f), v, 1.076976492e+00f), v, 2.631846970e-01f);
    return gf_select(v, 0.04045f, p / q, v * (1.0f / 12.92f));
}

/* Returns a sample of the next scale: the mean of two pixels and of the two below. */
GF_S2_FORMULA float gf_s2_mean(float a, float b, float c, float d)
{
    return 0.25f * (((a + b) + c) + d);
}

/* A step of Newton's method for x^(-1/3); x_third is x / 3. */
GF_S2_FORMULA float gf_s2_newton(float x_third, float y)
{
    const float square = y * y;
    return fmaf(-x_third, square * square, 4.0f / 3.0f * y);
}

/* XYB: to the absorbance of each cone a constant is added, before the root is taken. */
#define GF_S2_BIAS 0.0037930732552754493f
#define GF_S2_BIAS_ROOT 0.15595420054924863f

/* Returns the cube root of the absorbance of a cone with these shares, less that of the constant,
 * by Newton's method, as the tool does. */
GF_S2_FORMULA float gf_s2_cone(const float rgb[3], float of_r, float of_g, float of_b)
{
    const float third = 1.0f / 3.0f;
    const float x = fmaf(of_r, rgb[0], fmaf(of_g, rgb[1], fmaf(of_b, rgb[2], GF_S2_BIAS)));
    const uint32_t exponent = gf_bits_of_float(x) >> 23;
    const float x_third = third * x;
    float y = gf_float_of_bits(0x54800000u - exponent * 0x2aaaaau);
    y = gf_s2_newton(x_third, y);
    y = gf_s2_newton(x_third, y);
    y = gf_s2_newton(x_third, y);
    const float square = y * y;
    y = fmaf(third, fmaf(-x, square * square, y), y);
    return fmaf(y * y, x, -GF_S2_BIAS_ROOT);
}

/* Converts linear light to XYB, with X and B moved to about 0..1. */
GF_S2_FORMULA void gf_s2_xyb(const float rgb[3], float xyb[3])
{
    const float l = gf_s2_cone(rgb, 0.3f, 1.0f - 0.078f - 0.3f, 0.078f);
    const float m = gf_s2_cone(rgb, 0.23f, 1.0f - 0.078f - 0.23f, 0.078f);
    const float s = gf_s2_cone(rgb, 0.243422689f, 0.204767444f, 1.0f - 0.243422689f - 0.204767444f);
    const float mean = 0.5f * (l + m);
    xyb[0] = (l - m) * 7.0f + 0.42f;
    xyb[1] = mean + 0.01f;
    xyb[2] = (s - mean) + 0.55f;
}

/* ---- the blur: y from the last result, the one before, and sums of two inputs ---- */

/* A step across. */
GF_S2_FORMULA float gf_s2_step(const struct gf_s2_four *four, float sum, float last, float before)
{
    return fmaf(four->last[0], last, fmaf(-1.0f, before, sum * four->in[0]));
}

/* Four steps across at once. */
GF_S2_FORMULA void gf_s2_four_steps(const struct gf_s2_four *four, const float sum[4], float last,
                                    float before, float y[4])
{
    const float *const in = four->in;
    y[0] = sum[0] * in[0];
    y[1] = fmaf(in[0], sum[1], sum[0] * in[1]);
    y[2] = fmaf(in[0], sum[2], fmaf(in[1], sum[1], sum[0] * in[2]));
    y[3] = fmaf(in[0], sum[3], fmaf(in[1], sum[2], fmaf(in[2], sum[1], sum[0] * in[3])));
    y[0] = fmaf(four->last[0], last, fmaf(four->before[0], before, y[0]));
    y[1] = fmaf(four->last[1], last, fmaf(four->before[1], before, y[1]));
    y[2] = fmaf(four->last[2], last, fmaf(four->before[2], before, y[2]));
    y[3] = fmaf(four->last[3], last, fmaf(four->before[3], before, y[3]));
}

/* Whether four steps are taken at once from column n, a multiple of 4, on: as in the tool, where
 * all that they read is in the row. */
GF_S2_FORMULA bool gf_s2_takes_four(int n, int width)
{
    return n >= (GF_S2_REACH + 1 + 3) / 4 * 4 && n < width - GF_S2_REACH - 2;
}

/* A step down. */
GF_S2_FORMULA float gf_s2_step_down(const struct gf_s2_four *four, float sum, float last,
                                    float before)
{
    return fmaf(four->in[0], sum, fmaf(four->last[0], last, -before));
}

/* Returns what is blurred, of the three recursions' results. */
GF_S2_FORMULA float gf_s2_blurred(float y0, float y1, float y2)
{
    return y0 + (y1 + y2);
}

/* ---- the maps ---- */

/* Computes a pixel of a channel's maps from its blurred quantities and from the samples. *detail is
 * positive where b has more of it than a. */
GF_S2_FORMULA void gf_s2_maps(float mean_a, float mean_b, float square_a, float square_b,
                              float product, float a, float b, float *structure, float *detail)
{
    const float apart = mean_a - mean_b;
    const float covariance = product - mean_a * mean_b;
    const float variances = (square_a - mean_a * mean_a) + (square_b - mean_b * mean_b);
    const float like =
        (1.0f - apart * apart) * (2.0f * covariance + 0.0009f) / (variances + 0.0009f);
    const float edge_a = fabsf(a - mean_a), edge_b = fabsf(b - mean_b);
    *structure = like < 1.0f ? 1.0f - like : 0.0f;
    *detail = (edge_b - edge_a) / (1.0f + edge_a);
}

/* Adds a pixel of the maps to the sums of its lane: doubles, or vectors of them, of lanes. `more`
 * is the detail where it is positive, otherwise 0, and `less` is `more` minus the detail. */
#define GF_S2_ADD(sums, structure, more, less) \
    do { \
        (sums)[0] += (structure); \
        (sums)[1] += (more); \
        (sums)[2] += (less); \
        (sums)[3] += ((structure) * (structure)) * ((structure) * (structure)); \
        (sums)[4] += ((more) * (more)) * ((more) * (more)); \
        (sums)[5] += ((less) * (less)) * ((less) * (less)); \
    } while (0)

/* ---- the score, on the host ---- */

GF_C_BEGIN

struct gf_s2_blur gf_s2_blur_make(void);

/* Whether the scale is the last one of a picture; `number` counts from 0. */
bool gf_s2_is_last(int number, int width, int height);

/* Makes the norms of a scale, the maps' means and then their 4-norms, of its tiles' sums. */
void gf_s2_norms(const double (*sums)[GF_S2_CHANNELS][GF_S2_SUMS], int width, int height,
                 double norms[GF_S2_CHANNELS][GF_S2_SUMS]);
double gf_s2_score(double norms[GF_S2_SCALES][GF_S2_CHANNELS][GF_S2_SUMS], int scales);

GF_C_END
