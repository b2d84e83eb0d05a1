/* Short programs on RGB pictures of 8 bits, each by a kernel of its own: what stands in the
 * operations is known when it is compiled, pixels stay in registers, and conversions between bytes
 * and floats are additions. Bound by memory where an operation is about 30 instructions a pixel. */
#ifndef GF_CUDA_FILTERS_POINT_POINT_SHORT_CUH
#define GF_CUDA_FILTERS_POINT_POINT_SHORT_CUH

#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point_program.h"

enum {
    SHORT_WARPS = 4,
    SHORT_PIXELS = 16, /* of a thread, three vectors */
    SHORT_GROUPS = 4   /* of four pixels of a thread, where alpha is added */
};

/* Blocks that a multiprocessor is to hold. With more, registers are spilled; compute capability 7.5
 * has room for the threads of 8. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SHORT_BLOCKS 8
#else
#define SHORT_BLOCKS 9
#endif

/* 2^23: a float in 2^23 .. 2^24 has its integer part in the lower bits. */
#define SHORT_SHIFT 8388608.0f

struct short_run {
    struct view_pair band;
    unsigned row_tiles;
    struct gf_point_op op[3];
    unsigned first_row;
    const float *curve, *columns, *rows; /* of a field */
};

static __device__ __forceinline__ float byte_of(unsigned word, int k)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u + (unsigned)k)) - SHORT_SHIFT;
}

/* Four floats as samples: rounded half up, as put_pixels() does, and limited to 0..255, from byte 0
 * on. Compute capability 9.0 truncates, limits and packs two of them by one instruction. */
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

/* Twelve of them, to three words. */
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

/* gf_point_field_of() at four columns from x on. */
static __device__ __forceinline__ void fields_at(const struct short_run &run, unsigned x, float row,
                                                 float field[4])
{
    float column[4];
    unpack(*(const float4 *)(run.columns + x), column);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float at = __saturatef(column[i] + row) * (float)GF_POINT_CURVE_STEPS;
        const float shifted = __fadd_rz(at, SHORT_SHIFT);
        const float *const point = run.curve + (__float_as_uint(shifted) & 0x1fffu);
        field[i] = point[0] + (point[1] - point[0]) * (at - (shifted - SHORT_SHIFT));
    }
}

/* ---- operations that keep the format: four pixels of three words, in place. Packing limits what
 * they make to 0..255. ---- */

struct short_matrix {
    static __device__ __forceinline__ struct gf_rgb of(const struct short_run &run, struct gf_rgb p)
    {
        const struct gf_point_op *const op = run.op;
        return {fmaf(op[0].a, p.r, fmaf(op[0].b, p.g, fmaf(op[0].c, p.b, op[0].d))),
                fmaf(op[1].a, p.r, fmaf(op[1].b, p.g, fmaf(op[1].c, p.b, op[1].d))),
                fmaf(op[2].a, p.r, fmaf(op[2].b, p.g, fmaf(op[2].c, p.b, op[2].d)))};
    }
};

struct short_vibrance {
    static __device__ __forceinline__ struct gf_rgb of(const struct short_run &run, struct gf_rgb p)
    {
        const float y = fmaf(0.2126f, p.r, fmaf(0.7152f, p.g, 0.0722f * p.b));
        const float most = fmaxf(fmaxf(p.r, p.g), p.b), least = fminf(fminf(p.r, p.g), p.b);
        const float factor = fmaf(-run.op[0].b, most - least, run.op[0].a);
        return {fmaf(p.r - y, factor, y), fmaf(p.g - y, factor, y), fmaf(p.b - y, factor, y)};
    }
};

template <class OPERATION>
static __device__ __forceinline__ void change_pixels(const struct short_run &run, unsigned w[3])
{
    float to[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gf_rgb p = {byte_of(w[3 * i / 4], 3 * i % 4),
                                 byte_of(w[(3 * i + 1) / 4], (3 * i + 1) % 4),
                                 byte_of(w[(3 * i + 2) / 4], (3 * i + 2) % 4)};
        const struct gf_rgb v = OPERATION::of(run, p);
        to[3 * i] = v.r;
        to[3 * i + 1] = v.g;
        to[3 * i + 2] = v.b;
    }
    pack_samples(to, w);
}

