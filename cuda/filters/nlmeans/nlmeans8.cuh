/* nlmeans of 8 bits: four shifts of the search window at once, in two pairs. A lane keeps the sums
 * of its pixels in registers through all shifts. Squared differences are added down the columns by
 * products of bytes, in floats that hold integers; the sums of a patch's columns become pairs of
 * integers, one of each shift, which lanes exchange by shuffles and which become pairs of
 * weights. */
#pragma once

#include <cuda_fp16.h>

#include "cuda/filters/nlmeans/nlmeans_tile.cuh"

/* The samples are the bytes of a word. With up to three channels byte 3 is 1, so that the weighted
 * sum of byte 3 is the sum of the weights. */
template <int COUNT> struct pixels8 {
    typedef unsigned pixel;
    static constexpr int channels = COUNT;
    static constexpr int rows = COUNT < 4 ? 12 : 8, warps = 4; /* as the registers allow */
    unsigned sum[4], weights;

    static __device__ __forceinline__ pixel load(const unsigned char *row, int x)
    {
        unsigned v = nothing();
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            v |= (unsigned)__ldg(row + (size_t)x * COUNT + c) << 8 * c;
        return v;
    }
    static __device__ __forceinline__ pixel nothing()
    {
        return COUNT < 4 ? 0x01000000u : 0;
    }
    /* Adds a pixel of each of two shifts; `pair` has their weights in its halves. */
    __device__ __forceinline__ void add(unsigned pair, pixel a, pixel b)
    {
        const unsigned lower = __byte_perm(a, b, 0x5140), upper = __byte_perm(a, b, 0x7362);
        sum[0] = __dp2a_lo(pair, lower, sum[0]);
        if (COUNT >= 2)
            sum[1] = __dp2a_hi(pair, lower, sum[1]);
        if (COUNT >= 3)
            sum[2] = __dp2a_lo(pair, upper, sum[2]);
        if (COUNT == 4)
            sum[3] = __dp2a_hi(pair, upper, sum[3]);
        weights = COUNT == 4 ? __dp2a_lo(pair, 0x0101u, weights) : __dp2a_hi(pair, upper, weights);
    }
    __device__ __forceinline__ void store(unsigned char *row, int x) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            row[(size_t)x * COUNT + c] =
                (unsigned char)gf_nlmeans_mean((float)sum[c], (float)(int)weights);
    }
};

static __device__ __forceinline__ __half2 pair_of(float v)
{
    return __floats2half2_rn(v, v);
}

static __device__ __forceinline__ unsigned bits_of(__half2 v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The largest sum of a column, in steps, for which the bits of halves that are seven times as large
 * are those of a number; 0x7C00 is infinity. */
enum { COLUMN_MOST = 11696, COLUMN_MOST_BITS = 4096 + (COLUMN_MOST - 8192) / 8 };
static_assert(7 * COLUMN_MOST_BITS < 0x7C00, "a patch of seven columns");

/* Rounds two sums of columns, times 2^-24, to integers: the bits of denormal halves. Those from
 * GF_NLMEANS_DISTANCES on have the bits of larger halves, which stand for distances without weight;
 * BOUNDED makes them at most COLUMN_MOST. */
template <bool BOUNDED>
static __device__ __forceinline__ unsigned round_columns(float first, float second)
{
    const unsigned columns = bits_of(__floats2half2_rn(first, second));
    return BOUNDED ? __vminu2(columns, COLUMN_MOST_BITS * 0x10001u) : columns;
}

/* Returns the weights of two distances (see nlmeans.h) in the halves of a word. In the square of
 * both roots, the upper word is the square of the upper root and the lower half of the lower word
 * that of the lower one, since 2 GF_NLMEANS_ROOT^2 is below 2^16. */
static __device__ __forceinline__ unsigned weights_of(unsigned distances, __half2 slope)
{
    static_assert(2 * GF_NLMEANS_ROOT * GF_NLMEANS_ROOT < 1 << 16, "one half has no carry");
    __half2 distance;
    memcpy(&distance, &distances, sizeof distance);
    const __half2 u = __hfma2_sat(distance, slope, pair_of(GF_NLMEANS_TOP));
    const __half2 p = __hfma2(u, u, pair_of(GF_NLMEANS_BEND));
    const __half2 p2 = __hmul2(p, p), p4 = __hmul2(p2, p2);
    const unsigned long long roots = bits_of(__hmul2(p4, p4)), square = roots * roots;
    return __byte_perm((unsigned)square, (unsigned)(square >> 32), 0x5410);
}

/* Numbers that are the same for all shifts. */
struct pair_constants {
    float base;    /* 2^(e + 23); an integer below 2^23 that is added to its bits adds as many times
                    * 2^e. The sum of a column times 2^e is a distance in steps times 2^-24. */
    __half2 slope; /* negative */
};

/* Adds the weighted pixels of one or two pairs of shifts. The rows of the first pair begin at
 * `from`, an even column, those of the second pair a column further to the right. The second shift
 * of a pair is a row further down (DOWN) or a column to the right; `mask` may take away its
 * weights. */
template <class Pixels, int PATCH, bool BOUNDED, bool DOWN, int PAIRS>
static __device__ __forceinline__ void add_pairs(const unsigned *from, const unsigned centre[][2],
                                                 const struct pair_constants &constants,
                                                 unsigned mask, Pixels sums[Pixels::rows][2])
{
    constexpr int SIDE = 2 * PATCH + 1, SPAN = Pixels::rows + 2 * PATCH, BELOW = DOWN ? 1 : 0;
    unsigned with[SPAN + BELOW][3];
    float sum[SPAN][PAIRS][2]
             [2]; /* of all rows so far; a patch's column is the difference of two */
#pragma unroll
    for (int line = 0; line < SPAN + BELOW; line++) {
        const uint2 two = *(const uint2 *)(from + line * TILE_PITCH);
        with[line][0] = two.x;
        with[line][1] = two.y;
        if (!DOWN || PAIRS == 2)
            with[line][2] = from[line * TILE_PITCH + 2];
        const int i = line - BELOW, row = i - 2 * PATCH;
        if (i < 0)
            continue;
#pragma unroll
        for (int n = 0; n < PAIRS; n++) {
            float column[2][2];
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int s = 0; s < 2; s++) {
                    const unsigned apart =
                        __vabsdiffu4(centre[i][k], DOWN ? with[i + s][k + n] : with[i][k + s]);
                    const float before = i ? sum[i - 1][n][k][s] : constants.base;
                    sum[i][n][k][s] =
                        __uint_as_float(__dp4a(apart, apart, __float_as_uint(before)));
                    column[k][s] =
                        sum[i][n][k][s] - (i < SIDE ? constants.base : sum[i - SIDE][n][k][s]);
                }
            }
            if (row < 0)
                continue;
            unsigned distance[2];
            sum_along<PATCH>(round_columns<BOUNDED>(column[0][0], column[0][1]),
                             round_columns<BOUNDED>(column[1][0], column[1][1]), distance);
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const unsigned pair = weights_of(distance[k], constants.slope);
                const int middle = row + PATCH;
                sums[row][k].add(DOWN ? pair : pair & mask, with[middle][k + n],
                                 DOWN ? with[middle + 1][k + n] : with[middle][k + 1]);
            }
        }
    }
}

