/* A tile is at most 512 pixels of a row, which one warp processes. The tile passes through shared
 * memory, so that accesses to the picture are contiguous for every size of a pixel. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"

enum { TILE = 512 }; /* the largest number of pixels of a tile */

struct tile {
    unsigned row, first, pixels;
};

static __device__ __forceinline__ struct tile tile_of(unsigned index, const struct view_pair *band,
                                                      unsigned row_tiles, unsigned pixels)
{
    const struct position at = position_of(index, band->rows, row_tiles);
    const unsigned first = at.column * pixels;
    const unsigned left = band->width - first;
    return {at.row, first, left < pixels ? left : pixels};
}

/* Finds a tile of TILE pixels without a division. `inverse` is UINT_MAX / row_tiles; the resulting
 * quotient is right or one too small. */
static __device__ __forceinline__ struct tile quick_tile(unsigned index, unsigned width,
                                                         unsigned row_tiles, unsigned inverse)
{
    unsigned row = __umulhi(index, inverse), column = index - row * row_tiles;
    if (column >= row_tiles) {
        row++;
        column -= row_tiles;
    }
    const unsigned first = column * TILE, left = width - first;
    return {row, first, left < TILE ? left : (unsigned)TILE};
}

/* Copies `bytes` bytes, at most VECTORS * 512, by the lanes of a warp, an ACCESS for each lane at a
 * time. Source and destination begin at a multiple of a vector. */
template <int VECTORS, class ACCESS>
static __device__ __forceinline__ void copy_tile(unsigned char *__restrict__ to,
                                                 const unsigned char *__restrict__ from,
                                                 unsigned bytes, unsigned lane)
{
    const unsigned full = bytes / sizeof(ACCESS);
    if (sizeof(ACCESS) == VECTOR && bytes == VECTORS * WARP * VECTOR) {
        ACCESS v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = ((const ACCESS *)from)[lane + k * WARP];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            ((ACCESS *)to)[lane + k * WARP] = v[k];
        return;
    }
#pragma unroll 1
    for (int round = 0; round < VECTOR / (int)sizeof(ACCESS); round++) {
        const unsigned first = lane + round * (VECTORS * WARP);
        ACCESS v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (first + k * WARP < full)
                v[k] = ((const ACCESS *)from)[first + k * WARP];
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (first + k * WARP < full)
                ((ACCESS *)to)[first + k * WARP] = v[k];
        }
    }
    if (lane < bytes % sizeof(ACCESS))
        to[full * sizeof(ACCESS) + lane] = from[full * sizeof(ACCESS) + lane];
}
