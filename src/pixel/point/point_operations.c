/* The operations on planes that neither depend on the position nor read second pictures. A piece is
 * always computed in full, so that the loops have no remainders. */
#include <string.h>

#include "base/target_clones.h"
#include "pixel/point/point_planes.h"

/* ---- on the samples of a channel ---- */

/* Defines an operation on samples. `result` is the new value of v[i]. */
#define OF_SAMPLES(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op op, int channel, float *restrict v, \
                                      const float *restrict alpha) \
    { \
        for (int i = 0; i < GF_PIECE; i++) \
            v[i] = result; \
    }

static inline float value_of_channel(const struct gf_point_op *op, int channel)
{
    return channel == 0 ? op->a : channel == 1 ? op->b : op->c;
}

OF_SAMPLES(linear, gf_point_linear_of(&op, v[i]))
OF_SAMPLES(power, gf_point_power_of(&op, v[i]))
OF_SAMPLES(step, gf_point_step_of(&op, v[i]))
OF_SAMPLES(decode, gf_srgb_decode(v[i] / op.max))
OF_SAMPLES(encode, gf_point_encode_of(&op, v[i]))
OF_SAMPLES(premultiply, gf_point_premultiply_of(&op, v[i], alpha[i]))
OF_SAMPLES(unpremultiply, gf_point_unpremultiply_of(&op, v[i], alpha[i]))
OF_SAMPLES(limit, gf_point_limit_of(v[i], alpha[i]))
OF_SAMPLES(flatten, gf_point_flatten_of(&op, v[i], value_of_channel(&op, channel), alpha[i]))
OF_SAMPLES(gain, gf_point_gain_of(&op, v[i], channel))
OF_SAMPLES(quantize, gf_point_quantize_of(&op, v[i]))
OF_SAMPLES(solarize, gf_point_solarize_of(&op, v[i]))
OF_SAMPLES(multiply, v[i] * op.a)
OF_SAMPLES(divide, v[i] / op.a)

static void (*const of_samples[])(const struct gf_point_op op, int channel, float *restrict v,
                                  const float *restrict alpha) = {
    [GF_POINT_LINEAR] = linear,
    [GF_POINT_POWER] = power,
    [GF_POINT_STEP] = step,
    [GF_POINT_DECODE] = decode,
    [GF_POINT_ENCODE] = encode,
    [GF_POINT_PREMULTIPLY] = premultiply,
    [GF_POINT_UNPREMULTIPLY] = unpremultiply,
    [GF_POINT_LIMIT] = limit,
    [GF_POINT_FLATTEN] = flatten,
    [GF_POINT_GAIN] = gain,
    [GF_POINT_QUANTIZE] = quantize,
    [GF_POINT_SOLARIZE] = solarize,
};

GF_TARGET_CLONES static void encode_8(const unsigned char *table, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_8_of(table, v[i]);
}

/* There are two loops, because compilers do not vectorise a limit and a dependent look-up in one
 * loop. */
GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *restrict point,
                                   float *restrict v)
{
    float at[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        at[i] = gf_clamp(v[i] * op.a + op.b, op.d);
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_curve_at(point, at[i]);
}

static void apply_to_channels(const struct gf_point_program *program, const struct gf_point_op *op,
                              int colours, struct gf_planes *p)
{
    const float *const data = gf_point_block(program, program->data_at);
    for (int c = 0; c < colours; c++) {
        if (gf_point_leaves(op, c))
            continue;
        if (op->kind == GF_POINT_ENCODE_8)
            encode_8(gf_point_block(program, program->encode_at), p->colour[c]);
        else if (op->kind == GF_POINT_CURVE)
            curve(*op, data + (int)op->c + c * ((int)op->d + 2), p->colour[c]);
        else
            of_samples[op->kind](*op, c, p->colour[c], p->alpha);
    }
    if (op->kind == GF_POINT_PREMULTIPLY)
        multiply(*op, 0, p->alpha, NULL);
    else if (op->kind == GF_POINT_UNPREMULTIPLY)
        divide(*op, 0, p->alpha, NULL);
}

static inline struct gf_rgb pixel_of(const struct gf_planes *p, int i)
{
    return (struct gf_rgb){p->colour[0][i], p->colour[1][i], p->colour[2][i]};
}

static inline void set_pixel(struct gf_planes *p, int i, struct gf_rgb v)
{
    p->colour[0][i] = v.r;
    p->colour[1][i] = v.g;
    p->colour[2][i] = v.b;
}

/* Defines an operation on pixels. `result` is the new value of the pixel v; only RELIGHT uses
 * new_fy. */
#define OF_PIXELS(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op op, const float *new_fy, \
                                      struct gf_planes *p) \
    { \
        for (int i = 0; i < GF_PIECE; i++) { \
            const struct gf_rgb v = pixel_of(p, i); \
            set_pixel(p, i, result); \
        } \
    }
