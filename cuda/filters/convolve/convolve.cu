/* Convolution with any matrix, and the choice between all kernels. */
#include "cuda/filters/convolve/convolve.cuh"

#include "cuda/common/floats.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/filters/convolve/convolve_bytes.cuh"
#include "cuda/filters/convolve/convolve_mma.cuh"
#include "cuda/filters/convolve/convolve_small.cuh"
#include "filters/convolve/convolve.h"
#include "pixel/sample.h"
#include "stage/border.h"

/* A tile of the picture and its halo as floats in shared memory. Each row has a plane for each
 * channel, so that neighbouring samples of a channel are adjacent. A thread computes a stretch of
 * eight pixels of one channel. */

enum { PLANES_THREADS = 256, PLANES_STRETCH = 8 };

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

/* The position of a stretch of eight pixels of a channel in the tile. */
struct planes_item {
    int row, channel, first; /* first: the stretch's first pixel, from the tile's left column */
};

static __device__ __forceinline__ bool find_item(const struct view_pair &p,
                                                 const struct planes_shape &shape,
                                                 const struct planes_tile &tile, int i,
                                                 struct planes_item *item)
{
    const int stretches = shape.width / PLANES_STRETCH;
    const int strip = i / stretches;
    item->first = (i - strip * stretches) * PLANES_STRETCH;
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

struct convolve_args {
    struct view_pair p;
    struct planes_shape shape;
    int width, height, keep_alpha;
    float divisor, bias, max;
    struct gf_convolve_near near;
    float weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
};

template <convolve_way WAY>
static __device__ __forceinline__ float add_product(float sum, float weight, float v)
{
    if (WAY == CONVOLVE_FLOATS && weight == 0.0f)
        return sum;
    return WAY == CONVOLVE_APART || WAY == CONVOLVE_FLOATS ? sum + weight * v
                                                           : __fmaf_rn(weight, v, sum);
}

/* Adds the products row by row and from left to right, as the CPU does. A weight is loaded once for
 * the eight results of the stretch. */
template <convolve_way WAY>
static __device__ __forceinline__ void correlate(const struct convolve_args &args,
                                                 const float *first, int row_pitch,
                                                 float sum[PLANES_STRETCH])
{
#pragma unroll
    for (int i = 0; i < PLANES_STRETCH; i++)
        sum[i] = 0.0f;
    for (int j = 0; j < args.height; j++) {
        const float *const line = first + j * row_pitch;
        const float *const weight = args.weight + j * args.width;
        float v[PLANES_STRETCH + 4];
        int base = 0;
        unpack(*(const float4 *)(line), v);
        unpack(*(const float4 *)(line + 4), v + 4);
#pragma unroll 2
        for (; base + 4 <= args.width; base += 4) {
            unpack(*(const float4 *)(line + base + 8), v + 8);
#pragma unroll
            for (int u = 0; u < 4; u++) {
#pragma unroll
                for (int i = 0; i < PLANES_STRETCH; i++)
                    sum[i] = add_product<WAY>(sum[i], weight[base + u], v[i + u]);
            }
#pragma unroll
            for (int i = 0; i < PLANES_STRETCH; i++)
                v[i] = v[i + 4];
        }
        /* 1 or 3 columns remain, because the width is odd. */
        unpack(*(const float4 *)(line + base + 8), v + 8);
#pragma unroll
        for (int u = 0; u < 3; u++) {
            if (base + u < args.width) {
#pragma unroll
                for (int i = 0; i < PLANES_STRETCH; i++)
                    sum[i] = add_product<WAY>(sum[i], weight[base + u], v[i + u]);
            }
        }
    }
}

/* The doubtful samples of a block's tile, as indices in `staging`. If the list is full, a doubtful
 * sample is computed again at once. */
struct convolve_doubts {
    int count;
    unsigned short at[254];
};

/* Computes, as the CPU does, the sample whose window begins at `line` in the planes. */
static __device__ __forceinline__ unsigned sample_again(const struct convolve_args &args,
                                                        const float *line, int row_pitch)
{
    float sum = 0.0f;
#pragma unroll 1
    for (int j = 0; j < args.height; j++) {
#pragma unroll 4
        for (int i = 0; i < args.width; i++)
            sum = sum + args.weight[j * args.width + i] * line[j * row_pitch + i];
    }
    return round_bits(gf_convolve_finish(sum, args.divisor, args.bias), 255.0f);
}

/* Stores the certain results of a stretch at `to`, which is staging + at, and lists the doubtful
 * ones. */
static __device__ __forceinline__ void
finish_near(const struct convolve_args &args, const float sum[PLANES_STRETCH], const float *line,
            int row_pitch, unsigned char *staging, int at, struct convolve_doubts *doubts)
{
#pragma unroll
    for (int j = 0; j < PLANES_STRETCH; j++) {
        const unsigned low = near_end(sum[j], args.near.scale, args.near.low);
        const unsigned high = near_end(sum[j], args.near.scale, args.near.high);
        const int place = at + j * args.p.channels;
        staging[place] = (unsigned char)(low >> 8);
        if ((low ^ high) & 0xFF00u) {
            const int index = atomicAdd(&doubts->count, 1);
            if (index < (int)(sizeof doubts->at / sizeof *doubts->at))
                doubts->at[index] = (unsigned short)place;
            else
                staging[place] = (unsigned char)sample_again(args, line + j, row_pitch);
        }
    }
}

static __device__ __forceinline__ void settle_doubts(const struct convolve_args &args,
                                                     const float *planes, int row_pitch,
                                                     unsigned char *staging,
                                                     const struct convolve_doubts *doubts)
{
    const int channels = args.p.channels, width = args.shape.width;
    const int count = min(doubts->count, (int)(sizeof doubts->at / sizeof *doubts->at));
    for (int i = threadIdx.x; i < count; i += PLANES_THREADS) {
        const int place = doubts->at[i], pixel = place / channels, row = pixel / width;
        const float *const line = planes + row * row_pitch +
                                  (place - pixel * channels) * args.shape.plane +
                                  (pixel - row * width);
        staging[place] = (unsigned char)sample_again(args, line, row_pitch);
    }
}

template <class Sample, convolve_way WAY>
__global__ void __launch_bounds__(PLANES_THREADS) convolve_kernel(const struct convolve_args args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct planes_shape shape = args.shape;
    const struct planes_tile tile = tile_of_planes(p, shape);
    const int row_pitch = p.channels * shape.plane;
    float *const planes = (float *)shared;
    Sample *const staging = (Sample *)(planes + (shape.height + args.height - 1) * row_pitch);
    struct convolve_doubts *const doubts =
        (struct convolve_doubts *)(staging + shape.width * p.channels * shape.height);
    load_planes<Sample>(p, shape, tile, planes);
    if (WAY == CONVOLVE_NEAR && threadIdx.x == 0)
        doubts->count = 0;
    __syncthreads();
    const int items = tile.lines * p.channels * (shape.width / PLANES_STRETCH);
    for (int i = threadIdx.x; i < items; i += PLANES_THREADS) {
        struct planes_item item;
        if (!find_item(p, shape, tile, i, &item))
            continue;
        float sum[PLANES_STRETCH];
        const float *const line =
            planes + item.row * row_pitch + item.channel * shape.plane + item.first;
        const int at = (item.row * shape.width + item.first) * p.channels + item.channel;
        correlate<WAY>(args, line, row_pitch, sum);
        if (WAY == CONVOLVE_NEAR) {
            finish_near(args, sum, line, row_pitch, (unsigned char *)staging, at, doubts);
            continue;
        }
        const bool alpha = p.channels % 2 == 0 && item.channel == p.channels - 1;
        const float *const centre = planes + (item.row + shape.reach_y) * row_pitch +
                                    (p.channels - 1) * shape.plane + item.first + shape.reach_x;
#pragma unroll
        for (int j = 0; j < PLANES_STRETCH; j++) {
            const float v = finish(args, sum[j], alpha, centre + j);
            if constexpr (WAY == CONVOLVE_FLOATS)
                store_float(staging + at + j * p.channels, v);
            else
                staging[at + j * p.channels] = (Sample)round_bits(v, args.max);
        }
    }
    __syncthreads();
    if (WAY == CONVOLVE_NEAR) {
        settle_doubts(args, planes, row_pitch, (unsigned char *)staging, doubts);
        __syncthreads();
    }
    store_planes(p, shape, tile, staging);
}

static convolve_way planes_way(const struct gf_convolve *convolve, struct gf_format format)
{
    int most;
    return gf_is_float(format) ? CONVOLVE_FLOATS
           : format.bits != 8  ? CONVOLVE_APART
           : gf_convolve_whole(convolve->weight, convolve->width * convolve->height, &most)
               ? CONVOLVE_WHOLE
           : !gf_has_alpha(format) && gf_convolve_is_normal(convolve) &&
                   gf_convolve_doubt(convolve) <= NEAR_DOUBT_MAX
               ? CONVOLVE_NEAR
               : CONVOLVE_APART;
}

static int launch_planes(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const int bits = launch->in.format.bits;
    const convolve_way way = planes_way(convolve, launch->in.format);
    size_t shared;
    struct convolve_args args = {};
    args.p = view_pair_of(launch, convolve->border);
    args.shape = shape_of_planes(args.p, bits, convolve->width, convolve->height, &shared,
                                 way == CONVOLVE_NEAR ? sizeof(struct convolve_doubts) : 0);
    args.width = convolve->width;
    args.height = convolve->height;
    args.keep_alpha = convolve->keep_alpha;
    args.divisor = convolve->divisor;
    args.bias = convolve->bias;
    args.max = (float)gf_sample_max(launch->in.format);
    args.near = gf_convolve_near_of(convolve);
    for (int i = 0; i < convolve->width * convolve->height; i++)
        args.weight[i] = convolve->weight[i];
    const auto kernel = way == CONVOLVE_FLOATS  ? bits == 16
                                                      ? convolve_kernel<__half, CONVOLVE_FLOATS>
                                                      : convolve_kernel<float, CONVOLVE_FLOATS>
                         : bits == 16 ? convolve_kernel<unsigned short, CONVOLVE_APART>
                        : way == CONVOLVE_NEAR  ? convolve_kernel<unsigned char, CONVOLVE_NEAR>
                        : way == CONVOLVE_WHOLE ? convolve_kernel<unsigned char, CONVOLVE_WHOLE>
                                                : convolve_kernel<unsigned char, CONVOLVE_APART>;
    return launch_kernel(kernel, planes_blocks(args.p, args.shape), PLANES_THREADS, shared,
                         launch->stream, args);
}

extern "C" int gf_convolve_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct bytes_args bytes;
    if (bytes_fit(launch, convolve, &bytes))
        return launch_bytes<fuse_none>(launch, convolve, bytes);
    return small_fits(convolve, launch->stage->in) ? launch_small(launch, convolve)
                                                   : launch_planes(launch, convolve);
}

