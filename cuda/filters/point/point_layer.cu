/* One overlay or mask, without another point filter beside it, of pictures of all formats.
 * Neighbouring lanes read and write neighbouring pixels; all of a thread's loads precede its
 * arithmetic. */
#include "cuda/common/launch.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_program.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point/point_program.h"

enum { LAYER_THREADS = 256, LAYER_EACH = 4, LAYER_TILE = LAYER_EACH * WARP };

struct laying {
    struct view_pair band;
    unsigned row_tiles;
    /* The layer's picture and its mask; `data` is NULL where there is none. */
    struct layer_source source, mask;
    struct gf_layer layer;
};

/* Loads the samples of a pixel, with one access where its size is a power of two. */
template <class SAMPLE, int CHANNELS>
static __device__ __forceinline__ void take_pixel(const SAMPLE *from, unsigned (&v)[CHANNELS])
{
    if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 4) {
        const uchar4 four = *(const uchar4 *)from;
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    } else if constexpr (CHANNELS == 4) {
        const ushort4 four = *(const ushort4 *)from;
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    } else {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            v[c] = from[c];
    }
}

/* Loads a thread's pixels of the second picture, which are WARP columns apart, from (x, y) of that
 * picture on. All are in it. */
template <class SAMPLE, int CHANNELS>
static __device__ __forceinline__ void covered_pixels(const struct layer_source &source, int x,
                                                      int y, float opaque,
                                                      struct layer_pixel (&to)[LAYER_EACH])
{
    constexpr int G = CHANNELS < 3 ? 0 : 1, B = CHANNELS < 3 ? 0 : 2;
    const SAMPLE *const at =
        (const SAMPLE *)(source.data + (size_t)y * source.pitch) + (size_t)x * CHANNELS;
    unsigned v[LAYER_EACH][CHANNELS];
#pragma unroll
    for (int i = 0; i < LAYER_EACH; i++)
        take_pixel(at + i * WARP * CHANNELS, v[i]);
#pragma unroll
    for (int i = 0; i < LAYER_EACH; i++)
        to[i] = {{float_of(v[i][0]), float_of(v[i][G]), float_of(v[i][B])},
                 CHANNELS % 2 ? opaque : float_of(v[i][CHANNELS - 1])};
}

/* Loads a thread's pixels of the second picture, also beyond it. The warp's pixels begin with
 * (x_first, y) of the second picture. */
static __device__ __forceinline__ void load_pixels(const struct layer_source &source, int x_first,
                                                   int y, float opaque,
                                                   struct layer_pixel (&to)[LAYER_EACH])
{
    const int x = x_first + (int)threadIdx.x % WARP;
    if (y < 0 || y >= source.height || x_first < 0 || x_first + LAYER_TILE > source.width) {
#pragma unroll
        for (int i = 0; i < LAYER_EACH; i++)
            to[i] = pixel_at(source, x + i * WARP, y, opaque);
        return;
    }
    switch (source.channels + source.bits) {
    case 8 + 1:
        return covered_pixels<unsigned char, 1>(source, x, y, opaque, to);
    case 8 + 2:
        return covered_pixels<unsigned char, 2>(source, x, y, opaque, to);
    case 8 + 3:
        return covered_pixels<unsigned char, 3>(source, x, y, opaque, to);
    case 8 + 4:
        return covered_pixels<unsigned char, 4>(source, x, y, opaque, to);
    case 16 + 1:
        return covered_pixels<unsigned short, 1>(source, x, y, opaque, to);
    case 16 + 2:
        return covered_pixels<unsigned short, 2>(source, x, y, opaque, to);
    case 16 + 3:
        return covered_pixels<unsigned short, 3>(source, x, y, opaque, to);
    default:
        return covered_pixels<unsigned short, 4>(source, x, y, opaque, to);
    }
}

template <class SAMPLE, int CHANNELS>
static __device__ __forceinline__ void put_pixel(SAMPLE *to, const unsigned (&v)[CHANNELS])
{
    if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 4) {
        *(unsigned *)to =
            __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
    } else if constexpr (CHANNELS == 4) {
        *(uint2 *)to = make_uint2(__byte_perm(v[0], v[1], 0x5410), __byte_perm(v[2], v[3], 0x5410));
    } else {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            to[c] = (SAMPLE)v[c];
    }
}

