#include "cuda/common/planes.cuh"
#include "cuda/filters/convolve_bytes.cuh"
#include "cuda/filters/convolve_finish.cuh"
#include "cuda/filters/convolve_mma.cuh"
#include "cuda/filters/convolve_small.cuh"
#include "filters/convolve.h"

struct convolve_args {
    struct view_pair p;
    struct planes_shape shape;
    int width, height, keep_alpha;
    float divisor, bias, max;
    float weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
};

/* Adds up row by row and from left to right, as the CPU does. A weight is loaded once for the eight
 * results of the run. */
static __device__ __forceinline__ void correlate(const struct convolve_args &args,
                                                 const float *first, int row_pitch,
                                                 float sum[PLANES_RUN])
{
#pragma unroll
    for (int i = 0; i < PLANES_RUN; i++)
        sum[i] = 0.0f;
    for (int j = 0; j < args.height; j++) {
        const float *const line = first + j * row_pitch;
        const float *const weight = args.weight + j * args.width;
        float v[PLANES_RUN + 4];
        unpack(*(const float4 *)(line), v);
        unpack(*(const float4 *)(line + 4), v + 4);
        for (int base = 0; base < args.width; base += 4) {
            unpack(*(const float4 *)(line + base + 8), v + 8);
#pragma unroll
            for (int u = 0; u < 4; u++) {
                if (base + u < args.width) {
#pragma unroll
                    for (int i = 0; i < PLANES_RUN; i++)
                        sum[i] = sum[i] + weight[base + u] * v[i + u];
                }
            }
#pragma unroll
            for (int i = 0; i < PLANES_RUN; i++)
                v[i] = v[i + 4];
        }
    }
}

template <class Sample>
__global__ void __launch_bounds__(PLANES_THREADS) convolve_kernel(const struct convolve_args args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct planes_shape shape = args.shape;
    const struct planes_tile tile = tile_of_planes(p, shape);
    const int row_pitch = p.channels * shape.plane;
    float *const planes = (float *)shared;
    Sample *const staging = (Sample *)(planes + (shape.height + args.height - 1) * row_pitch);
    load_planes<Sample>(p, shape, tile, planes);
    __syncthreads();
    const int items = tile.lines * p.channels * (shape.width / PLANES_RUN);
    for (int i = threadIdx.x; i < items; i += PLANES_THREADS) {
        struct planes_item item;
        if (!find_item(p, shape, tile, i, &item))
            continue;
        float sum[PLANES_RUN];
        correlate(args, planes + item.row * row_pitch + item.channel * shape.plane + item.first,
                  row_pitch, sum);
        const bool alpha = p.channels % 2 == 0 && item.channel == p.channels - 1;
        const float *const centre = planes + (item.row + shape.reach_y) * row_pitch +
                                    (p.channels - 1) * shape.plane + item.first + shape.reach_x;
        Sample *const to =
            staging + (item.row * shape.width + item.first) * p.channels + item.channel;
#pragma unroll
        for (int j = 0; j < PLANES_RUN; j++)
            to[j * p.channels] =
                (Sample)round_bits(finish(args, sum[j], alpha, centre + j), args.max);
    }
    __syncthreads();
    store_planes(p, shape, tile, staging);
}

extern "C" int gf_convolve_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int bits = launch->in.format.bits;
    size_t shared;
    struct bytes_args bytes;
    if (bytes_fit(launch, convolve, &bytes))
        return launch_bytes<fuse_none>(launch, convolve, bytes);
    if (small_fits(convolve, launch->in.format))
        return launch_small(launch, convolve);
    struct convolve_args args = {};
    args.p = view_pair_of(launch, convolve->border);
    args.shape = shape_of_planes(args.p, bits, convolve->width, convolve->height, &shared);
    args.width = convolve->width;
    args.height = convolve->height;
    args.keep_alpha = convolve->keep_alpha;
    args.divisor = convolve->divisor;
    args.bias = convolve->bias;
    args.max = bits == 8 ? 255.0f : 65535.0f;
    for (int i = 0; i < convolve->width * convolve->height; i++)
        args.weight[i] = convolve->weight[i];
    const int blocks = planes_blocks(args.p, args.shape);
    if (bits == 8)
        convolve_kernel<unsigned char><<<blocks, PLANES_THREADS, shared, stream>>>(args);
    else
        convolve_kernel<unsigned short><<<blocks, PLANES_THREADS, shared, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_convolve_tensor_cuda(const struct gf_launch *launch)
{
    return launch_convolve_mma(launch, (const struct gf_convolve *)launch->stage->constants);
}

extern "C" int gf_convolve_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    return convolve_mma_is_faster(launch, convolve) ? gf_convolve_tensor_cuda(launch)
                                                    : gf_convolve_tiled_cuda(launch);
}

extern "C" int gf_convolve_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct bytes_args bytes;
    if (bytes_fit(launch, convolve, &bytes))
        return for_fuse(launch, [&](auto fuse) -> int {
            return launch_bytes<decltype(fuse)>(launch, convolve, bytes);
        });
    if (!small_fits(convolve, launch->in.format) || gf_convolve_doubt(convolve) > NEAR_DOUBT_MAX)
        return cudaErrorNotSupported;
    return for_fuse(launch, [&](auto fuse) -> int {
        return launch_small_way<CONVOLVE_NEAR, decltype(fuse)>(launch, convolve);
    });
}
