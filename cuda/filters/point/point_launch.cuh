/* Chooses the kernel of a list of point filters. The conversions of alpha come first. */
#pragma once

#include "cuda/common/fusing.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/filters/point/point_colour.cuh"
#include "cuda/filters/point/point_program.cuh"
#include "cuda/filters/point/point_table.cuh"
#include "pixel/point/point_program.h"

/* Conversions of single pixels of RGBA: colour times alpha and colour divided by alpha, the stages
 * that the planner puts around a stencil, and grayscale; and of RGB8 to premultiplied colour that
 * is opaque. */

enum {
    ALPHA_THREADS = 256,
    ALPHA_PAIRS = 4, /* pairs of pixels of a thread; all are loaded before the first is converted */
    ALPHA_QUADS = 2, /* groups of four pixels of RGB8 of a thread, likewise */
};

/* Two neighbouring pixels; a PIXEL is a word or two words. */
template <class PIXEL> struct __align__(2 * sizeof(PIXEL)) pixel_pair
{
    PIXEL first, second;
};

/* Converts pairs of pixels. The last pixel of an odd row is read and written alone. */
template <class FROM, class TO, class Convert>
static __device__ __forceinline__ void convert_pairs(const struct view_pair &band,
                                                     unsigned row_pairs, const Convert &convert)
{
    const unsigned pairs = (unsigned)band.rows * row_pairs;
    const unsigned first = blockIdx.x * (ALPHA_THREADS * ALPHA_PAIRS) + threadIdx.x;
    struct pixel_pair<FROM> pair[ALPHA_PAIRS];
    struct position at[ALPHA_PAIRS];
#pragma unroll
    for (int k = 0; k < ALPHA_PAIRS; k++) {
        const unsigned item = first + k * ALPHA_THREADS;
        at[k] = position_of(item, (unsigned)band.rows, row_pairs);
        const FROM *const from =
            (const FROM *)(band.in + at[k].row * band.in_pitch) + 2 * (size_t)at[k].column;
        if (item < pairs && 2 * at[k].column + 1 < (unsigned)band.width)
            pair[k] = *(const struct pixel_pair<FROM> *)from;
        else if (item < pairs)
            pair[k].first = pair[k].second = *from;
    }
#pragma unroll
    for (int k = 0; k < ALPHA_PAIRS; k++) {
        TO *const to = (TO *)(band.out + at[k].row * band.out_pitch) + 2 * (size_t)at[k].column;
        const struct pixel_pair<TO> made = {
            convert(pair[k].first), convert(pair[k].second)
        };
        if (first + k * ALPHA_THREADS >= pairs)
            return;
        if (2 * at[k].column + 1 < (unsigned)band.width)
            *(struct pixel_pair<TO> *)to = made;
        else
            *to = made.first;
    }
}

static __device__ __forceinline__ unsigned short gray_of(const struct gf_point_op &op,
                                                         unsigned pixel)
{
    const unsigned gray = luma_raised(op, float_of(pixel & 255), float_of(pixel >> 8 & 255),
                                      float_of(pixel >> 16 & 255));
    return (unsigned short)__byte_perm(gray, pixel, 0x4470);
}

static __device__ __forceinline__ unsigned gray_of(const struct gf_point_op &op, uint2 pixel)
{
    const unsigned gray =
        luma_raised(op, float_of_low(pixel.x), float_of_high(pixel.x), float_of_low(pixel.y));
    return __byte_perm(gray, pixel.y, 0x7610);
}

template <class STRAIGHT>
__global__ void __launch_bounds__(ALPHA_THREADS)
    premultiply_kernel(const struct view_pair band, unsigned row_pairs)
{
    early_next();
    early_wait();
    convert_pairs<STRAIGHT, uint2>(band, row_pairs,
                                   [](STRAIGHT pixel) { return premultiplied(pixel); });
}

template <class STRAIGHT>
__global__ void __launch_bounds__(ALPHA_THREADS)
    straighten_kernel(const struct view_pair band, unsigned row_pairs)
{
    early_next();
    early_wait();
    convert_pairs<uint2, STRAIGHT>(band, row_pairs,
                                   [](uint2 pixel) { return straightened<STRAIGHT>(pixel); });
}

