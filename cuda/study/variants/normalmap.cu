/* The default kernels of normalmap with 1 / sqrtf, and a kernel that reads only global memory. */
#include "cuda/filters/normalmap/normalmap.cuh"

enum {
    GLOBAL_WIDTH = 32,
    GLOBAL_HEIGHT = 8,
};

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
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const dim3 threads(GLOBAL_WIDTH, GLOBAL_HEIGHT);
    const int blocks = tile_blocks(args.p.width, args.p.rows, GLOBAL_WIDTH, GLOBAL_HEIGHT);
    if (launch->in.format.bits == 8)
        normalmap_global_kernel<unsigned char><<<blocks, threads, 0, stream>>>(args);
    else
        normalmap_global_kernel<unsigned short><<<blocks, threads, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_normalmap_sqrtf_cuda(const struct gf_launch *launch)
{
    return launch_normalmap<rounded_root>(launch);
}
