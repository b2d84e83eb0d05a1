/* The Gaussian of 8-bit pictures, any radius: the horizontal pass over what gf_gauss_columns left
 * in scratch memory. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_ROWS8_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_ROWS8_CUH

#include "cuda/filters/gauss/gauss_common.cuh"
#include "stage/border.h"

template <class Finish> struct rows8_args {
    struct view_pair p;
    const unsigned char *mid; /* uint16_t, rows of the band */
    size_t mid_pitch;
    int radius, reach; /* reach: the radius rounded up to a multiple of RUN */
    int pairs;         /* of rows that a block makes */
    Finish finish;
    unsigned short fixed[GF_GAUSS_RADIUS_MAX + 1 + RUN + 1];
    int up; /* shift that gives the sums 24 fraction bits */
};

/* Fills planes of words for `pairs` pairs of rows, `reach` pixels wider than the tile on either
 * side. */
template <class Args>
static __device__ __forceinline__ void load_pairs(const Args &args, unsigned *words, int x0,
                                                  int line, int plane)
{
    const struct view_pair &p = args.p;
    for (int i = threadIdx.x; i < plane; i += GAUSS_THREADS) {
        const int index = gf_border_index(x0 - args.reach + i, p.width, p.border);
        for (int pair = 0; pair < args.pairs; pair++) {
            const int row = line + 2 * pair;
            const unsigned short *const upper =
                (const unsigned short *)(args.mid + (size_t)row * args.mid_pitch);
            const unsigned short *const lower =
                (const unsigned short *)(args.mid + (size_t)(row + 1) * args.mid_pitch);
            for (int c = 0; c < p.channels; c++) {
                const long long at = (long long)index * p.channels + c;
                const unsigned a = index >= 0 && row < p.rows ? __ldg(upper + at) : 0;
                const unsigned b = index >= 0 && row + 1 < p.rows ? __ldg(lower + at) : 0;
                words[(pair * p.channels + c) * plane + i] = a | b << 16;
            }
        }
    }
}

/* The sums of a run in two rows. centre: the run's first sample. Both windows move outwards by RUN
 * taps in each round of the loop. */
template <class Args>
static __device__ __forceinline__ void blur_run_any(const Args &args, const unsigned *centre,
                                                    unsigned upper[RUN], unsigned lower[RUN])
{
    unsigned left[2 * RUN], right[2 * RUN];
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        left[i] = right[RUN + i] = centre[i];
        upper[i] = args.fixed[0] * centre[i];
        lower[i] = args.fixed[0] * (centre[i] >> 16);
    }
    for (int base = 0; base < args.radius; base += RUN) {
        move_windows<uint4>(centre, base, left, right);
#pragma unroll
        for (int k = 1; k <= RUN; k++) {
            const unsigned tap = args.fixed[base + k];
#pragma unroll
            for (int i = 0; i < RUN; i++) {
                const unsigned both = left[RUN + i - k] + right[i + k];
                upper[i] += tap * both;
                lower[i] += tap * (both >> 16);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < RUN; i++)
        upper[i] -= lower[i] << 16;
}

template <class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS) blur_rows8_kernel(const rows8_args<Finish> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const int width = TILE_SAMPLES / p.channels, plane = width + 2 * args.reach;
    unsigned *const words = (unsigned *)shared;
    unsigned char *const staging = (unsigned char *)(words + args.pairs * p.channels * plane);
    const struct tile_origin origin = block_tile(p.width, width, 2 * args.pairs);
    const int x0 = origin.x, line = origin.row;
    const int lines = min(2 * args.pairs, p.rows - line);
    load_pairs(args, words, x0, line, plane);
    __syncthreads();
    const int runs = width / RUN;
    for (int item = threadIdx.x; item < args.pairs * p.channels * runs; item += GAUSS_THREADS) {
        const int strip = item / runs, run = item - strip * runs;
        const int pair = strip / p.channels, channel = strip - pair * p.channels;
        const int x = x0 + run * RUN;
        if (x >= p.width || 2 * pair >= lines)
            continue;
        unsigned sum[2][RUN];
        blur_run_any(args, words + strip * plane + args.reach + run * RUN, sum[0], sum[1]);
#pragma unroll
        for (int row = 0; row < 2; row++) {
            unsigned word[2];
#pragma unroll
            for (int i = 0; i < RUN; i++)
                sum[row][i] = (sum[row][i] << args.up) + Finish::START;
            finish_run(args, sum[row], x, p.out_y + line + min(2 * pair + row, lines - 1), channel,
                       word);
            unsigned char *const to =
                staging + (2 * pair + row) * STAGING_PITCH + run * RUN * p.channels + channel;
#pragma unroll
            for (int i = 0; i < RUN; i++)
                to[i * p.channels] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
        }
    }
    __syncthreads();
    store_tile(p, staging, STAGING_PITCH, TILE_SAMPLES, lines, p.out_y + line,
               (long long)x0 * p.channels, (long long)p.width * p.channels);
}

template <class Finish>
static int launch_rows8(const struct gf_launch *launch, const struct view_pair &p,
                        const struct gf_gauss *gauss, const Finish &finish)
{
    struct rows8_args<Finish> args = {
    };
    args.p = p;
    args.mid = (const unsigned char *)launch->scratch;
    args.mid_pitch = gf_gauss_mid_pitch(launch->in.format);
    args.radius = gauss->radius;
    args.reach = (gauss->radius + RUN - 1) / RUN * RUN;
    args.finish = finish;
    args.up = GF_GAUSS_SHIFT_MAX - gauss->shift;
    for (int k = 0; k <= gauss->radius; k++)
        args.fixed[k] = gauss->fixed[k];
    const int width = TILE_SAMPLES / p.channels;
    const size_t each =
        (size_t)(p.channels * (width + 2 * args.reach)) * sizeof(unsigned) + 2 * STAGING_PITCH;
    args.pairs = rows_that_fit(each);
    const int tiles = tile_blocks(p.width, p.rows, width, 2 * args.pairs);
    blur_rows8_kernel<Finish>
        <<<tiles, GAUSS_THREADS, each * args.pairs, (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

#endif
