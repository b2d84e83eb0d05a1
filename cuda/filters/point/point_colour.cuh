/* Kernels of point programs that need a pixel's luma, or its place in Lab. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point/point_program.h"

/* Kernels of grayscale and threshold for 8-bit RGB, and of grayscale for 16-bit RGB. */

enum { LUMA_THREADS = 256, LUMA16_EACH = 4 /* neighbouring pixels of a thread */ };

/* The weights of R, G and B. The lowest three bytes of `coarse` are in units of 1/256; the lowest
 * three bytes of `fine` are the remainders in units of 1/65536. */
struct luma_weights {
    unsigned coarse, fine;
};
static const luma_weights BT601 = {0x001d964du, 0u}, BT709 = {0x0012b736u, 0x007c176du};

/* Adds the weighted sums of four pixels, whose bytes are in words a, b and c, to `to`. */
static __device__ __forceinline__ uint4 sums_of_4(unsigned a, unsigned b, unsigned c,
                                                  unsigned weights, uint4 to)
{
    return make_uint4(
        __dp4a(a, weights, to.x), __dp4a(a, weights << 24, __dp4a(b, weights >> 8, to.y)),
        __dp4a(b, weights << 16, __dp4a(c, weights >> 16, to.z)), __dp4a(c, weights << 8, to.w));
}

/* Returns the lumas of four pixels in a word. A luma is the byte above the fraction of its weighted
 * sum. */
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

/* Returns a rounded gray sample in the lower 16 bits: the bits of the float 2^23 + the sample. */
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

/* Kernels of saturation and equalize=lightness for 8-bit colour. */

enum { LAB_PIXELS = 4 /* pixels of a thread at a time */ };

/* The fastest shape on an H200: with RELIGHT two blocks of 16 warps, otherwise one block of 24
 * warps, whose threads have more registers (saturation of 8K RGB8 takes 0.116 ms, and 0.120 ms with
 * blocks of 16 warps). */
template <bool RELIGHT> static constexpr int LAB_BLOCKS = RELIGHT ? 2 : 1;
template <bool RELIGHT> static constexpr int LAB_WARPS = RELIGHT ? 16 : 24;

/* The constants of a thread. The kernel is limited by arithmetic, so that each instruction counts.
 * Tables are read at 32-bit addresses in shared memory, without further additions. Two constants,
 * which would be loaded again for each use, are read from shared memory, too, so that they stay in
 * registers. */
struct lab {
    unsigned
        /* The address of the lane's copy of the table of linear light. Entry v is at address + 128
         * v. */
        decode;
    unsigned encode; /* the address of the table ENCODE_8, below 2^23 */
    float factor, slope, inverse_slope;
    long long root;       /* the start value of a product, see lab_root() */
    const uint32_t *step; /* tables of gf_relight(); used with RELIGHT */
    const float *level;
};

