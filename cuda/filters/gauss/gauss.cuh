/* Chooses the kernels of a Gaussian. */
#pragma once

#include "cuda/filters/gauss/gauss_mma.cuh"
#include "cuda/filters/gauss/gauss_strip16.cuh"
#include "cuda/filters/gauss/gauss_tile.cuh"
#include "filters/blur/blur.h"
#include "stage/border.h"

/* The Gaussian of any radius: the horizontal pass over the rows that gf_gauss_columns() stored in
 * scratch memory. 16-bit pictures are added in float, in the order of gauss.h. */

template <class Pass_, class Finish_> struct rows_args {
    typedef Pass_ Pass;
    typedef Finish_ Finish;
    struct view_pair p;
    const unsigned char *mid; /* the rows of the band in scratch memory */
    size_t mid_pitch;
    int radius, reach; /* `reach` is the radius rounded up to a multiple of STRETCH */
    /* The values of a tile's column. A value holds the samples of Pass::LINES rows, so that a block
     * computes LINES times as many rows. */
    int values;
    Finish finish;
    /* The taps from the middle one on. Zeros follow the last tap: adding 0 changes nothing. */
    typename Pass::Tap tap[GF_GAUSS_RADIUS_MAX + 1 + STRETCH + 1];
    int up; /* shifts sums of 8-bit samples up, so that they have 24 fraction bits */
};

/* Fills the planes of the tile's rows, which begin with row `line` of the band. They are `reach`
 * pixels wider than the tile on either side. */
template <class Args>
static __device__ __forceinline__ void load_lines(const Args &args, typename Args::Pass::Value *to,
                                                  int x0, int line, int plane)
{
    typedef typename Args::Pass Pass;
    typedef typename Pass::Mid Mid;
    const struct view_pair &p = args.p;
    for (int i = threadIdx.x; i < plane; i += GAUSS_THREADS) {
        const int index = gf_border_index(x0 - args.reach + i, p.width, p.border);
        for (int value = 0; value < args.values; value++) {
            const int row = line + Pass::LINES * value;
            const Mid *from[Pass::LINES];
#pragma unroll
            for (int l = 0; l < Pass::LINES; l++)
                from[l] = (const Mid *)(args.mid + (size_t)(row + l) * args.mid_pitch);
            for (int c = 0; c < p.channels; c++) {
                const long long at = (long long)index * p.channels + c;
                typename Pass::Value mid[Pass::LINES];
#pragma unroll
                for (int l = 0; l < Pass::LINES; l++)
                    mid[l] = index >= 0 && row + l < p.rows ? __ldg(from[l] + at) : 0;
                to[(value * p.channels + c) * plane + i] = Pass::pack(mid);
            }
        }
    }
}

/* Moves the windows to the left and right of a stretch outwards by STRETCH samples. Then left[i] is
 * the sample at centre - base - STRETCH + i, and right[i] is the sample at centre + base + i. */
template <class Vector, class Value>
static __device__ __forceinline__ void
move_windows(const Value *centre, int base, Value left[2 * STRETCH], Value right[2 * STRETCH])
{
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
        left[STRETCH + i] = left[i];
        right[i] = right[STRETCH + i];
    }
#pragma unroll
    for (int i = 0; i < STRETCH; i += 4) {
        unpack(*(const Vector *)(centre - base - STRETCH + i), left + i);
        unpack(*(const Vector *)(centre + base + STRETCH + i), right + STRETCH + i);
    }
}

/* Computes the sums of a stretch. `centre` points to its first value. Both windows move outwards by
 * STRETCH taps in each round of the loop. */
template <class Args, class Value>
static __device__ __forceinline__ void blur_stretch_any(const Args &args, const Value *centre,
                                                        Value (*sum)[STRETCH])
{
    typedef typename Args::Pass Pass;
    Value left[2 * STRETCH], right[2 * STRETCH];
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
        left[i] = right[STRETCH + i] = centre[i];
        Pass::begin(args.tap[0], centre[i], sum, i);
    }
    for (int base = 0; base < args.radius; base += STRETCH) {
        move_windows<typename Pass::Vector>(centre, base, left, right);
#pragma unroll
        for (int k = 1; k <= STRETCH; k++) {
            if (Pass::EXACT && base + k > args.radius)
                break;
            const auto tap = args.tap[base + k];
#pragma unroll
            for (int i = 0; i < STRETCH; i++)
                Pass::add(tap, left[STRETCH + i - k], right[i + k], sum, i);
        }
    }
#pragma unroll
    for (int i = 0; i < STRETCH; i++)
        Pass::separate(sum, i);
}

template <class Pass, class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS)
    blur_rows_kernel(const rows_args<Pass, Finish> args)
{
    typedef typename Pass::Value Value;
    typedef typename Pass::Sample Sample;
    constexpr int LINES = Pass::LINES, SIZE = (int)sizeof(Sample), PITCH = Pass::ROWS_PITCH;
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const int width = TILE_SAMPLES / p.channels, plane = width + 2 * args.reach;
    Value *const values = (Value *)shared;
    Sample *const staging = (Sample *)(values + args.values * p.channels * plane);
    const struct tile_origin origin = block_tile(p.width, width, LINES * args.values);
    const int x0 = origin.x, line = origin.row;
    const int lines = min(LINES * args.values, p.rows - line);
    load_lines(args, values, x0, line, plane);
    __syncthreads();
    const int stretches = width / STRETCH, strips = (lines + LINES - 1) / LINES * p.channels;
    for (int item = threadIdx.x; item < strips * stretches; item += GAUSS_THREADS) {
        const int strip = item / stretches, stretch = item - strip * stretches;
        const int first = strip / p.channels, channel = strip - first * p.channels;
        const int x = x0 + stretch * STRETCH;
        if (x >= p.width)
            continue;
        Value sum[LINES][STRETCH];
        blur_stretch_any(args, values + strip * plane + args.reach + stretch * STRETCH, sum);
#pragma unroll
        for (int l = 0; l < LINES; l++) {
            const int row = LINES * first + l;
            finish_row(args, sum[l], args.up, x, p.out_y + line + min(row, lines - 1), channel,
                       staging + row * PITCH + stretch * STRETCH * p.channels + channel);
        }
    }
    __syncthreads();
    store_tile(p, (const unsigned char *)staging, SIZE * PITCH, SIZE * TILE_SAMPLES, lines,
               p.out_y + line, SIZE * (long long)x0 * p.channels,
               SIZE * (long long)p.width * p.channels);
}

