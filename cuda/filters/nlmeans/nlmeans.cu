/* nlmeans on a device. First what both kernels have in common: a warp computes rows of up to 62
 * pixels, and a lane has two neighbouring columns. The pixels around a block's rows are in shared
 * memory. */
#include "filters/nlmeans/nlmeans.h"

#include <cuda_fp16.h>
#include <limits.h>

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

enum {
    COLUMNS = 2 * WARP,
    /* the pixels from one row of a tile to the next: an even number, and the same for all sizes of
     * windows, so that distances of addresses are constants */
    TILE_PITCH = COLUMNS + 2 * GF_NLMEANS_SEARCH_MAX + 2
};

struct nlmeans_args {
    struct view_pair p;
    struct gf_nlmeans nlmeans;
    /* Only for 16 bits: larger distances are replaced by this one, whose weight is 0 as well. */
    unsigned limit;
};

/* The number of columns in which a warp computes results. PATCH columns on each side of the warp
 * lack neighbours. */
template <int PATCH> static constexpr int MADE = COLUMNS - 2 * PATCH;

template <class Pixels, int PATCH>
static __host__ __device__ __forceinline__ int tile_lines(int search)
{
    return Pixels::warps * Pixels::rows + 2 * (search + PATCH);
}

template <class Pixels, int PATCH>
static __device__ __forceinline__ void fill_tile(const struct nlmeans_args &args, int x0, int y0,
                                                 typename Pixels::pixel *tile)
{
    constexpr int PARTS = (TILE_PITCH + WARP - 1) / WARP;
    const struct view_pair &p = args.p;
    const int search = args.nlmeans.search, lines = tile_lines<Pixels, PATCH>(search);
    const int last = p.out_y + p.rows - 1 + search + PATCH; /* the last row of the view */
    const int lane = (int)threadIdx.x % WARP;
    int x[PARTS];
#pragma unroll
    for (int k = 0; k < PARTS; k++)
        x[k] = gf_border_index(x0 + lane + k * WARP, p.width, p.border);
#pragma unroll 4
    for (int line = (int)threadIdx.x / WARP; line < lines; line += Pixels::warps) {
        const int y = gf_border_index(min(y0 + line, last), p.height, p.border);
        const ptrdiff_t down = y < 0 ? 0 : y - p.in_y;
        const unsigned char *const row = p.in + down * (ptrdiff_t)p.in_pitch;
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            const int column = lane + k * WARP;
            const typename Pixels::pixel v = Pixels::load(row, max(x[k], 0));
            if (column < TILE_PITCH)
                tile[line * TILE_PITCH + column] = x[k] >= 0 && y >= 0 ? v : Pixels::nothing();
        }
    }
}

/* What a thread of a block works on. */
template <class Pixels> struct nlmeans_place {
    int x, top; /* the first column of its lane, the first row of its warp */
    int lane;
    const typename Pixels::pixel *own; /* the first row of the warp's patches, without a shift */
};

/* Fills the tile. All threads of the block call the function. */
template <class Pixels, int PATCH>
static __device__ __forceinline__ struct nlmeans_place<Pixels>
begin_tile(const struct nlmeans_args &args, typename Pixels::pixel *tile) {
    const int search = args.nlmeans.search, warp = (int)threadIdx.x / WARP;
    const struct tile_origin origin =
        block_tile(args.p.width, MADE<PATCH>, Pixels::warps *Pixels::rows);
    struct nlmeans_place<Pixels> place;
    place.lane = (int)threadIdx.x % WARP;
    place.x = origin.x - PATCH + 2 * place.lane;
    place.top = origin.row + warp * Pixels::rows;
    place.own = tile + (warp * Pixels::rows + search) * TILE_PITCH;
    fill_tile<Pixels, PATCH>(args, origin.x - PATCH - search,
                             args.p.out_y + origin.row - PATCH - search, tile);
    __syncthreads();
    return place;
}

/* Sums a patch along the row, for both columns of the lane. All lanes of the warp call the
 * function. */
template <int PATCH>
static __device__ __forceinline__ void sum_along(unsigned left, unsigned right, unsigned to[2])
{
    const unsigned all = 0xffffffffu, both = left + right;
    unsigned middle[2] = {both, both};
    if (PATCH == 2) {
        middle[0] += __shfl_up_sync(all, both, 1);
        middle[1] += __shfl_down_sync(all, both, 1);
    } else if (PATCH == 3) {
        middle[0] += __shfl_up_sync(all, both, 1) + __shfl_down_sync(all, both, 1);
        middle[1] = middle[0];
    }
    const unsigned before = __shfl_up_sync(all, right, (PATCH + 1) / 2);
    const unsigned behind = __shfl_down_sync(all, left, (PATCH + 1) / 2);
    to[0] = middle[0] + (PATCH == 2 ? behind : before);
    to[1] = middle[1] + (PATCH == 2 ? before : behind);
}

/* Stores the means of a lane's pixels that are in the picture and have whole patches. */
template <class Pixels, int PATCH>
static __device__ __forceinline__ void store_means(const struct nlmeans_args &args,
                                                   const struct nlmeans_place<Pixels> &place,
                                                   const Pixels sums[Pixels::rows][2])
{
    const struct view_pair &p = args.p;
#pragma unroll
    for (int row = 0; row < Pixels::rows; row++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int made = 2 * place.lane + k;
            if (place.top + row < p.rows && made >= PATCH && made < COLUMNS - PATCH &&
                place.x + k < p.width)
                sums[row][k].store(p.out + (size_t)(place.top + row) * p.out_pitch, place.x + k);
        }
    }
}

