/* Short programs on 8-bit RGB pictures, and MIX on all formats, each by a kernel of its own: the
 * kinds of operations are known when the kernel is compiled, pixels stay in registers, and
 * conversions between bytes and floats are additions. The kernels are limited by memory if an
 * operation takes at most about 30 instructions for each pixel. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point/point_program.h"

enum {
    SHORT_WARPS = 4,
    SHORT_GROUPS = 4 /* groups of four pixels of a thread */
};

/* The number of blocks that a multiprocessor must hold: `wanted` (an operation's BLOCKS), or fewer,
 * because more than a device holds would spill registers. A multiprocessor holds the threads of 16
 * blocks; on compute capabilities 8.6, 8.9 and 12.0, of 12; on 7.5, of 8. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SHORT_BLOCKS(wanted) 8
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ % 100 == 0 && __CUDA_ARCH__ < 1200
#define SHORT_BLOCKS(wanted) (wanted)
#else
#define SHORT_BLOCKS(wanted) ((wanted) < 12 ? (wanted) : 12)
#endif

/* The float 2^23. A float in 2^23 .. 2^24 has its integer part in the lower bits. */
#define SHORT_SHIFT 8388608.0f

struct short_args {
    struct view_pair band;
    /* The tiles in a row, and UINT_MAX / row_tiles for quick_tile(). */
    unsigned row_tiles, row_inverse;
    struct gf_point_op op[3];
    unsigned first_row;
    /* The address of the first float of a field's curve, less SHORT_EXPONENT floats. */
    size_t curve;
    const float *columns, *rows;
    float zero_until; /* where column + row is at most this, the operation changes nothing */
    /* For short_dither: the sample of level q is byte 3 of (SHORT_EXPONENT + q) scale + offset. */
    unsigned scale, offset;
    /* SHORT_EXPONENT and SHORT_ODD, as variables that the compiler cannot replace by constants: an
     * instruction can have only one constant, and these instructions have another one. */
    unsigned exponent, odd;
};

#define SHORT_EXPONENT 0x4b000000u /* the bits of SHORT_SHIFT */
#define SHORT_ODD 0x80000080u

/* Returns byte k of the word as a float. `exponent` is SHORT_EXPONENT. */
static __device__ __forceinline__ float byte_of(unsigned word, int k, unsigned exponent)
{
    return __uint_as_float(__byte_perm(word, exponent, 0x7440u + (unsigned)k)) - SHORT_SHIFT;
}

/* Returns the lower or the upper half of the word as a float. */
static __device__ __forceinline__ float half_of(unsigned word, int k, unsigned exponent)
{
    return __uint_as_float(__byte_perm(word, exponent, k ? 0x7632u : 0x7610u)) - SHORT_SHIFT;
}

/* Returns four floats as samples, rounded half up, as put_pixels() does, and clamped to 0..255,
 * from byte 0 on. On compute capability 9.0 one instruction truncates, clamps and packs two of
 * them. */
static __device__ __forceinline__ unsigned samples_of(float a, float b, float c, float d)
{
    unsigned upper, word;
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
                 : "=r"(upper)
                 : "r"(__float2int_rz(d + 0.5f)), "r"(__float2int_rz(c + 0.5f)), "r"(0));
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
                 : "=r"(word)
                 : "r"(__float2int_rz(b + 0.5f)), "r"(__float2int_rz(a + 0.5f)), "r"(upper));
    return word;
}

static __device__ __forceinline__ void pack_samples(const float v[12], unsigned w[3])
{
#pragma unroll
    for (int k = 0; k < 3; k++)
        w[k] = samples_of(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
}

static __device__ __forceinline__ float limited(float v, float max)
{
    return fminf(fmaxf(v, 0.0f), max);
}

/* Does what gf_point_field_of() does, for four columns. The bits of `shifted`, taken as an integer,
 * are SHORT_EXPONENT plus the index in the curve. args.curve lies SHORT_EXPONENT floats before the
 * curve, so that this integer serves as the index. */
static __device__ __forceinline__ void fields_at(const struct short_args &args,
                                                 const float column[4], float row, float field[4])
{
    constexpr float STEPS = GF_POINT_CURVE_STEPS;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float part = __saturatef(column[i] + row);
        const float shifted = __fmaf_rz(part, STEPS, SHORT_SHIFT);
        const float rest = fmaf(part, STEPS, SHORT_SHIFT - shifted);
        const float *const point =
            (const float *)(args.curve + sizeof(float) * (size_t)__float_as_uint(shifted));
        const float first = __ldg(point), second = __ldg(point + 1);
        field[i] = first + (second - first) * rest;
    }
}

