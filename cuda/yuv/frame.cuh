/* What both conversions share: a thread has four columns of a picture. */
#pragma once

#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "pixel/yuv/yuv_formula.h"

enum { COLUMNS = 4, BLOCK_ACROSS = 32, BLOCK_DOWN = 4 };

template <class Sample> struct alignas(COLUMNS * sizeof(Sample)) samples {
    Sample of[COLUMNS];
};

/* The first column of a thread, and its row of threads. */
struct place {
    int x, row;
};

static __device__ __forceinline__ struct place own_place(int width)
{
    const struct tile_origin tile = block_tile(width, BLOCK_ACROSS * COLUMNS, BLOCK_DOWN);
    return {tile.x + (int)threadIdx.x * COLUMNS, tile.row + (int)threadIdx.y};
}

static inline unsigned blocks_of(int width, int rows)
{
    return (unsigned)tile_blocks(width, rows, BLOCK_ACROSS * COLUMNS, BLOCK_DOWN);
}

static __device__ __forceinline__ int clamped(int i, int count)
{
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/* Stores the first `count` of four samples. Rows of a plane begin at any multiple of a sample. */
template <class Sample>
static __device__ __forceinline__ void store(Sample *to, const struct samples<Sample> &from,
                                             int count)
{
    if (count >= COLUMNS && (uintptr_t)to % sizeof from == 0) {
        *(struct samples<Sample> *)to = from;
        return;
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        if (i < count)
            to[i] = from.of[i];
    }
}
