/* The program of a run of point filters, for both backends: a table for what the first of them do
 * to a sample, then operations on unrounded floats, then one rounding. */
#ifndef GF_PIXEL_POINT_PROGRAM_H
#define GF_PIXEL_POINT_PROGRAM_H

#include "pixel/colour.h"
#include "pixel/point.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_point_kind {
    GF_POINT_LINEAR,        /* (v - a) b + c */
    GF_POINT_POWER,         /* M (v / M)^a */
    GF_POINT_STEP,          /* round(v) >= a ? M : 0 */
    GF_POINT_GRAY,          /* one channel: (R a + G b + B c) / d, d a power of two */
    GF_POINT_DECODE,        /* sRGB samples to linear light, 0..1 */
    GF_POINT_SATURATE,      /* linear light: CIELAB a* and b* times a */
    GF_POINT_RELIGHT,       /* linear light: CIELAB L* through the level table */
    GF_POINT_ENCODE,        /* linear light to sRGB samples */
    GF_POINT_ENCODE_8,      /* the same, rounded to 8 bits, through a table */
    GF_POINT_PREMULTIPLY,   /* to 16 bits: v a times alpha / b; a: 65535 / b; b: the straight
                               picture's M */
    GF_POINT_UNPREMULTIPLY, /* from 16 bits; a: 65535 / M */
    GF_POINT_LIMIT,         /* the lesser of colour and alpha */
    GF_POINT_FLATTEN,       /* on a, b, c, which show as far as alpha does not cover them; no alpha
                               is left */
    /* By the pixel's position; d: the number of the field. */
    GF_POINT_MIX, /* v + (a, b or c - v) times the field */
    GF_POINT_ADD  /* v + a times the field */
};

/* max is the M of the operation's result. */
struct gf_point_op {
    int kind;
    float max;
    float a, b, c, d;
};

enum {
    GF_POINT_OPS_MAX = 3 * GF_POINT_RUN_MAX,
    /* The table of ENCODE_8: sRGB rounded to 8 bits for linear light i / ENCODE_STEPS. Fine enough
     * to be within 0.1 of a step before rounding, even where sRGB is steepest. */
    GF_POINT_ENCODE_STEPS = 16383,
    /* The curve of a field: its values at 0, 1 / CURVE_STEPS, .. 1, and one that is read, but does
     * not count. */
    GF_POINT_CURVE_STEPS = 4096,
    GF_POINT_CURVE_ROOM = GF_POINT_CURVE_STEPS + 4,
    /* The columns of a field are filled up to a multiple of it: both backends compute pixels beyond
     * the end of a row that they then do not store. */
    GF_POINT_FIELD_STEP = 512
};

enum gf_point_table {
    GF_POINT_NO_TABLE,
    GF_POINT_SAMPLES, /* holds the results: there are no operations */
    GF_POINT_FLOATS   /* holds what the operations start from */
};

/* stage->constants of gf_point. Tables follow at byte offsets from its start, each a multiple
 * of 16. */
struct gf_point_program {
    int table;  /* enum gf_point_table */
    int tables; /* 1 for all colour channels, or one each */
    int count;  /* of op */
    /* [tables][M + 1] floats or 16-bit samples, or [4][256] 8-bit samples, alpha's among them. */
    unsigned table_at;
    unsigned curve_at;  /* RELIGHT: gf_lightness.curve */
    unsigned step_at;   /* RELIGHT: gf_lightness.step */
    unsigned level_at;  /* RELIGHT: float [M + 1], the new fy */
    unsigned encode_at; /* ENCODE_8: bytes [ENCODE_STEPS + 1] */
    int fields;
    unsigned field_at, field_bytes; /* floats: a curve, the picture's columns, its rows */
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

static inline const void *gf_point_block(const struct gf_point_program *program, unsigned offset)
{
    return (const char *)program + offset;
}

static inline size_t gf_point_field_columns(int width)
{
    return ((size_t)width + GF_POINT_FIELD_STEP - 1) / GF_POINT_FIELD_STEP * GF_POINT_FIELD_STEP;
}

static inline size_t gf_point_field_floats(struct gf_format format)
{
    return (GF_POINT_CURVE_ROOM + gf_point_field_columns(format.width) + (size_t)format.height +
            3) /
           4 * 4;
}

/* gf_point's entry on the CPU (point_cpu.c). */
void gf_point_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch);

/* Evaluation, shared by both backends. */

GF_HOST_DEVICE float gf_point_linear_of(const struct gf_point_op *op, float v)
{
    return gf_clamp((v - op->a) * op->b + op->c, op->max);
}

GF_HOST_DEVICE float gf_point_power_of(const struct gf_point_op *op, float v)
{
    return gf_clamp(gf_pow(v / op->max, op->a) * op->max, op->max);
}

GF_HOST_DEVICE float gf_point_step_of(const struct gf_point_op *op, float v)
{
    return (float)(int)(v + 0.5f) >= op->a ? op->max : 0.0f;
}

/* Exact for unrounded inputs that are samples: the weights' sum times M is below 2^24. */
GF_HOST_DEVICE float gf_point_gray_of(const struct gf_point_op *op, float r, float g, float b)
{
    return ((r * op->a + g * op->b) + b * op->c) * op->d;
}

GF_HOST_DEVICE float gf_point_encode_of(const struct gf_point_op *op, float x)
{
    return gf_clamp(gf_srgb_encode(x) * op->max, op->max);
}

GF_HOST_DEVICE float gf_point_encode_8_of(const unsigned char *table, float x)
{
    const float rounded = fmaf(x, (float)GF_POINT_ENCODE_STEPS, GF_ROUNDING_SHIFT);
    return (float)table[(int)(rounded - GF_ROUNDING_SHIFT)];
}

/* alpha: of the straight picture, 0..M; becomes alpha * op->a */
GF_HOST_DEVICE float gf_point_premultiply_of(const struct gf_point_op *op, float v, float alpha)
{
    return gf_clamp(v * op->a * alpha / op->b, op->max);
}

GF_HOST_DEVICE float gf_point_limit_of(float v, float alpha)
{
    return v < alpha ? v : alpha;
}

/* colour: what lies below, of the channel */
GF_HOST_DEVICE float gf_point_flatten_of(const struct gf_point_op *op, float v, float colour,
                                         float alpha)
{
    return gf_clamp((v * alpha + colour * (op->max - alpha)) / op->max, op->max);
}

/* alpha: 0..65535; becomes alpha / op->a. The colour of zero alpha is 0. */
GF_HOST_DEVICE float gf_point_unpremultiply_of(const struct gf_point_op *op, float v, float alpha)
{
    const float straight = gf_clamp(v * op->max / (alpha > 0.0f ? alpha : 1.0f), op->max);
    return alpha > 0.0f ? straight : 0.0f;
}

GF_HOST_DEVICE float gf_point_field_of(const float *curve, float column, float row)
{
    const float at = gf_clamp(column + row, 1.0f) * (float)GF_POINT_CURVE_STEPS;
    const int i = (int)at;
    return curve[i] + (curve[i + 1] - curve[i]) * (at - (float)i);
}

/* colour: of the channel. What is mixed takes the place of the sample, what is added does not. */
GF_HOST_DEVICE float gf_point_blend_of(const struct gf_point_op *op, float v, float colour,
                                       float field)
{
    const float replaced = op->kind == GF_POINT_MIX ? v : 0.0f;
    return gf_clamp(v + (colour - replaced) * field, op->max);
}

#ifdef __cplusplus
}
#endif
#endif
