/* The program of a list of point filters, for both backends: a table for single samples, then
 * operations on unrounded floats, then rounding. M is the largest sample, v a sample before an
 * operation, and a, b, c, d are numbers of the operation. */
#pragma once

#include "base/host_device.h"
#include "pixel/colour.h"
#include "pixel/point/layer.h"
#include "pixel/point/noise.h"
#include "pixel/point/point.h"
#include "pixel/point/table3d.h"

GF_C_BEGIN

enum gf_point_kind {
    GF_POINT_LINEAR,      /* v becomes (v - a) b + c */
    GF_POINT_POWER,       /* v becomes M (v / M)^a */
    GF_POINT_STEP,        /* v becomes round(v) >= a ? M : 0 */
    GF_POINT_GRAY,        /* makes one channel: (R a + G b + B c) / d, d a power of two */
    GF_POINT_DECODE,      /* converts sRGB samples to linear light, 0..1 */
    GF_POINT_SATURATE,    /* linear light: multiplies CIELAB's a* and b* by a */
    GF_POINT_RELIGHT,     /* linear light: maps CIELAB's L* by the table at level_at */
    GF_POINT_ENCODE,      /* converts linear light to sRGB samples */
    GF_POINT_ENCODE_8,    /* does what ENCODE does, rounded to 8 bits, by a table */
    GF_POINT_PREMULTIPLY, /* makes 16-bit premultiplied colour: v a alpha / b; a is 65535 / b, b the
                           * largest sample of the straight picture */
    GF_POINT_UNPREMULTIPLY, /* makes straight colour of 16-bit premultiplied; a = 65535 / M */
    GF_POINT_LIMIT,         /* limits the colour to alpha */
    GF_POINT_FLATTEN,       /* composes over the colour a, b, c and drops alpha */
    GF_POINT_GAIN,          /* multiplies v by a, b or c, one for each channel */
    GF_POINT_QUANTIZE,      /* v becomes round(v a) b */
    GF_POINT_SOLARIZE,      /* v becomes round(v) > a ? M - v : v */
    GF_POINT_CURVE,    /* interpolates linearly between points, at v a + b within 0..d; see struct
                        * gf_point_op */
    GF_POINT_MATRIX,   /* three channels: red becomes R a + G b + B c + d; two ROWs follow */
    GF_POINT_ROW,      /* the rows for green and blue, which the MATRIX before them uses */
    GF_POINT_VIBRANCE, /* v becomes Y + (v - Y) (a - b (most - least)), with Y the luma of BT.709 */
    GF_POINT_TABLE3D,  /* three channels: looks up v a in a table of b nodes a side
                        * (pixel/point/table3d.h), times d */
    GF_POINT_OPAQUE,   /* adds an alpha of M */
    GF_POINT_KEY, /* multiplies alpha by (distance of Cb, Cr from a, b - c) d, limited to 0..1 */
    /* The next operations depend on the pixel's position; d is the index of a field, but for
     * NOISE. */
    GF_POINT_MIX,   /* v becomes v + (a, b or c - v) field */
    GF_POINT_ADD,   /* v becomes v + a field */
    GF_POINT_FADE,  /* multiplies alpha by the field */
    GF_POINT_NOISE, /* v becomes v + a z, z random; b: z is normal; c: seed; d: one z for all
                     * channels */
    /* The next operations read second pictures at the pixel's position; d is a layer's index. */
    GF_POINT_OVERLAY, /* puts the layer on the picture */
    GF_POINT_MASK     /* multiplies alpha by the layer's mask */
};

/* An operation of a program; enum gf_point_kind says what a, b, c and d mean. `max` is the largest
 * sample (M) of its result. In LINEAR and POWER, bit i of d says that channel i does not change. In
 * CURVE and TABLE3D, c is the index of the operation's first word in the data at data_at. The data
 * of CURVE are floats [3][d + 2]; the last float of each channel is read but has no effect. */
struct gf_point_op {
    int kind;
    float max;
    float a, b, c, d;
};

enum {
    GF_POINT_OPS_MAX = 4 * GF_POINT_LIST_MAX,
    /* The number of steps in the table of ENCODE_8, whose entry i is sRGB, rounded to 8 bits, for
     * the linear light i / ENCODE_STEPS. The table's error before rounding is below 0.1 even where
     * sRGB is steepest. */
    GF_POINT_ENCODE_STEPS = 16383,
    /* The number of steps in a field's curve. A value behind the last is read but has no effect. */
    GF_POINT_CURVE_STEPS = 4096,
    GF_POINT_CURVE_ROOM = GF_POINT_CURVE_STEPS + 4,
    /* A field has a number for each column, padded to a multiple of this, since both backends
     * compute pixels behind the end of a row, which they do not store. */
    GF_POINT_FIELD_STEP = 512,
    /* A number that the period of the columns of an ordered dither divides. */
    GF_POINT_FIELD_REPEAT = 128
};

