/* The default kernels of sobel and normalmap with sqrtf, and kernels that read only global
 * memory. */
#include "cuda/filters/normalmap/normalmap.cuh"
#include "cuda/filters/sobel/sobel_rolling.cuh"
#include "pixel/sample.h"

enum {
    GLOBAL_WIDTH = 32,
    GLOBAL_HEIGHT = 8,
};

struct sobel_args {
    struct view_pair p;
    float scale;
    int kernel; /* enum gf_gradient */
};

/* Returns the sample that is `row` bytes and then `column` samples after p.in, or 0 if one of them
 * is -1, as with a border of zeros. */
template <class SAMPLE>
static __device__ __forceinline__ float tap(const struct view_pair &p, long long row, int column)
{
    return row < 0 || column < 0 ? 0.0f : (float)((const SAMPLE *)(p.in + row))[column];
}

/* Computes the picture with a thread for each sample, which reads its eight neighbours. The caches
 * serve samples that neighbouring threads share (Best Practices Guide 9.2.1). */
template <class SAMPLE>
__global__ void __launch_bounds__(GLOBAL_WIDTH *GLOBAL_HEIGHT)
    sobel_global_kernel(const struct sobel_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width * p.channels, GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const int column = origin.x + (int)threadIdx.x;
    const int line = origin.row + (int)threadIdx.y;
    if (column >= p.width * p.channels || line >= p.rows)
        return;
    const int pixel = column / p.channels, channel = column - pixel * p.channels;
    long long row[3];
    int at[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int y = gf_border_index(p.out_y + line + i - 1, p.height, p.border);
        const int x = gf_border_index(pixel + i - 1, p.width, p.border);
        row[i] = y < 0 ? -1 : (y - p.in_y) * (long long)p.in_pitch;
        at[i] = x < 0 ? -1 : x * p.channels + channel;
    }
    SAMPLE *const to = (SAMPLE *)(p.out + line * (long long)p.out_pitch) + column;
    if (p.channels % 2 == 0 && channel == p.channels - 1) {
        *to = ((const SAMPLE *)(p.in + row[1]))[column];
        return;
    }
    const float side = (float)gf_gradient_side(args.kernel);
    const float middle = (float)gf_gradient_middle(args.kernel);
    const float x = side * (tap<SAMPLE>(p, row[0], at[2]) - tap<SAMPLE>(p, row[0], at[0])) +
                    middle * (tap<SAMPLE>(p, row[1], at[2]) - tap<SAMPLE>(p, row[1], at[0])) +
                    side * (tap<SAMPLE>(p, row[2], at[2]) - tap<SAMPLE>(p, row[2], at[0]));
    const float y = side * (tap<SAMPLE>(p, row[2], at[0]) - tap<SAMPLE>(p, row[0], at[0])) +
                    middle * (tap<SAMPLE>(p, row[2], at[1]) - tap<SAMPLE>(p, row[0], at[1])) +
                    side * (tap<SAMPLE>(p, row[2], at[2]) - tap<SAMPLE>(p, row[0], at[2]));
    const float square = sizeof(SAMPLE) == 1 ? fmaf(x, x, y * y) : x * x + y * y;
    const float root = corrected_root::root(square);
    *to = (SAMPLE)gf_round_flat(root * args.scale, sizeof(SAMPLE) == 1 ? 255.0f : 65535.0f);
}

extern "C" int gf_sobel_global_cuda(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const dim3 threads(GLOBAL_WIDTH, GLOBAL_HEIGHT);
    struct sobel_args args = {};
    args.p = view_pair_of(launch, sobel->border);
    args.scale = sobel->scale;
    args.kernel = sobel->kernel;
    const int blocks =
        tile_blocks(args.p.width * args.p.channels, args.p.rows, GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const auto kernel = launch->in.format.bits == 8 ? sobel_global_kernel<unsigned char>
                                                    : sobel_global_kernel<unsigned short>;
    return launch_kernel(kernel, blocks, threads, 0, launch->stream, args);
}

GF_LAUNCHES(gf_sobel_sqrtf_cuda, launch_rolling<rounded_root, rounded_root>(launch))

/* ---- normalmap ---- */

/* Computes normals with a thread for each pixel, which computes the heights of its eight neighbours
 * from global memory. The caches serve pixels that neighbouring threads share (Best Practices Guide
 * 9.2.1). */
template <class Sample>
__global__ void __launch_bounds__(GLOBAL_WIDTH *GLOBAL_HEIGHT)
    normalmap_global_kernel(const struct normalmap_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const int x = origin.x + (int)threadIdx.x;
    const int line = origin.row + (int)threadIdx.y, y = p.out_y + line;
    if (x >= p.width || line >= p.rows)
        return;
    int gx = 0, gy = 0;
#pragma unroll
    for (int i = -1; i <= 1; i++) {
#pragma unroll
        for (int k = -1; k <= 1; k++) {
            const int height = i || k ? height_at<Sample>(p, x + k, y + i) : 0;
            gx += height * k * (i ? 1 : 2);
            gy += height * i * (k ? 1 : 2);
        }
    }
    Sample *const to =
        (Sample *)(p.out + line * (long long)p.out_pitch) + (long long)x * args.out_channels;
    normal_of<Sample, corrected_root>(args, gx, gy, x, y, to);
}

extern "C" int gf_normalmap_global_cuda(const struct gf_launch *launch)
{
    const struct normalmap_args args = normalmap_args_of(launch);
    const dim3 threads(GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const int blocks = tile_blocks(args.p.width, args.p.rows, GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const auto kernel = launch->in.format.bits == 8 ? normalmap_global_kernel<unsigned char>
                                                    : normalmap_global_kernel<unsigned short>;
    return launch_kernel(kernel, blocks, threads, 0, launch->stream, args);
}

GF_LAUNCHES(gf_normalmap_sqrtf_cuda, launch_normalmap<rounded_root>(launch))
