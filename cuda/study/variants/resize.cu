/* The steps that lead to the kernels of cuda/filters/resize: each result from its whole window, in
 * global memory or through textures; then in two passes. */
#include "cuda/filters/resize/resize.cuh"

#include "cuda/study/variants/texture.cuh"
#include "pixel/sample.h"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

/* The arrays of struct gf_resample_table, on the device. */
struct taps {
    const int *start, *count;
    const float *weight;
    int most;
};

struct window_args {
    struct view_pair p;
    int out_width;
    bool linear;
    float most; /* upper limit of the first pass's results */
    const float *decode;
    struct taps column, row;
    cudaTextureObject_t texture; /* texels are samples, from row texture_first on */
    int texture_first;
    float *between; /* rows top .. bottom - 1 of the first pass's result */
    int top, bottom;
};

static struct taps taps_of(const void *block, const struct gf_resample_table *table)
{
    const struct taps taps = {gf_resample_ints(block, table->start),
                              gf_resample_ints(block, table->count),
                              gf_resample_floats(block, table->weight), table->taps};
    return taps;
}

static struct window_args args_of(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    struct window_args args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = format.width;
    args.linear = resample->linear;
    args.most = gf_resample_most(resample, format.bits);
    args.decode = gf_resample_floats(launch->constants, resample->decode);
    args.column = taps_of(launch->constants, &resample->columns);
    args.row = taps_of(launch->constants, &resample->rows);
    const struct taps on_host = taps_of(resample, &resample->rows);
    const int last = args.p.out_y + args.p.rows - 1;
    args.top = on_host.start[args.p.out_y];
    args.bottom = on_host.start[last] + on_host.count[last];
    return args;
}

template <class SAMPLE> constexpr unsigned MOST = sizeof(SAMPLE) == 1 ? 255 : 65535;

struct by_loads {
    template <class SAMPLE>
    static __device__ __forceinline__ unsigned sample(const struct window_args &args, int y, int at)
    {
        return ((const SAMPLE *)(args.p.in + (y - args.p.in_y) * (ptrdiff_t)args.p.in_pitch))[at];
    }
};

struct by_texture {
    template <class SAMPLE>
    static __device__ __forceinline__ unsigned sample(const struct window_args &args, int y, int at)
    {
        return tex2D<SAMPLE>(args.texture, (float)at + 0.5f,
                             (float)(y - args.texture_first) + 0.5f);
    }
};

/* Returns the number that is added for a sample: the sample itself, or its linear light. */
template <class SAMPLE>
static __device__ __forceinline__ float value_of(const struct window_args &args, unsigned v,
                                                 unsigned alpha, bool is_alpha)
{
    if (!args.linear)
        return (float)v;
    if (args.p.channels % 2 == 1)
        return args.decode[v];
    if (is_alpha)
        return (float)v / (float)MOST<SAMPLE>;
    return gf_resample_decode_premultiplied(v, alpha, MOST<SAMPLE>, args.decode);
}

static __device__ __forceinline__ float clamped(const struct window_args &args, float sum)
{
    return fminf(fmaxf(sum, 0.0f), args.most);
}

template <class SAMPLE>
static __device__ __forceinline__ SAMPLE finished(const struct window_args &args, float sum,
                                                  float alpha, bool is_alpha)
{
    const float max = (float)MOST<SAMPLE>;
    if (args.linear)
        sum = (is_alpha                   ? sum
               : args.p.channels % 2 == 0 ? gf_resample_encode_premultiplied(sum, alpha)
                                          : gf_resample_encode(sum)) *
              max;
    return (SAMPLE)gf_round_sample(sum, max);
}

/* Computes the picture with a thread for each pixel, from its whole window, row by row. The sum of
 * a row is computed again for each result that needs it (Best Practices Guide 9.2.1; with textures,
 * CUDA Performance Optimization, "Textures in CUDA", Best Practices Guide 9.2.5). */
template <int CHANNELS, class SAMPLE, class FETCH>
__global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    window_kernel(const struct window_args args)
{
    const struct tile_origin origin = block_tile(args.out_width, BLOCK_WIDTH, BLOCK_HEIGHT);
    const int x = origin.x + (int)threadIdx.x;
    const int line = origin.row + (int)threadIdx.y, y = args.p.out_y + line;
    if (x >= args.out_width || line >= args.p.rows)
        return;
    const float *const column_weight = args.column.weight + (size_t)x * args.column.most;
    const float *const row_weight = args.row.weight + (size_t)y * args.row.most;
    const int left = args.column.start[x], columns = args.column.count[x];
    const int top = args.row.start[y], rows = args.row.count[y];
    float result[CHANNELS] = {};
#pragma unroll 1
    for (int j = 0; j < rows; j++) {
        float sum[CHANNELS] = {};
#pragma unroll 1
        for (int i = 0; i < columns; i++) {
            unsigned v[CHANNELS];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v[c] = FETCH::template sample<SAMPLE>(args, top + j, (left + i) * CHANNELS + c);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[c] += column_weight[i] *
                          value_of<SAMPLE>(args, v[c], v[CHANNELS - 1], c == CHANNELS - 1);
        }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            result[c] += row_weight[j] * clamped(args, sum[c]);
    }
    SAMPLE *const to = (SAMPLE *)(args.p.out + line * args.p.out_pitch) + (size_t)x * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        to[c] = finished<SAMPLE>(args, result[c], result[CHANNELS - 1],
                                 CHANNELS % 2 == 0 && c == CHANNELS - 1);
}

