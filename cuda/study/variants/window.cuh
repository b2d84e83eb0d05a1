/* Stencils as the guides begin with them: a thread computes one sample and reads everything from
 * global memory. The variants of blur and boxblur use these kernels and those on a tile below. An
 * Op is a stencil of two passes. It has the types `sample`, `middle` (the result of a column) and
 * `stored` (that result in scratch memory), an int `radius`, and the functions middle column(at)
 * and sample row(at), where at(k) returns the value k rows or pixels from the middle one. */
#pragma once

#include <cuda_pipeline_primitives.h>
#include <limits.h>

#include "cuda/common/stencil.cuh"
#include "stage/border.h"

enum {
    WINDOW_COLUMNS = 32,
    WINDOW_ROWS = 8
}; /* threads of a block; the lanes of a warp are along
    * a row */

template <class Op> struct window_args {
    struct view_pair p;
    unsigned char *middle; /* scratch memory, with the rows of the band */
    size_t middle_pitch;
    Op op;
};

/* The position of the sample that a thread computes. */
struct spot {
    int x, channel, row; /* row: the row in the band */
    size_t sample;       /* the sample's index in its row */
};

static __device__ __forceinline__ bool find_spot(const struct view_pair &p, struct spot *spot)
{
    const unsigned samples = (unsigned)p.width * (unsigned)p.channels;
    const unsigned across = (samples + WINDOW_COLUMNS - 1) / WINDOW_COLUMNS;
    const unsigned down = blockIdx.x / across;
    const unsigned sample = (blockIdx.x - down * across) * WINDOW_COLUMNS + threadIdx.x;
    spot->row = (int)(down * WINDOW_ROWS + threadIdx.y);
    spot->x = (int)(sample / (unsigned)p.channels);
    spot->channel = (int)(sample - (unsigned)spot->x * (unsigned)p.channels);
    spot->sample = sample;
    return sample < samples && spot->row < p.rows;
}

static inline unsigned window_blocks(const struct view_pair &p)
{
    return (unsigned)ceil_div(p.width * p.channels, WINDOW_COLUMNS) *
           (unsigned)ceil_div(p.rows, WINDOW_ROWS);
}

/* Returns a sample of the picture extended by the border. */
template <class Sample>
static __device__ __forceinline__ unsigned sample_of(const struct view_pair &p, int x, int channel,
                                                     int y)
{
    const int column = gf_border_index(x, p.width, p.border),
              row = gf_border_index(y, p.height, p.border);
    if (row < 0 || column < 0)
        return 0;
    const Sample *const from =
        (const Sample *)(p.in + (long long)(row - p.in_y) * (long long)p.in_pitch);
    return from[(long long)column * p.channels + channel];
}

/* Returns the address of the spot's sample in the input. */
template <class Sample>
static __device__ __forceinline__ const unsigned char *centre_of(const struct view_pair &p,
                                                                 const struct spot &spot)
{
    const Sample *const row =
        (const Sample *)(p.in + (long long)(p.out_y + spot.row - p.in_y) * (long long)p.in_pitch);
    return (const unsigned char *)(row + spot.sample);
}

/* Whether the window is inside the picture, as most windows are. The kernel then needs no rule for
 * the border and finds samples by 32-bit offsets. */
static __device__ __forceinline__ bool is_inner(const struct view_pair &p, const struct spot &spot,
                                                int reach_x, int reach_y)
{
    const int y = p.out_y + spot.row;
    return spot.x >= reach_x && spot.x < p.width - reach_x && y >= reach_y &&
           y < p.height - reach_y && (long long)reach_y * (long long)p.in_pitch < INT_MAX;
}

template <class Sample>
static __device__ __forceinline__ Sample *out_sample(const struct view_pair &p,
                                                     const struct spot &spot)
{
    return (Sample *)(p.out + (size_t)spot.row * p.out_pitch) + spot.sample;
}

/* Reads the whole window for every sample (Best Practices 9.2.1). Warps read adjacent samples, and
 * repeated reads come from the caches. */
