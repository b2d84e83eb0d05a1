/* Convolution of 8-bit pictures with matrices up to 5x5, which are padded with zeros to 3x3 or 5x5.
 * The sums stay in registers: row i of the picture meets row j of the matrix for output row i - j,
 * so that each sum takes its products row by row and from left to right, as on the CPU. */
#ifndef GF_CUDA_FILTERS_CONVOLVE_SMALL_CUH
#define GF_CUDA_FILTERS_CONVOLVE_SMALL_CUH

#include "cuda/common/strip.cuh"
#include "filters/convolve.h"

enum { SMALL_ROWS = 16, SMALL_REACH_MAX = 2, SMALL_SIDE_MAX = 2 * SMALL_REACH_MAX + 1 };

struct small_args {
    struct view_pair p;
    int reach;   /* in rows, of the kernel without its padding */
    bool divide; /* whether a product with `inverse` is not the quotient */
    float divisor, inverse, bias;
    float weight[SMALL_SIDE_MAX * SMALL_SIDE_MAX]; /* times 2^24: see tiny_halves */
};

/* v[i]: sample i - HALO of the lane, times 2^-24. */
template <int BESIDE, int HALO>
static __device__ __forceinline__ void widen(const unsigned word[4 + 2 * BESIDE],
                                             float v[STRIP_CHUNK + 2 * HALO])
{
#pragma unroll
    for (int i = 0; i < 2 * (4 + 2 * BESIDE); i++) {
        const float2 two = __half22float2(tiny_halves(word[i / 2], i % 2));
        const int at = i / 2 * 4 + i % 2 - (4 * BESIDE - HALO);
        if (at >= 0 && at < STRIP_CHUNK + 2 * HALO)
            v[at] = two.x;
        if (at + 2 >= 0 && at + 2 < STRIP_CHUNK + 2 * HALO)
            v[at + 2] = two.y;
    }
}

/* Adds the products of one row of weights to the sums of one output row. EXACT: every sum is a
 * whole number below 2^24, so that the fused operation rounds nothing. */
template <int SIDE, int CHANNELS, bool EXACT>
static __device__ __forceinline__ void
add_products(const float weight[SIDE], const float v[STRIP_CHUNK + (SIDE - 1) * CHANNELS],
             const float *before, float sum[STRIP_CHUNK])
{
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
#pragma unroll
        for (int i = 0; i < STRIP_CHUNK; i++) {
            const float sample = v[i + k * CHANNELS], so_far = k        ? sum[i]
                                                               : before ? before[i]
                                                                        : 0.0f;
            sum[i] = EXACT ? __fmaf_rn(weight[k], sample, so_far) : so_far + weight[k] * sample;
        }
    }
}

/* sum / divisor, correctly rounded (Markstein): if the inverse is rounded to nearest and a quotient
 * is off by at most one unit in the last place, one step gives the nearest. The first step brings
 * it there. Divisors whose significand is all ones are excepted: see small_fits. */
static __device__ __forceinline__ float quotient(float sum, float divisor, float inverse)
{
    float result = sum * inverse;
    result = __fmaf_rn(__fmaf_rn(-result, divisor, sum), inverse, result);
    return __fmaf_rn(__fmaf_rn(-result, divisor, sum), inverse, result);
}

static __device__ __forceinline__ void finish_row(const struct small_args &args,
                                                  float sum[STRIP_CHUNK], unsigned out[4])
{
    if (args.divide) {
#pragma unroll
        for (int i = 0; i < STRIP_CHUNK; i++)
            sum[i] = quotient(sum[i], args.divisor, args.inverse) + args.bias;
    } else {
#pragma unroll
        for (int i = 0; i < STRIP_CHUNK; i++)
            sum[i] = sum[i] * args.inverse + args.bias;
    }
#pragma unroll
    for (int w = 0; w < 4; w++)
        out[w] = __byte_perm(
            __byte_perm(round_bits(sum[4 * w], 255.0f), round_bits(sum[4 * w + 1], 255.0f), 0x0040),
            __byte_perm(round_bits(sum[4 * w + 2], 255.0f), round_bits(sum[4 * w + 3], 255.0f),
                        0x0040),
            0x5410);
}