/* MIX: where the field is 0 nothing changes. BLACK: the colour is, so that it is not added. */
template <bool BLACK>
static __device__ __forceinline__ void mix_pixels(const struct short_run &run, unsigned x,
                                                  float row, unsigned w[3])
{
    const float colour[3] = {run.op[0].a, run.op[0].b, run.op[0].c};
    float field[4];
    fields_at(run, x, row, field);
    if ((field[0] + field[1]) + (field[2] + field[3]) == 0.0f)
        return;
    float to[12];
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const float v = byte_of(w[k / 4], k % 4);
        to[k] = v + (BLACK ? -v : colour[k % 3] - v) * field[k / 3];
    }
    pack_samples(to, w);
}

/* gf_noise_even() times 2^24: the sign bit is turned, not subtracted. */
static __device__ __forceinline__ float even_of(uint32_t word)
{
    return (float)(((int)word >> 7 ^ (int)0xff000000u) | 1);
}

/* NOISE: a power of two changes no rounding, wherever it is multiplied. */
template <bool NORMAL>
static __device__ __forceinline__ void noise_pixels(const struct short_run &run, unsigned x,
                                                    unsigned y, unsigned w[3])
{
    const struct gf_point_op &op = run.op[0];
    const float scale = NORMAL ? op.a : op.a * 0x1p-24f;
    float to[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gf_noise noise = gf_noise_at(x + i, y, (uint32_t)op.c);
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const int k = 3 * i + c;
            const float even = even_of(op.d != 0.0f ? noise.word[0] : noise.word[c]);
            const float z = NORMAL ? gf_noise_normal(even * 0x1p-24f) : even;
            to[k] = fmaf(z, scale, byte_of(w[k / 4], k % 4));
        }
    }
    pack_samples(to, w);
}

/* What a kernel does to four pixels from column x on of row y. */
template <class OPERATION> struct short_colours {
    static __device__ __forceinline__ void change(const struct short_run &run, unsigned, unsigned,
                                                  unsigned w[3])
    {
        change_pixels<OPERATION>(run, w);
    }
};

template <bool BLACK> struct short_mix {
    static __device__ __forceinline__ void change(const struct short_run &run, unsigned x,
                                                  unsigned y, unsigned w[3])
    {
        mix_pixels<BLACK>(run, x, run.rows[y], w);
    }
};

template <bool NORMAL> struct short_noise {
    static __device__ __forceinline__ void change(const struct short_run &run, unsigned x,
                                                  unsigned y, unsigned w[3])
    {
        noise_pixels<NORMAL>(run, x, y, w);
    }
};

/* 16 pixels of a row to a thread. Results pass through shared memory, so that a warp's stores
 * adjoin. */
template <class OPERATION>
__global__ void __launch_bounds__(SHORT_WARPS *WARP, SHORT_BLOCKS)
    short8_kernel(const __grid_constant__ struct short_run run)
{
    __shared__ uint4 shared[SHORT_WARPS][TILE * 3 / VECTOR];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * SHORT_WARPS + warp;
    if (index >= (unsigned)run.band.rows * run.row_tiles)
        return;
    const struct tile tile = tile_of(index, &run.band, run.row_tiles, TILE);
    const unsigned char *const in =
        run.band.in + tile.row * run.band.in_pitch + (size_t)tile.first * 3;
    const uint4 *from = (const uint4 *)in;
    if (tile.pixels < TILE) {
        copy_tile<3, uint4>((unsigned char *)shared[warp], in, tile.pixels * 3, lane);
        __syncwarp();
        from = shared[warp];
    }
    unsigned w[12];
#pragma unroll
    for (int k = 0; k < 3; k++)
        unpack(from[3 * lane + k], w + 4 * k);
    const unsigned x = tile.first + lane * SHORT_PIXELS;
#pragma unroll
    for (int i = 0; i < SHORT_PIXELS / 4; i++)
        OPERATION::change(run, x + 4 * i, run.first_row + tile.row, w + 3 * i);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 3; k++) /* a stride of 12 words: no two lanes of eight meet in a bank */
        shared[warp][3 * lane + k] = make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
    __syncwarp();
    copy_tile<3, uint4>(run.band.out + tile.row * run.band.out_pitch + (size_t)tile.first * 3,
                        (const unsigned char *)shared[warp], tile.pixels * 3, lane);
}