template <class Op>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    window_square_kernel(const struct window_args<Op> args)
{
    const struct view_pair &p = args.p;
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    typedef typename Op::sample Sample;
    typedef typename Op::middle Middle;
    Sample *const to = out_sample<Sample>(p, spot);
    const int y = p.out_y + spot.row;
    if (is_inner(p, spot, args.op.radius, args.op.radius)) {
        const unsigned char *const centre = centre_of<Sample>(p, spot);
        const int pitch = (int)p.in_pitch;
        *to = args.op.row([&](int dx) {
            const unsigned char *const column = centre + dx * p.channels * (int)sizeof(Sample);
            return args.op.column(
                [&](int dy) -> Middle { return *(const Sample *)(column + dy * pitch); });
        });
    } else {
        *to = args.op.row([&](int dx) {
            return args.op.column([&](int dy) -> Middle {
                return sample_of<Sample>(p, spot.x + dx, spot.channel, y + dy);
            });
        });
    }
}

/* Does the first of two passes, down the columns. Together they read 2 n values for a sample
 * instead of n * n, but the second one is another kernel, which reads the result of the first (the
 * guides' tiled convolution). */
template <class Op>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    window_columns_kernel(const struct window_args<Op> args)
{
    const struct view_pair &p = args.p;
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    typedef typename Op::sample Sample;
    typedef typename Op::middle Middle;
    typedef typename Op::stored Stored;
    Stored *const to = (Stored *)(args.middle + (size_t)spot.row * args.middle_pitch) + spot.sample;
    if (is_inner(p, spot, 0, args.op.radius)) {
        const unsigned char *const centre = centre_of<Sample>(p, spot);
        const int pitch = (int)p.in_pitch;
        *to = (Stored)args.op.column(
            [&](int dy) -> Middle { return *(const Sample *)(centre + dy * pitch); });
    } else {
        *to = (Stored)args.op.column([&](int dy) -> Middle {
            return sample_of<Sample>(p, spot.x, spot.channel, p.out_y + spot.row + dy);
        });
    }
}

template <class Op>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    window_rows_kernel(const struct window_args<Op> args)
{
    const struct view_pair &p = args.p;
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    typedef typename Op::middle Middle;
    typedef typename Op::stored Stored;
    typename Op::sample *const to = out_sample<typename Op::sample>(p, spot);
    const Stored *const row = (const Stored *)(args.middle + (size_t)spot.row * args.middle_pitch);
    if (is_inner(p, spot, args.op.radius, 0)) {
        const Stored *const centre = row + spot.sample;
        *to = args.op.row([&](int dx) -> Middle { return centre[dx * p.channels]; });
    } else {
        *to = args.op.row([&](int dx) -> Middle {
            const int column = gf_border_index(spot.x + dx, p.width, p.border);
            return column < 0 ? 0 : row[(long long)column * p.channels + spot.channel];
        });
    }
}

template <class Op>
static int launch_square(const struct gf_launch *launch, int border, const Op &op)
{
    const struct window_args<Op> args = {
        view_pair_of(launch, border), NULL, 0, op
    };
    return launch_kernel(window_square_kernel<Op>, window_blocks(args.p),
                         dim3(WINDOW_COLUMNS, WINDOW_ROWS), 0, launch->stream, args);
}

template <class Op>
static int launch_separable(const struct gf_launch *launch, int border, size_t middle_pitch,
                            const Op &op)
{
    const struct window_args<Op> args = {
        view_pair_of(launch, border), (unsigned char *)launch->scratch, middle_pitch, op
    };
    const unsigned blocks = window_blocks(args.p);
    const dim3 threads(WINDOW_COLUMNS, WINDOW_ROWS);
    LAUNCH_TRY(launch_kernel(window_columns_kernel<Op>, blocks, threads, 0, launch->stream, args));
    return launch_kernel(window_rows_kernel<Op>, blocks, threads, 0, launch->stream, args);
}

/* ---- a tile of the picture with its halo in shared memory, and an Op on the tile ---- */

enum { TILE_THREADS = 256, TILE_WARPS = TILE_THREADS / 32, TILE_LINES = 32, TILE_CHUNK = 16 };

/* The width of a tile in samples: whole pixels and chunks of 16 bytes for 1 to 4 channels. */
enum { TILE_WIDTH = 96, TILE_WIDE = 192 };

/* The shared memory of a tile, more than the default limit of 48 KB. Every device of compute
 * capability 7.5 or later has it. */
