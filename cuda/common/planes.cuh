/* A tile of the picture and its halo as floats in shared memory. Each row has a plane for each
 * channel, so that neighbouring samples of a channel are adjacent. A thread computes a run of eight
 * pixels of one channel. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "stage/border.h"

enum { PLANES_THREADS = 256, PLANES_RUN = 8 };

struct planes_shape {
    int width,
        height; /* size of the tile in pixels; width is a multiple of 8, width * channels of 16 */
    int reach_x, reach_y;
    int plane; /* floats from one channel to the next */
};

/* Returns the largest tile that fits in 48 KB of shared memory together with its result and `more`
 * bytes after it. */
static inline struct planes_shape shape_of_planes(const struct view_pair &p, int bits,
                                                  int kernel_width, int kernel_height,
                                                  size_t *bytes, size_t more = 0)
{
    static const int sizes[][2] = {{192, 32}, {192, 16}, {96, 32}, {96, 16}, {96, 8}, {96, 4}};
    struct planes_shape shape = {};
    shape.reach_x = kernel_width / 2;
    shape.reach_y = kernel_height / 2;
    for (int i = 0; i < 6; i++) {
        shape.width = sizes[i][0] / p.channels;
        shape.height = sizes[i][1];
        shape.plane = shape.width + (kernel_width + 3) / 4 * 4;
        *bytes = (size_t)(shape.plane * p.channels * (shape.height + kernel_height - 1)) *
                     sizeof(float) +
                 (size_t)(shape.width * p.channels * shape.height * (bits / 8)) + more;
        if (*bytes <= 48 * 1024)
            break;
    }
    return shape;
}

static inline int planes_blocks(const struct view_pair &p, const struct planes_shape &shape)
{
    return tile_blocks(p.width, p.rows, shape.width, shape.height);
}

/* The first pixel and row of the block's tile in the picture, and the tile's number of rows. */
struct planes_tile {
    int x0, y0, lines;
};

static __device__ __forceinline__ struct planes_tile
tile_of_planes(const struct view_pair &p, const struct planes_shape &shape)
{
    const struct tile_origin origin = block_tile(p.width, shape.width, shape.height);
    struct planes_tile tile;
    tile.x0 = origin.x;
    tile.y0 = p.out_y + origin.row;
    tile.lines = min(shape.height, p.out_y + p.rows - tile.y0);
    return tile;
}

template <class Sample>
static __device__ __forceinline__ void load_planes(const struct view_pair &p,
                                                   const struct planes_shape &shape,
                                                   const struct planes_tile &tile, float *planes)
{
    const int lane = threadIdx.x % 32, warps = PLANES_THREADS / 32;
    for (int row = threadIdx.x / 32; row < tile.lines + 2 * shape.reach_y; row += warps) {
        const int y = gf_border_index(tile.y0 - shape.reach_y + row, p.height, p.border);
        const Sample *const from =
            (const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
        float *const to = planes + row * p.channels * shape.plane;
        for (int i = lane; i < shape.plane; i += 32) {
            const int x = gf_border_index(tile.x0 - shape.reach_x + i, p.width, p.border);
            for (int c = 0; c < p.channels; c++)
                to[c * shape.plane + i] =
                    x < 0 || y < 0 ? 0.0f : float_of(__ldg(from + (long long)x * p.channels + c));
        }
    }
}

/* The position of a run of eight pixels of a channel in the tile. */
struct planes_item {
    int row, channel, first; /* first: pixel of the tile */
};

static __device__ __forceinline__ bool find_item(const struct view_pair &p,
                                                 const struct planes_shape &shape,
                                                 const struct planes_tile &tile, int i,
                                                 struct planes_item *item)
{
    const int runs = shape.width / PLANES_RUN;
    const int strip = i / runs;
    item->first = (i - strip * runs) * PLANES_RUN;
    item->row = strip / p.channels;
    item->channel = strip - item->row * p.channels;
    return tile.x0 + item->first < p.width;
}

template <class Sample>
static __device__ __forceinline__ void
store_planes(const struct view_pair &p, const struct planes_shape &shape,
             const struct planes_tile &tile, const Sample *staging)
{
    const int size = (int)sizeof(Sample), pitch = shape.width * p.channels * size;
    store_tile(p, (const unsigned char *)staging, pitch, pitch, tile.lines, tile.y0,
               (long long)tile.x0 * p.channels * size, (long long)p.width * p.channels * size);
}