template <int REACH, int CHANNELS, bool EXACT, class Fuse>
__global__ void __launch_bounds__(STRIP_THREADS) convolve_small_kernel(const struct small_args args)
{
    enum {
        SIDE = 2 * REACH + 1,
        HALO = REACH * CHANNELS,
        BESIDE = (HALO + 3) / 4,
        TABLE = SMALL_ROWS * STRIP_WARPS + 2 * REACH,
    };
    __shared__ struct strip_tables<unsigned char, BESIDE, TABLE> tables;
    __shared__ struct sample_tables<Fuse> samples;
    fill_tables<Fuse>(args.p, samples);
    struct strip strip = find_strip(args.p, tables, SMALL_ROWS, REACH, args.reach);
    if (strip.lines <= 0)
        return;
    struct strip_row<BESIDE> next;
    float sum[SIDE][STRIP_CHUNK]; /* [j]: of the output row whose next row of weights is j + 1 */
    fetch_row<unsigned char>(args.p, strip, 0, &next);
#pragma unroll 1
    for (int i = 0; i < strip.lines + 2 * REACH; i++) {
        unsigned word[4 + 2 * BESIDE], out[4];
        float v[STRIP_CHUNK + 2 * HALO];
        map_row<Fuse>(strip, samples, &next);
        join_row(strip, next, word);
        if (i + 1 < strip.lines + 2 * REACH)
            fetch_row<unsigned char>(args.p, strip, i + 1, &next);
        widen<BESIDE, HALO>(word, v);
#pragma unroll
        for (int j = SIDE - 1; j >= 0; j--) {
            if (i - j >= 0 && i - j < strip.lines)
                add_products<SIDE, CHANNELS, EXACT>(args.weight + j * SIDE, v,
                                                    j ? sum[j - 1] : nullptr, sum[j]);
        }
        if (i >= 2 * REACH) {
            finish_row(args, sum[SIDE - 1], out);
            store_row<Fuse>(args.p, strip, samples, out);
        }
    }
}

/* Whether these kernels take it: 8 bits, no alpha, a small matrix, and no number so large or so
 * small that scaling by 2^24 or a step of quotient() would leave the range of float. */
static inline bool small_fits(const struct gf_convolve *convolve, struct gf_format format)
{
    int exponent;
    const float divisor = fabsf(convolve->divisor);
    if (format.bits != 8 || convolve->width > SMALL_SIDE_MAX || convolve->height > SMALL_SIDE_MAX ||
        format.channels % 2 == 0 || !(divisor > 1e-9f && divisor < 1e10f) ||
        frexpf(divisor, &exponent) == 1.0f - 1.0f / 16777216.0f)
        return false;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const float weight = fabsf(convolve->weight[i]);
        if (weight != 0.0f && !(weight > 1e-9f && weight < 1e9f))
            return false;
    }
    return true;
}

/* Whether all sums are whole numbers below 2^24, whatever the picture. */
static inline bool small_is_exact(const struct gf_convolve *convolve)
{
    double sum = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        if (convolve->weight[i] != rintf(convolve->weight[i]))
            return false;
        sum += fabs((double)convolve->weight[i]);
    }
    return sum * 255 < 16777216;
}

template <int REACH, bool EXACT, class Fuse>
static int launch_small_as(const struct gf_launch *launch, const struct small_args &args)
{
    const int blocks = strip_blocks(args.p, 1, SMALL_ROWS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (args.p.channels == 1)
        convolve_small_kernel<REACH, 1, EXACT, Fuse><<<blocks, STRIP_THREADS, 0, stream>>>(args);
    else
        convolve_small_kernel<REACH, 3, EXACT, Fuse><<<blocks, STRIP_THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

template <class Fuse>
static int launch_small(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const int reach = convolve->width <= 3 && convolve->height <= 3 ? 1 : 2, side = 2 * reach + 1;
    const int left = reach - convolve->width / 2, top = reach - convolve->height / 2;
    int exponent;
    struct small_args args = {};
    args.p = view_pair_of(launch, convolve->border);
    args.reach = convolve->height / 2;
    args.divisor = convolve->divisor;
    args.inverse = 1.0f / convolve->divisor;
    args.bias = convolve->bias;
    args.divide = fabsf(frexpf(convolve->divisor, &exponent)) != 0.5f;
    for (int j = 0; j < convolve->height; j++) {
        for (int i = 0; i < convolve->width; i++)
            args.weight[(top + j) * side + left + i] =
                convolve->weight[j * convolve->width + i] * 16777216.0f;
    }
    if (small_is_exact(convolve))
        return reach == 1 ? launch_small_as<1, true, Fuse>(launch, args)
                          : launch_small_as<2, true, Fuse>(launch, args);
    return reach == 1 ? launch_small_as<1, false, Fuse>(launch, args)
                      : launch_small_as<2, false, Fuse>(launch, args);
}

#endif
