/* The program of a run of point filters, for both backends: first a table for single samples, then
 * operations on unrounded floats, then one rounding. */
#ifndef GF_PIXEL_POINT_POINT_PROGRAM_H
#define GF_PIXEL_POINT_POINT_PROGRAM_H

#include "base/c_linkage.h"
#include "pixel/colour.h"
#include "pixel/point/layer.h"
#include "pixel/point/noise.h"
#include "pixel/point/noise_steps.h"
#include "pixel/point/point.h"
#include "pixel/point/table3d.h"

GF_C_BEGIN

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
    GF_POINT_GAIN,          /* v times a, b or c, by its channel */
    GF_POINT_QUANTIZE,      /* round(v a) b */
    GF_POINT_SOLARIZE,      /* round(v) > a ? M - v : v */
    GF_POINT_CURVE,         /* straight lines between points: at v a + b, 0..d; see below */
    GF_POINT_MATRIX,   /* three channels: the row of red, R a + G b + B c + d; two ROWs follow */
    GF_POINT_ROW,      /* of green, of blue: read by the MATRIX before it */
    GF_POINT_VIBRANCE, /* Y + (v - Y) (a - b (most - least)), Y the luma of bt709 */
    GF_POINT_TABLE3D,  /* three channels: pixel/table3d.h at v a; b nodes a side; times d */
    GF_POINT_OPAQUE,   /* there was no alpha: it is M */
    GF_POINT_KEY,      /* alpha by the distance of Cb, Cr from a, b: beyond c, a slope of d */
    /* By the pixel's position; d: the number of the field, but for NOISE. */
    GF_POINT_MIX,   /* v + (a, b or c - v) times the field */
    GF_POINT_ADD,   /* v + a times the field */
    GF_POINT_FADE,  /* alpha times the field */
    GF_POINT_NOISE, /* v + a z; b: z is normal; c: the seed; d: z is the same for all channels */
    /* By the pixel's position in second pictures; d: the number of the layer. */
    GF_POINT_OVERLAY, /* the layer on the picture */
    GF_POINT_MASK     /* alpha times the layer's mask */
};

/* max is the M of the operation's result. LINEAR, POWER: d has a bit for each channel that they do
 * not change. CURVE, TABLE3D: c is the place of their data in the program's data; CURVE's are
 * floats [3][d + 2], whose last is read, but has no effect. */
struct gf_point_op {
    int kind;
    float max;
    float a, b, c, d;
};

enum {
    GF_POINT_OPS_MAX = 4 * GF_POINT_RUN_MAX,
    /* The table of ENCODE_8: sRGB rounded to 8 bits for linear light i / ENCODE_STEPS. Fine enough
     * to be within 0.1 of a step before rounding, even where sRGB is steepest. */
    GF_POINT_ENCODE_STEPS = 16383,
    /* The curve of a field: its values at 0, 1 / CURVE_STEPS, .. 1, and one more that is read, but
     * has no effect. */
    GF_POINT_CURVE_STEPS = 4096,
    GF_POINT_CURVE_ROOM = GF_POINT_CURVE_STEPS + 4,
    /* The columns of a field are filled up to a multiple of this number: both backends compute
     * pixels beyond the end of a row, which they do not store. */
    GF_POINT_FIELD_STEP = 512,
    /* The columns of an ordered dither repeat after this many, or more often. */
    GF_POINT_FIELD_REPEAT = 128
};