/* Returns v, which is between 0 and the largest sample, rounded to an integer in the lowest
 * bits. */
static __device__ __forceinline__ unsigned rounded(float v)
{
    return __float_as_uint(__fadd_rz(v + 0.5f, 8388608.0f));
}

/* Computes a pixel of the result: adds the channels that it lacks, as the operations OPAQUE and
 * COLOUR do, and then does OVERLAY or MASK. */
template <int IN, int OUT>
static __device__ __forceinline__ void lay(const struct laying &args, const unsigned (&in)[IN],
                                           const struct layer_pixel &other, float part,
                                           unsigned (&to)[OUT])
{
    const struct gf_layer &layer = args.layer;
    constexpr int G = IN < 3 ? 0 : 1, B = IN < 3 ? 0 : 2;
    struct gf_rgb v = {float_of(in[0]), float_of(in[G]), float_of(in[B])};
    float alpha = IN % 2 ? layer.max : float_of(in[IN - 1]);
    if (args.source.data)
        lay_pixel(layer, args.source, other, part, &v, &alpha);
    else
        alpha *= part;
    to[0] = rounded(v.r);
    if constexpr (OUT >= 3) {
        to[1] = rounded(v.g);
        to[2] = rounded(v.b);
    }
    if constexpr (OUT % 2 == 0)
        to[OUT - 1] = rounded(alpha);
}

template <class SAMPLE, int IN, int OUT>
static __global__ void __launch_bounds__(LAYER_THREADS)
    layer_kernel(const __grid_constant__ struct laying args)
{
    const struct view_pair &band = args.band;
    const struct gf_layer &layer = args.layer;
    const unsigned index = (blockIdx.x * LAYER_THREADS + threadIdx.x) / WARP;
    early_next();
    if (index >= (unsigned)band.rows * args.row_tiles)
        return;
    const struct tile tile = tile_of(index, &band, args.row_tiles, LAYER_TILE);
    const int lane = (int)threadIdx.x % WARP, left = (int)tile.first,
              y = band.out_y + (int)tile.row;
    const SAMPLE *const from = (const SAMPLE *)(band.in + tile.row * band.in_pitch);
    SAMPLE *const to = (SAMPLE *)(band.out + tile.row * band.out_pitch);
    unsigned in[LAYER_EACH][IN];
    struct layer_pixel source[LAYER_EACH] = {}, mask[LAYER_EACH] = {};
    early_wait();
#pragma unroll
    for (int i = 0; i < LAYER_EACH; i++)
        take_pixel(from + (size_t)min(left + lane + i * WARP, band.width - 1) * IN, in[i]);
    if (args.source.data)
        load_pixels(args.source, left - layer.x, y - layer.y, layer.opacity, source);
    if (args.mask.data)
        load_pixels(args.mask, left - layer.mask_x, y - layer.mask_y, 1.0f, mask);
#pragma unroll
    for (int i = 0; i < LAYER_EACH; i++) {
        const int x = left + lane + i * WARP;
        unsigned out[OUT];
        if (x >= band.width)
            break;
        const float part = args.mask.data ? mask_of(layer, args.mask, mask[i]) : 1.0f;
        lay(args, in[i], source[i], part, out);
        put_pixel(to + (size_t)x * OUT, out);
    }
}

/* Whether the three operations from `op` on are a MATRIX that changes no colour, which a program
 * has where gray becomes colour. */
static bool is_colour(const struct gf_point_op *op)
{
    bool is_same = op->kind == GF_POINT_MATRIX;
    for (int row = 0; is_same && row < 3; row++)
        is_same = op[row].a == (row == 0) && op[row].b == (row == 1) && op[row].c == (row == 2) &&
                  op[row].d == 0;
    return is_same;
}

/* Whether the program is one layer and, before it, only the operations that add the channels which
 * the layer needs. */
