/* The Gaussian of 16-bit pictures, any radius: the horizontal pass over what gf_gauss_columns left
 * in scratch memory, in float and in the order that gauss.h states. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_ROWS16_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_ROWS16_CUH

#include "cuda/filters/gauss/gauss_common.cuh"
#include "stage/border.h"

template <class Finish> struct rows16_args {
    struct view_pair p;
    const unsigned char *mid; /* float, rows of the band */
    size_t mid_pitch;
    int radius, reach, lines; /* lines: rows that a block makes */
    Finish finish;
    float real[GF_GAUSS_RADIUS_MAX + 1 + RUN +
               1]; /* zeros behind the last: adding 0 changes nothing */
};

template <class Args>
static __device__ __forceinline__ void load_lines(const Args &args, float *line, int x0, int first,
                                                  int plane)
{
    const struct view_pair &p = args.p;
    for (int i = threadIdx.x; i < plane; i += GAUSS_THREADS) {
        const int index = gf_border_index(x0 - args.reach + i, p.width, p.border);
        for (int row = 0; row < args.lines; row++) {
            const float *const from =
                (const float *)(args.mid + (size_t)(first + row) * args.mid_pitch);
            for (int c = 0; c < p.channels; c++)
                line[(row * p.channels + c) * plane + i] =
                    index >= 0 && first + row < p.rows
                        ? __ldg(from + (long long)index * p.channels + c)
                        : 0.0f;
        }
    }
}

template <class Args>
static __device__ __forceinline__ void blur_run_float(const Args &args, const float *centre,
                                                      float sum[RUN])
{
    float left[2 * RUN], right[2 * RUN];
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        left[i] = right[RUN + i] = centre[i];
        sum[i] = args.real[0] * centre[i];
    }
    for (int base = 0; base < args.radius; base += RUN) {
        move_windows<float4>(centre, base, left, right);
#pragma unroll
        for (int k = 1; k <= RUN; k++) {
            const float tap = args.real[base + k];
#pragma unroll
            for (int i = 0; i < RUN; i++)
                sum[i] = sum[i] + tap * (left[RUN + i - k] + right[i + k]);
        }
    }
}

template <class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS) blur_rows16_kernel(const rows16_args<Finish> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const int width = TILE_SAMPLES / p.channels, plane = width + 2 * args.reach;
    float *const line = (float *)shared;
    unsigned short *const staging = (unsigned short *)(line + args.lines * p.channels * plane);
    const struct tile_origin origin = block_tile(p.width, width, args.lines);
    const int x0 = origin.x, first = origin.row;
    const int lines = min(args.lines, p.rows - first);
    load_lines(args, line, x0, first, plane);
    __syncthreads();
    const int runs = width / RUN;
    for (int item = threadIdx.x; item < lines * p.channels * runs; item += GAUSS_THREADS) {
        const int strip = item / runs, run = item - strip * runs;
        const int row = strip / p.channels, channel = strip - row * p.channels;
        const int x = x0 + run * RUN;
        if (x >= p.width)
            continue;
        const unsigned short *const in =
            (const unsigned short *)(p.in + (long long)(p.out_y + first + row - p.in_y) *
                                                (long long)p.in_pitch);
        float sum[RUN];
        blur_run_float(args, line + strip * plane + args.reach + run * RUN, sum);
#pragma unroll
        for (int i = 0; i < RUN; i++)
            staging[row * TILE_SAMPLES + (run * RUN + i) * p.channels + channel] =
                (unsigned short)args.finish.sample16(
                    sum[i], in + (long long)min(x + i, p.width - 1) * p.channels + channel);
    }
    __syncthreads();
    store_tile(p, (const unsigned char *)staging, 2 * TILE_SAMPLES, 2 * TILE_SAMPLES, lines,
               p.out_y + first, 2 * (long long)x0 * p.channels,
               2 * (long long)p.width * p.channels);
}

template <class Finish>
static int launch_rows16(const struct gf_launch *launch, const struct view_pair &p,
                         const struct gf_gauss *gauss, const Finish &finish)
{
    struct rows16_args<Finish> args = {
    };
    args.p = p;
    args.mid = (const unsigned char *)launch->scratch;
    args.mid_pitch = gf_gauss_mid_pitch(launch->in.format);
    args.radius = gauss->radius;
    args.reach = (gauss->radius + RUN - 1) / RUN * RUN;
    args.finish = finish;
    for (int k = 0; k <= gauss->radius; k++)
        args.real[k] = gauss->real[k];
    const int width = TILE_SAMPLES / p.channels;
    const size_t each =
        (size_t)(p.channels * (width + 2 * args.reach)) * sizeof(float) + 2 * TILE_SAMPLES;
    args.lines = rows_that_fit(each);
    const int tiles = tile_blocks(p.width, p.rows, width, args.lines);
    blur_rows16_kernel<Finish>
        <<<tiles, GAUSS_THREADS, each * args.lines, (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

#endif
