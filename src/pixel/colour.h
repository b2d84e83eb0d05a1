/* sRGB, linear light and CIELAB (D65), shared by host and device.
 *
 * Linear RGB is held in 0..1. XYZ is held relative to the white point, so that white is (1, 1, 1),
 * grays have X = Y = Z, and the matrices' rows sum to 1. Primaries and white: IEC 61966-2-1, as
 * OpenCV and scikit-image have them. L* = 116 fy - 16, a* = 500 (fx - fy), b* = 200 (fy - fz), f of
 * CIE 15. */
#ifndef GF_PIXEL_COLOUR_H
#define GF_PIXEL_COLOUR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/host_device.h"

/* CIELAB's f is straight up to DARK = (6/29)^3. DARK_F is f(DARK); SLOPE and OFFSET are those of
 * the straight part. */
#define GF_LAB_DARK 0.008856452f
#define GF_LAB_DARK_F 0.20689655f
#define GF_LAB_SLOPE 7.7870370f
#define GF_LAB_INVERSE_SLOPE 0.12841855f
#define GF_LAB_OFFSET 0.13793103f

/* linear RGB -> XYZ / white */
#define GF_X_R 0.43395275f
#define GF_X_G 0.37621941f
#define GF_X_B 0.18982783f
#define GF_Y_R 0.212671f
#define GF_Y_G 0.715160f
#define GF_Y_B 0.072169f
#define GF_Z_R 0.017757914f
#define GF_Z_G 0.10947652f
#define GF_Z_B 0.87276557f
/* XYZ / white -> linear RGB */
#define GF_R_X 3.0799349f
#define GF_R_Y -1.5371515f
#define GF_R_Z -0.54278342f
#define GF_G_X -0.92123418f
#define GF_G_Y 1.8759900f
#define GF_G_Z 0.045244181f
#define GF_B_X 0.052889682f
#define GF_B_Y -0.20404134f
#define GF_B_Z 1.1511517f

/* The white of these primaries over the D65 that CIE tabulates for CIELAB, (0.95047, 1, 1.08883).
 */
#define GF_WHITE_X 0.99998527f
#define GF_WHITE_Z 0.99993020f

GF_HOST_DEVICE float gf_clamp(float v, float max)
{
    return v > 0.0f ? (v < max ? v : max) : 0.0f;
}

/* Cube root of x >= 0. The device's: cbrtf (Best Practices Guide 11.1.5), or powf, where a kernel
 * shows what that costs. The host's: a guess from the exponent (off by 3.2 % at most), then two
 * steps of Halley's iteration, which leave an error of 2 ulp; unlike the C library's it runs in
 * vectors.
 */