template <class FETCH, class SAMPLE>
static int launch_windows(const struct window_args &args, cudaStream_t stream)
{
    const unsigned blocks = tile_blocks(args.out_width, args.p.rows, BLOCK_WIDTH, BLOCK_HEIGHT);
    const dim3 threads(BLOCK_WIDTH, BLOCK_HEIGHT);
    return for_channels(args.p.channels, [&](auto channels) -> int {
        return launch_kernel(window_kernel<decltype(channels)::value, SAMPLE, FETCH>, blocks,
                             threads, 0, stream, args);
    });
}

extern "C" int gf_resize_direct_cuda(const struct gf_launch *launch)
{
    const struct window_args args = args_of(launch);
    return launch->out.format.bits == 8 ? launch_windows<by_loads, uint8_t>(args, launch->stream)
                                        : launch_windows<by_loads, uint16_t>(args, launch->stream);
}

/* Launches the kernel with textures. Texels are single samples: there are no texels of three
 * channels, and the texture unit would interpolate with weights of 9 bits. */
extern "C" int gf_resize_texture_cuda(const struct gf_launch *launch)
{
    const struct gf_texture_sampling sampling = {1, cudaAddressModeClamp, cudaFilterModePoint,
                                                 cudaReadModeElementType, 0};
    const cudaStream_t stream = launch->stream;
    struct window_args args = args_of(launch);
    struct gf_texture texture;
    LAUNCH_TRY(gf_texture_open(&launch->in, args.top, args.bottom, &sampling, launch->scratch,
                               stream, &texture));
    args.texture = texture.object;
    args.texture_first = texture.y;
    const int status = launch->out.format.bits == 8
                           ? launch_windows<by_texture, uint8_t>(args, stream)
                           : launch_windows<by_texture, uint16_t>(args, stream);
    const int closed = gf_texture_close(&texture, stream);
    return status != cudaSuccess ? status : closed;
}

/* Does the first pass. A thread computes one sample of a picture with the result's width and the
 * input's rows. */
template <class SAMPLE>
__global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    columns_kernel(const struct window_args args)
{
    const int samples = args.out_width * args.p.channels;
    const struct tile_origin origin = block_tile(samples, BLOCK_WIDTH, BLOCK_HEIGHT);
    const int at = origin.x + (int)threadIdx.x;
    const int line = origin.row + (int)threadIdx.y, y = args.top + line;
    if (at >= samples || y >= args.bottom)
        return;
    const int x = at / args.p.channels, channel = at - x * args.p.channels;
    const int left = args.column.start[x], columns = args.column.count[x];
    const float *const weight = args.column.weight + (size_t)x * args.column.most;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < columns; i++) {
        const int pixel = (left + i) * args.p.channels, last = args.p.channels - 1;
        const unsigned v = by_loads::sample<SAMPLE>(args, y, pixel + channel);
        const unsigned alpha = args.linear ? by_loads::sample<SAMPLE>(args, y, pixel + last) : 0;
        sum += weight[i] * value_of<SAMPLE>(args, v, alpha, channel == last);
    }
    args.between[(size_t)line * samples + at] = clamped(args, sum);
}

static __device__ __forceinline__ float sum_of_rows(const struct window_args &args, int y, int at,
                                                    int samples)
{
    const float *const weight = args.row.weight + (size_t)y * args.row.most;
    const int top = args.row.start[y] - args.top, rows = args.row.count[y];
    float sum = 0;
#pragma unroll 1
    for (int j = 0; j < rows; j++)
        sum += weight[j] * args.between[(size_t)(top + j) * samples + at];
    return sum;
}

/* Does the second pass. A thread computes one sample of the result. */
template <class SAMPLE>
__global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    rows_kernel(const struct window_args args)
{
    const int samples = args.out_width * args.p.channels;
    const struct tile_origin origin = block_tile(samples, BLOCK_WIDTH, BLOCK_HEIGHT);
    const int at = origin.x + (int)threadIdx.x;
    const int line = origin.row + (int)threadIdx.y, y = args.p.out_y + line;
    if (at >= samples || line >= args.p.rows)
        return;
    const bool has_alpha = args.p.channels % 2 == 0;
    const int last = at / args.p.channels * args.p.channels + args.p.channels - 1;
    const float sum = sum_of_rows(args, y, at, samples);
    const float alpha = args.linear && has_alpha ? sum_of_rows(args, y, last, samples) : 1.0f;
    ((SAMPLE *)(args.p.out + line * args.p.out_pitch))[at] =
        finished<SAMPLE>(args, sum, alpha, has_alpha && at == last);
}

/* Launches two passes through global memory. The number of taps is the sum of the window's width
 * and height, not their product. */
extern "C" int gf_resize_separable_cuda(const struct gf_launch *launch)
{
    struct window_args args = args_of(launch);
    args.between = (float *)launch->scratch;
    const dim3 threads(BLOCK_WIDTH, BLOCK_HEIGHT);
    const int samples = args.out_width * args.p.channels;
    const unsigned columns =
                       tile_blocks(samples, args.bottom - args.top, BLOCK_WIDTH, BLOCK_HEIGHT),
                   rows = tile_blocks(samples, args.p.rows, BLOCK_WIDTH, BLOCK_HEIGHT);
    const bool bytes = launch->out.format.bits == 8;
    LAUNCH_TRY(launch_kernel(bytes ? columns_kernel<uint8_t> : columns_kernel<uint16_t>, columns,
                             threads, 0, launch->stream, args));
    return launch_kernel(bytes ? rows_kernel<uint8_t> : rows_kernel<uint16_t>, rows, threads, 0,
                         launch->stream, args);
}
