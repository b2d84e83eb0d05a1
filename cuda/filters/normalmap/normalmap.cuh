/* Computes normals from a tile of heights in shared memory, for all formats except 8-bit RGB. The
 * kernel does not use walk.cuh, because the result has other channels than the picture. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "cuda/filters/normalmap/normalmap_rgb8.cuh"
#include "filters/normalmap/normalmap.h"
#include "stage/border.h"

enum {
    THREADS = 256,
    TILE_WIDTH = 128,
    TILE_HEIGHT = 16,
    /* One word of padding makes the pitch odd, so that the rows of a column are in different
     * banks. */
    PITCH = TILE_WIDTH + 2 + 1,
};

struct normalmap_args {
    struct view_pair p;
    float slope, max;
    int out_channels;
};

template <class Sample>
static __device__ __forceinline__ int height_at(const struct view_pair &p, int x, int y)
{
    x = gf_border_index(x, p.width, p.border);
    y = gf_border_index(y, p.height, p.border);
    if (x < 0 || y < 0)
        return 0;
    const Sample *const pixel =
        (const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch) +
        (long long)x * p.channels;
    return p.channels < 3 ? 256 * __ldg(pixel)
                          : gf_luma601_fine(__ldg(pixel), __ldg(pixel + 1), __ldg(pixel + 2));
}

/* Writes the normal of a pixel. gx and gy are the Sobel differences of the heights around it. */
template <class Sample, class ROOT>
static __device__ __forceinline__ void normal_of(const struct normalmap_args &args, int gx, int gy,
                                                 int x, int y, Sample *to)
{
    const struct view_pair &p = args.p;
    const float nx = -(args.slope * (float)gx), ny = -(args.slope * (float)gy);
    const float reciprocal = ROOT::reciprocal(gf_normal_square(nx, ny)), half = 0.5f * args.max;
    const float normal[3] = {nx * reciprocal, ny * reciprocal, reciprocal};
    if (args.out_channels == 4) { /* the colour is premultiplied, as in the input */
        const Sample alpha =
            __ldg((const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch) +
                  (long long)x * p.channels + p.channels - 1);
        const float weight = (float)alpha / args.max;
        for (int c = 0; c < 3; c++)
            to[c] = (Sample)round_bits(gf_normal_unrounded(normal[c], half) * weight, args.max);
        to[3] = alpha;
        return;
    }
    for (int c = 0; c < 3; c++)
        to[c] = (Sample)__float_as_uint(__fadd_rz(gf_normal_rounded(normal[c], half), 8388608.0f));
}

/* Computes the normal of a pixel. `at` points to the height above and to the left of the pixel. */
template <class Sample, class ROOT>
static __device__ __forceinline__ void normal_at(const struct normalmap_args &args, const int *at,
                                                 int x, int y, Sample *to)
{
    const int *const here = at + PITCH, *const below = at + 2 * PITCH;
    const int gx = at[2] - at[0] + 2 * (here[2] - here[0]) + below[2] - below[0];
    const int gy = below[0] + 2 * below[1] + below[2] - at[0] - 2 * at[1] - at[2];
    normal_of<Sample, ROOT>(args, gx, gy, x, y, to);
}

template <class Sample, class ROOT>
__global__ void __launch_bounds__(THREADS) normalmap_kernel(const struct normalmap_args args)
{
    __shared__ int heights[(TILE_HEIGHT + 2) * PITCH];
    __shared__ uint4 staging[TILE_WIDTH * TILE_HEIGHT * 4 * sizeof(Sample) / sizeof(uint4)];
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, TILE_WIDTH, TILE_HEIGHT);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min((int)TILE_HEIGHT, p.out_y + p.rows - y0);
    for (int i = threadIdx.x; i < (lines + 2) * (TILE_WIDTH + 2); i += THREADS) {
        const int row = i / (TILE_WIDTH + 2), column = i - row * (TILE_WIDTH + 2);
        if (x0 + column - 1 <= p.width)
            heights[row * PITCH + column] = height_at<Sample>(p, x0 + column - 1, y0 + row - 1);
    }
    __syncthreads();
    const int pitch = TILE_WIDTH * args.out_channels;
    for (int i = threadIdx.x; i < lines * TILE_WIDTH; i += THREADS) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH;
        if (x0 + column < p.width)
            normal_at<Sample, ROOT>(args, heights + row * PITCH + column, x0 + column, y0 + row,
                                    (Sample *)staging + row * pitch + column * args.out_channels);
    }
    __syncthreads();
    const int size = args.out_channels * (int)sizeof(Sample);
    store_tile(p, (const unsigned char *)staging, TILE_WIDTH * size, TILE_WIDTH * size, lines, y0,
               (long long)x0 * size, (long long)p.width * size);
}

static inline struct normalmap_args normalmap_args_of(const struct gf_launch *launch)
{
    const struct gf_normalmap *const normalmap =
        (const struct gf_normalmap *)launch->stage->constants;
    struct normalmap_args args = {};
    args.p = view_pair_of(launch, normalmap->border);
    args.slope = normalmap->slope;
    args.max = launch->in.format.bits == 8 ? 255.0f : 65535.0f;
    args.out_channels = launch->out.format.channels;
    return args;
}

template <class ROOT> static int launch_normalmap(const struct gf_launch *launch)
{
    const struct normalmap_args args = normalmap_args_of(launch);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (launch->in.format.bits == 8 && launch->in.format.channels == 3)
        return launch_rgb8<ROOT>(launch, (const struct gf_normalmap *)launch->stage->constants);
    const int blocks = tile_blocks(args.p.width, args.p.rows, TILE_WIDTH, TILE_HEIGHT);
    if (launch->in.format.bits == 8)
        normalmap_kernel<unsigned char, ROOT><<<blocks, THREADS, 0, stream>>>(args);
    else
        normalmap_kernel<unsigned short, ROOT><<<blocks, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}