/* ---- operations that add alpha: four pixels of three words to a vector ---- */

struct short_fade {
    static constexpr bool POSITION = true;
    static __device__ __forceinline__ void alphas(const struct short_run &run, unsigned x,
                                                  float row, const unsigned *, float alpha[4])
    {
        fields_at(run, x, row, alpha);
    }
};

/* gf_point_key_of(). Most pixels are so far from the colour, or so near, that no root is needed to
 * know their part; a ten-thousandth on either side is more than any rounding. */
struct short_key {
    static constexpr bool POSITION = false;
    static __device__ __forceinline__ void alphas(const struct short_run &run, unsigned, float,
                                                  const unsigned *w, float alpha[4])
    {
        const struct gf_point_op &op = run.op[1];
        const float least = op.c * 0.9999f, most = (op.c + 1.0f / op.d) * 1.0001f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float r = byte_of(w[3 * i / 4], 3 * i % 4);
            const float g = byte_of(w[(3 * i + 1) / 4], (3 * i + 1) % 4);
            const float b = byte_of(w[(3 * i + 2) / 4], (3 * i + 2) % 4);
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
static __device__ __forceinline__ uint4 with_alpha(const struct short_run &run, unsigned x,
                                                   float row, const unsigned w[3])
{
    const float max = run.op[0].max;
    float alpha[4];
    OPERATION::alphas(run, x, row, w, alpha);
    const unsigned a = samples_of(max * alpha[0], max * alpha[1], max * alpha[2], max * alpha[3]);
    return make_uint4(
        __byte_perm(w[0], a, 0x4210), __byte_perm(__byte_perm(w[0], w[1], 0x0543), a, 0x5210),
        __byte_perm(__byte_perm(w[1], w[2], 0x0432), a, 0x6210), __byte_perm(w[2], a, 0x7321));
}

/* Pixels pixel .. pixel + 3 of the `pixels` that begin at a multiple of four bytes, those beyond
 * the last left out. */
static __device__ __forceinline__ void load_four(const unsigned char *in, unsigned pixel,
                                                 unsigned pixels, unsigned w[3])
{
    if (pixel + 4 <= pixels) {
#pragma unroll
        for (int i = 0; i < 3; i++)
            w[i] = ((const unsigned *)(in + pixel * 3))[i];
    } else if (pixel < pixels) {
#pragma unroll
        for (int i = 0; i < 9; i++) {
            if (pixel * 3 + i < pixels * 3)
                w[i / 4] |= (unsigned)in[pixel * 3 + i] << 8 * (i % 4);
        }
    }
}

/* Neighbouring threads take neighbouring groups of four pixels, whose results are a vector each. A
 * row's last pixels, fewer than four, are read and written one by one. */
template <class OPERATION>
__global__ void __launch_bounds__(SHORT_WARPS *WARP)
    short8_alpha_kernel(const __grid_constant__ struct short_run run)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * SHORT_WARPS + warp;
    if (index >= (unsigned)run.band.rows * run.row_tiles)
        return;
    const struct tile tile = tile_of(index, &run.band, run.row_tiles, TILE);
    const unsigned char *const in =
        run.band.in + tile.row * run.band.in_pitch + (size_t)tile.first * 3;
    unsigned char *const out =
        run.band.out + tile.row * run.band.out_pitch + (size_t)tile.first * 4;
    const float row = OPERATION::POSITION ? run.rows[run.first_row + tile.row] : 0.0f;
    unsigned w[SHORT_GROUPS][3] = {};
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++) {
        const unsigned pixel = (lane + k * WARP) * 4;
        load_four(in, pixel, tile.pixels, w[k]);
    }
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++) {
        const unsigned pixel = (lane + k * WARP) * 4;
        if (pixel >= tile.pixels)
            break;
        const uint4 v = with_alpha<OPERATION>(run, tile.first + pixel, row, w[k]);
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

#endif