/* nlmeans of 8 bits: four shifts of the search window at once, in two pairs. A lane keeps the sums
 * of its pixels in registers through all shifts. Squared differences are added down the columns by
 * products of bytes, in floats that hold integers; the sums of a patch's columns become pairs of
 * integers, one of each shift, which lanes exchange by shuffles and which become pairs of
 * weights. */

/* The samples, of one or three channels, are the bytes of a word. Byte 3 is 1, so that the weighted
 * sum of byte 3 is the sum of the weights. */
template <int COUNT> struct pixels8 {
    typedef unsigned pixel;
    static constexpr int channels = COUNT;
    /* As many as registers allow: the rows of a lane's pixels, and the warps of a block. */
    static constexpr int rows = 12, warps = 4;
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
        return 0x01000000u;
    }
    /* Adds a pixel of each of two shifts; `pair` has their weights in its halves. */
    __device__ __forceinline__ void add(unsigned pair, pixel a, pixel b)
    {
        const unsigned lower = __byte_perm(a, b, 0x5140), upper = __byte_perm(a, b, 0x7362);
        sum[0] = __dp2a_lo(pair, lower, sum[0]);
        if (COUNT == 3) {
            sum[1] = __dp2a_hi(pair, lower, sum[1]);
            sum[2] = __dp2a_lo(pair, upper, sum[2]);
        }
        weights = __dp2a_hi(pair, upper, weights);
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

/* A bound for the sum of a column, in steps of 2^step_bits. Sums are stored as the bits of
 * half-precision numbers, and up to seven of them are added as integers. The result must stay below
 * 0x7C00, the bits of infinity, so that it is a number again. */
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
    /* 2^(e + 23), where 2^e times the sum of a column is its distance in steps, times 2^-24. Adding
     * an integer below 2^23 to the bits of this float adds that integer times 2^e to the float. */
    float base;
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
    /* The shifts in the last row of the window, in pairs of neighbouring columns. The last column
     * is alone in its pair. */
#pragma unroll 1
    for (int x = 0; x <= 2 * search; x += 2)
        add_pairs<Pixels, PATCH, BOUNDED, false, 1>(
            own + search * TILE_PITCH + x, centre, constants, x == 2 * search ? 65535u : ~0u, sums);
    store_means<Pixels, PATCH>(args, place, sums);
}

template <int COUNT, int PATCH> static auto kernel_of(pixels8<COUNT>, int step_bits)
{
    const double most = ldexp((2 * PATCH + 1) * COUNT * 255.0 * 255, -step_bits);
    return most <= COLUMN_MOST ? nlmeans8_kernel<pixels8<COUNT>, PATCH, false>
                               : nlmeans8_kernel<pixels8<COUNT>, PATCH, true>;
}

/* nlmeans of 16 bits. For each shift of the search window a lane adds the squared differences of
 * its columns, and gets the neighbouring lanes' differences by shuffles for the sums over patches.
 * As on the CPU, all numbers except the weights are integers. */

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
    /* The sums over all rows so far. The sum of a patch's column is the difference of two of them.
     */
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

template <int COUNT, int PATCH> static auto kernel_of(pixels16<COUNT>, int)
{
    return nlmeans16_kernel<pixels16<COUNT>, PATCH>;
}

/* Chooses the kernel by the depth of the samples. */

template <class Pixels, int PATCH>
static int launch_patch(const struct nlmeans_args &args, cudaStream_t stream)
{
    const int search = args.nlmeans.search;
    const size_t bytes =
        (size_t)tile_lines<Pixels, PATCH>(search) * TILE_PITCH * sizeof(typename Pixels::pixel);
    const int blocks =
        tile_blocks(args.p.width, args.p.rows, MADE<PATCH>, Pixels::warps * Pixels::rows);
    const auto kernel = kernel_of<Pixels::channels, PATCH>(Pixels(), args.nlmeans.step_bits);
    return launch_kernel(kernel, blocks, Pixels::warps * WARP, bytes, stream, args);
}

template <class Pixels>
static int launch_nlmeans(const struct nlmeans_args &args, cudaStream_t stream)
{
    const int patch = args.nlmeans.patch;
    return patch == 1   ? launch_patch<Pixels, 1>(args, stream)
           : patch == 2 ? launch_patch<Pixels, 2>(args, stream)
                        : launch_patch<Pixels, 3>(args, stream);
}

extern "C" int gf_nlmeans_cuda(const struct gf_launch *launch)
{
    const struct gf_nlmeans *const nlmeans = (const struct gf_nlmeans *)launch->stage->constants;
    struct nlmeans_args args = {};
    args.p = view_pair_of(launch, nlmeans->border);
    args.nlmeans = *nlmeans;
    const double farthest = 2 * floor(125 / -(double)nlmeans->factor);
    args.limit = farthest < UINT_MAX ? (unsigned)farthest : UINT_MAX;
    if (!args.p.rows)
        return cudaSuccess;
    return for_stencil_samples(args.p, [&](auto sample, auto channels) -> int {
        constexpr int COUNT = decltype(channels)::value;
        if constexpr (sizeof sample == 1)
            return launch_nlmeans<pixels8<COUNT>>(args, launch->stream);
        else
            return launch_nlmeans<pixels16<COUNT>>(args, launch->stream);
    });
}
