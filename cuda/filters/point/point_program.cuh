/* Runs any program of point filters, operation by operation. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point/layer.h"
#include "pixel/point/point_program.h"
#include "stage/picture.h"
#include "stage/stage.h"

/* Second pictures in lists of point filters. */

/* A second picture in device memory. */
struct layer_source {
    const unsigned char *data;
    size_t pitch;
    int width, height, channels, bits;
};

static inline struct layer_source layer_source_of(const struct gf_view &view)
{
    const struct gf_format format = view.format;
    return {view.data, view.pitch, format.width, format.height, format.channels, format.bits};
}

/* The samples of a pixel. A gray sample is in all three colours, and alpha is `opaque` if there is
 * none. Beyond the picture all samples are 0. */
struct layer_pixel {
    struct gf_rgb colour;
    float alpha;
};

template <typename SAMPLE>
static __device__ __forceinline__ struct layer_pixel samples_at(const struct layer_source &source,
                                                                int x, int y, float opaque)
{
    const SAMPLE *const at =
        (const SAMPLE *)(source.data + (size_t)y * source.pitch) + (size_t)x * source.channels;
    struct layer_pixel p;
    p.colour.r = p.colour.g = p.colour.b = (float)(int)at[0];
    if (source.channels >= 3) {
        p.colour.g = (float)(int)at[1];
        p.colour.b = (float)(int)at[2];
    }
    p.alpha = source.channels % 2 == 0 ? (float)(int)at[source.channels - 1] : opaque;
    return p;
}

static __device__ __forceinline__ struct layer_pixel pixel_at(const struct layer_source &source,
                                                              int x, int y, float opaque)
{
    if (x < 0 || y < 0 || x >= source.width || y >= source.height)
        return {{0.0f, 0.0f, 0.0f}, 0.0f};
    return source.bits == 8 ? samples_at<unsigned char>(source, x, y, opaque)
                            : samples_at<unsigned short>(source, x, y, opaque);
}

/* Returns the value of the layer's mask, whose pixel is `p`. */
static __device__ __forceinline__ float
mask_of(const struct gf_layer &layer, const struct layer_source &mask, const struct layer_pixel &p)
{
    const float scale = mask.channels % 2 == 0 ? layer.mask_scale : 1.0f;
    return gf_layer_mask_of(&layer, p.colour, p.alpha * scale);
}

/* Returns the value of the layer's mask at that pixel of the picture. */
static __device__ __forceinline__ float mask_at(const struct gf_layer &layer,
                                                const struct layer_source &mask, int x, int y)
{
    return mask_of(layer, mask, pixel_at(mask, x - layer.mask_x, y - layer.mask_y, 1.0f));
}