/* Converts RGBA to gray with alpha. */
template <class COLOUR, class GRAY>
__global__ void __launch_bounds__(ALPHA_THREADS)
    gray_alpha_kernel(const struct view_pair band, unsigned row_pairs, struct gf_point_op op)
{
    early_next();
    early_wait();
    convert_pairs<COLOUR, GRAY>(band, row_pairs,
                                [&](COLOUR pixel) -> GRAY { return gray_of(op, pixel); });
}

/* Converts RGB8 to opaque colour of 16 bits, four pixels in three words. The byte of a sample twice
 * is the sample in 16 bits. */
static __global__ void __launch_bounds__(ALPHA_THREADS)
    opaque_kernel(const struct view_pair band, unsigned row_quads)
{
    const unsigned quads = (unsigned)band.rows * row_quads;
    const unsigned first = blockIdx.x * (ALPHA_THREADS * ALPHA_QUADS) + threadIdx.x;
    unsigned word[ALPHA_QUADS][3];
    struct position at[ALPHA_QUADS];
    early_next();
    early_wait();
#pragma unroll
    for (int k = 0; k < ALPHA_QUADS; k++) {
        const unsigned item = first + k * ALPHA_THREADS;
        at[k] = position_of(item, (unsigned)band.rows, row_quads);
        const unsigned char *const from = band.in + at[k].row * band.in_pitch;
#pragma unroll
        for (int i = 0; i < 3 && item < quads; i++)
            word[k][i] = load_bytes(from, 12ll * at[k].column + 4 * i, 3ll * band.width);
    }
#pragma unroll
    for (int k = 0; k < ALPHA_QUADS; k++) {
        const unsigned a = word[k][0], b = word[k][1], c = word[k][2];
        const unsigned pixel[8] = {__byte_perm(a, 0, 0x1100), __byte_perm(a, ~0u, 0x4422),
                                   __byte_perm(a, b, 0x4433), __byte_perm(b, ~0u, 0x4411),
                                   __byte_perm(b, 0, 0x3322), __byte_perm(c, ~0u, 0x4400),
                                   __byte_perm(c, 0, 0x2211), __byte_perm(c, ~0u, 0x4433)};
        if (first + k * ALPHA_THREADS >= quads)
            return;
        uint2 *const to =
            (uint2 *)(band.out + at[k].row * band.out_pitch) + 4 * (size_t)at[k].column;
        if (4 * at[k].column + 4 <= (unsigned)band.width) {
            ((uint4 *)to)[0] = make_uint4(pixel[0], pixel[1], pixel[2], pixel[3]);
            ((uint4 *)to)[1] = make_uint4(pixel[4], pixel[5], pixel[6], pixel[7]);
            continue;
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            if (4 * at[k].column + i < (unsigned)band.width)
                to[i] = make_uint2(pixel[2 * i], pixel[2 * i + 1]);
        }
    }
}

/* Whether the program makes RGB8 opaque and premultiplies it. */
static bool is_opaque(const struct gf_stage *stage, const struct gf_point_program *program)
{
    return stage->in.channels == 3 && stage->in.bits == 8 && program->count == 2 &&
           program->table == GF_POINT_NO_TABLE && program->op[0].kind == GF_POINT_OPAQUE &&
           program->op[1].kind == GF_POINT_PREMULTIPLY;
}

static int launch_opaque(const struct view_pair *band, cudaStream_t stream)
{
    const unsigned row_quads = blocks_for((unsigned)band->width, 4);
    const unsigned blocks =
        blocks_for((unsigned)band->rows * row_quads, ALPHA_THREADS * ALPHA_QUADS);
    return launch_early(opaque_kernel, blocks, ALPHA_THREADS, 0, stream, *band, row_quads);
}

