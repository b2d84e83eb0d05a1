/* Stencils as the guides begin with them: a thread computes one sample and reads everything from
 * global memory. The variants of blur and boxblur use these kernels and the kernels of
 * window_tile.cuh. An Op is a stencil of two passes. It has the types `sample`, `middle` (the
 * result of a column) and `stored` (that result in scratch memory), an int `radius`, and the
 * functions middle column(at) and sample row(at), where at(k) returns the value k rows or pixels
 * from the middle one. */
#pragma once

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

/* Does the first of two passes. Both need 2 n reads instead of n * n, but a second kernel, which
 * reads the result of the first (the guides' tiled convolution). */
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
    window_square_kernel<Op><<<window_blocks(args.p), dim3(WINDOW_COLUMNS, WINDOW_ROWS), 0,
                               (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
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
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    window_columns_kernel<Op><<<blocks, threads, 0, stream>>>(args);
    const int status = cudaGetLastError();
    if (status)
        return status;
    window_rows_kernel<Op><<<blocks, threads, 0, stream>>>(args);
    return cudaGetLastError();
}
