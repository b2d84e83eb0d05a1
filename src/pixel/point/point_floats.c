/* Point programs on floats: the formulas of point_floats.h on planes of samples. */
#include "pixel/point/point_floats.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "pixel/point/point_planes.h"

/* Defines an operation on a plane of samples v; c is the channel, a the plane of alpha. */
#define OF_SAMPLES(kind, name, result) \
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
GF_FLOAT_SAMPLES(OF_SAMPLES)

typedef void of_samples(const struct gf_point_op op, int c, float *plane, const float *alpha);
#define OPERATION(kind, name, result) [GF_POINT_##kind] = name,
static of_samples *const operation[] = {GF_FLOAT_SAMPLES(OPERATION)};

GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *points, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_float_curve(&op, points, v[i]);
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

/* Defines an operation on pixels p. */
#define OF_PIXELS(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op *op, struct gf_planes *planes) \
    { \
        for (int i = 0; i < GF_PIECE; i++) { \
            const struct gf_rgb p = rgb_at(planes, i); \
            set_rgb(planes, i, result); \
        } \
    }
OF_PIXELS(matrix, gf_float_matrix(op, p))
OF_PIXELS(saturate, gf_saturate_to(p, op->a, false))
OF_PIXELS(vibrance, gf_float_vibrance(op, p))

GF_TARGET_CLONES static void table3d(const struct gf_point_op *op, const uint32_t *nodes,
                                     struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        set_rgb(p, i, gf_float_table3d(op, nodes, rgb_at(p, i)));
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

GF_TARGET_CLONES static void blend(int kind, float colour, const float *restrict field,
                                   float *restrict plane)
{
    for (int i = 0; i < GF_PIECE; i++)
        plane[i] = gf_float_blend(kind, plane[i], colour, field[i]);
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
            float *const v = &p->colour[c][i];
            *v = gf_float_noise(op.b != 0.0f, op.a, *v, at.word[op.d != 0.0f ? 0 : c]);
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