#define BLEND_SEPARABLE_CASE(name) \
    case GF_BLEND_##name: \
        return {gf_layer_blend(GF_BLEND_##name, &layer, v.r, s.r), \
                gf_layer_blend(GF_BLEND_##name, &layer, v.g, s.g), \
                gf_layer_blend(GF_BLEND_##name, &layer, v.b, s.b)};
#define BLEND_JOINT_CASE(name) \
    case GF_BLEND_##name: \
        return gf_layer_blend_colour(GF_BLEND_##name, &layer, v, s);

/* Returns what the layer's blend mode makes of the picture's colour v and the layer's colour s; for
 * a gray picture all three samples are equal. */
static __device__ __noinline__ struct gf_rgb blended_of(const struct gf_layer &layer,
                                                        struct gf_rgb v, struct gf_rgb s)
{
    switch (layer.mode) {
        GF_BLEND_SEPARABLE(BLEND_SEPARABLE_CASE)
        GF_BLEND_JOINT(BLEND_JOINT_CASE)
    default:
        return s;
    }
}

/* Applies the layer to a pixel, in place. `p` is the source's pixel and `part` the mask's value. */
static __device__ __forceinline__ void lay_pixel(const struct gf_layer &layer,
                                                 const struct layer_source &source,
                                                 const struct layer_pixel &p, float part,
                                                 struct gf_rgb *v, float *alpha)
{
    const struct gf_rgb s = {p.colour.r * layer.scale, p.colour.g * layer.scale,
                             p.colour.b * layer.scale};
    const float own = source.channels % 2 == 0 ? p.alpha * layer.alpha : p.alpha;
    const float as = own * part;
    const struct gf_rgb b = layer.mode == GF_BLEND_NORMAL ? s : blended_of(layer, *v, s);
    if (!layer.over_alpha) {
        v->r = gf_layer_mix(&layer, v->r, b.r, as);
        v->g = gf_layer_mix(&layer, v->g, b.g, as);
        v->b = gf_layer_mix(&layer, v->b, b.b, as);
        return;
    }
    const float ab = *alpha * layer.least, ao = gf_layer_union(as, ab);
    v->r = gf_layer_over(&layer, v->r, s.r, b.r, as, ab, ao);
    v->g = gf_layer_over(&layer, v->g, s.g, b.g, as, ab, ao);
    v->b = gf_layer_over(&layer, v->b, s.b, b.b, as, ab, ao);
    *alpha = gf_layer_alpha(&layer, *alpha, ao, as);
}

/* Runs mask on 8-bit colour (point_layer.cu). Returns cudaErrorNotSupported for other lists. */
int gf_point_mask8(const struct gf_launch *launch);

/* Runs one overlay or mask without another point filter beside it (point_layer.cu). Returns
 * cudaErrorNotSupported for other lists. */
int gf_point_layer(const struct gf_launch *launch);

/* The operations of point programs on a thread's pixels, as unrounded floats. */

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

/* Replaces each colour sample of the pixels by function(sample, channel, alpha). */
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

/* Applies the operation NOISE. Pixel i of a lane is in column x + 32 i of row y. */
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

/* Applies the operation OVERLAY or MASK. Pixel i of a lane is in column x + 32 i of row y. */
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

/* Applies an operation of the kinds from GAIN on, except those of layers. `op` points into the
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

/* Runs any list of point filters as a program: operations on unrounded floats, as on the CPU. */

enum {
    PROGRAM_WARPS = 4,
    /* Pixels that a thread processes together. With 4, some registers are spilled. */
    PROGRAM_PIXELS = 2,
    /* The number of blocks of a wide kernel that a multiprocessor must hold. Without it the
     * compiler spills registers to hold 8. */
    WIDE_BLOCKS = 4
};

/* Loads a thread's pixels. Neighbouring lanes load neighbouring pixels: the thread's pixel i is
 * pixel at + i * WARP + lane. */
template <typename SAMPLE, int PIXELS>
static __device__ __forceinline__ void take_pixels(const struct program &program,
                                                   const SAMPLE *tile, unsigned at,
                                                   struct pixels<PIXELS> *p)
{
    const int channels = program.in_channels;
    const int colours = channels >= 3 ? 3 : 1;
    const float *const table = (const float *)(program.block + program.table_at);
    const int step = program.tables == 1 ? 0 : 1 << 8 * sizeof(SAMPLE);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const SAMPLE *const from = tile + (int)(at + i * WARP) * channels;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const int v = c < colours ? from[c] : 0;
            p->colour[c][i] = (float)v;
            if (program.table == GF_POINT_FLOATS && c < colours)
                p->colour[c][i] = table[v + c * step];
        }
        p->alpha[i] = channels % 2 == 0 ? (float)from[channels - 1] : 0.0f;
    }
}

/* Stores a thread's pixels. Every operation has clamped its result to samples of the format. */
template <typename SAMPLE, int PIXELS>
static __device__ __forceinline__ void put_pixels(int channels, SAMPLE *tile, unsigned at,
                                                  const struct pixels<PIXELS> *p)
{
    const int colours = channels >= 3 ? 3 : 1;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        SAMPLE *const to = tile + (int)(at + i * WARP) * channels;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (c < colours)
                to[c] = (SAMPLE)(int)(p->colour[c][i] + 0.5f);
        }
        if (channels % 2 == 0)
            to[channels - 1] = (SAMPLE)(int)(p->alpha[i] + 0.5f);
    }
}

/* Runs the program on tiles, one for each warp. The kernel is static, because another file compiles
 * it with other cube roots (GF_ROOTS_BY_POWF). WIDE is of enum point_width. */
template <typename IN, typename OUT, class ACCESS, int WIDE>
static __global__ void __launch_bounds__(PROGRAM_WARPS *WARP, WIDE ? WIDE_BLOCKS : 0)
    program_kernel(const __grid_constant__ struct program program)
{
    extern __shared__ uint4 shared[];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * PROGRAM_WARPS + warp;
    early_next();
    early_wait();
    if (index >= program.band.rows * program.row_tiles)
        return;
    const struct tile tile = tile_of(index, &program.band, program.row_tiles, program.tile);
    const unsigned in_bytes = (unsigned)program.in_channels * sizeof(IN);
    const unsigned out_bytes = (unsigned)program.out_channels * sizeof(OUT);
    unsigned char *const from =
        (unsigned char *)shared + warp * (program.tile * (in_bytes + out_bytes));
    unsigned char *const to = from + program.tile * in_bytes;
    copy_tile<8, ACCESS>(
        from, program.band.in + tile.row * program.band.in_pitch + (size_t)tile.first * in_bytes,
        tile.pixels * in_bytes, lane);
    __syncwarp();
    /* Pixels beyond the end of a short tile are computed, too (any sample is valid), and not copied
     * to the picture. */
#pragma unroll 1
    for (unsigned at = lane; at < tile.pixels; at += PROGRAM_PIXELS * WARP) {
        struct pixels<PROGRAM_PIXELS> p;
        int colours = program.in_channels >= 3 ? 3 : 1;
        take_pixels(program, (const IN *)from, at, &p);
#pragma unroll 1
        for (int i = 0; i < program.count; i++)
            apply<WIDE>(program, program.op[i], tile.first + at, program.first_row + tile.row,
                        &colours, &p);
        put_pixels(program.out_channels, (OUT *)to, at, &p);
    }
    __syncwarp();
    copy_tile<8, ACCESS>(program.band.out + tile.row * program.band.out_pitch +
                             (size_t)tile.first * out_bytes,
                         to, tile.pixels * out_bytes, lane);
}

/* Returns the pixels of a tile. Tables for 16-bit samples, of 256 KB each, are read through the
 * first-level cache, of which shared memory is a part. Tiles are smaller if there are such
 * tables. */
static unsigned tile_pixels(const struct gf_stage *stage, const struct gf_point_program *program)
{
    if (stage->in.bits == 8)
        return TILE;
    return program->level_at ? TILE / 4 : program->table == GF_POINT_FLOATS ? TILE / 2 : TILE;
}

static inline void fill_program(struct program *to, const struct gf_launch *launch,
                                const struct view_pair *band)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const from = (const struct gf_point_program *)stage->constants;
    to->band = *band;
    to->in_channels = stage->in.channels;
    to->out_channels = stage->out.channels;
    to->tile = tile_pixels(stage, from);
    to->row_tiles = blocks_for(band->width, to->tile);
    to->block = (const unsigned char *)launch->constants;
    to->table = from->table;
    to->tables = from->tables;
    to->count = from->count;
    to->table_at = from->table_at;
    to->curve_at = from->curve_at;
    to->level_at = from->level_at;
    to->encode_at = from->encode_at;
    memcpy(to->op, from->op, sizeof to->op);
    to->first_row = (unsigned)launch->out.y;
    to->columns = (unsigned)gf_point_field_columns(stage->in.width);
    to->field_at = from->field_at;
    to->field_bytes = from->field_bytes;
    to->data_at = from->data_at;
}

template <class ACCESS, int WIDE = POINT_NARROW>
static int launch_program(const struct program *program, int in_bits, int out_bits,
                          cudaStream_t stream)
{
    const unsigned blocks = blocks_for(program->band.rows * program->row_tiles, PROGRAM_WARPS);
    const int threads = PROGRAM_WARPS * WARP;
    const size_t size =
        (size_t)PROGRAM_WARPS * program->tile *
        (size_t)(program->in_channels * in_bits + program->out_channels * out_bits) / 8;
    void (*const kernel[2][2])(struct program) = {
        {program_kernel<uint8_t, uint8_t, ACCESS, WIDE>,
         program_kernel<uint8_t, uint16_t, ACCESS, WIDE>},
        {program_kernel<uint16_t, uint8_t, ACCESS, WIDE>,
         program_kernel<uint16_t, uint16_t, ACCESS, WIDE>}};
    return launch_early(kernel[in_bits == 16][out_bits == 16], blocks, threads, size, stream,
                        *program);
}