/* ---- operations that keep the format ---- */

/* Operations on colours: of() computes a pixel, and change_pixels() changes four pixels in three
 * words by it, in place. Packing clamps the results to 0..255. */

struct short_matrix {
    static constexpr int BLOCKS = 10; /* fewer than other operations: the matrix takes registers */
    static __device__ __forceinline__ struct gf_rgb of(const struct short_args &args,
                                                       struct gf_rgb p)
    {
        const struct gf_point_op *const op = args.op;
        return {fmaf(op[0].a, p.r, fmaf(op[0].b, p.g, fmaf(op[0].c, p.b, op[0].d))),
                fmaf(op[1].a, p.r, fmaf(op[1].b, p.g, fmaf(op[1].c, p.b, op[1].d))),
                fmaf(op[2].a, p.r, fmaf(op[2].b, p.g, fmaf(op[2].c, p.b, op[2].d)))};
    }
};

struct short_vibrance {
    static constexpr int BLOCKS = 12;
    static __device__ __forceinline__ struct gf_rgb of(const struct short_args &args,
                                                       struct gf_rgb p)
    {
        const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
        const float most = fmaxf(fmaxf(p.r, p.g), p.b), least = fminf(fminf(p.r, p.g), p.b);
        const float factor = fmaf(-args.op[0].b, most - least, args.op[0].a);
        return {fmaf(p.r - y, factor, y), fmaf(p.g - y, factor, y), fmaf(p.b - y, factor, y)};
    }
};

template <class OPERATION>
static __device__ __forceinline__ void change_pixels(const struct short_args &args, unsigned w[3])
{
    float to[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gf_rgb p = {byte_of(w[3 * i / 4], 3 * i % 4, args.exponent),
                                 byte_of(w[(3 * i + 1) / 4], (3 * i + 1) % 4, args.exponent),
                                 byte_of(w[(3 * i + 2) / 4], (3 * i + 2) % 4, args.exponent)};
        const struct gf_rgb v = OPERATION::of(args, p);
        to[3 * i] = v.r;
        to[3 * i + 1] = v.g;
        to[3 * i + 2] = v.b;
    }
    pack_samples(to, w);
}

/* Packs two floats in 0..65535 as samples, rounded half up. */
static __device__ __forceinline__ unsigned pair_of(float a, float b)
{
    return __byte_perm(__float_as_uint(__fadd_rz(a + 0.5f, SHORT_SHIFT)),
                       __float_as_uint(__fadd_rz(b + 0.5f, SHORT_SHIFT)), 0x5410);
}

/* Applies MIX, which changes nothing where the field is 0. A result is between the sample and the
 * colour. With BLACK the colour is black and is not added. */
template <typename SAMPLE, int CHANNELS, bool BLACK>
static __device__ __forceinline__ void mix_pixels(const struct short_args &args, unsigned x,
                                                  float row, unsigned w[])
{
    constexpr int EACH = 4 / sizeof(SAMPLE);
    const float colour[3] = {args.op[0].a, args.op[0].b, args.op[0].c};
    float column[4], field[4], to[4 * CHANNELS];
    unpack(*(const float4 *)(args.columns + x), column);
    const float most = fmaxf(fmaxf(column[0], column[1]), fmaxf(column[2], column[3]));
    if (most + row <= args.zero_until)
        return;
    fields_at(args, column, row, field);
#pragma unroll
    for (int k = 0; k < 4 * CHANNELS; k++) {
        const int c = k % CHANNELS;
        const float v = EACH == 4 ? byte_of(w[k / EACH], k % EACH, args.exponent)
                                  : half_of(w[k / EACH], k % EACH, args.exponent);
        const bool is_alpha = CHANNELS % 2 == 0 && c == CHANNELS - 1;
        to[k] = is_alpha ? v : v + (BLACK ? -v : colour[c % 3] - v) * field[k / CHANNELS];
    }
#pragma unroll
    for (int k = 0; k < 4 * CHANNELS; k += EACH)
        w[k / EACH] = EACH == 4 ? samples_of(to[k], to[k + 1], to[k + 2 % EACH], to[k + 3 % EACH])
                                : pair_of(to[k], to[k + 1]);
}