extern "C" int gf_convolve_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    return small_fits(convolve, launch->in.format) ? launch_small_floats(launch, convolve)
           : launch->straight                      ? (int)cudaErrorNotSupported
                                                   : launch_planes(launch, convolve);
}

extern "C" int gf_convolve_tensor_cuda(const struct gf_launch *launch)
{
    return launch_convolve_mma(launch, (const struct gf_convolve *)launch->stage->constants);
}

template <class Fuse>
static int launch_bytes_best(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             const struct bytes_args &bytes)
{
    return convolve_quick_is_faster(convolve) ? launch_convolve_quick<Fuse>(launch, convolve, bytes)
                                              : launch_bytes<Fuse>(launch, convolve, bytes);
}

extern "C" int gf_convolve_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct bytes_args bytes;
    convolve_mma_args near;
    if (bytes_fit(launch, convolve, &bytes))
        return launch_bytes_best<fuse_none>(launch, convolve, bytes);
    const int means = gf_convolve_means(launch, convolve);
    if (means != cudaErrorNotSupported)
        return means;
    if (const int digits = convolve_near_is_faster(launch, convolve, &near))
        return launch_convolve_near<fuse_none>(launch, digits, near);
    const int status = convolve_mma_is_faster(launch, convolve) ? gf_convolve_tensor_cuda(launch)
                       : convolve_large_is_faster(launch, convolve, &near)
                           ? launch_convolve_large(launch, near)
                           : (int)cudaErrorNotSupported;
    return status == cudaErrorNotSupported ? gf_convolve_tiled_cuda(launch) : status;
}

extern "C" int gf_convolve_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct bytes_args bytes;
    if (view_pair_of(launch, convolve->border).straight)
        return small_fits(convolve, launch->stage->in) ? launch_small(launch, convolve)
                                                       : (int)cudaErrorNotSupported;
    if (bytes_fit(launch, convolve, &bytes))
        return for_fuse(launch, [&](auto fuse) -> int {
            return launch_bytes_best<decltype(fuse)>(launch, convolve, bytes);
        });
    convolve_mma_args near;
    if (const int digits = convolve_near_is_faster(launch, convolve, &near))
        return for_fuse(launch, [&](auto fuse) -> int {
            return launch_convolve_near<decltype(fuse)>(launch, digits, near);
        });
    if (!small_fits(convolve, launch->in.format) || gf_convolve_doubt(convolve) > NEAR_DOUBT_MAX)
        return cudaErrorNotSupported;
    return for_fuse(launch, [&](auto fuse) -> int {
        return launch_small_way<CONVOLVE_NEAR, decltype(fuse)>(launch, convolve);
    });
}