OF_PIXELS(saturate, gf_saturate(v, op.a))
OF_PIXELS(relight, gf_relight(v, new_fy[i]))
OF_PIXELS(vibrance, gf_point_vibrance_of(&op, v))

GF_TARGET_CLONES static void gray(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->colour[0][i] = gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
}

GF_TARGET_CLONES static void find_levels(const struct gf_point_program *program,
                                         const struct gf_planes *p, float *new_fy)
{
    const uint32_t *const curves = gf_point_block(program, program->curve_at);
    const float *const level = gf_point_block(program, program->level_at);
    for (int i = 0; i < GF_PIECE; i++)
        new_fy[i] = level[gf_lightness_bin(pixel_of(p, i), curves)];
}

GF_TARGET_CLONES static void matrix(const struct gf_point_op *at, struct gf_planes *p)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    for (int i = 0; i < GF_PIECE; i++)
        set_pixel(p, i, gf_point_matrix_of(op, pixel_of(p, i)));
}

GF_TARGET_CLONES static void key(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->alpha[i] *= gf_point_key_of(&op, pixel_of(p, i));
}

/* The nodes that table3d() reads for each pixel, and their weights. */
struct places {
    int node[4][GF_PIECE];
    float weight[4][GF_PIECE];
};

GF_TARGET_CLONES static void find_places(const struct gf_point_op op, const struct gf_planes *p,
                                         struct places *places)
{
    const int size = (int)op.b;
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb v = pixel_of(p, i);
        const struct gf_table3d_place place =
            gf_table3d_place_of(size, v.r * op.a, v.g * op.a, v.b * op.a);
        places->node[0][i] = place.n0;
        places->node[1][i] = place.n1;
        places->node[2][i] = place.n2;
        places->node[3][i] = place.n3;
        places->weight[0][i] = place.w0;
        places->weight[1][i] = place.w1;
        places->weight[2][i] = place.w2;
        places->weight[3][i] = place.w3;
    }
}

GF_TARGET_CLONES static void table3d(const struct gf_point_op op, const uint32_t *restrict nodes,
                                     const struct places *restrict places,
                                     struct gf_planes *restrict p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_table3d_place place = {
            places->node[0][i],   places->node[1][i],   places->node[2][i],   places->node[3][i],
            places->weight[0][i], places->weight[1][i], places->weight[2][i], places->weight[3][i]};
        set_pixel(p, i, gf_point_scaled(&op, gf_table3d_mix(nodes, place)));
    }
}

static void apply_table3d(const struct gf_point_program *program, const struct gf_point_op *op,
                          struct gf_planes *p)
{
    const uint32_t *const data = gf_point_block(program, program->data_at);
    struct places places;
    find_places(*op, p, &places);
    table3d(*op, data + (int)op->c, &places, p);
}

static void to_colour(int *colours, struct gf_planes *p)
{
    for (int c = 1; c < 3 && *colours == 1; c++)
        memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
    *colours = 3;
}

void gf_planes_apply(const struct gf_point_program *program, const struct gf_point_op *op,
                     int *colours, struct gf_planes *p)
{
    float new_fy[GF_PIECE];
    switch (op->kind) {
    case GF_POINT_GRAY:
        gray(*op, p);
        *colours = 1;
        break;
    case GF_POINT_SATURATE:
        saturate(*op, NULL, p);
        break;
    case GF_POINT_RELIGHT:
        find_levels(program, p, new_fy);
        relight(*op, new_fy, p);
        break;
    case GF_POINT_MATRIX:
        to_colour(colours, p);
        matrix(op, p);
        break;
    case GF_POINT_ROW: /* the MATRIX before it has read this row */
        break;
    case GF_POINT_VIBRANCE:
        vibrance(*op, NULL, p);
        break;
    case GF_POINT_TABLE3D:
        to_colour(colours, p);
        apply_table3d(program, op, p);
        break;
    case GF_POINT_OPAQUE:
        for (int i = 0; i < GF_PIECE; i++)
            p->alpha[i] = op->max;
        break;
    case GF_POINT_KEY:
        key(*op, p);
        break;
    default:
        apply_to_channels(program, op, *colours, p);
    }
}
