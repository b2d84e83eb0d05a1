/* The operations of point programs on a thread's pixels, as unrounded floats. */
#pragma once

#include "cuda/filters/point/point_layers.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point/point_program.h"

/* The operations that a program's kernel contains (see gf_point_is_wide()). A kernel ignores
 * operations that it does not contain. */
enum point_width { POINT_NARROW, POINT_WIDE, POINT_LAYERS };

struct program {
    struct view_pair band;
    int in_channels, out_channels;
    unsigned tile, row_tiles;   /* pixels of a tile; tiles in a row */
    const unsigned char *block; /* struct gf_point_program and its tables, in device memory */
    int table, tables, count;
    unsigned table_at, curve_at, level_at, encode_at;
    struct gf_point_op op[GF_POINT_OPS_MAX];
    /* For operations that read a field; see struct gf_point_program. */
    unsigned first_row, columns, field_at, field_bytes;
    unsigned data_at;
    struct layer_source picture[GF_STAGE_PICTURES_MAX];
};
static_assert(sizeof(struct program) <= 4096, "arguments of a kernel");

template <int PIXELS> struct pixels {
    float colour[3][PIXELS];
    float alpha[PIXELS];
};

/* Calls function(sample, channel, alpha) for each colour sample. */
template <int PIXELS, typename FUNCTION>
static __device__ __forceinline__ void each_sample(struct pixels<PIXELS> *p, int colours,
                                                   FUNCTION function)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c && colours == 1)
            break;
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->colour[c][i] = function(p->colour[c][i], c, p->alpha[i]);
    }
}

template <int PIXELS, typename FUNCTION>
static __device__ __forceinline__ void each_pixel(struct pixels<PIXELS> *p, FUNCTION function)
{
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        const struct gf_rgb to = function(from);
        p->colour[0][i] = to.r;
        p->colour[1][i] = to.g;
        p->colour[2][i] = to.b;
    }
}

/* Applies MIX, ADD or FADE. Pixel i of the thread is column x + i * WARP of row y of the
 * picture. */
template <int PIXELS>
static __device__ __forceinline__ void apply_position(const struct program &program,
                                                      const struct gf_point_op &op, unsigned x,
                                                      unsigned y, struct pixels<PIXELS> *p)
{
    const float *const curve =
        (const float *)(program.block + program.field_at + (unsigned)op.d * program.field_bytes);
    const float *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[program.columns + y];
    const float colour[3] = {op.a, op.b, op.c};
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const float field = gf_point_field_of(curve, columns[x + i * WARP], row);
        if (op.kind == GF_POINT_FADE) {
            p->alpha[i] *= field;
            continue;
        }
#pragma unroll
        for (int c = 0; c < 3; c++)
            p->colour[c][i] = gf_point_blend_of(&op, p->colour[c][i], colour[c], field);
    }
}

/* Applies NOISE. The pixels have the same positions as in apply_position(). */
template <int PIXELS>
static __device__ __forceinline__ void apply_noise(const struct gf_point_op &op, unsigned x,
                                                   unsigned y, int colours,
                                                   struct pixels<PIXELS> *p)
{
    const bool same = op.d != 0.0f;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const struct gf_noise noise = gf_noise_at(x + i * WARP, y, (uint32_t)op.c);
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (c && colours == 1)
                break;
            const uint32_t word = same ? noise.word[0] : noise.word[c];
            p->colour[c][i] = gf_point_noise_of(&op, p->colour[c][i], word);
        }
    }
}

/* Applies OVERLAY or MASK. The pixels have the same positions as in apply_position(). */
template <int PIXELS>
static __device__ __forceinline__ void
apply_layer(const struct program &program, const struct gf_point_op &op, unsigned x, unsigned y,
            int colours, struct pixels<PIXELS> *p)
{
    const struct gf_layer &layer =
        ((const struct gf_point_program *)program.block)->layer[(int)op.d];
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const int column = (int)(x + i * WARP), row = (int)y;
        const float part =
            layer.mask >= 0 ? mask_at(layer, program.picture[layer.mask], column, row) : 1.0f;
        if (layer.source < 0) {
            p->alpha[i] *= part;
            continue;
        }
        struct gf_rgb v = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        if (colours == 1)
            v.g = v.b = v.r;
        const struct layer_source &source = program.picture[layer.source];
        const struct layer_pixel other =
            pixel_at(source, column - layer.x, row - layer.y, layer.opacity);
        lay_pixel(layer, source, other, part, &v, &p->alpha[i]);
        p->colour[0][i] = v.r;
        p->colour[1][i] = v.g;
        p->colour[2][i] = v.b;
    }
}

/* Converts gray pixels to colour. */
template <int PIXELS>
static __device__ __forceinline__ void make_colour(struct pixels<PIXELS> *p, int *colours)
{
#pragma unroll
    for (int i = 0; i < PIXELS && *colours == 1; i++)
        p->colour[1][i] = p->colour[2][i] = p->colour[0][i];
    *colours = 3;
}

/* Applies the operations from GAIN on except the operations of layers. `op` points into the
 * program, in which the rows of a MATRIX follow it. */