GF_HOST_DEVICE float gf_cbrt(float x)
{
#if defined(__CUDA_ARCH__) && defined(GF_ROOTS_BY_POWF)
    return powf(x, 1.0f / 3.0f);
#elif defined(__CUDA_ARCH__)
    return cbrtf(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits / 3 + 709954000u;
    float y;
    memcpy(&y, &bits, sizeof y);
    for (int i = 0; i < 2; i++) {
        const float cube = y * y * y;
        y = y + y * ((x - cube) / ((cube + cube) + x));
    }
    return y;
#endif
}

GF_HOST_DEVICE float gf_lab_f(float t)
{
    const float root = gf_cbrt(t);
    return t > GF_LAB_DARK ? root : GF_LAB_SLOPE * t + GF_LAB_OFFSET;
}

GF_HOST_DEVICE float gf_lab_inverse(float f)
{
    return f > GF_LAB_DARK_F ? f * f * f : (f - GF_LAB_OFFSET) * GF_LAB_INVERSE_SLOPE;
}

/* sRGB's transfer function, both ways, 0..1. x^(1/2.4) is c c^(1/4) with c the cube root. */
GF_HOST_DEVICE float gf_srgb_decode(float v)
{
    const float power = powf((v + 0.055f) / 1.055f, 2.4f);
    return v > 0.04045f ? power : v / 12.92f;
}

GF_HOST_DEVICE float gf_srgb_encode(float x)
{
#if defined(__CUDA_ARCH__) && defined(GF_ROOTS_BY_POWF)
    const float power = 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
#else
    const float root = gf_cbrt(x);
    const float power = 1.055f * (root * sqrtf(sqrtf(root))) - 0.055f;
#endif
    return x > 0.0031308f ? power : 12.92f * x;
}

/* sRGB and f in double precision, for tables. */
static inline double gf_srgb_decode_exact(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static inline double gf_srgb_encode_exact(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

static inline double gf_lab_f_exact(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : t * 841 / 108 + 4.0 / 29;
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
    return (GF_Y_R * p.r + GF_Y_G * p.g) + GF_Y_B * p.b;
}

/* Moves the colour by differences in X, Y, Z, and clamps it into the gamut. */
GF_HOST_DEVICE struct gf_rgb gf_rgb_move(struct gf_rgb p, float dx, float dy, float dz)
{
    const struct gf_rgb q = {
        gf_clamp(p.r + ((GF_R_X * dx + GF_R_Y * dy) + GF_R_Z * dz), 1.0f),
        gf_clamp(p.g + ((GF_G_X * dx + GF_G_Y * dy) + GF_G_Z * dz), 1.0f),
        gf_clamp(p.b + ((GF_B_X * dx + GF_B_Y * dy) + GF_B_Z * dz), 1.0f),
    };
    return q;
}

/* a* and b* times factor, L* kept. As scikit-image's rgb2lab and lab2rgb have it: relative to the
 * tabulated white, and fz is held at 0 or more. A factor of 0 gives a gray, whichever white. */
GF_HOST_DEVICE struct gf_rgb gf_saturate(struct gf_rgb p, float factor)
{
    const float x = (GF_X_R * p.r + GF_X_G * p.g) + GF_X_B * p.b;
    const float y = gf_luminance(p);
    const float z = (GF_Z_R * p.r + GF_Z_G * p.g) + GF_Z_B * p.b;
    const float fx = gf_lab_f(GF_WHITE_X * x), fy = gf_lab_f(y), fz = gf_lab_f(GF_WHITE_Z * z);
    const float new_fz = fy + factor * (fz - fy);
    const float new_x = gf_lab_inverse(fy + factor * (fx - fy)) * (1.0f / GF_WHITE_X);
    const float new_z = gf_lab_inverse(new_fz > 0.0f ? new_fz : 0.0f) * (1.0f / GF_WHITE_Z);
    const struct gf_rgb gray = {y, y, y};
    return factor == 0.0f ? gray : gf_rgb_move(p, new_x - x, 0.0f, new_z - z);
}

/* L* becomes 116 new_fy - 16, a* and b* kept. */
GF_HOST_DEVICE struct gf_rgb gf_relight(struct gf_rgb p, float new_fy)
{
    const float x = (GF_X_R * p.r + GF_X_G * p.g) + GF_X_B * p.b;
    const float y = gf_luminance(p);
    const float z = (GF_Z_R * p.r + GF_Z_G * p.g) + GF_Z_B * p.b;
    const float step = new_fy - gf_lab_f(y);
    const float new_fz = gf_lab_f(z) + step;
    const float new_x = gf_lab_inverse(gf_lab_f(x) + step);
    const float new_z = gf_lab_inverse(new_fz > 0.0f ? new_fz : 0.0f);
    return gf_rgb_move(p, new_x - x, gf_lab_inverse(new_fy) - y, new_z - z);
}

/* L* scaled to 0..M and rounded, from the luminance, by integer interpolation in a table: the same
 * on every machine, so that histograms agree bit for bit. One table for each depth
 * (gf_lightness_tables). */
enum { GF_LIGHTNESS_SEGMENTS = 4096 };

struct gf_lightness {
    uint32_t curve[GF_LIGHTNESS_SEGMENTS + 1]; /* L* M/100 in 1/4096 */
    float linear[];                            /* M + 1 samples' linear light */
};

GF_HOST_DEVICE int gf_lightness_bin(struct gf_rgb p, const uint32_t *curve)
{
    int y = (int)(gf_luminance(p) * 16777216.0f);
    y = y > 16777215 ? 16777215 : y;
    const uint32_t low = curve[y >> 12];
    const uint32_t span = curve[(y >> 12) + 1] - low;
    return (int)((low + (span * (uint32_t)(y & 4095) >> 12) + 2048) >> 12);
}

#endif