/* Applies ADD, then QUANTIZE. ADD adds less than half a step between two levels, so that level q is
 * within 0 .. levels - 1 without clamping. The columns of the field repeat, so that all groups of a
 * thread have the same four columns. */
static __device__ __forceinline__ void dither_pixels(const struct short_args &args, unsigned x,
                                                     float row, unsigned w[3])
{
    static_assert(GF_POINT_FIELD_REPEAT == 4 * WARP && TILE % (4 * WARP) == 0,
                  "groups of a thread");
    const float amount = args.op[0].a, per_step = args.op[1].a;
    float column[4], field[4];
    unpack(*(const float4 *)(args.columns + x % GF_POINT_FIELD_REPEAT), column);
    fields_at(args, column, row, field);
    unsigned to[12];
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const float v = byte_of(w[k / 4], k % 4, args.exponent) + amount * field[k / 3];
        const float level = __fadd_rz(v * per_step + 0.5f, SHORT_SHIFT);
        to[k] = __float_as_uint(level) * args.scale + args.offset;
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        w[k] = __byte_perm(__byte_perm(to[4 * k], to[4 * k + 1], 0x0073),
                           __byte_perm(to[4 * k + 2], to[4 * k + 3], 0x0073), 0x5410);
}

/* Returns gf_noise_even() times 2^31; `odd` is SHORT_ODD. The result is the upper 24 bits and the
 * bit that makes them odd. The sign bit is flipped, which replaces a subtraction. */
static __device__ __forceinline__ float even_of(uint32_t word, unsigned odd)
{
    return (float)(int)((word & 0xffffff00u) ^ odd);
}

/* Applies NOISE. The factors are powers of two, which change no rounding. */
template <bool NORMAL, bool SAME>
static __device__ __forceinline__ void noise_pixels(const struct short_args &args, unsigned x,
                                                    unsigned y, unsigned w[3])
{
    const struct gf_point_op &op = args.op[0];
    const float scale = NORMAL ? op.a : op.a * 0x1p-31f;
    float to[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gf_noise noise = gf_noise_at(x + i, y, (uint32_t)op.c);
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const int k = 3 * i + c;
            const float even = even_of(noise.word[SAME ? 0 : c], args.odd);
            const float z = NORMAL ? gf_noise_normal(even * 0x1p-31f) : even;
            to[k] = fmaf(z, scale, byte_of(w[k / 4], k % 4, args.exponent));
        }
    }
    pack_samples(to, w);
}

/* The work of short8_kernel() on a group of four pixels: change() changes the WORDS words of the
 * pixels from column x of row y on, in place. */
struct short_rgb8 {
    static constexpr int WORDS = 3;
};

template <class OPERATION> struct short_colours : short_rgb8 {
    static constexpr int BLOCKS = OPERATION::BLOCKS;
    static __device__ __forceinline__ void change(const struct short_args &args, unsigned, unsigned,
                                                  unsigned w[3])
    {
        change_pixels<OPERATION>(args, w);
    }
};

template <typename SAMPLE, int CHANNELS, bool BLACK> struct short_mix {
    static constexpr int WORDS = CHANNELS * (int)sizeof(SAMPLE), BLOCKS = WORDS <= 3 ? 12 : 8;
    static __device__ __forceinline__ void change(const struct short_args &args, unsigned x,
                                                  unsigned y, unsigned w[WORDS])
    {
        mix_pixels<SAMPLE, CHANNELS, BLACK>(args, x, args.rows[y], w);
    }
};

struct short_dither : short_rgb8 {
    static constexpr int BLOCKS = 12;
    static __device__ __forceinline__ void change(const struct short_args &args, unsigned x,
                                                  unsigned y, unsigned w[3])
    {
        dither_pixels(args, x, args.rows[y], w);
    }
};

