/* Kernels of grayscale and threshold for 8-bit RGB, and of grayscale for 16-bit RGB. */
#pragma once

#include "cuda/common/early.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/point/point_program.h"

enum { LUMA_THREADS = 256, LUMA16_EACH = 4 /* neighbouring pixels of a thread */ };

/* The weights of R, G and B. The lowest three bytes of `coarse` are in units of 1/256; the lowest
 * three bytes of `fine` are the remainders in units of 1/65536. */
struct luma_weights {
    unsigned coarse, fine;
};
static const luma_weights BT601 = {0x001d964du, 0u}, BT709 = {0x0012b736u, 0x007c176du};

/* Returns the weighted sums of four pixels in three words. */
static __device__ __forceinline__ uint4 sums_of_4(unsigned a, unsigned b, unsigned c,
                                                  unsigned weights, uint4 to)
{
    return make_uint4(
        __dp4a(a, weights, to.x), __dp4a(a, weights << 24, __dp4a(b, weights >> 8, to.y)),
        __dp4a(b, weights << 16, __dp4a(c, weights >> 16, to.z)), __dp4a(c, weights << 8, to.w));
}

/* Returns four lumas. A luma is the byte above the fraction of its sum. */
template <bool FINE>
static __device__ __forceinline__ unsigned luma_of_4(unsigned a, unsigned b, unsigned c,
                                                     luma_weights weights)
{
    const unsigned half = FINE ? 0 : 128;
    uint4 s = sums_of_4(a, b, c, weights.coarse, make_uint4(half, half, half, half));
    if (FINE) {
        s = make_uint4(s.x * 256 + 32768, s.y * 256 + 32768, s.z * 256 + 32768, s.w * 256 + 32768);
        s = sums_of_4(a, b, c, weights.fine, s);
        return __byte_perm(__byte_perm(s.x, s.y, 0x0062), __byte_perm(s.z, s.w, 0x0062), 0x5410);
    }
    return __byte_perm(__byte_perm(s.x, s.y, 0x0051), __byte_perm(s.z, s.w, 0x0051), 0x5410);
}

static __device__ __forceinline__ unsigned luma_of(const unsigned char *rgb, luma_weights weights)
{
    const unsigned pixel = rgb[0] | rgb[1] << 8 | rgb[2] << 16;
    return (__dp4a(pixel, weights.coarse, 0u) * 256 + __dp4a(pixel, weights.fine, 32768u)) >> 16;
}

/* Returns the lumas of 16, 4 or 1 pixels of RGB, which are three times as many bytes. With STEP a
 * result is 255 if the luma is at least `least`, otherwise 0. */
template <bool STEP, bool FINE>
static __device__ __forceinline__ uint4 lumas(const uint4 *in, unsigned least, luma_weights weights)
{
    const uint4 a = in[0], b = in[1], c = in[2];
    uint4 y = make_uint4(
        luma_of_4<FINE>(a.x, a.y, a.z, weights), luma_of_4<FINE>(a.w, b.x, b.y, weights),
        luma_of_4<FINE>(b.z, b.w, c.x, weights), luma_of_4<FINE>(c.y, c.z, c.w, weights));
    if (STEP) {
        const unsigned four = least * 0x01010101u;
        y = make_uint4(__vcmpgeu4(y.x, four), __vcmpgeu4(y.y, four), __vcmpgeu4(y.z, four),
                       __vcmpgeu4(y.w, four));
    }
    return y;
}

template <bool STEP, bool FINE>
static __device__ __forceinline__ unsigned lumas(const unsigned *in, unsigned least,
                                                 luma_weights weights)
{
    const unsigned y = luma_of_4<FINE>(in[0], in[1], in[2], weights);
    return STEP ? __vcmpgeu4(y, least * 0x01010101u) : y;
}

template <bool STEP, bool FINE>
static __device__ __forceinline__ unsigned char lumas(const unsigned char *in, unsigned least,
                                                      luma_weights weights)
{
    const unsigned y = luma_of(in, weights);
    return (unsigned char)(STEP ? (y >= least ? 255 : 0) : y);
}

template <bool STEP, bool FINE, class ACCESS>
__global__ void __launch_bounds__(LUMA_THREADS)
    luma8_kernel(const struct view_pair band, unsigned full, unsigned tail, unsigned least,
                 luma_weights weights)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const struct position at =
        position_of(blockIdx.x * LUMA_THREADS + threadIdx.x, band.rows, row_items);
    early_next();
    if (at.row >= band.rows || at.column >= row_items)
        return;
    early_wait();
    const unsigned char *const in =
        band.in + at.row * band.in_pitch + (size_t)at.column * (3 * sizeof(ACCESS));
    unsigned char *const out =
        band.out + at.row * band.out_pitch + (size_t)at.column * sizeof(ACCESS);
    if (at.column < full) {
        *(ACCESS *)out = lumas<STEP, FINE>((const ACCESS *)in, least, weights);
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < tail; i++)
            out[i] = lumas<STEP, FINE>(in + 3 * i, least, weights);
    }
}

