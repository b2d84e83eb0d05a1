/* nlmeans of 16 bits. For each shift of the search window a lane adds the squared differences of
 * its columns, and gets the neighbouring lanes' differences by shuffles for the sums over patches.
 * As on the CPU, all numbers except the weights are integers. */
#pragma once

#include "cuda/filters/nlmeans/nlmeans_tile.cuh"

template <int COUNT> struct pixels16 {
    typedef ushort4 pixel;
    static constexpr int channels = COUNT;
    static constexpr int rows = 4, warps = 4;
    unsigned long long sum[COUNT];
    unsigned weights;

    static __device__ __forceinline__ pixel load(const unsigned char *row, int x)
    {
        const unsigned short *const from = (const unsigned short *)row + (size_t)x * COUNT;
        return make_ushort4(__ldg(from), COUNT >= 2 ? __ldg(from + (COUNT >= 2 ? 1 : 0)) : 0,
                            COUNT >= 3 ? __ldg(from + (COUNT >= 3 ? 2 : 0)) : 0,
                            COUNT >= 4 ? __ldg(from + (COUNT >= 4 ? 3 : 0)) : 0);
    }
    static __device__ __forceinline__ pixel nothing()
    {
        return make_ushort4(0, 0, 0, 0);
    }
    static __device__ __forceinline__ int apart(unsigned short a, unsigned short b)
    {
        return (a >> GF_NLMEANS_SHORTER) - (b >> GF_NLMEANS_SHORTER);
    }
    /* Adds the squared difference of two pixels to a sum. */
    static __device__ __forceinline__ unsigned add_difference(pixel a, pixel b, unsigned sum)
    {
        const int x = apart(a.x, b.x), y = apart(a.y, b.y), z = apart(a.z, b.z),
                  w = apart(a.w, b.w);
        return sum + (unsigned)(x * x) + (unsigned)(y * y) + (unsigned)(z * z) + (unsigned)(w * w);
    }
    __device__ __forceinline__ void add(unsigned weight, pixel v)
    {
        const unsigned short of[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            sum[c] += weight * (unsigned)of[c];
        weights += weight;
    }
    __device__ __forceinline__ void store(unsigned char *row, int x) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            ((unsigned short *)row)[(size_t)x * COUNT + c] =
                (unsigned short)gf_nlmeans_mean((float)sum[c], (float)(int)weights);
    }
};

/* Returns gf_nlmeans_weight() of a distance that is not above the limit. The weight is the bits of
 * a denormal float, since a product is rounded to a multiple of 2^-149. */
static __device__ __forceinline__ unsigned weight_of(unsigned distance, float factor)
{
    constexpr float SCALE = 1.0f / (1 << 30) / (1 << 30) / (1 << 30) / (1 << 30) / (1 << 14);
    static_assert(GF_NLMEANS_WEIGHT_BITS == 149 - 134, "2^-134");
    return __float_as_uint(gf_exp2_bounded((float)(int)(distance >> 1) * factor) * SCALE);
}

/* Adds the weighted pixels of a shift, whose rows begin at `other`. */
template <class Pixels, int PATCH>
static __device__ __forceinline__ void
add_shift(const struct nlmeans_args &args, const typename Pixels::pixel *other,
          const typename Pixels::pixel centre[][2], Pixels sums[Pixels::rows][2])
{
    constexpr int SIDE = 2 * PATCH + 1, SPAN = Pixels::rows + 2 * PATCH;
    typename Pixels::pixel with[SPAN][2];
    /* The sums of all rows so far; a patch's column is the difference of two of them. */
    unsigned sum[SPAN][2], column[2];
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            with[i][k] = other[i * TILE_PITCH + k];
            sum[i][k] = Pixels::add_difference(centre[i][k], with[i][k], i ? sum[i - 1][k] : 0);
            column[k] = sum[i][k] - (i < SIDE ? 0 : sum[i - SIDE][k]);
        }
        if (i < 2 * PATCH)
            continue;
        const int row = i - 2 * PATCH;
        unsigned distance[2];
        sum_along<PATCH>(column[0], column[1], distance);
#pragma unroll
        for (int k = 0; k < 2; k++)
            sums[row][k].add(weight_of(min(distance[k], args.limit), args.nlmeans.factor),
                             with[row + PATCH][k]);
    }
}

template <class Pixels, int PATCH>
static __global__ void __launch_bounds__(Pixels::warps *WARP)
    nlmeans16_kernel(const struct nlmeans_args args)
{
    typedef typename Pixels::pixel pixel;
    constexpr int SPAN = Pixels::rows + 2 * PATCH;
    extern __shared__ uint4 shared[];
    const struct nlmeans_place<Pixels> place = begin_tile<Pixels, PATCH>(args, (pixel *)shared);
    const int search = args.nlmeans.search, at = 2 * place.lane + search;
    pixel centre[SPAN][2];
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        centre[i][0] = place.own[i * TILE_PITCH + at];
        centre[i][1] = place.own[i * TILE_PITCH + at + 1];
    }
    Pixels sums[Pixels::rows][2] = {};
#pragma unroll 1
    for (int dy = -search; dy <= search; dy++) {
#pragma unroll 1
        for (int dx = -search; dx <= search; dx++)
            add_shift<Pixels, PATCH>(args, place.own + dy * TILE_PITCH + at + dx, centre, sums);
    }
    store_means<Pixels, PATCH>(args, place, sums);
}

template <int COUNT, int PATCH>
static void launch_kernel(const struct nlmeans_args &args, pixels16<COUNT>, int blocks,
                          size_t bytes, cudaStream_t stream)
{
    nlmeans16_kernel<pixels16<COUNT>, PATCH>
        <<<blocks, pixels16<COUNT>::warps * WARP, bytes, stream>>>(args);
}