template <int PIXELS>
static __device__ __forceinline__ void
apply_wide(const struct program &program, const struct gf_point_op &op, unsigned x, unsigned y,
           int *colours, struct pixels<PIXELS> *p)
{
    const unsigned char *const data = program.block + program.data_at;
    switch (op.kind) {
    case GF_POINT_GAIN:
        each_sample(p, *colours,
                    [&](float v, int c, float) { return gf_point_gain_of(&op, v, c); });
        break;
    case GF_POINT_QUANTIZE:
        each_sample(p, *colours, [&](float v, int, float) { return gf_point_quantize_of(&op, v); });
        break;
    case GF_POINT_SOLARIZE:
        each_sample(p, *colours, [&](float v, int, float) { return gf_point_solarize_of(&op, v); });
        break;
    case GF_POINT_CURVE:
        each_sample(p, *colours, [&](float v, int c, float) {
            const float *const point = (const float *)data + (int)op.c + c * ((int)op.d + 2);
            return gf_point_curve_of(&op, point, v);
        });
        break;
    case GF_POINT_MATRIX:
        make_colour(p, colours);
        each_pixel(p, [&](struct gf_rgb v) { return gf_point_matrix_of(&op, v); });
        break;
    case GF_POINT_VIBRANCE:
        each_pixel(p, [&](struct gf_rgb v) { return gf_point_vibrance_of(&op, v); });
        break;
    case GF_POINT_TABLE3D:
        make_colour(p, colours);
        each_pixel(p, [&](struct gf_rgb v) {
            return gf_point_table3d_of(&op, (const uint32_t *)data + (int)op.c, v);
        });
        break;
    case GF_POINT_OPAQUE:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] = op.max;
        break;
    case GF_POINT_KEY:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] *=
                gf_point_key_of(&op, {p->colour[0][i], p->colour[1][i], p->colour[2][i]});
        break;
    case GF_POINT_MIX:
    case GF_POINT_ADD:
    case GF_POINT_FADE:
        apply_position(program, op, x, y, p);
        break;
    case GF_POINT_NOISE:
        apply_noise(op, x, y, *colours, p);
        break;
    }
}

/* Applies one operation to all of a thread's pixels, so that its kind is tested once for all of
 * them. */
template <int WIDE, int PIXELS>
static __device__ __forceinline__ void apply(const struct program &program,
                                             const struct gf_point_op &op, unsigned x, unsigned y,
                                             int *colours, struct pixels<PIXELS> *p)
{
    const unsigned char *const encode = program.block + program.encode_at;
    const uint32_t *const curve = (const uint32_t *)(program.block + program.curve_at);
    const float *const level = (const float *)(program.block + program.level_at);
    switch (op.kind) {
    case GF_POINT_LINEAR:
        each_sample(p, *colours, [&](float v, int c, float) {
            return WIDE && gf_point_leaves(&op, c) ? v : gf_point_linear_of(&op, v);
        });
        break;
    case GF_POINT_POWER:
        each_sample(p, *colours, [&](float v, int c, float) {
            return WIDE && gf_point_leaves(&op, c) ? v : gf_point_power_of(&op, v);
        });
        break;
    case GF_POINT_STEP:
        each_sample(p, *colours, [&](float v, int, float) { return gf_point_step_of(&op, v); });
        break;
    case GF_POINT_GRAY:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->colour[0][i] =
                gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
        *colours = 1;
        break;
    case GF_POINT_DECODE:
        each_sample(p, *colours, [&](float v, int, float) { return gf_srgb_decode(v / op.max); });
        break;
    case GF_POINT_SATURATE:
        each_pixel(p, [&](struct gf_rgb v) { return gf_saturate(v, op.a); });
        break;
    case GF_POINT_RELIGHT:
        each_pixel(
            p, [&](struct gf_rgb v) { return gf_relight(v, level[gf_lightness_bin(v, curve)]); });
        break;
    case GF_POINT_ENCODE:
        each_sample(p, *colours, [&](float v, int, float) { return gf_point_encode_of(&op, v); });
        break;
    case GF_POINT_ENCODE_8:
        each_sample(p, *colours,
                    [&](float v, int, float) { return gf_point_encode_8_of(encode, v); });
        break;
    case GF_POINT_PREMULTIPLY:
        each_sample(p, *colours,
                    [&](float v, int, float a) { return gf_point_premultiply_of(&op, v, a); });
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] *= op.a;
        break;
    case GF_POINT_LIMIT:
        each_sample(p, *colours, [&](float v, int, float a) { return gf_point_limit_of(v, a); });
        break;
    case GF_POINT_FLATTEN: {
        const float colour[3] = {op.a, op.b, op.c};
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
#pragma unroll
            for (int c = 0; c < 3; c++)
                p->colour[c][i] = gf_point_flatten_of(&op, p->colour[c][i], colour[c], p->alpha[i]);
        }
        break;
    }
    case GF_POINT_UNPREMULTIPLY:
        each_sample(p, *colours,
                    [&](float v, int, float a) { return gf_point_unpremultiply_of(&op, v, a); });
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] /= op.a;
        break;
    default:
        if (WIDE == POINT_LAYERS && op.kind >= GF_POINT_OVERLAY)
            apply_layer(program, op, x, y, *colours, p);
        else if (WIDE)
            apply_wide(program, op, x, y, colours, p);
    }
}