template <class Pass, class Finish>
static int launch_rows(const struct gf_launch *launch, const struct view_pair &p,
                       const struct gf_gauss *gauss, const Finish &finish)
{
    typedef typename Pass::Sample Sample;
    struct rows_args<Pass, Finish> args = {
    };
    args.p = p;
    args.mid = (const unsigned char *)launch->scratch;
    args.mid_pitch = gf_gauss_mid_pitch(launch->in.format);
    args.radius = gauss->radius;
    args.reach = (gauss->radius + STRETCH - 1) / STRETCH * STRETCH;
    args.finish = finish;
    args.up = GF_GAUSS_SHIFT_MAX - gauss->shift;
    for (int k = 0; k <= gauss->radius; k++)
        args.tap[k] = Pass::tap(gauss, k, 0);
    const int width = TILE_SAMPLES / p.channels;
    const size_t each =
        (size_t)(p.channels * (width + 2 * args.reach)) * sizeof(typename Pass::Value) +
        Pass::LINES * Pass::ROWS_PITCH * sizeof(Sample);
    args.values = rows_that_fit(each);
    const int tiles = tile_blocks(p.width, p.rows, width, Pass::LINES * args.values);
    return launch_kernel(blur_rows_kernel<Pass, Finish>, tiles, GAUSS_THREADS, each * args.values,
                         launch->stream, args);
}

/* Chooses the kernels of a Gaussian by depth and radius. */

/* The vertical pass into scratch memory (blur.cu). */
int gf_gauss_columns(const struct gf_launch *launch, const struct view_pair &p,
                     const struct gf_gauss *gauss);

template <class Finish>
static int launch_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                        const Finish &finish)
{
    const struct view_pair p = view_pair_of(launch, border);
    const bool bytes = launch->in.format.bits == 8;
    if (gauss->radius <= GF_GAUSS_FUSED_MAX)
        return bytes ? launch_tile<tile_of_bytes>(launch, p, gauss, finish)
                     : launch_tile<tile_of_shorts>(launch, p, gauss, finish);
    LAUNCH_TRY(gf_gauss_columns(launch, p, gauss));
    return bytes ? launch_rows<gauss_bytes>(launch, p, gauss, finish)
                 : launch_rows<gauss_shorts>(launch, p, gauss, finish);
}

/* Whether tiles are faster than strips: a band of few pixels, from `least` to `most`, and few taps.
 * Microseconds on an H200 by tiles and by strips: blur=2 of 900x600 RGB8 13.2 and 15.3 (512x512
 * 10.5 and 10.1, 1280x720 13.2 and 13.0), of RGB16 13.5 and 18.7 (256x256 7.7 and 17.1); unsharp=1
 * of RGB8 12.5 and 17.4 (256x256 9.5 and 10.5, 1280x720 12.2 and 15.0, 1920x1080 22.8 and 19.8).
 * blur=5 of RGB8 is faster by strips at every size. */
static inline bool tiles_are_faster(const struct gf_launch *launch, const struct gf_gauss *gauss,
                                    int least, int most)
{
    const long long pixels = (long long)launch->out.rows * launch->out.format.width;
    return gauss->radius <= 8 && pixels >= least && pixels <= most;
}

/* Launches the kernel that is fastest for the depth and the radius. */
template <class Finish>
static int launch_best_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss,
                             int border, const Finish &finish)
{
    if (launch->in.format.bits == 16 && gauss->radius <= GF_GAUSS_STRIP_MAX)
        return launch_strip16(launch, view_pair_of(launch, border), gauss, finish);
    const int status = mma_is_faster<Finish>(launch, gauss)
                           ? launch_mma(launch, gauss, border, finish)
                           : (int)cudaErrorNotSupported;
    return status == cudaErrorNotSupported ? launch_gauss(launch, gauss, border, finish) : status;
}

/* The type Finish of blur (gauss_tile.cuh): it rounds the blurred samples. */

struct rounded {
    static constexpr unsigned START = 1u << 23; /* a half: the sum has 24 fraction bits */
    static constexpr int BLOCKS = 3, BYTE = 3;
    static constexpr bool ORIGINAL = false;

    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned) const
    {
        return sum;
    }
    __device__ __forceinline__ unsigned four(const unsigned sum[4], unsigned) const
    {
        return pack_bytes<BYTE>(sum[0], sum[1], sum[2], sum[3]);
    }
    __device__ __forceinline__ unsigned sample16(float blurred, const unsigned short *) const
    {
        return round_bits(blurred, 65535.0f);
    }
    __device__ __forceinline__ unsigned sample16_near(float blurred, const unsigned short *) const
    {
        return __float_as_uint(raised_level(blurred));
    }
};
