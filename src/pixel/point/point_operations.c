/* The operations on planes before GAIN, most of which change each channel by itself. */
#include "base/target_clones.h"
#include "pixel/point/point_planes.h"

/* A piece is always computed in full, so that the loops have no remainders. */
GF_TARGET_CLONES static void linear(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_linear_of(&op, v[i]);
}

GF_TARGET_CLONES static void power(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_power_of(&op, v[i]);
}

GF_TARGET_CLONES static void step(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_step_of(&op, v[i]);
}

GF_TARGET_CLONES static void decode(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_srgb_decode(v[i] / op.max);
}

GF_TARGET_CLONES static void encode(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_of(&op, v[i]);
}

GF_TARGET_CLONES static void encode_8(const unsigned char *table, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_8_of(table, v[i]);
}

GF_TARGET_CLONES static void gray(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->colour[0][i] = gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
}

GF_TARGET_CLONES static void saturate(const struct gf_point_op op, struct gf_planes *p)
{
    const float factor = op.a;
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        const struct gf_rgb to = gf_saturate(from, factor);
        p->colour[0][i] = to.r;
        p->colour[1][i] = to.g;
        p->colour[2][i] = to.b;
    }
}

GF_TARGET_CLONES static void find_levels(const struct gf_point_program *program,
                                         const struct gf_planes *p, float *new_fy)
{
    const uint32_t *const curve = gf_point_block(program, program->curve_at);
    const float *const level = gf_point_block(program, program->level_at);
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        new_fy[i] = level[gf_lightness_bin(from, curve)];
    }
}

GF_TARGET_CLONES static void relight(const float *new_fy, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        const struct gf_rgb to = gf_relight(from, new_fy[i]);
        p->colour[0][i] = to.r;
        p->colour[1][i] = to.g;
        p->colour[2][i] = to.b;
    }
}

GF_TARGET_CLONES static void premultiply(const struct gf_point_op op, float *restrict v,
                                         const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_premultiply_of(&op, v[i], alpha[i]);
}

GF_TARGET_CLONES static void limit(float *restrict v, const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_limit_of(v[i], alpha[i]);
}

GF_TARGET_CLONES static void unpremultiply(const struct gf_point_op op, float *restrict v,
                                           const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_unpremultiply_of(&op, v[i], alpha[i]);
}

GF_TARGET_CLONES static void multiply(float *v, float factor)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] *= factor;
}

GF_TARGET_CLONES static void divide(float *v, float divisor)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] /= divisor;
}

GF_TARGET_CLONES static void flatten(const struct gf_point_op op, float colour, float *restrict v,
                                     const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_flatten_of(&op, v[i], colour, alpha[i]);
}

static void apply_channelwise(const struct gf_point_program *program, const struct gf_point_op *op,
                              float *v, const float *alpha)
{
    switch (op->kind) {
    case GF_POINT_LINEAR:
        linear(*op, v);
        break;
    case GF_POINT_POWER:
        power(*op, v);
        break;
    case GF_POINT_STEP:
        step(*op, v);
        break;
    case GF_POINT_DECODE:
        decode(*op, v);
        break;
    case GF_POINT_ENCODE:
        encode(*op, v);
        break;
    case GF_POINT_ENCODE_8:
        encode_8(gf_point_block(program, program->encode_at), v);
        break;
    case GF_POINT_PREMULTIPLY:
        premultiply(*op, v, alpha);
        break;
    case GF_POINT_LIMIT:
        limit(v, alpha);
        break;
    case GF_POINT_UNPREMULTIPLY:
        unpremultiply(*op, v, alpha);
        break;
    default:
        divide(v, op->a);
    }
}

void gf_planes_apply_simple(const struct gf_point_program *program, const struct gf_point_op *op,
                            int *colours, struct gf_planes *p)
{
    float new_fy[GF_PIECE];
    switch (op->kind) {
    case GF_POINT_GRAY:
        gray(*op, p);
        *colours = 1;
        return;
    case GF_POINT_FLATTEN:
        for (int c = 0; c < *colours; c++)
            flatten(*op, (const float[3]){op->a, op->b, op->c}[c], p->colour[c], p->alpha);
        return;
    case GF_POINT_SATURATE:
        saturate(*op, p);
        return;
    case GF_POINT_RELIGHT:
        find_levels(program, p, new_fy);
        relight(new_fy, p);
        return;
    }
    for (int c = 0; c < *colours; c++)
        if (!gf_point_leaves(op, c))
            apply_channelwise(program, op, p->colour[c], p->alpha);
    if (op->kind == GF_POINT_PREMULTIPLY)
        multiply(p->alpha, op->a);
    else if (op->kind == GF_POINT_UNPREMULTIPLY)
        divide(p->alpha, op->a);
}