static bool is_layer(const struct gf_stage *stage, const struct gf_point_program *program)
{
    const struct gf_point_op *const op = program->op;
    const int before = program->count - 1;
    return stage->in.bits == stage->out.bits && program->table == GF_POINT_NO_TABLE &&
           before >= 0 && op[before].kind >= GF_POINT_OVERLAY &&
           (before == 0 || (before == 1 && op->kind == GF_POINT_OPAQUE) ||
            (before == 3 && is_colour(op)));
}

template <class SAMPLE> static void (*kernel_of(int in, int out))(struct laying)
{
    static void (*const kernels[4][4])(struct laying) = {
        {layer_kernel<SAMPLE, 1, 1>, layer_kernel<SAMPLE, 1, 2>, layer_kernel<SAMPLE, 1, 3>},
        {NULL, layer_kernel<SAMPLE, 2, 2>, NULL, layer_kernel<SAMPLE, 2, 4>},
        {NULL, NULL, layer_kernel<SAMPLE, 3, 3>, layer_kernel<SAMPLE, 3, 4>},
        {NULL, NULL, NULL, layer_kernel<SAMPLE, 4, 4>}};
    return kernels[in - 1][out - 1];
}

int gf_point_layer(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    if (!is_layer(stage, program))
        return cudaErrorNotSupported;
    const int in = stage->in.channels, out = stage->out.channels;
    struct laying args = {};
    args.band = aligned_views(launch);
    args.row_tiles = blocks_for((unsigned)args.band.width, LAYER_TILE);
    args.layer = program->layer[0];
    if (args.layer.source >= 0)
        args.source = layer_source_of(launch->pictures[args.layer.source]);
    if (args.layer.mask >= 0)
        args.mask = layer_source_of(launch->pictures[args.layer.mask]);
    const auto kernel = stage->in.bits == 8 ? kernel_of<unsigned char>(in, out)
                                            : kernel_of<unsigned short>(in, out);
    const unsigned warps = (unsigned)args.band.rows * args.row_tiles;
    return launch_early(kernel, blocks_for(warps, LAYER_THREADS / WARP), LAYER_THREADS, 0,
                        launch->stream, args);
}

/* mask on 8-bit colour, without another point filter beside it: a thread multiplies the alpha of
 * four pixels, and reads and writes whole words. */

enum { MASK_THREADS = 256, MASK_EACH = 4 };

struct masking {
    struct view_pair band;
    unsigned items; /* groups of four pixels in a row */
    struct layer_source mask;
    struct gf_layer layer;
};

/* Loads words from any address. It reads only words that contain one of their bytes. */
template <int COUNT>
static __device__ __forceinline__ void load_words(const unsigned char *at, unsigned (&to)[COUNT])
{
    const unsigned bits = (unsigned)((size_t)at % 4) * 8;
    const unsigned *const words = (const unsigned *)(at - bits / 8);
    unsigned word[COUNT + 1];
#pragma unroll
    for (int i = 0; i <= COUNT; i++)
        word[i] = i < COUNT || bits ? __ldg(words + i) : 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = __funnelshift_r(word[i], word[i + 1], bits);
}

template <int COUNT>
static __device__ __forceinline__ unsigned byte_of(const unsigned (&word)[COUNT], int i)
{
    return word[i / 4] >> 8 * (i % 4) & 255;
}

/* Finds the mask's values for the four pixels of the picture from (x, y) on. */
template <int CHANNELS>
static __device__ __forceinline__ void masks_at(const struct masking &args, int x, int y,
                                                float (&part)[MASK_EACH])
{
    const struct layer_source &mask = args.mask;
    const int column = x - args.layer.mask_x, row = y - args.layer.mask_y;
    if (row < 0 || row >= mask.height || column < 0 || column + MASK_EACH > mask.width) {
#pragma unroll 1
        for (int i = 0; i < MASK_EACH; i++)
            part[i] = mask_at(args.layer, mask, x + i, y);
        return;
    }
    unsigned word[CHANNELS];
    load_words(mask.data + (size_t)row * mask.pitch + (size_t)column * CHANNELS, word);
#pragma unroll
    for (int i = 0; i < MASK_EACH; i++) {
        const auto sample = [&](int c) { return (float)(int)byte_of(word, i * CHANNELS + c); };
        const int g = CHANNELS < 3 ? 0 : 1, b = CHANNELS < 3 ? 0 : 2;
        const float alpha = CHANNELS % 2 ? 1.0f : sample(CHANNELS - 1) * args.layer.mask_scale;
        part[i] = gf_layer_mask_of(&args.layer, {sample(0), sample(g), sample(b)}, alpha);
    }
}

