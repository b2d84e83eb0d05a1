/* sRGB, linear light and CIELAB (D65), shared by host and device.
 *
 * Linear RGB is a number in 0..1. XYZ is relative to the white point, so that white is (1, 1, 1),
 * grays have X = Y = Z, and the rows of the matrices sum to 1. Primaries and white are those of IEC
 * 61966-2-1, as in OpenCV and scikit-image. L* = 116 fy - 16, a* = 500 (fx - fy), b* = 200 (fy -
 * fz), where fx is f(X) with the function f of CIE 15. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/elementary.h"
#include "base/host_device.h"

/* CIELAB's function f is a straight line, SLOPE t + OFFSET, up to t = DARK = (6/29)^3, and the cube
 * root above. DARK_F is f(DARK). */
#define GF_LAB_DARK 0.008856452f
#define GF_LAB_DARK_F 0.20689655f
#define GF_LAB_SLOPE 7.7870370f
#define GF_LAB_INVERSE_SLOPE 0.12841855f
#define GF_LAB_OFFSET 0.13793103f

/* The matrix from linear RGB to XYZ relative to the white point. */
#define GF_X_R 0.43395275f
#define GF_X_G 0.37621941f
#define GF_X_B 0.18982783f
#define GF_Y_R 0.212671f
#define GF_Y_G 0.715160f
#define GF_Y_B 0.072169f
#define GF_Z_R 0.017757914f
#define GF_Z_G 0.10947652f
#define GF_Z_B 0.87276557f
/* The matrix from XYZ relative to the white point to linear RGB. */
#define GF_R_X 3.0799349f
#define GF_R_Y -1.5371515f
#define GF_R_Z -0.54278342f
#define GF_G_X -0.92123418f
#define GF_G_Y 1.8759900f
#define GF_G_Z 0.045244181f
#define GF_B_X 0.052889682f
#define GF_B_Y -0.20404134f
#define GF_B_Z 1.1511517f

/* The white point of sRGB's primaries, relative to the white point D65 that CIE tabulates for
 * CIELAB, (0.95047, 1, 1.08883). */
#define GF_WHITE_X 0.99998527f
#define GF_WHITE_Z 0.99993020f

GF_HOST_DEVICE float gf_clamp(float v, float max)
{
    return gf_limited(v, 0.0f, max);
}

/* Returns the cube root of x. Two variants of the kernels put other functions here, to compare. */
GF_HOST_DEVICE float gf_colour_root(float x)
{
#if defined(__CUDA_ARCH__) && defined(GF_ROOTS_BY_POWF)
    return powf(x, 1.0f / 3.0f);
#elif defined(__CUDA_ARCH__) && defined(GF_ROOTS_BY_CBRTF)
    return cbrtf(x);
#else
    return gf_cbrt(x);
#endif
}

GF_HOST_DEVICE float gf_lab_f(float t)
{
    const float root = gf_colour_root(t);
    return gf_select(t, GF_LAB_DARK, root, fmaf(GF_LAB_SLOPE, t, GF_LAB_OFFSET));
}

GF_HOST_DEVICE float gf_lab_inverse(float f)
{
    const float line = fmaf(f, GF_LAB_INVERSE_SLOPE, -GF_LAB_OFFSET * GF_LAB_INVERSE_SLOPE);
    return gf_select(f, GF_LAB_DARK_F, f * f * f, line);
}

/* sRGB's transfer function and its inverse, both for numbers in 0..1. x^(1/2.4) is computed as c
 * c^(1/4), where c is the cube root of x. */
GF_HOST_DEVICE float gf_srgb_decode(float v)
{
    const float sum = v + 0.055f;
#ifdef __CUDA_ARCH__
    /* The rounded quotients of every finite float that counts, without a division's branches. */
    const float near = sum * (1.0f / 1.055f);
    const float base = fmaf(fmaf(-1.055f, near, sum), 1.0f / 1.055f, near);
    const float line = (float)((double)v * (1.0 / (double)12.92f));
#else
    const float base = sum / 1.055f, line = v / 12.92f;
#endif
    return gf_select(v, 0.04045f, gf_pow(base, 2.4f), line);
}

GF_HOST_DEVICE float gf_srgb_encode(float x)
{
#if defined(__CUDA_ARCH__) && defined(GF_ROOTS_BY_POWF)
    const float power = 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
#else
    const float root = gf_colour_root(x);
    const float power = fmaf(1.055f, root * gf_root(gf_root(root)), -0.055f);
#endif
    return gf_select(x, 0.0031308f, power, 12.92f * x);
}

/* sRGB's transfer function, and CIELAB's function f, in double precision, for tables. */
static inline double gf_srgb_decode_exact(double v)
{
    return v <= 0.04045 ? v / 12.92 : gf_pow_double((v + 0.055) / 1.055, 2.4);
}

static inline double gf_srgb_encode_exact(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * gf_pow_double(x, 1 / 2.4) - 0.055;
}

static inline double gf_lab_f_exact(double t)
{
    return t > 216.0 / 24389 ? gf_pow_double(t, 1.0 / 3) : t * 841 / 108 + 4.0 / 29;
}

static inline double gf_lab_inverse_exact(double f)
{
    return f > 6.0 / 29 ? f * f * f : (f - 4.0 / 29) * 108 / 841;
}

struct gf_rgb {
    float r, g, b;
};

GF_HOST_DEVICE float gf_luminance(struct gf_rgb p)
{
    return fmaf(GF_Y_R, p.r, fmaf(GF_Y_G, p.g, GF_Y_B * p.b));
}