template <bool NORMAL, bool SAME> struct short_noise : short_rgb8 {
    static constexpr int BLOCKS = NORMAL ? 10 : 12;
    static __device__ __forceinline__ void change(const struct short_args &args, unsigned x,
                                                  unsigned y, unsigned w[3])
    {
        noise_pixels<NORMAL, SAME>(args, x, y, w);
    }
};

static __device__ __forceinline__ struct tile short_tile(const struct short_args &args,
                                                         unsigned index)
{
    return quick_tile(index, (unsigned)args.band.width, args.row_tiles, args.row_inverse);
}

/* Loads the words of four pixels, which begin at a multiple of their size. */
template <int WORDS>
static __device__ __forceinline__ void load_words(const unsigned *from, unsigned w[WORDS])
{
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        if (WORDS % 4 == 0 && i % 4 == 0) {
            unpack(*(const uint4 *)(from + i), w + i);
        } else if (WORDS % 4 == 2 && i % 2 == 0) {
            const uint2 two = *(const uint2 *)(from + i);
            w[i] = two.x, w[i + 1 < WORDS ? i + 1 : i] = two.y;
        } else if (WORDS % 2) {
            w[i] = from[i];
        }
    }
}

/* Loads pixels pixel .. pixel + 3 of `pixels` pixels, of WORDS bytes each, which begin at a
 * multiple of four bytes. Pixels beyond the last one are not loaded. */
template <int WORDS>
static __device__ __forceinline__ void load_four(const unsigned char *in, unsigned pixel,
                                                 unsigned pixels, unsigned w[WORDS])
{
    if (pixel + 4 <= pixels) {
        load_words<WORDS>((const unsigned *)(in + pixel * WORDS), w);
    } else if (pixel < pixels) {
#pragma unroll
        for (int i = 0; i < 3 * WORDS; i++) {
            if (pixel * WORDS + i < pixels * WORDS)
                w[i / 4] |= (unsigned)in[pixel * WORDS + i] << 8 * (i % 4);
        }
    }
}

/* Loads the groups of a lane, which are 32 groups apart, from `in` on. */
template <int WORDS>
static __device__ __forceinline__ void take_groups(const unsigned char *in, unsigned lane,
                                                   unsigned pixels, unsigned w[SHORT_GROUPS][WORDS])
{
    const unsigned *const words = (const unsigned *)in + WORDS * lane;
#pragma unroll
    for (int k = 0; pixels == TILE && k < SHORT_GROUPS; k++)
        load_words<WORDS>(words + k * (WORDS * WARP), w[k]);
#pragma unroll
    for (int k = 0; pixels < TILE && k < SHORT_GROUPS; k++) {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            w[k][i] = 0;
        load_four<WORDS>(in, (lane + k * WARP) * 4, pixels, w[k]);
    }
}

/* Each warp changes a tile. Neighbouring threads process neighbouring groups of four pixels, whose
 * table entries are also near each other. Results pass through shared memory, so that a warp stores
 * vectors. */
template <class OPERATION>
__global__ void __launch_bounds__(SHORT_WARPS *WARP, SHORT_BLOCKS(OPERATION::BLOCKS))
    short8_kernel(const __grid_constant__ struct short_args args)
{
    /* Words of four pixels, and as many bytes of one pixel. */
    constexpr int WORDS = OPERATION::WORDS;
    __shared__ uint4 shared[SHORT_WARPS][TILE * WORDS / VECTOR];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * SHORT_WARPS + warp;
    early_next();
    early_wait();
    if (index >= (unsigned)args.band.rows * args.row_tiles)
        return;
    const struct tile tile = short_tile(args, index);
    const unsigned char *const in =
        args.band.in + tile.row * args.band.in_pitch + (size_t)tile.first * WORDS;
    /* With three words for each lane, no two lanes access the same bank. */
    unsigned *const own = (unsigned *)shared[warp] + WORDS * lane;
    unsigned w[SHORT_GROUPS][WORDS];
    take_groups<WORDS>(in, lane, tile.pixels, w);
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++)
        OPERATION::change(args, tile.first + (lane + k * WARP) * 4, args.first_row + tile.row,
                          w[k]);
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++) {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            own[k * (WORDS * WARP) + i] = w[k][i];
    }
    __syncwarp();
    copy_tile<WORDS, uint4>(args.band.out + tile.row * args.band.out_pitch +
                                (size_t)tile.first * WORDS,
                            (const unsigned char *)shared[warp], tile.pixels * WORDS, lane);
}