static __device__ __forceinline__ float linear_at(unsigned address)
{
    float v;
    asm("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

/* Returns the sample for linear light x. The bits of a denormal float are an integer: adding x
 * times the float whose bits are ENCODE_STEPS to the float whose bits are the table's address gives
 * the address of entry round(x * ENCODE_STEPS). */
static __device__ __forceinline__ unsigned encoded(const struct lab *s, float x)
{
    unsigned v;
    const float address =
        fmaf(x, __int_as_float(GF_POINT_ENCODE_STEPS), __uint_as_float(s->encode));
    asm("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(__float_as_uint(address)));
    return v;
}

/* Returns gf_cbrt(x) with one instruction less, for x other than 0. */
static __device__ __forceinline__ float lab_root(const struct lab *s, float x)
{
    const long long product = (long long)__float_as_int(x) * -0x55555555 + s->root;
    return gf_cbrt_from(x, __int_as_float((int)(product >> 32)));
}

/* Compute gf_saturate() or gf_relight() and the conversion to samples, with the constants of `s`:
 * the same operations in the same order. */
static __device__ __forceinline__ float lab_straight(const struct lab *s, float x, float root)
{
    return gf_select(x, GF_LAB_DARK, root, fmaf(s->slope, x, GF_LAB_OFFSET));
}

static __device__ __forceinline__ float lab_f(const struct lab *s, float x)
{
    return lab_straight(s, x, lab_root(s, x));
}

static __device__ __forceinline__ float lab_inverse(const struct lab *s, float f)
{
    return gf_select(f, GF_LAB_DARK_F, f * f * f,
                     fmaf(f, s->inverse_slope, -GF_LAB_OFFSET * GF_LAB_INVERSE_SLOPE));
}

static __device__ __forceinline__ uint3 encoded_rgb(const struct lab *s, float r, float g, float b)
{
    return make_uint3(encoded(s, __saturatef(r)), encoded(s, __saturatef(g)),
                      encoded(s, __saturatef(b)));
}

/* Whether all numbers of all lanes are above the limit. The bits of positive floats have the order
 * of the floats. */
static __device__ __forceinline__ bool all_above(const float *v, int count, float limit)
{
    int least = __float_as_int(v[0]);
#pragma unroll
    for (int i = 1; i < count; i++)
        least = min(least, __float_as_int(v[i]));
    return __all_sync(0xFFFFFFFFu, least > __float_as_int(limit));
}

/* Changes the saturation of a thread's pixels. Only warps with a pixel that is or becomes dark test
 * on which part of the curve each number is. */
static __device__ __forceinline__ void saturate(const struct lab *s, const float (*c)[3], uint3 *to)
{
    float t[3 * LAB_PIXELS], f[3 * LAB_PIXELS], d[2 * LAB_PIXELS];
#pragma unroll
    for (int i = 0; i < LAB_PIXELS; i++) {
        const float r = c[i][0], g = c[i][1], b = c[i][2];
        t[3 * i] =
            fmaf(GF_WHITE_X * GF_X_R, r, fmaf(GF_WHITE_X * GF_X_G, g, GF_WHITE_X * GF_X_B * b));
        t[3 * i + 1] = fmaf(GF_Y_R, r, fmaf(GF_Y_G, g, GF_Y_B * b));
        t[3 * i + 2] =
            fmaf(GF_WHITE_Z * GF_Z_R, r, fmaf(GF_WHITE_Z * GF_Z_G, g, GF_WHITE_Z * GF_Z_B * b));
    }
    const bool light = all_above(t, 3 * LAB_PIXELS, GF_LAB_DARK);
#pragma unroll
    for (int i = 0; i < 3 * LAB_PIXELS; i++)
        f[i] = lab_root(s, t[i]);
    if (!light) {
#pragma unroll
        for (int i = 0; i < 3 * LAB_PIXELS; i++)
            f[i] = lab_straight(s, t[i], f[i]);
    }
#pragma unroll
    for (int i = 0; i < LAB_PIXELS; i++) {
        const float kept = fmaf(-s->factor, f[3 * i + 1], f[3 * i + 1]);
        d[2 * i] = fmaf(s->factor, f[3 * i], kept);
        d[2 * i + 1] = fmaf(s->factor, f[3 * i + 2], kept);
    }
    if (all_above(d, 2 * LAB_PIXELS, GF_LAB_DARK_F)) {
#pragma unroll
        for (int i = 0; i < 2 * LAB_PIXELS; i++)
            d[i] = d[i] * d[i] * d[i] - t[i / 2 * 3 + i % 2 * 2];
    } else {
#pragma unroll
        for (int i = 0; i < 2 * LAB_PIXELS; i++)
            d[i] = lab_inverse(s, i % 2 ? fmaxf(d[i], 0.0f) : d[i]) - t[i / 2 * 3 + i % 2 * 2];
    }
#pragma unroll
    for (int i = 0; i < LAB_PIXELS; i++) {
        const float dx = d[2 * i], dz = d[2 * i + 1];
        to[i] =
            encoded_rgb(s, fmaf(GF_R_X / GF_WHITE_X, dx, fmaf(GF_R_Z / GF_WHITE_Z, dz, c[i][0])),
                        fmaf(GF_G_X / GF_WHITE_X, dx, fmaf(GF_G_Z / GF_WHITE_Z, dz, c[i][1])),
                        fmaf(GF_B_X / GF_WHITE_X, dx, fmaf(GF_B_Z / GF_WHITE_Z, dz, c[i][2])));
    }
}

static __device__ __forceinline__ uint3 relit(const struct lab *s, float r, float g, float b)
{
    const struct gf_rgb p = {r, g, b};
    const float x = fmaf(GF_X_R, r, fmaf(GF_X_G, g, GF_X_B * b));
    const float y = gf_luminance(p);
    const float z = fmaf(GF_Z_R, r, fmaf(GF_Z_G, g, GF_Z_B * b));
    const float new_fy = s->level[gf_lightness_bin_8(p, s->step)];
    const float step = new_fy - lab_f(s, y);
    const float dx = lab_inverse(s, lab_f(s, x) + step) - x;
    const float dy = lab_inverse(s, new_fy) - y;
    const float dz = lab_inverse(s, fmaxf(lab_f(s, z) + step, 0.0f)) - z;
    const float red = fmaf(GF_R_X, dx, fmaf(GF_R_Y, dy, fmaf(GF_R_Z, dz, r)));
    const float green = fmaf(GF_G_X, dx, fmaf(GF_G_Y, dy, fmaf(GF_G_Z, dz, g)));
    const float blue = fmaf(GF_B_X, dx, fmaf(GF_B_Y, dy, fmaf(GF_B_Z, dz, b)));
    return encoded_rgb(s, red, green, blue);
}

/* Changes the colours of a thread's pixels. `c` is their linear light. */
template <bool RELIGHT>
static __device__ __forceinline__ void change(const struct lab *s, const float (*c)[3], uint3 *to)
{
    if (RELIGHT) {
#pragma unroll
        for (int i = 0; i < LAB_PIXELS; i++)
            to[i] = relit(s, c[i][0], c[i][1], c[i][2]);
    } else {
        saturate(s, c, to);
    }
}

/* Changes four pixels in three words, in place. */
template <bool RELIGHT>
static __device__ __forceinline__ void change_rgb(const struct lab *s, unsigned *w)
{
    /* The factor for byte i selects 128 times that byte. */
    const unsigned byte[4] = {0x80u, 0x8000u, 0x800000u, 0x80000000u};
    const unsigned from[3] = {w[0], w[1], w[2]};
    float c[LAB_PIXELS][3];
    uint3 to[LAB_PIXELS];
    unsigned v[12];
#pragma unroll
    for (int i = 0; i < 12; i++)
        c[i / 3][i % 3] = linear_at(__dp4a(from[i / 4], byte[i % 4], s->decode));
    change<RELIGHT>(s, c, to);
#pragma unroll
    for (int p = 0; p < LAB_PIXELS; p++) {
        v[3 * p] = to[p].x;
        v[3 * p + 1] = to[p].y;
        v[3 * p + 2] = to[p].z;
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        w[k] = __byte_perm(__byte_perm(v[4 * k], v[4 * k + 1], 0x0040),
                           __byte_perm(v[4 * k + 2], v[4 * k + 3], 0x0040), 0x5410);
}

/* Changes pixels of one word each, WARP words apart, in place. */
template <bool RELIGHT>
static __device__ __forceinline__ void change_rgba(const struct lab *s, unsigned *w)
{
    float c[LAB_PIXELS][3];
    uint3 to[LAB_PIXELS];
#pragma unroll
    for (int i = 0; i < 3 * LAB_PIXELS; i++)
        c[i / 3][i % 3] = linear_at(__dp4a(w[i / 3 * WARP], 0x80u << 8 * (i % 3), s->decode));
    change<RELIGHT>(s, c, to);
#pragma unroll
    for (int p = 0; p < LAB_PIXELS; p++)
        w[p * WARP] = __byte_perm(__byte_perm(to[p].x, to[p].y, 0x0040),
                                  __byte_perm(to[p].z, w[p * WARP], 0x0070), 0x5410);
}

/* The tables in shared memory, which the warps' tiles follow. */
struct lab_tables {
    float decode[256][WARP]; /* linear light, with a copy for each lane in its own bank */
    unsigned char encode[GF_POINT_ENCODE_STEPS + 1];
    float slope, inverse_slope;
    long long root;
};
struct relight_tables {
    struct lab_tables lab;
    float level[256];
    uint32_t step[GF_LIGHTNESS_PIECES];
};
static_assert(sizeof(struct relight_tables) % VECTOR == 0, "tiles are vectors");

/* The places in global memory from which the tables are copied. */
struct lab_source {
    const float *decode, *level;
    const uint4 *encode;
    const uint4 *step;
    float factor;
};

template <bool RELIGHT>
static __device__ __forceinline__ struct lab fill_lab(const struct lab_source &from, uint4 *shared)
{
    struct relight_tables *const tables = (struct relight_tables *)shared;
    struct lab_tables *const lab = &tables->lab;
    for (unsigned i = threadIdx.x; i < sizeof lab->decode / VECTOR; i += blockDim.x) {
        const float v = from.decode[i / (WARP / 4)];
        ((float4 *)lab->decode)[i] = make_float4(v, v, v, v);
    }
    for (unsigned i = threadIdx.x; i < sizeof lab->encode / VECTOR; i += blockDim.x)
        ((uint4 *)lab->encode)[i] = from.encode[i];
    for (unsigned i = threadIdx.x; RELIGHT && i < 256; i += blockDim.x)
        tables->level[i] = from.level[i];
    for (unsigned i = threadIdx.x; RELIGHT && i < sizeof tables->step / VECTOR; i += blockDim.x)
        ((uint4 *)tables->step)[i] = from.step[i];
    if (threadIdx.x == 0) {
        lab->slope = GF_LAB_SLOPE;
        lab->inverse_slope = GF_LAB_INVERSE_SLOPE;
        lab->root = 0x54900001ll << 32;
    }
    __syncthreads();
    return {(unsigned)__cvta_generic_to_shared(lab->decode[0] + threadIdx.x % WARP),
            (unsigned)__cvta_generic_to_shared(lab->encode),
            from.factor,
            lab->slope,
            lab->inverse_slope,
            lab->root,
            tables->step,
            tables->level};
}

template <bool RELIGHT>
static constexpr int LAB_BYTES = RELIGHT ? sizeof(struct relight_tables)
                                         : sizeof(struct lab_tables);

template <bool RELIGHT, int CHANNELS, class ACCESS>
__global__ void __launch_bounds__(LAB_WARPS<RELIGHT> *WARP, LAB_BLOCKS<RELIGHT>)
    lab8_kernel(const struct view_pair band, unsigned row_tiles, const struct lab_source from)
{
    extern __shared__ uint4 shared[];
    early_next();
    const struct lab lab = fill_lab<RELIGHT>(from, shared);
    early_wait();
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    unsigned char *const pixels =
        (unsigned char *)shared + LAB_BYTES<RELIGHT> + warp * (TILE * CHANNELS);
    unsigned *const words = (unsigned *)pixels;
    const unsigned tiles = band.rows * row_tiles;
    for (unsigned index = blockIdx.x * warps + warp; index < tiles; index += gridDim.x * warps) {
        const struct tile tile = tile_of(index, &band, row_tiles, TILE);
        const size_t offset = (size_t)tile.first * CHANNELS;
        const unsigned bytes = tile.pixels * CHANNELS;
        copy_tile<CHANNELS, ACCESS>(pixels, band.in + tile.row * band.in_pitch + offset, bytes,
                                    lane);
        __syncwarp();
        /* Pixels beyond the end of a short tile are computed, too, and not copied to the
         * picture. */
#pragma unroll 1
        for (unsigned at = 0; at < tile.pixels; at += LAB_PIXELS * WARP) {
            if (CHANNELS == 3) /* 3 is odd: no two lanes access the same bank */
                change_rgb<RELIGHT>(&lab, words + at / 4 * 3 + lane * 3);
            else
                change_rgba<RELIGHT>(&lab, words + at + lane);
        }
        __syncwarp();
        copy_tile<CHANNELS, ACCESS>(band.out + tile.row * band.out_pitch + offset, pixels, bytes,
                                    lane);
        __syncwarp();
    }
}

/* Whether the program is saturation or equalize=lightness on 8-bit colour, with or without tables
 * before it, and nothing after it. gf_saturate() handles a factor of 0, which must give exact
 * grays. */
static bool is_lab8(const struct gf_stage *stage, const struct gf_point_program *program)
{
    const struct gf_point_op *const op = program->op;
    int shared = 0;
    const bool is_one = (op[0].kind == GF_POINT_RELIGHT && shared_most(&shared) == cudaSuccess &&
                         shared >= LAB_BYTES<true> + TILE * 4) ||
                        (op[0].kind == GF_POINT_SATURATE && op[0].a != 0.0f);
    return is_one && stage->in.bits == 8 && stage->in.channels >= 3 &&
           program->table == GF_POINT_FLOATS && program->tables == 1 && program->count == 2 &&
           op[1].kind == GF_POINT_ENCODE_8;
}

template <bool RELIGHT, int CHANNELS, class ACCESS>
static int launch_lab8_as(const struct view_pair *band, const struct lab_source &from,
                          cudaStream_t stream)
{
    int available = 0, warps = LAB_WARPS<RELIGHT>;
    const cudaError_t status = shared_most(&available);
    const int each = TILE * CHANNELS;
    while (warps > 1 && LAB_BYTES<RELIGHT> + warps * each > available)
        warps--;
    const unsigned row_tiles = blocks_for(band->width, TILE);
    const unsigned blocks = blocks_for(band->rows * row_tiles, (unsigned)warps);
    return status != cudaSuccess
               ? status
               : launch_resident(lab8_kernel<RELIGHT, CHANNELS, ACCESS>, blocks, warps * WARP,
                                 LAB_BYTES<RELIGHT> + warps * each, stream, *band, row_tiles, from);
}

template <class ACCESS>
static int launch_lab8(const struct view_pair *band, int channels,
                       const struct gf_point_program *program, const unsigned char *block,
                       cudaStream_t stream)
{
    const struct lab_source from = {(const float *)(block + program->table_at),
                                    (const float *)(block + program->level_at),
                                    (const uint4 *)(block + program->encode_at),
                                    (const uint4 *)(block + program->step_at), program->op[0].a};
    if (program->op[0].kind == GF_POINT_RELIGHT)
        return channels == 3 ? launch_lab8_as<true, 3, ACCESS>(band, from, stream)
                             : launch_lab8_as<true, 4, ACCESS>(band, from, stream);
    return channels == 3 ? launch_lab8_as<false, 3, ACCESS>(band, from, stream)
                         : launch_lab8_as<false, 4, ACCESS>(band, from, stream);
}