enum { TILE_SHARED_MOST = 64 * 1024 };

struct raw_tile {
    int width;            /* width of the tile in samples */
    int halo;             /* samples on each side that windows reach */
    int reach_x, reach_y; /* pixels and rows that windows reach */
    int pitch;            /* bytes from row to row, with room for the halo, and for starting at a
                           * chunk */
};

static inline struct raw_tile raw_tile_of(const struct view_pair &p, int bits, int width,
                                          int reach_x, int reach_y)
{
    struct raw_tile tile = {width, reach_x * p.channels, reach_x, reach_y, 0};
    tile.pitch =
        ((width + 2 * tile.halo) * (bits / 8) + 2 * (TILE_CHUNK - 1)) / TILE_CHUNK * TILE_CHUNK;
    return tile;
}

static inline size_t raw_tile_bytes(const struct raw_tile &tile)
{
    return (size_t)(TILE_LINES + 2 * tile.reach_y) * tile.pitch;
}

static inline int raw_tile_blocks(const struct view_pair &p, int width)
{
    return tile_blocks(p.width * p.channels, p.rows, width, TILE_LINES);
}

/* The first sample of the block's tile, and its first row in the band. */
struct tile_position {
    int sample, row, lines;
};

static __device__ __forceinline__ struct tile_position position_of_tile(const struct view_pair &p,
                                                                        int width)
{
    const struct tile_origin origin = block_tile(p.width * p.channels, width, TILE_LINES);
    struct tile_position position;
    position.sample = origin.x;
    position.row = origin.row;
    position.lines = min((int)TILE_LINES, p.rows - position.row);
    return position;
}

/* Sets a chunk that is partly outside of the row by the border's rule. The parameters are single
 * values, because the compiler would copy the kernel's parameters to local memory for a reference
 * to them. */
template <class Sample>
static __device__ __noinline__ void gather_chunk(const Sample *row, int first, int reach, int width,
                                                 int channels, int border, Sample *to)
{
    for (int i = 0; i < TILE_CHUNK / (int)sizeof(Sample); i++) {
        const int pixel = (first + i + reach * channels) / channels - reach;
        const int column = gf_border_index(pixel, width, border);
        to[i] = column < 0 ? 0 : row[first + i + (column - pixel) * channels];
    }
}

/* Fills the tile 16 bytes at a time. Returns the byte offset in its rows at which the halo begins.
 * With ASYNC the bytes bypass the registers (Best Practices 9.2.3.4), except before compute
 * capability 8.0. The function ends with a barrier. */
template <class Sample, bool ASYNC>
static __device__ __forceinline__ int
load_tile(const struct view_pair &p, const struct raw_tile &tile,
          const struct tile_position &position, unsigned char *raw)
{
    const int size = (int)sizeof(Sample), row_bytes = p.width * p.channels * size;
    const int begin = (position.sample - tile.halo) * size;
    const int start = begin & ~(TILE_CHUNK - 1);
    const int chunks =
        (begin - start + (tile.width + 2 * tile.halo) * size + TILE_CHUNK - 1) / TILE_CHUNK;
    for (int i = threadIdx.x; i < (position.lines + 2 * tile.reach_y) * chunks; i += TILE_THREADS) {
        const int line = i / chunks, chunk = i - line * chunks;
        const int y = p.out_y + position.row - tile.reach_y + line;
        const int index = gf_border_index(y, p.height, p.border);
        const int at = start + chunk * TILE_CHUNK;
        unsigned char *const to = raw + line * tile.pitch + chunk * TILE_CHUNK;
        const unsigned char *const row = p.in + (long long)(index - p.in_y) * (long long)p.in_pitch;
        if (index < 0)
            *(uint4 *)to = make_uint4(0, 0, 0, 0);
        else if (at < 0 || at + TILE_CHUNK > row_bytes)
            gather_chunk((const Sample *)row, at / size, tile.reach_x + TILE_CHUNK, p.width,
                         p.channels, p.border, (Sample *)to);
        else if (ASYNC)
            __pipeline_memcpy_async(to, row + at, TILE_CHUNK);
        else
            *(uint4 *)to = *(const uint4 *)(row + at);
    }
    if (ASYNC) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    return begin - start;
}

