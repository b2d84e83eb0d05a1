/* What both kernels of nlmeans have in common: a warp computes rows of up to 62 pixels, and a lane
 * has two neighbouring columns. The pixels around a block's rows are in shared memory. */
#pragma once

#include "filters/nlmeans/nlmeans.h"

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

enum {
    COLUMNS = 2 * WARP,
    /* of a tile; an even number, and the same for all windows, so that addresses are constants */
    TILE_PITCH = COLUMNS + 2 * GF_NLMEANS_SEARCH_MAX + 2
};

struct nlmeans_args {
    struct view_pair p;
    struct gf_nlmeans nlmeans;
    unsigned limit; /* 16 bits: the distance that replaces larger ones: their weight is 0, too */
};

/* The number of columns in which a warp computes results. PATCH columns on each side of the warp
 * lack neighbours. */
template <int PATCH> static constexpr int MADE = COLUMNS - 2 * PATCH;

template <class Pixels, int PATCH>
static __host__ __device__ __forceinline__ int tile_lines(int search)
{
    return Pixels::warps * Pixels::rows + 2 * (search + PATCH);
}

template <class Pixels, int PATCH>
static __device__ __forceinline__ void fill_tile(const struct nlmeans_args &args, int x0, int y0,
                                                 typename Pixels::pixel *tile)
{
    constexpr int PARTS = (TILE_PITCH + WARP - 1) / WARP;
    const struct view_pair &p = args.p;
    const int search = args.nlmeans.search, lines = tile_lines<Pixels, PATCH>(search);
    const int last = p.out_y + p.rows - 1 + search + PATCH; /* the last row of the view */
    const int lane = (int)threadIdx.x % WARP;
    int x[PARTS];
#pragma unroll
    for (int k = 0; k < PARTS; k++)
        x[k] = gf_border_index(x0 + lane + k * WARP, p.width, p.border);
#pragma unroll 4
    for (int line = (int)threadIdx.x / WARP; line < lines; line += Pixels::warps) {
        const int y = gf_border_index(min(y0 + line, last), p.height, p.border);
        const ptrdiff_t down = y < 0 ? 0 : y - p.in_y;
        const unsigned char *const row = p.in + down * (ptrdiff_t)p.in_pitch;
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            const int column = lane + k * WARP;
            const typename Pixels::pixel v = Pixels::load(row, max(x[k], 0));
            if (column < TILE_PITCH)
                tile[line * TILE_PITCH + column] = x[k] >= 0 && y >= 0 ? v : Pixels::nothing();
        }
    }
}

/* The part of a block's thread. */
template <class Pixels> struct nlmeans_place {
    int x, top; /* the first column of its lane, the first row of its warp */
    int lane;
    const typename Pixels::pixel *own; /* the first row of the warp's patches, without a shift */
};

/* Fills the tile. All threads of the block call the function. */
template <class Pixels, int PATCH>
static __device__ __forceinline__ struct nlmeans_place<Pixels>
begin_tile(const struct nlmeans_args &args, typename Pixels::pixel *tile) {
    const int search = args.nlmeans.search, warp = (int)threadIdx.x / WARP;
    const struct tile_origin origin =
        block_tile(args.p.width, MADE<PATCH>, Pixels::warps *Pixels::rows);
    struct nlmeans_place<Pixels> place;
    place.lane = (int)threadIdx.x % WARP;
    place.x = origin.x - PATCH + 2 * place.lane;
    place.top = origin.row + warp * Pixels::rows;
    place.own = tile + (warp * Pixels::rows + search) * TILE_PITCH;
    fill_tile<Pixels, PATCH>(args, origin.x - PATCH - search,
                             args.p.out_y + origin.row - PATCH - search, tile);
    __syncthreads();
    return place;
}

/* Sums a patch along the row, for both columns of the lane. All lanes of the warp call the
 * function. */
template <int PATCH>
static __device__ __forceinline__ void sum_along(unsigned left, unsigned right, unsigned to[2])
{
    const unsigned all = 0xffffffffu, both = left + right;
    unsigned middle[2] = {both, both};
    if (PATCH == 2) {
        middle[0] += __shfl_up_sync(all, both, 1);
        middle[1] += __shfl_down_sync(all, both, 1);
    } else if (PATCH == 3) {
        middle[0] += __shfl_up_sync(all, both, 1) + __shfl_down_sync(all, both, 1);
        middle[1] = middle[0];
    }
    const unsigned before = __shfl_up_sync(all, right, (PATCH + 1) / 2);
    const unsigned behind = __shfl_down_sync(all, left, (PATCH + 1) / 2);
    to[0] = middle[0] + (PATCH == 2 ? behind : before);
    to[1] = middle[1] + (PATCH == 2 ? before : behind);
}

/* Stores the means of a lane's pixels that are in the picture and have whole patches. */
template <class Pixels, int PATCH>
static __device__ __forceinline__ void store_means(const struct nlmeans_args &args,
                                                   const struct nlmeans_place<Pixels> &place,
                                                   const Pixels sums[Pixels::rows][2])
{
    const struct view_pair &p = args.p;
#pragma unroll
    for (int row = 0; row < Pixels::rows; row++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int made = 2 * place.lane + k;
            if (place.top + row < p.rows && made >= PATCH && made < COLUMNS - PATCH &&
                place.x + k < p.width)
                sums[row][k].store(p.out + (size_t)(place.top + row) * p.out_pitch, place.x + k);
        }
    }
}