/* Multiplies a* and b* by the factor and keeps L*. The result is that of scikit-image's rgb2lab and
 * lab2rgb: relative to the tabulated white point, with fz at least 0. With a factor of 0 it is
 * gray, and does not depend on the white point. If `limits` is set, it is limited to 0..1. */
GF_HOST_DEVICE struct gf_rgb gf_saturate_to(struct gf_rgb p, float factor, int limits)
{
    const float x =
        fmaf(GF_WHITE_X * GF_X_R, p.r, fmaf(GF_WHITE_X * GF_X_G, p.g, GF_WHITE_X * GF_X_B * p.b));
    const float y = gf_luminance(p);
    const float z =
        fmaf(GF_WHITE_Z * GF_Z_R, p.r, fmaf(GF_WHITE_Z * GF_Z_G, p.g, GF_WHITE_Z * GF_Z_B * p.b));
    const float fy = gf_lab_f(y);
    const float kept = fmaf(-factor, fy, fy);
    const float new_fx = fmaf(factor, gf_lab_f(x), kept);
    const float new_fz = fmaf(factor, gf_lab_f(z), kept);
    const float dx = gf_lab_inverse(new_fx) - x;
    const float dz = gf_lab_inverse(new_fz > 0.0f ? new_fz : 0.0f) - z;
    const float r = fmaf(GF_R_X / GF_WHITE_X, dx, fmaf(GF_R_Z / GF_WHITE_Z, dz, p.r));
    const float g = fmaf(GF_G_X / GF_WHITE_X, dx, fmaf(GF_G_Z / GF_WHITE_Z, dz, p.g));
    const float b = fmaf(GF_B_X / GF_WHITE_X, dx, fmaf(GF_B_Z / GF_WHITE_Z, dz, p.b));
    const struct gf_rgb q = {limits ? gf_clamp(r, 1.0f) : r, limits ? gf_clamp(g, 1.0f) : g,
                             limits ? gf_clamp(b, 1.0f) : b};
    const struct gf_rgb result = {gf_select(factor, 0.0f, q.r, y), gf_select(factor, 0.0f, q.g, y),
                                  gf_select(factor, 0.0f, q.b, y)};
    return result;
}

GF_HOST_DEVICE struct gf_rgb gf_saturate(struct gf_rgb p, float factor)
{
    return gf_saturate_to(p, factor, 1);
}

/* Replaces L* by 116 new_fy - 16, and keeps a* and b*. */
GF_HOST_DEVICE struct gf_rgb gf_relight(struct gf_rgb p, float new_fy)
{
    const float x = fmaf(GF_X_R, p.r, fmaf(GF_X_G, p.g, GF_X_B * p.b));
    const float y = gf_luminance(p);
    const float z = fmaf(GF_Z_R, p.r, fmaf(GF_Z_G, p.g, GF_Z_B * p.b));
    const float step = new_fy - gf_lab_f(y), new_fz = gf_lab_f(z) + step;
    const float dx = gf_lab_inverse(gf_lab_f(x) + step) - x;
    const float dy = gf_lab_inverse(new_fy) - y;
    const float dz = gf_lab_inverse(new_fz > 0.0f ? new_fz : 0.0f) - z;
    const struct gf_rgb q = {
        gf_clamp(fmaf(GF_R_X, dx, fmaf(GF_R_Y, dy, fmaf(GF_R_Z, dz, p.r))), 1.0f),
        gf_clamp(fmaf(GF_G_X, dx, fmaf(GF_G_Y, dy, fmaf(GF_G_Z, dz, p.g))), 1.0f),
        gf_clamp(fmaf(GF_B_X, dx, fmaf(GF_B_Y, dy, fmaf(GF_B_Z, dz, p.b))), 1.0f),
    };
    return q;
}

/* A table of CIELAB's L*, scaled to 0..M and rounded, where M is the largest sample. L* is
 * interpolated in integers from the luminance, so that histograms are equal on every machine.
 * gf_lightness_tables() makes the table for a depth. */
enum { GF_LIGHTNESS_PIECES = 4096 };

struct gf_lightness {
    uint32_t curve[GF_LIGHTNESS_PIECES + 1]; /* L* M/100, in units of 1/4096 */
    uint32_t step[GF_LIGHTNESS_PIECES]; /* for gf_lightness_bin_8(): one number for each piece */
    float linear[];                     /* linear light of each of the M + 1 samples */
};

/* Returns the luminance as an integer below 2^24, in units of 1/2^24. */
GF_HOST_DEVICE int gf_lightness_position(struct gf_rgb p)
{
    const int y = (int)(gf_luminance(p) * 16777216.0f);
    return y > 16777215 ? 16777215 : y;
}

GF_HOST_DEVICE int gf_lightness_interpolated(int y, const uint32_t *curve)
{
    const uint32_t low = curve[y >> 12], span = curve[(y >> 12) + 1] - low;
    return (int)((low + (span * (uint32_t)(y & 4095) >> 12) + 2048) >> 12);
}

GF_HOST_DEVICE int gf_lightness_bin(struct gf_rgb p, const uint32_t *curve)
{
    return gf_lightness_interpolated(gf_lightness_position(p), curve);
}

/* Returns what gf_lightness_bin() does for 8-bit samples, by one look-up: within a piece of the
 * table the bin changes at most once. */
GF_HOST_DEVICE int gf_lightness_bin_8(struct gf_rgb p, const uint32_t *step)
{
    const int y = gf_lightness_position(p);
    return (int)((step[y >> 12] + (uint32_t)y) >> 13);
}
