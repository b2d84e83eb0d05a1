/* Point programs on floats: the formulas of the operations with M = 1, where nothing is limited to
 * 0..1. Functions of light and powers are odd: that of -v is minus that of v. Infinities and NaN go
 * through them as they are. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "pixel/point/point_planes.h"

/* Returns f(|v|) with the sign of v; v itself if it is NaN or infinite. */
GF_INLINE float mirrored(float v, float of_size)
{
    return fabsf(v) < INFINITY ? copysignf(of_size, v) : v;
}

GF_INLINE float power_of(float v, float exponent)
{
    return mirrored(v, gf_pow(fabsf(v), exponent));
}

float gf_light_of_float(float v)
{
    return mirrored(v, gf_srgb_decode(fabsf(v)));
}

float gf_float_of_light(float light)
{
    return mirrored(light, gf_srgb_encode(fabsf(light)));
}

/* Defines an operation on a plane of samples v; c is the channel, a the plane of alpha. */
#define OF_SAMPLES(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op op, int c, float *restrict plane, \
                                      const float *restrict alpha) \
    { \
        const float own = c == 0 ? op.a : c == 1 ? op.b : op.c; \
        for (int i = 0; i < GF_PIECE; i++) { \
            const float v = plane[i], a = alpha[i]; \
            (void)v, (void)a, (void)own; \
            plane[i] = result; \
        } \
    }
OF_SAMPLES(linear, (v - op.a) * op.b + op.c)
OF_SAMPLES(power, power_of(v, op.a))
OF_SAMPLES(step, v != v ? v : v >= op.a ? 1.0f : 0.0f)
OF_SAMPLES(decode, mirrored(v, gf_srgb_decode(fabsf(v))))
OF_SAMPLES(encode, mirrored(v, gf_srgb_encode(fabsf(v))))
OF_SAMPLES(premultiply, v *a)
OF_SAMPLES(unpremultiply, a != 0.0f ? v / a : 0.0f)
OF_SAMPLES(flatten, v *a + own * (1.0f - a))
OF_SAMPLES(gain, v *own)
OF_SAMPLES(quantize, floorf(v *op.a + 0.5f) * op.b)
OF_SAMPLES(solarize, v >= op.a ? 1.0f - v : v)

typedef void of_samples(const struct gf_point_op op, int c, float *plane, const float *alpha);
static of_samples *const operation[] = {
    [GF_POINT_LINEAR] = linear,
    [GF_POINT_POWER] = power,
    [GF_POINT_STEP] = step,
    [GF_POINT_DECODE] = decode,
    [GF_POINT_ENCODE] = encode,
    [GF_POINT_PREMULTIPLY] = premultiply,
    [GF_POINT_UNPREMULTIPLY] = unpremultiply,
    [GF_POINT_FLATTEN] = flatten,
    [GF_POINT_GAIN] = gain,
    [GF_POINT_QUANTIZE] = quantize,
    [GF_POINT_SOLARIZE] = solarize,
};

GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *points, float *v)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const float at = gf_clamp(v[i] * op.a + op.b, op.d);
        v[i] = v[i] == v[i] ? gf_point_curve_at(points, at) : v[i];
    }
}

GF_INLINE struct gf_rgb rgb_at(const struct gf_planes *p, int i)
{
    return (struct gf_rgb){p->colour[0][i], p->colour[1][i], p->colour[2][i]};
}

GF_INLINE void set_rgb(struct gf_planes *p, int i, struct gf_rgb v)
{
    p->colour[0][i] = v.r;
    p->colour[1][i] = v.g;
    p->colour[2][i] = v.b;
}

/* Defines an operation on pixels p; `op` is followed by the ROWs of a MATRIX. */
#define OF_PIXELS(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op *op, struct gf_planes *planes) \
    { \
        for (int i = 0; i < GF_PIECE; i++) { \
            const struct gf_rgb p = rgb_at(planes, i); \
            set_rgb(planes, i, result); \
        } \
    }
#define ROW(row) fmaf((row).a, p.r, fmaf((row).b, p.g, fmaf((row).c, p.b, (row).d)))
OF_PIXELS(matrix, ((struct gf_rgb){ROW(op[0]), ROW(op[1]), ROW(op[2])}))
OF_PIXELS(saturate, gf_saturate_to(p, op->a, false))

GF_INLINE struct gf_rgb vibrant(const struct gf_point_op *op, struct gf_rgb p)
{
    const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
    const float factor = gf_point_vibrance_factor(op, p);
    return (struct gf_rgb){fmaf(p.r - y, factor, y), fmaf(p.g - y, factor, y),
                           fmaf(p.b - y, factor, y)};
}
OF_PIXELS(vibrance, vibrant(op, p))

GF_TARGET_CLONES static void table3d(const struct gf_point_op *op, const uint32_t *nodes,
                                     struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb v = rgb_at(p, i),
                            at = {gf_clamp(v.r, 1), gf_clamp(v.g, 1), gf_clamp(v.b, 1)};
        const bool is_nan = v.r != v.r || v.g != v.g || v.b != v.b;
        set_rgb(p, i, is_nan ? (struct gf_rgb){NAN, NAN, NAN} : gf_point_table3d_of(op, nodes, at));
    }
}

GF_TARGET_CLONES static void gray(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->colour[0][i] = gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
}