enum gf_point_table {
    GF_POINT_NO_TABLE,
    GF_POINT_SAMPLES, /* holds the results: there are no operations. If op[0].max is not 0, op[0]
                         does the same (point_words.h) */
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
    bool field_is_part; /* the values of all fields are within 0..1 */
    bool field_dithers; /* the values of the first are within -0.499..0.499, its columns repeat */
    float field_zero;   /* the first field is 0 where its argument is no more */
    unsigned field_at, field_bytes; /* floats: a curve, the picture's columns, its rows */
    unsigned data_at;               /* of CURVE and TABLE3D: words */
    /* For normal NOISE alone on 8 bits, on devices: the place of gf_noise_cells() and its result; 0
     * where there are no cells. */
    unsigned cells_at;
    uint32_t doubt_limit;
    int layers;
    struct gf_layer layer[GF_STAGE_PICTURES_MAX];
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

static inline const void *gf_point_block(const struct gf_point_program *program, unsigned offset)
{
    return (const char *)program + offset;
}

/* Whether the program has operations that need the device's larger kernel: those from GAIN on, and
 * those that do not change all channels. */
static inline bool gf_point_is_wide(const struct gf_point_program *program)
{
    for (int i = 0; i < program->count; i++) {
        const struct gf_point_op *const op = &program->op[i];
        if (op->kind >= GF_POINT_GAIN || (op->kind <= GF_POINT_POWER && op->d != 0))
            return true;
    }
    return false;
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

/* Whether the program only mixes two pictures of the same channels and depth, without alpha: each
 * sample is then made of two samples, in every channel alike. */
bool gf_layer_is_plain(const struct gf_point_program *program, struct gf_format in,
                       const struct gf_picture *const *pictures);

/* The rectangle of the picture outside of which a program changes nothing: where it only lays a
 * picture on, that picture's place; otherwise it has no end. */
struct gf_layer_part {
    int x, y, end_x, end_y;
};
struct gf_layer_part gf_layer_part_of(const struct gf_stage *stage,
                                      const struct gf_picture *const *pictures);

/* gf_point's entry on the CPU (point_cpu.c). */
void gf_point_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch);

/* Evaluation, shared by both backends. */

/* Whether an operation on single samples does not change that channel. */
GF_HOST_DEVICE int gf_point_leaves(const struct gf_point_op *op, int channel)
{
    return op->kind <= GF_POINT_POWER && ((int)op->d >> channel & 1);
}

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

/* Exact for samples where the weights' sum times M is below 2^24. */
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

/* Where a field's curve is read. */
GF_HOST_DEVICE float gf_point_field_at(float column, float row)
{
    return gf_clamp(column + row, 1.0f) * (float)GF_POINT_CURVE_STEPS;
}

GF_HOST_DEVICE float gf_point_field_value(const float *curve, float at)
{
    const int i = (int)at;
    return curve[i] + (curve[i + 1] - curve[i]) * (at - (float)i);
}

GF_HOST_DEVICE float gf_point_field_of(const float *curve, float column, float row)
{
    return gf_point_field_value(curve, gf_point_field_at(column, row));
}

/* colour: the channel's. A mixed colour takes the place of the sample; an added one does not. */
GF_HOST_DEVICE float gf_point_blend_of(const struct gf_point_op *op, float v, float colour,
                                       float field)
{
    const float replaced = op->kind == GF_POINT_MIX ? v : 0.0f;
    return gf_clamp(v + (colour - replaced) * field, op->max);
}

GF_HOST_DEVICE float gf_point_noise_of(const struct gf_point_op *op, float v, uint32_t word)
{
    const float even = gf_noise_even(word);
    return gf_clamp(fmaf(op->b != 0.0f ? gf_noise_normal(even) : even, op->a, v), op->max);
}

GF_HOST_DEVICE float gf_point_gain_of(const struct gf_point_op *op, float v, int channel)
{
    return gf_clamp(v * (channel == 0 ? op->a : channel == 1 ? op->b : op->c), op->max);
}

GF_HOST_DEVICE float gf_point_quantize_of(const struct gf_point_op *op, float v)
{
    return gf_clamp((float)(int)(v * op->a + 0.5f) * op->b, op->max);
}

GF_HOST_DEVICE float gf_point_solarize_of(const struct gf_point_op *op, float v)
{
    return gf_select((float)(int)(v + 0.5f), op->a, op->max - v, v);
}

/* point: the channel's first point; at: the distance from it in points. */
GF_HOST_DEVICE float gf_point_curve_at(const float *point, float at)
{
    const int i = (int)at;
    return fmaf(point[i + 1] - point[i], at - (float)i, point[i]);
}

GF_HOST_DEVICE float gf_point_curve_of(const struct gf_point_op *op, const float *point, float v)
{
    return gf_point_curve_at(point, gf_clamp(v * op->a + op->b, op->d));
}

GF_HOST_DEVICE float gf_point_row_of(const struct gf_point_op *op, struct gf_rgb p)
{
    return gf_clamp(fmaf(op->a, p.r, fmaf(op->b, p.g, fmaf(op->c, p.b, op->d))), op->max);
}

/* op: the MATRIX, which two ROWs follow. */
GF_HOST_DEVICE struct gf_rgb gf_point_matrix_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const struct gf_rgb q = {gf_point_row_of(op, p), gf_point_row_of(op + 1, p),
                             gf_point_row_of(op + 2, p)};
    return q;
}

GF_HOST_DEVICE struct gf_rgb gf_point_vibrance_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
    const float rg_most = p.r > p.g ? p.r : p.g, rg_least = p.r > p.g ? p.g : p.r;
    const float most = rg_most > p.b ? rg_most : p.b, least = rg_least < p.b ? rg_least : p.b;
    const float factor = fmaf(-op->b, most - least, op->a);
    const struct gf_rgb q = {gf_clamp(fmaf(p.r - y, factor, y), op->max),
                             gf_clamp(fmaf(p.g - y, factor, y), op->max),
                             gf_clamp(fmaf(p.b - y, factor, y), op->max)};
    return q;
}

/* The result of TABLE3D for a colour of the table. */
GF_HOST_DEVICE struct gf_rgb gf_point_scaled(const struct gf_point_op *op, struct gf_rgb v)
{
    const struct gf_rgb scaled = {gf_clamp(v.r * op->d, op->max), gf_clamp(v.g * op->d, op->max),
                                  gf_clamp(v.b * op->d, op->max)};
    return scaled;
}

GF_HOST_DEVICE struct gf_rgb gf_point_table3d_of(const struct gf_point_op *op,
                                                 const uint32_t *nodes, struct gf_rgb p)
{
    return gf_point_scaled(op,
                           gf_table3d_of(nodes, (int)op->b, p.r * op->a, p.g * op->a, p.b * op->a));
}

/* The part of alpha that is kept. Cb and Cr of ITU-R BT.601 in steps of the sample. */
GF_HOST_DEVICE float gf_point_key_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.299f, p.r, fmaf(0.587f, p.g, 0.114f * p.b));
    const float cb = (p.b - y) * 0.56433409f - op->a, cr = (p.r - y) * 0.71326676f - op->b;
    const float distance = sqrtf(fmaf(cb, cb, cr * cr));
    return gf_clamp((distance - op->c) * op->d, 1.0f);
}

GF_C_END
#endif