/* In every access of the loops a lane's column is even in the tile. */
template <class Pixels, int PATCH, bool BOUNDED>
static __global__ void __launch_bounds__(Pixels::warps *WARP, 2)
    nlmeans8_kernel(const struct nlmeans_args args)
{
    constexpr int SPAN = Pixels::rows + 2 * PATCH;
    extern __shared__ uint4 shared[];
    const struct nlmeans_place<Pixels> place = begin_tile<Pixels, PATCH>(args, (unsigned *)shared);
    const int search = args.nlmeans.search;
    const unsigned *const own = place.own + 2 * place.lane;
    unsigned centre[SPAN][2];
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        centre[i][0] = own[i * TILE_PITCH + search];
        centre[i][1] = own[i * TILE_PITCH + search + 1];
    }
    const struct pair_constants constants = {
        __uint_as_float((unsigned)(126 - args.nlmeans.step_bits) << 23),
        pair_of(-args.nlmeans.slope)};
    Pixels sums[Pixels::rows][2] = {};
#pragma unroll 1
    for (int dy = -search; dy < search; dy += 2) {
        const unsigned *const from = own + dy * TILE_PITCH;
#pragma unroll 1
        for (int x = 0; x < 2 * search; x += 2)
            add_pairs<Pixels, PATCH, BOUNDED, true, 2>(from + x, centre, constants, ~0u, sums);
        add_pairs<Pixels, PATCH, BOUNDED, true, 1>(from + 2 * search, centre, constants, ~0u, sums);
    }
    /* The last row of the window, where the last column has no other. */
#pragma unroll 1
    for (int x = 0; x <= 2 * search; x += 2)
        add_pairs<Pixels, PATCH, BOUNDED, false, 1>(
            own + search * TILE_PITCH + x, centre, constants, x == 2 * search ? 65535u : ~0u, sums);
    store_means<Pixels, PATCH>(args, place, sums);
}

template <int COUNT, int PATCH>
static void launch_kernel(const struct nlmeans_args &args, pixels8<COUNT>, int blocks, size_t bytes,
                          cudaStream_t stream)
{
    const double most = ldexp((2 * PATCH + 1) * COUNT * 255.0 * 255, -args.nlmeans.step_bits);
    const auto kernel = most <= COLUMN_MOST ? nlmeans8_kernel<pixels8<COUNT>, PATCH, false>
                                            : nlmeans8_kernel<pixels8<COUNT>, PATCH, true>;
    kernel<<<blocks, pixels8<COUNT>::warps * WARP, bytes, stream>>>(args);
}