static bool has_weights(const struct gf_point_op *op, luma_weights weights)
{
    float weight[3];
    for (int k = 0; k < 3; k++)
        weight[k] = (float)((weights.coarse >> 8 * k & 255) * 256 + (weights.fine >> 8 * k & 255)) /
                    65536.0f;
    return op->kind == GF_POINT_GRAY && op->a * op->d == weight[0] && op->b * op->d == weight[1] &&
           op->c * op->d == weight[2];
}

/* Whether the program is only grayscale of 8-bit RGB, or only a threshold of its BT.601 luma. */
static bool is_luma8(const struct gf_stage *stage, const struct gf_point_program *program,
                     bool *step, bool *fine)
{
    const struct gf_point_op *const op = program->op;
    *step = program->count == 2 && op[1].kind == GF_POINT_STEP && op[1].a <= 255.0f;
    *fine = has_weights(op, BT709);
    if (stage->in.channels != 3 || stage->in.bits != 8 || program->table != GF_POINT_NO_TABLE)
        return false;
    return (has_weights(op, BT601) && (program->count == 1 || *step)) ||
           (*fine && program->count == 1);
}

template <class ACCESS>
static int launch_luma8(const struct view_pair *band, bool step, bool fine, float least,
                        cudaStream_t stream)
{
    unsigned tail;
    const unsigned full = whole_items(band->width, sizeof(ACCESS), &tail);
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), LUMA_THREADS);
    if (fine)
        return launch_early(luma8_kernel<false, true, ACCESS>, blocks, LUMA_THREADS, 0, stream,
                            *band, full, tail, 0u, BT709);
    return launch_early(
        step ? luma8_kernel<true, false, ACCESS> : luma8_kernel<false, false, ACCESS>, blocks,
        LUMA_THREADS, 0, stream, *band, full, tail, step ? (unsigned)least : 0u, BT601);
}

/* Returns a rounded gray sample, plus 2^23. */
static __device__ __forceinline__ unsigned luma_raised(const struct gf_point_op &op, float r,
                                                       float g, float b)
{
    return __float_as_uint(__fadd_rz(gf_point_gray_of(&op, r, g, b) + 0.5f, 8388608.0f));
}

static __global__ void __launch_bounds__(LUMA_THREADS)
    luma16_kernel(const struct view_pair band, unsigned row_items, struct gf_point_op op)
{
    const struct position at =
        position_of(blockIdx.x * LUMA_THREADS + threadIdx.x, (unsigned)band.rows, row_items);
    early_next();
    if (at.row >= (unsigned)band.rows || at.column >= row_items)
        return;
    early_wait();
    const unsigned first = at.column * LUMA16_EACH, width = (unsigned)band.width;
    const unsigned short *const in =
        (const unsigned short *)(band.in + at.row * band.in_pitch) + 3 * (size_t)first;
    unsigned short *const out = (unsigned short *)(band.out + at.row * band.out_pitch) + first;
    if (first + LUMA16_EACH > width) {
        for (unsigned i = 0; first + i < width; i++)
            out[i] = (unsigned short)luma_raised(op, float_of(in[3 * i]), float_of(in[3 * i + 1]),
                                                 float_of(in[3 * i + 2]));
        return;
    }
    const uint2 *const pair = (const uint2 *)in;
    const uint2 a = pair[0], b = pair[1], c = pair[2];
    const unsigned word[6] = {a.x, a.y, b.x, b.y, c.x, c.y};
    unsigned luma[LUMA16_EACH];
#pragma unroll
    for (int i = 0; i < LUMA16_EACH; i += 2) {
        const unsigned *const w = word + 3 * i / 2;
        luma[i] = luma_raised(op, float_of_low(w[0]), float_of_high(w[0]), float_of_low(w[1]));
        luma[i + 1] = luma_raised(op, float_of_high(w[1]), float_of_low(w[2]), float_of_high(w[2]));
    }
    *(uint2 *)out =
        make_uint2(__byte_perm(luma[0], luma[1], 0x5410), __byte_perm(luma[2], luma[3], 0x5410));
}

/* Whether the program is only grayscale of 16-bit RGB. */
static bool is_luma16(const struct gf_stage *stage, const struct gf_point_program *program)
{
    return stage->in.channels == 3 && stage->in.bits == 16 && stage->out.bits == 16 &&
           program->table == GF_POINT_NO_TABLE && program->count == 1 &&
           program->op[0].kind == GF_POINT_GRAY;
}

static int launch_luma16(const struct view_pair *band, const struct gf_point_op &op,
                         cudaStream_t stream)
{
    const unsigned items = blocks_for((unsigned)band->width, LUMA16_EACH);
    return launch_early(luma16_kernel, blocks_for((unsigned)band->rows * items, LUMA_THREADS),
                        LUMA_THREADS, 0, stream, *band, items, op);
}