/* Writes the results from shared memory, one word for each thread. */
static __device__ __forceinline__ void store_lines(const struct view_pair &p,
                                                   const struct tile_position &position,
                                                   const unsigned char *results, int pitch,
                                                   int width, int size)
{
    const int words = width * size / 4, row_bytes = p.width * p.channels * size;
    for (int i = threadIdx.x; i < position.lines * words; i += TILE_THREADS) {
        const int line = i / words, word = i - line * words;
        const int at = position.sample * size + 4 * word;
        const unsigned char *const from = results + line * pitch + 4 * word;
        unsigned char *const to = p.out + (size_t)(position.row + line) * p.out_pitch + at;
        if (at + 4 <= row_bytes) {
            *(unsigned *)to = *(const unsigned *)from;
        } else {
            for (int b = 0; at + b < row_bytes; b++)
                to[b] = from[b];
        }
    }
}

template <class Op> struct tile_stencil_args {
    struct view_pair p;
    struct raw_tile tile;
    int middle_pitch;  /* words between two lines of column results */
    int results_pitch; /* the distance between rows of results, in bytes; the results replace the
                        * tile */
    Op op;
};

/* Computes both passes on one tile, so that the result of the first never leaves the multiprocessor
 * (Best Practices 9.2.3). In the first pass the lanes of a warp are along a line; in the second
 * each lane processes a line of its own. */
template <class Op, bool ASYNC>
__global__ void __launch_bounds__(TILE_THREADS)
    tile_stencil_kernel(const struct tile_stencil_args<Op> args)
{
    typedef typename Op::sample Sample;
    typedef typename Op::middle Middle;
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct raw_tile &tile = args.tile;
    const struct tile_position position = position_of_tile(p, tile.width);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, radius = args.op.radius;
    unsigned char *const raw = (unsigned char *)shared;
    Middle *const middle = (Middle *)(raw + (TILE_LINES + 2 * radius) * tile.pitch);
    const int skipped = load_tile<Sample, ASYNC>(p, tile, position, raw);
    for (int line = warp; line < position.lines; line += TILE_WARPS) {
        for (int i = lane; i < tile.width + 2 * tile.halo; i += 32)
            middle[line * args.middle_pitch + i] = args.op.column([&](int dy) -> Middle {
                return ((const Sample *)(raw + (line + radius + dy) * tile.pitch + skipped))[i];
            });
    }
    __syncthreads();
    for (int i = warp; lane < position.lines && i < tile.width; i += TILE_WARPS) {
        const Middle *const centre = middle + lane * args.middle_pitch + tile.halo + i;
        ((Sample *)(raw + lane * args.results_pitch))[i] =
            args.op.row([&](int dx) { return centre[dx * p.channels]; });
    }
    __syncthreads();
    store_lines(p, position, raw, args.results_pitch, tile.width, (int)sizeof(Sample));
}

/* Launches the kernel. Without padding, lines begin at multiples of 32 words: the 32 lanes on 32
 * lines access the same bank, one after the other. With an odd number of words from line to line
 * each lane has a bank of its own (Best Practices 9.2.3.3, Programming Guide 2.2.4.2.2). */
template <class Op, bool ASYNC>
static int launch_tile_stencil(const struct gf_launch *launch, int border, const Op &op,
                               bool padded)
{
    struct tile_stencil_args<Op> args = {
        view_pair_of(launch, border), {}, 0, 0, op
    };
    const int size = (int)sizeof(typename Op::sample);
    args.tile = raw_tile_of(args.p, 8 * size, TILE_WIDTH, op.radius, op.radius);
    const int words = TILE_WIDTH + 2 * args.tile.halo;
    args.middle_pitch = padded ? words | 1 : (words + 31) / 32 * 32;
    args.results_pitch = TILE_WIDTH * size + (padded ? 4 : 0);
    const size_t shared = raw_tile_bytes(args.tile) + (size_t)TILE_LINES * args.middle_pitch * 4;
    LAUNCH_TRY(cudaFuncSetAttribute(tile_stencil_kernel<Op, ASYNC>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, TILE_SHARED_MOST));
    return launch_kernel(tile_stencil_kernel<Op, ASYNC>, raw_tile_blocks(args.p, TILE_WIDTH),
                         TILE_THREADS, shared, launch->stream, args);
}