/* Short programs that add alpha to 8-bit RGB. */

/* ---- operations: each computes a vector from four pixels in three words ---- */

struct short_fade {
    static constexpr bool POSITION = true;
    static __device__ __forceinline__ void alphas(const struct short_args &args, unsigned x,
                                                  float row, const unsigned *, float alpha[4])
    {
        float column[4];
        unpack(*(const float4 *)(args.columns + x), column);
        fields_at(args, column, row, alpha);
    }
};

/* Computes gf_point_key_of(). Most pixels are so far from the colour, or so near to it, that their
 * result needs no root. A margin of a ten-thousandth on either side exceeds any rounding error. */
struct short_key {
    static constexpr bool POSITION = false;
    static __device__ __forceinline__ void alphas(const struct short_args &args, unsigned, float,
                                                  const unsigned *w, float alpha[4])
    {
        const struct gf_point_op &op = args.op[1];
        const float least = op.c * 0.9999f, most = (op.c + 1.0f / op.d) * 1.0001f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float r = byte_of(w[3 * i / 4], 3 * i % 4, args.exponent);
            const float g = byte_of(w[(3 * i + 1) / 4], (3 * i + 1) % 4, args.exponent);
            const float b = byte_of(w[(3 * i + 2) / 4], (3 * i + 2) % 4, args.exponent);
            const float y = fmaf(0.299f, r, fmaf(0.587f, g, 0.114f * b));
            const float cb = (b - y) * 0.56433409f - op.a, cr = (r - y) * 0.71326676f - op.b;
            const float square = fmaf(cb, cb, cr * cr);
            alpha[i] = square > most * most ? 1.0f : 0.0f;
            if (square >= least * least && square <= most * most)
                alpha[i] = limited((sqrtf(square) - op.c) * op.d, 1.0f);
        }
    }
};

template <class OPERATION>
static __device__ __forceinline__ uint4 with_alpha(const struct short_args &args, unsigned x,
                                                   float row, const unsigned w[3])
{
    const float max = args.op[0].max;
    float alpha[4];
    OPERATION::alphas(args, x, row, w, alpha);
    const unsigned a = samples_of(max * alpha[0], max * alpha[1], max * alpha[2], max * alpha[3]);
    return make_uint4(
        __byte_perm(w[0], a, 0x4210), __byte_perm(__byte_perm(w[0], w[1], 0x0543), a, 0x5210),
        __byte_perm(__byte_perm(w[1], w[2], 0x0432), a, 0x6210), __byte_perm(w[2], a, 0x7321));
}

/* Each warp adds alpha to a tile. Neighbouring threads process neighbouring groups of four pixels;
 * the result of a group is a vector. The last pixels of a row, fewer than four, are read and
 * written one by one. */
template <class OPERATION>
__global__ void __launch_bounds__(SHORT_WARPS *WARP)
    short8_alpha_kernel(const __grid_constant__ struct short_args args)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * SHORT_WARPS + warp;
    early_next();
    early_wait();
    if (index >= (unsigned)args.band.rows * args.row_tiles)
        return;
    const struct tile tile = short_tile(args, index);
    const unsigned char *const in =
        args.band.in + tile.row * args.band.in_pitch + (size_t)tile.first * 3;
    unsigned char *const out =
        args.band.out + tile.row * args.band.out_pitch + (size_t)tile.first * 4;
    const float row = OPERATION::POSITION ? args.rows[args.first_row + tile.row] : 0.0f;
    unsigned w[SHORT_GROUPS][3];
    take_groups<3>(in, lane, tile.pixels, w);
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++) {
        const unsigned pixel = (lane + k * WARP) * 4;
        if (pixel >= tile.pixels)
            break;
        const uint4 v = with_alpha<OPERATION>(args, tile.first + pixel, row, w[k]);
        if (pixel + 4 <= tile.pixels) {
            *(uint4 *)(out + pixel * 4) = v;
        } else {
            unsigned *const words = (unsigned *)(out + pixel * 4);
            words[0] = v.x;
            if (pixel + 1 < tile.pixels)
                words[1] = v.y;
            if (pixel + 2 < tile.pixels)
                words[2] = v.z;
        }
    }
}