GF_TARGET_CLONES static void key(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->alpha[i] *= gf_point_key_of(&op, rgb_at(p, i));
}

/* Mixes in a colour, adds one (ADD), or fades a plane (FADE). Where the field is 0 or 1, v or the
 * colour is kept as it is. */
GF_TARGET_CLONES static void blend(int kind, float colour, const float *restrict field,
                                   float *restrict plane)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const float v = plane[i], f = field[i];
        const float mixed = f == 0.0f ? v : f == 1.0f ? colour : v + (colour - v) * f;
        plane[i] = kind == GF_POINT_MIX ? mixed : kind == GF_POINT_ADD ? v + colour * f : v * f;
    }
}

static void by_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p)
{
    const float colour[3] = {op->a, op->b, op->c};
    float field[GF_PIECE];
    gf_planes_field(stage, (int)op->d, x, y, field);
    if (op->kind == GF_POINT_FADE)
        blend(op->kind, 0, field, p->alpha);
    for (int c = 0; c < colours && op->kind != GF_POINT_FADE; c++)
        blend(op->kind, colour[c], field, p->colour[c]);
}

GF_TARGET_CLONES static void noise(const struct gf_point_op op, int colours, int x, int y,
                                   struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_noise at = gf_noise_at((uint32_t)(x + i), (uint32_t)y, (uint32_t)op.c);
        for (int c = 0; c < colours; c++) {
            const float even = gf_noise_even(at.word[op.d != 0.0f ? 0 : c]);
            float *const v = &p->colour[c][i];
            *v = fmaf(op.b != 0.0f ? gf_noise_normal(even) : even, op.a, *v);
        }
    }
}

static void to_colour(int *colours, struct gf_planes *p)
{
    for (int c = 1; c < 3 && *colours == 1; c++)
        memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
    *colours = 3;
}

/* Applies an operation to a piece from column x of row y on. */
static void apply(const struct gf_stage *stage, const struct gf_point_op *op,
                  const struct gf_picture *const *pictures, int *colours, int x, int y,
                  struct gf_planes *p)
{
    const struct gf_point_program *const program = stage->constants;
    const float *const data = gf_point_block(program, program->data_at);
    switch (op->kind) {
    case GF_POINT_GRAY:
        gray(*op, p);
        *colours = 1;
        return;
    case GF_POINT_SATURATE:
        saturate(op, p);
        return;
    case GF_POINT_VIBRANCE:
        vibrance(op, p);
        return;
    case GF_POINT_MATRIX:
        to_colour(colours, p);
        matrix(op, p);
        return;
    case GF_POINT_ROW: /* MATRIX, the operation before it, has used this row */
        return;
    case GF_POINT_OPAQUE:
        for (int i = 0; i < GF_PIECE; i++)
            p->alpha[i] = 1;
        return;
    case GF_POINT_KEY:
        key(*op, p);
        return;
    case GF_POINT_CURVE:
        for (int c = 0; c < *colours; c++)
            curve(*op, data + (int)op->c + c * ((int)op->d + 2), p->colour[c]);
        return;
    case GF_POINT_TABLE3D:
        to_colour(colours, p);
        table3d(op, (const uint32_t *)data + (int)op->c, p);
        return;
    case GF_POINT_NOISE:
        noise(*op, *colours, x, y, p);
        return;
    case GF_POINT_MIX:
    case GF_POINT_ADD:
    case GF_POINT_FADE:
        by_position(stage, op, *colours, x, y, p);
        return;
    case GF_POINT_OVERLAY:
    case GF_POINT_MASK:
        gf_planes_layer(&program->layer[(int)op->d], pictures, *colours, x, y, true, p);
        return;
    default:
        for (int c = 0; c < *colours; c++) {
            if (!gf_point_leaves(op, c))
                operation[op->kind](*op, c, p->colour[c], p->alpha);
        }
    }
}

static float *plane_of(struct gf_planes *p, int channels, int c)
{
    return c == channels - 1 && channels % 2 == 0 ? p->alpha : p->colour[c];
}

void gf_point_floats(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_point_program *const program = stage->constants;
    const int width = stage->in.width, from = stage->in.channels, to = stage->out.channels;
    const struct gf_picture *pictures[GF_STAGE_PICTURES_MAX];
    _Alignas(64) struct gf_planes planes;
    gf_stage_pictures(stage, pictures);
    memset(&planes, 0, sizeof planes);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const float *const read = (const float *)gf_view_row(in, y);
        float *const written = (float *)gf_view_row(out, y);
        for (int x = 0; x < width; x += GF_PIECE) {
            const int n = width - x < GF_PIECE ? width - x : GF_PIECE;
            int colours = gf_colour_channels(stage->in);
            for (int c = 0; c < from; c++) {
                float *const plane = plane_of(&planes, from, c);
                for (int i = 0; i < n; i++)
                    plane[i] = read[(x + i) * from + c];
            }
            for (int i = 0; i < program->count; i++)
                apply(stage, &program->op[i], pictures, &colours, x, y, &planes);
            for (int c = 0; c < to; c++) {
                const float *const plane = plane_of(&planes, to, c);
                for (int i = 0; i < n; i++)
                    written[(x + i) * to + c] = plane[i];
            }
        }
    }
}