/* Whether the program is one of the conversions of alpha that launch_alpha() launches. */
static bool is_alpha(const struct gf_stage *stage, const struct gf_point_program *program)
{
    const int kind = program->op[0].kind;
    return stage->in.channels == 4 && program->count == 1 && program->table == GF_POINT_NO_TABLE &&
           (kind == GF_POINT_PREMULTIPLY || kind == GF_POINT_UNPREMULTIPLY ||
            (kind == GF_POINT_GRAY && stage->out.channels == 2));
}

static int launch_alpha(const struct view_pair *band, const struct gf_stage *stage,
                        const struct gf_point_op &op, cudaStream_t stream)
{
    const unsigned row_pairs = blocks_for((unsigned)band->width, 2);
    const unsigned blocks =
        blocks_for((unsigned)band->rows * row_pairs, ALPHA_THREADS * ALPHA_PAIRS);
    if (op.kind == GF_POINT_GRAY)
        return stage->in.bits == 8
                   ? launch_early(gray_alpha_kernel<unsigned, unsigned short>, blocks,
                                  ALPHA_THREADS, 0, stream, *band, row_pairs, op)
                   : launch_early(gray_alpha_kernel<uint2, unsigned>, blocks, ALPHA_THREADS, 0,
                                  stream, *band, row_pairs, op);
    const bool multiplies = op.kind == GF_POINT_PREMULTIPLY;
    const int bits = multiplies ? stage->in.bits : stage->out.bits;
    const auto kernel = multiplies
                            ? (bits == 8 ? premultiply_kernel<unsigned> : premultiply_kernel<uint2>)
                            : (bits == 8 ? straighten_kernel<unsigned> : straighten_kernel<uint2>);
    return launch_early(kernel, blocks, ALPHA_THREADS, 0, stream, *band, row_pairs);
}

/* Launches the kernel for a list of point filters on a band. The kernel reads an ACCESS (16, 4 or 1
 * bytes) at a time. */

extern "C" gf_launcher gf_point_wide_cuda;

template <class ACCESS>
static int launch_rows(const struct gf_launch *launch, struct view_pair band)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const host = (const struct gf_point_program *)stage->constants;
    band = join_rows(band, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
    const unsigned char *const block = (const unsigned char *)launch->constants;
    const unsigned char *const host_table =
        (const unsigned char *)gf_point_block(host, host->table_at);
    if (host->table == GF_POINT_SAMPLES && is_negative(host_table, stage->in, host->tables))
        return launch_invert8<ACCESS>(&band, stage->in, launch->stream);
    if (host->table == GF_POINT_SAMPLES)
        return launch_tables<ACCESS>(&band, stage->in, block + host->table_at, host->tables,
                                     launch->stream);
    bool step, fine;
    if (is_luma8(stage, host, &step, &fine))
        return launch_luma8<ACCESS>(&band, step, fine, host->op[1].a, launch->stream);
    if (sizeof(ACCESS) == VECTOR && is_luma16(stage, host))
        return launch_luma16(&band, host->op[0], launch->stream);
    if (is_lab8(stage, host))
        return launch_lab8<ACCESS>(&band, stage->in.channels, host, block, launch->stream);
    if (sizeof(ACCESS) == VECTOR && is_alpha(stage, host))
        return launch_alpha(&band, stage, host->op[0], launch->stream);
    if (sizeof(ACCESS) == VECTOR && is_opaque(stage, host))
        return launch_opaque(&band, launch->stream);
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program<ACCESS>(&program, stage->in.bits, stage->out.bits, launch->stream);
}

/* A band is one launch, unless it has more than LAUNCH_BYTES in accesses of less than 16 bytes. */
enum { LAUNCH_BYTES = 1 << 30 };

template <class ACCESS> static int launch_point(const struct gf_launch *launch)
{
    if (gf_point_is_wide((const struct gf_point_program *)launch->stage->constants))
        return gf_point_wide_cuda(launch);
    const struct view_pair band = aligned_views(launch);
    const unsigned most = sizeof(ACCESS) == VECTOR
                              ? band.rows
                              : LAUNCH_BYTES / (unsigned)gf_row_bytes(launch->stage->in);
    return for_parts_of_rows(band, most, [&](const struct view_pair &part) {
        return launch_rows<ACCESS>(launch, part);
    });
}
