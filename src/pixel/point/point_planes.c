/* The operations on planes from GAIN on: they mix channels, use curves and tables, or change
 * alpha. */
#include "pixel/point/point_planes.h"

#include <string.h>

#include "base/target_clones.h"

GF_TARGET_CLONES static void gain(const struct gf_point_op op, int channel, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_gain_of(&op, v[i], channel);
}

GF_TARGET_CLONES static void quantize(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_quantize_of(&op, v[i]);
}

GF_TARGET_CLONES static void solarize(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_solarize_of(&op, v[i]);
}

/* There are two loops, since compilers do not vectorise a limit and a look-up that depends on it in
 * one. */
GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *restrict point,
                                   float *restrict v)
{
    float at[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        at[i] = gf_clamp(v[i] * op.a + op.b, op.d);
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_curve_at(point, at[i]);
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

GF_TARGET_CLONES static void matrix(const struct gf_point_op *at, struct gf_planes *p)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    for (int i = 0; i < GF_PIECE; i++)
        set_pixel(p, i, gf_point_matrix_of(op, pixel_of(p, i)));
}

GF_TARGET_CLONES static void vibrance(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        set_pixel(p, i, gf_point_vibrance_of(&op, pixel_of(p, i)));
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

GF_TARGET_CLONES static void key(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->alpha[i] *= gf_point_key_of(&op, pixel_of(p, i));
}

static void apply_samplewise(const struct gf_point_program *program, const struct gf_point_op *op,
                             int channel, float *v)
{
    const float *const points =
        (const float *)gf_point_block(program, program->data_at) + (int)op->c;
    if (op->kind == GF_POINT_GAIN)
        gain(*op, channel, v);
    else if (op->kind == GF_POINT_QUANTIZE)
        quantize(*op, v);
    else if (op->kind == GF_POINT_SOLARIZE)
        solarize(*op, v);
    else if (op->kind == GF_POINT_CURVE)
        curve(*op, points + channel * ((int)op->d + 2), v);
}

static void to_colour(int *colours, struct gf_planes *p)
{
    if (*colours == 1) {
        memcpy(p->colour[1], p->colour[0], sizeof p->colour[0]);
        memcpy(p->colour[2], p->colour[0], sizeof p->colour[0]);
    }
    *colours = 3;
}

void gf_planes_apply(const struct gf_point_program *program, const struct gf_point_op *op,
                     int *colours, struct gf_planes *p)
{
    struct places places;
    switch (op->kind) {
    case GF_POINT_MATRIX:
        to_colour(colours, p);
        matrix(op, p);
        break;
    case GF_POINT_ROW:
        break;
    case GF_POINT_VIBRANCE:
        vibrance(*op, p);
        break;
    case GF_POINT_TABLE3D:
        to_colour(colours, p);
        find_places(*op, p, &places);
        table3d(*op, (const uint32_t *)gf_point_block(program, program->data_at) + (int)op->c,
                &places, p);
        break;
    case GF_POINT_OPAQUE:
        for (int i = 0; i < GF_PIECE; i++)
            p->alpha[i] = op->max;
        break;
    case GF_POINT_KEY:
        key(*op, p);
        break;
    default:
        for (int c = 0; c < *colours; c++)
            apply_samplewise(program, op, c, p->colour[c]);
    }
}

GF_TARGET_CLONES static void fade(const float *restrict field, float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] *= field[i];
}

void gf_planes_fade(const float *field, struct gf_planes *p)
{
    fade(field, p->alpha);
}
