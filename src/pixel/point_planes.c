/* The operations on planes that mix channels, go through curves and tables, or make alpha. */
#include "pixel/point_planes.h"

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

GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *point, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_curve_of(&op, point, v[i]);
}

/* What a function makes of each pixel's colour. */
#define EACH_PIXEL(p, expression) \
    for (int i = 0; i < GF_PIECE; i++) { \
        const struct gf_rgb from = {(p)->colour[0][i], (p)->colour[1][i], (p)->colour[2][i]}; \
        const struct gf_rgb to = expression; \
        (p)->colour[0][i] = to.r; \
        (p)->colour[1][i] = to.g; \
        (p)->colour[2][i] = to.b; \
    }

GF_TARGET_CLONES static void matrix(const struct gf_point_op *at, struct gf_planes *p)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    EACH_PIXEL(p, gf_point_matrix_of(op, from))
}

GF_TARGET_CLONES static void vibrance(const struct gf_point_op op, struct gf_planes *p){
    EACH_PIXEL(p, gf_point_vibrance_of(&op, from))}

GF_TARGET_CLONES
    static void table3d(const struct gf_point_op op, const uint32_t *nodes,
                        struct gf_planes *p){EACH_PIXEL(p, gf_point_table3d_of(&op, nodes, from))}

GF_TARGET_CLONES static void key(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        p->alpha[i] *= gf_point_key_of(&op, from);
    }
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
        table3d(*op, (const uint32_t *)gf_point_block(program, program->data_at) + (int)op->c, p);
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
