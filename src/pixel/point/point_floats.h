/* The formulas of point programs on floats, for both backends: those of point_program.h with M = 1,
 * where nothing is limited to 0..1. Functions of light and powers are odd: that of -v is minus that
 * of v. Infinities and NaN go through them as they are. */
#pragma once

#include "base/host_device.h"
#include "pixel/point/point_program.h"

GF_C_BEGIN

/* Returns f(|v|) with the sign of v; v itself if it is NaN or infinite. */
GF_HOST_DEVICE float gf_float_mirrored(float v, float of_size)
{
    return fabsf(v) < INFINITY ? copysignf(of_size, v) : v;
}

GF_HOST_DEVICE float gf_float_power(float v, float exponent)
{
    return gf_float_mirrored(v, gf_pow(fabsf(v), exponent));
}

/* Convert a sample of sRGB to linear light and back. */
GF_HOST_DEVICE float gf_float_decode(float v)
{
    return gf_float_mirrored(v, gf_srgb_decode(fabsf(v)));
}

GF_HOST_DEVICE float gf_float_encode(float v)
{
    return gf_float_mirrored(v, gf_srgb_encode(fabsf(v)));
}

/* The operations on single samples, as kind(KIND, name, result): `op` is the operation, v the
 * sample, `own` the operation's number for its channel, and a the pixel's alpha. */
#define GF_FLOAT_SAMPLES(kind) \
    kind(LINEAR, linear, (v - op.a) * op.b + op.c) kind(POWER, power, gf_float_power(v, op.a)) \
        kind(STEP, step, \
             v != v      ? v \
             : v >= op.a ? 1.0f \
                         : 0.0f) kind(DECODE, decode, gf_float_decode(v)) \
            kind(ENCODE, encode, gf_float_encode(v)) kind(PREMULTIPLY, premultiply, v *a) \
                kind(UNPREMULTIPLY, unpremultiply, a != 0.0f ? v / a : 0.0f) \
                    kind(FLATTEN, flatten, v *a + own * (1.0f - a)) kind(GAIN, gain, v *own) \
                        kind(QUANTIZE, quantize, floorf(v *op.a + 0.5f) * op.b) \
                            kind(SOLARIZE, solarize, v >= op.a ? 1.0f - v : v)

/* Computes a CURVE; `points` are those of the channel. */
GF_HOST_DEVICE float gf_float_curve(const struct gf_point_op *op, const float *points, float v)
{
    const float on_curve = gf_point_curve_of(op, points, v);
    return v == v ? on_curve : v;
}

GF_HOST_DEVICE float gf_float_row(const struct gf_point_op *op, struct gf_rgb p)
{
    return fmaf(op->a, p.r, fmaf(op->b, p.g, fmaf(op->c, p.b, op->d)));
}

/* Computes a MATRIX and the two ROWs behind it. */
GF_HOST_DEVICE struct gf_rgb gf_float_matrix(const struct gf_point_op *op, struct gf_rgb p)
{
    const struct gf_rgb q = {gf_float_row(op, p), gf_float_row(op + 1, p), gf_float_row(op + 2, p)};
    return q;
}

GF_HOST_DEVICE struct gf_rgb gf_float_vibrance(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
    const float factor = gf_point_vibrance_factor(op, p);
    const struct gf_rgb q = {fmaf(p.r - y, factor, y), fmaf(p.g - y, factor, y),
                             fmaf(p.b - y, factor, y)};
    return q;
}

/* Looks up a colour, limited to the domain 0..1, in the nodes of a TABLE3D. A NaN makes all NaN. */
GF_HOST_DEVICE struct gf_rgb gf_float_table3d(const struct gf_point_op *op, const uint32_t *nodes,
                                              struct gf_rgb v)
{
    const struct gf_rgb at = {gf_clamp(v.r, 1), gf_clamp(v.g, 1), gf_clamp(v.b, 1)},
                        none = {NAN, NAN, NAN};
    return v.r != v.r || v.g != v.g || v.b != v.b ? none : gf_point_table3d_of(op, nodes, at);
}

/* Computes a sample of MIX, which mixes in a colour, of ADD, which adds one, or alpha by FADE.
 * Where the field is 0 or 1, v or the colour is kept as it is. */
GF_HOST_DEVICE float gf_float_blend(int kind, float v, float colour, float field)
{
    const float between = v + (colour - v) * field;
    const float mixed = field == 0.0f ? v : field == 1.0f ? colour : between;
    return kind == GF_POINT_MIX ? mixed : kind == GF_POINT_ADD ? v + colour * field : v * field;
}

GF_HOST_DEVICE float gf_float_noise(bool normal, float sigma, float v, uint32_t word)
{
    const float even = gf_noise_even(word);
    return fmaf(normal ? gf_noise_normal(even) : even, sigma, v);
}

GF_C_END