enum gf_point_table {
    GF_POINT_NO_TABLE,
    GF_POINT_SAMPLES, /* a sample's result by the program, if that has no operations, or by op[0],
                       * if its max is not 0; of floats, a half's result by all operations, which
                       * only devices look up */
    GF_POINT_FLOATS   /* what the first operation gets for each sample */
};

/* The constants of gf_point. Its tables follow at byte offsets from the start of the struct, each a
 * multiple of 16. */
struct gf_point_program {
    int table;  /* enum gf_point_table */
    int tables; /* the tables of that kind: 1, or one for each colour channel */
    int count;  /* number of operations */
    /* The table's offset: [tables][M + 1] floats or 16-bit samples, or [4][256] 8-bit samples, with
     * alpha. */
    unsigned table_at;
    unsigned curve_at;  /* for RELIGHT: the offset of gf_lightness.curve */
    unsigned step_at;   /* for RELIGHT: the offset of gf_lightness.step */
    unsigned level_at;  /* for RELIGHT: the offset of a table float [M + 1], the new f(Y) */
    unsigned encode_at; /* for ENCODE_8: the offset of a table of bytes [ENCODE_STEPS + 1] */
    int fields;
    bool field_is_part; /* the values of all fields are within 0..1 */
    bool field_dithers; /* the first field is in -0.499..0.499, and its columns repeat */
    float field_zero;   /* the first field is 0 if column and row add up to this or less */
    /* The offset and the size of the fields, each of which has the floats of its curve, of the
     * picture's columns, and of its rows. */
    unsigned field_at, field_bytes;
    unsigned data_at; /* the offset of the data of CURVE and TABLE3D */
    /* If the program only adds normal noise to 8 bits: the offset of the table of
     * gf_noise_buckets(), for devices, and its result; otherwise 0. */
    unsigned buckets_at;
    uint32_t doubt_limit;
    int layers;
    struct gf_layer layer[GF_STAGE_PICTURES_MAX];
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

static inline const void *gf_point_block(const struct gf_point_program *program, unsigned offset)
{
    return (const char *)program + offset;
}

/* Whether the program needs the device's larger kernel: it is no table, and has an operation from
 * GAIN on, or one that changes only some channels. */
static inline bool gf_point_is_wide(const struct gf_point_program *program)
{
    for (int i = 0; i < program->count && program->table != GF_POINT_SAMPLES; i++) {
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

/* Whether the program only puts a picture on another of the same format without alpha, by a mode
 * that blends each channel by itself (for 16 bits only NORMAL), so that a sample of the result
 * depends on two samples, in the same way in every channel. */
bool gf_layer_is_samplewise(const struct gf_point_program *program, struct gf_format in,
                            const struct gf_picture *const *pictures);

/* The rectangle outside of which the program changes nothing: where the layer lies, if it only puts
 * a layer on the picture, otherwise an infinite one. */
struct gf_layer_part {
    int x, y, end_x, end_y;
};
struct gf_layer_part gf_layer_part_of(const struct gf_stage *stage,
                                      const struct gf_picture *const *pictures);

/* The function cpu() of gf_point. */
void gf_point_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch);

/* The function floats() of gf_point. */
void gf_point_floats(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch);

/* The functions from here on evaluate single operations on both backends. */

/* Whether an operation on single samples leaves that channel unchanged. */
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

/* Computes the sample of a GRAY. It is exact if the sum of the weights times M is below 2^24. */
GF_HOST_DEVICE float gf_point_gray_of(const struct gf_point_op *op, float r, float g, float b)
{
    return ((r * op->a + g * op->b) + b * op->c) * op->d;
}

/* Returns the operation for the luma of floats. */
GF_HOST_DEVICE struct gf_point_op gf_point_luma_of_floats(void)
{
    const struct gf_point_op op = {GF_POINT_GRAY, 1,           GF_LUMA601_R, GF_LUMA601_G,
                                   GF_LUMA601_B,  1.0f / 65536};
    return op;
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

/* Computes a sample of PREMULTIPLY. `alpha` is that of the straight picture, 0..M; the caller
 * multiplies it by op->a. */
GF_HOST_DEVICE float gf_point_premultiply_of(const struct gf_point_op *op, float v, float alpha)
{
    return gf_clamp(v * op->a * alpha / op->b, op->max);
}

GF_HOST_DEVICE float gf_point_limit_of(float v, float alpha)
{
    return v < alpha ? v : alpha;
}

/* Composites a sample over `colour`, the background's sample of the same channel. */
GF_HOST_DEVICE float gf_point_flatten_of(const struct gf_point_op *op, float v, float colour,
                                         float alpha)
{
    return gf_clamp((v * alpha + colour * (op->max - alpha)) / op->max, op->max);
}

/* Computes a sample of UNPREMULTIPLY. `alpha` is 0..65535; the caller divides it by op->a. The
 * colour is 0 where alpha is 0. */
GF_HOST_DEVICE float gf_point_unpremultiply_of(const struct gf_point_op *op, float v, float alpha)
{
    const float straight = gf_clamp(v * op->max / (alpha > 0.0f ? alpha : 1.0f), op->max);
    return alpha > 0.0f ? straight : 0.0f;
}

/* Returns the position in a field's curve that column and row lead to, 0..GF_POINT_CURVE_STEPS. */
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

/* Computes a sample of MIX, which replaces v by the colour as far as the field says, or of ADD,
 * which adds the colour times the field. */
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

/* Interpolates a CURVE at the position `at`, in points; `point` is the channel's first point. */
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

/* Computes a MATRIX and the two ROWs behind it. */
GF_HOST_DEVICE struct gf_rgb gf_point_matrix_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const struct gf_rgb q = {gf_point_row_of(op, p), gf_point_row_of(op + 1, p),
                             gf_point_row_of(op + 2, p)};
    return q;
}

/* Returns the factor of a VIBRANCE for the distance of colours from their luma. */
GF_HOST_DEVICE float gf_point_vibrance_factor(const struct gf_point_op *op, struct gf_rgb p)
{
    const float rg_most = p.r > p.g ? p.r : p.g, rg_least = p.r > p.g ? p.g : p.r;
    const float most = rg_most > p.b ? rg_most : p.b, least = rg_least < p.b ? rg_least : p.b;
    return fmaf(-op->b, most - least, op->a);
}

GF_HOST_DEVICE struct gf_rgb gf_point_vibrance_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
    const float factor = gf_point_vibrance_factor(op, p);
    const struct gf_rgb q = {gf_clamp(fmaf(p.r - y, factor, y), op->max),
                             gf_clamp(fmaf(p.g - y, factor, y), op->max),
                             gf_clamp(fmaf(p.b - y, factor, y), op->max)};
    return q;
}

/* Scales a colour from the table of a TABLE3D to samples. */
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

/* Returns the factor by which a KEY multiplies alpha. Cb and Cr are those of ITU-R BT.601, in units
 * of samples. */
GF_HOST_DEVICE float gf_point_key_of(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.299f, p.r, fmaf(0.587f, p.g, 0.114f * p.b));
    const float cb = (p.b - y) * 0.56433409f - op->a, cr = (p.r - y) * 0.71326676f - op->b;
    const float distance = sqrtf(fmaf(cb, cb, cr * cr));
    return gf_clamp((distance - op->c) * op->d, 1.0f);
}