/* A thread multiplies the alpha of four pixels by the mask's values. IN is the number of channels
 * of the picture, CHANNELS that of the mask. */
template <int IN, int CHANNELS>
static __global__ void __launch_bounds__(MASK_THREADS)
    mask8_kernel(const __grid_constant__ struct masking args)
{
    const struct view_pair &band = args.band;
    const struct position at =
        position_of(blockIdx.x * MASK_THREADS + threadIdx.x, band.rows, args.items);
    early_next();
    if (at.row >= (unsigned)band.rows || at.column >= args.items)
        return;
    const int x = (int)at.column * MASK_EACH, count = min((int)MASK_EACH, band.width - x);
    const unsigned char *const in = band.in + at.row * band.in_pitch + (size_t)x * IN;
    uint4 *const out = (uint4 *)(band.out + at.row * band.out_pitch) + at.column;
    unsigned word[IN] = {}, to[MASK_EACH];
    float part[MASK_EACH] = {};
    early_wait();
    if (count == MASK_EACH) {
#pragma unroll
        for (int i = 0; i < IN; i++)
            word[i] = ((const unsigned *)in)[i];
    } else {
#pragma unroll
        for (int i = 0; i < IN * MASK_EACH; i++)
            word[i / 4] |= i < IN * count ? (unsigned)in[i] << 8 * (i % 4) : 0;
    }
    masks_at<CHANNELS>(args, x, band.out_y + (int)at.row, part);
#pragma unroll
    for (int i = 0; i < MASK_EACH; i++) {
        const float alpha = IN == 4 ? (float)(int)(word[i % IN] >> 24) : 255.0f;
        const unsigned colour = IN == 4 ? word[i % IN]
                                : i     ? __funnelshift_r(word[i - 1], word[i % IN], 32 - 8 * i)
                                        : word[0];
        to[i] = (colour & 0xFFFFFF) | (unsigned)(int)(alpha * part[i] + 0.5f) << 24;
    }
    if (count == MASK_EACH) {
        *out = make_uint4(to[0], to[1], to[2], to[3]);
    } else {
#pragma unroll
        for (int i = 0; i < MASK_EACH; i++) {
            if (i < count)
                ((unsigned *)out)[i] = to[i];
        }
    }
}

static bool is_mask8(const struct gf_stage *stage, const struct gf_point_program *program)
{
    const int made = stage->in.channels == 3; /* 1 if OPAQUE precedes MASK */
    return stage->in.bits == 8 && stage->out.bits == 8 && stage->in.channels >= 3 &&
           program->table == GF_POINT_NO_TABLE && program->count == 1 + made &&
           program->op[made].kind == GF_POINT_MASK &&
           (!made || program->op[0].kind == GF_POINT_OPAQUE);
}

int gf_point_mask8(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    if (!is_mask8(stage, program))
        return cudaErrorNotSupported;
    struct masking args = {};
    args.band = aligned_views(launch);
    args.items = (unsigned)ceil_div(args.band.width, MASK_EACH);
    args.layer = program->layer[0];
    args.mask = layer_source_of(launch->pictures[args.layer.mask]);
    if (args.mask.bits != 8)
        return cudaErrorNotSupported;
    const unsigned blocks = blocks_for((unsigned)args.band.rows * args.items, MASK_THREADS);
    return for_channels(args.mask.channels, [&](auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        const auto kernel =
            stage->in.channels == 3 ? mask8_kernel<3, CHANNELS> : mask8_kernel<4, CHANNELS>;
        return launch_early(kernel, blocks, MASK_THREADS, 0, launch->stream, args);
    });
}
