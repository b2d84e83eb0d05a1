/* Point filters: each output pixel from the same input pixel. A run of adjacent ones is compiled
 * into one program, which both backends evaluate: a table for what the first of them do to a
 * sample, then operations on unrounded floats, then one rounding.
 *
 * A filter's point() calls the functions below in the order of what it does. Colour only: alpha is
 * left alone, except by premultiply and unpremultiply. Each operation clamps its result to 0..M. */
#ifndef GF_PIXEL_POINT_H
#define GF_PIXEL_POINT_H

#include "pixel/colour.h"
#include "pixel/sample.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run of adjacent point filters is one stage of this pseudo-filter: read once, evaluated in float
 * or through one table, rounded once, written once. A filter whose variant was chosen stands alone.
 */
enum { GF_POINT_RUN_MAX = 32 };
struct gf_point_run {
    int count;
    struct {
        const struct gf_filter *filter;
        const void *params;
    } item[GF_POINT_RUN_MAX];
};
extern const struct gf_filter
    gf_point; /* its params are a struct gf_point_run; item 0 gets stage->histogram */

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
    GF_POINT_SAMPLES, /* rounded, and all that there is to do: there are no operations */
    GF_POINT_FLOATS   /* what the operations start from */
};

/* stage->constants of gf_point. Tables follow at byte offsets from its start, each a multiple
 * of 16. */
struct gf_point_program {
    int table;  /* enum gf_point_table */
    int tables; /* 1 for all colour channels, or one each */
    int count;  /* of op */
    /* FLOATS, and SAMPLES of 16 bits: [tables][M + 1]. SAMPLES of 8 bits: [4][256],
     * alpha's too. */
    unsigned table_at;
    unsigned curve_at;  /* RELIGHT: gf_lightness.curve */
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

/* gamma's parameters: its own kernels compute with them, where the program has a table. */
struct gf_gamma {
    double value;
};

/* What point() appends with. */
struct gf_point_builder;

/* (v - pivot) scale + offset */
void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset);
/* M (v / M)^exponent */
void gf_point_power(struct gf_point_builder *builder, double exponent);
/* M where the sample, rounded, is `least` or more, else 0. */
void gf_point_step(struct gf_point_builder *builder, double least);
/* From three channels to one; weights in 1/total, a power of two. Nothing where there is one
 * already. */
void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total);
/* CIELAB a* and b* times factor. Nothing where there is one channel. */
void gf_point_saturate(struct gf_point_builder *builder, double factor);
void gf_point_premultiply(struct gf_point_builder *builder);
void gf_point_unpremultiply(struct gf_point_builder *builder, int bits);
/* By tables, [tables][M + 1], 1 for all colour channels or one for each: only for filters that ask
 * for a statistic, since those come first in their run. */
void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value);
/* The same for L*, [M + 1]. */
enum gf_status gf_point_lightness(struct gf_point_builder *builder, const double *value,
                                  struct gf_error *error) GF_CHECKED;

/* A number for each position of the picture: curve(column(x) + row(y)), where a sum beyond 0..1
 * counts as 0 or 1. Both backends read it from tables, which these functions fill, so that no
 * filter needs code of its own on the device: column() and row() for each x and y, curve() at 4097
 * points, with straight lines between them. A vignette, a gradient, a frame, rounded corners and an
 * ordered dither are such fields. */
struct gf_point_field {
    double (*column)(const void *context, int x);
    double (*row)(const void *context, int y);
    double (*curve)(const void *context, double sum);
    const void *context; /* the caller's; used until the call below returns */
};
/* v + (colour - v) field: mixes with a colour, whose channels are parts of the full scale. Gray
 * pictures take its first. */
enum gf_status gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                            const double colour[3], struct gf_error *error) GF_CHECKED;
/* v + amount field; the amount is a part of the full scale. */
enum gf_status gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                            double amount, struct gf_error *error) GF_CHECKED;

/* refuses() of a variant that shows what only colour needs. */
const char *gf_point_refuses_gray(const struct gf_stage *stage);

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
    return gf_clamp(powf(v / op->max, op->a) * op->max, op->max);
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
    return (float)table[(int)(x * (float)GF_POINT_ENCODE_STEPS + 0.5f)];
}

/* alpha: of the straight picture, 0..M; becomes alpha * op->a */
GF_HOST_DEVICE float gf_point_premultiply_of(const struct gf_point_op *op, float v, float alpha)
{
    return gf_clamp(v * op->a * alpha / op->b, op->max);
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