/* The operations of a list before they become a program. */

struct gf_point_builder {
    enum gf_status status;   /* whether an operation failed */
    struct gf_error *error;  /* how it failed */
    struct gf_format format; /* the input format of the next operation */
    int bins;                /* M + 1, the number of levels of the first input of the list */
    unsigned left; /* bit c: gf_point_linear() and gf_point_power() leave channel c unchanged */
    bool changed;  /* whether `value` is not the identity */
    int tables;    /* 1, or the number of colour channels */
    /* The table for single samples: [3][bins], of which the first `tables` are used. */
    double *value;
    struct gf_lightness *lightness; /* NULL if there is no RELIGHT */
    float *level; /* [bins]: the table of RELIGHT, the new f(Y) of CIELAB for each level */
    int fields;
    bool field_beyond;  /* a field has values outside of 0..1 */
    bool field_dithers; /* see struct gf_point_program */
    float *field;       /* [fields][gf_point_field_floats()] */
    size_t words;
    uint32_t *data;       /* the data of CURVE and TABLE3D */
    int pictures, layers; /* how many pictures and layers were added */
    struct gf_layer layer[GF_STAGE_PICTURES_MAX];
    int count;
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

void gf_point_append(struct gf_point_builder *builder, struct gf_point_op op);

GF_C_END
