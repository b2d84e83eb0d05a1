/* nlmeans on a device. A warp computes rows of up to 58 pixels. A lane has two neighbouring columns
 * and keeps their sums in registers through all shifts of the search window. For each shift the
 * lane adds the squared differences of its columns, and gets the neighbouring lanes' differences by
 * shuffles for the sums over patches. As on the CPU, all numbers except the weights are
 * integers. */
#include "filters/nlmeans/nlmeans.h"

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

enum { WARPS = 4, THREADS = WARPS * WARP, COLUMNS = 2 * WARP };

struct nlmeans_args {
    struct view_pair p;
    struct gf_nlmeans nlmeans;
    unsigned limit; /* the distance that replaces larger ones: their weight is 0, too */
    float offset;   /* see pixels8::weight() */
};

/* Returns gf_nlmeans_weight() of x = distance / 2 * factor, not below -126. The weight is the bits
 * of a denormal float, since a product is rounded to a multiple of 2^-149. */
static __device__ __forceinline__ unsigned weight_of(float x)
{
    constexpr float SCALE = 1.0f / (1 << 30) / (1 << 30) / (1 << 30) / (1 << 30) / (1 << 14);
    static_assert(GF_NLMEANS_WEIGHT_BITS == 149 - 134, "2^-134");
    return __float_as_uint(gf_exp2_bounded(x) * SCALE);
}

/* Pixels of 8 bits: the samples are the bytes of a word. With up to three channels byte 3 is 1, so
 * that the weighted sum of byte 3 is the sum of the weights. */
template <int COUNT> struct pixels8 {
    typedef unsigned pixel;
    static constexpr int rows = 8; /* rows of a thread */
    /* The tile is stored twice. The second copy begins with the tile's second column, so that any
     * two neighbouring columns are one aligned access in one of the copies. */
    static constexpr bool twice = true;
    /* Distances are below 2^24 and have this number added, so that half of it has the bits of the
     * float 2^23 + distance / 2. */
    static constexpr unsigned BIAS = 2 * 0x4B000000u;
    static constexpr unsigned LIMIT = BIAS + (1 << 24) - 2;
    unsigned sum[4], weights;

    static __device__ __forceinline__ pixel load(const unsigned char *row, int x)
    {
        unsigned v = COUNT < 4 ? 0x01000000u : 0;
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            v |= (unsigned)__ldg(row + (size_t)x * COUNT + c) << 8 * c;
        return v;
    }
    static __device__ __forceinline__ pixel nothing()
    {
        return COUNT < 4 ? 0x01000000u : 0;
    }
    /* Adds the squared difference of two pixels to a sum. */
    static __device__ __forceinline__ unsigned add_difference(pixel a, pixel b, unsigned sum)
    {
        const unsigned apart = __vabsdiffu4(a, b);
        return __dp4a(apart, apart, sum);
    }
    /* The offset is -2^23 * factor, exactly, so that only the product's result is rounded. */
    static __device__ __forceinline__ unsigned weight(unsigned distance,
                                                      const struct nlmeans_args &args)
    {
        return weight_of(fmaf(__uint_as_float(distance >> 1), args.nlmeans.factor, args.offset));
    }
    __device__ __forceinline__ void add(unsigned weight, pixel v)
    {
        const unsigned high = weight << 16;
        sum[0] = __dp2a_lo(weight, v, sum[0]);
        if (COUNT >= 2)
            sum[1] = __dp2a_lo(high, v, sum[1]);
        if (COUNT >= 3)
            sum[2] = __dp2a_hi(weight, v, sum[2]);
        if (COUNT == 4) {
            sum[3] = __dp2a_hi(high, v, sum[3]);
            weights += weight;
        } else {
            weights = __dp2a_hi(high, v, weights);
        }
    }
    __device__ __forceinline__ void store(unsigned char *row, int x) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            row[(size_t)x * COUNT + c] =
                (unsigned char)gf_nlmeans_mean((float)sum[c], (float)(int)weights);
    }
};

/* Pixels of 16 bits, as four samples. */
template <int COUNT> struct pixels16 {
    typedef ushort4 pixel;
    static constexpr int rows = 4;
    static constexpr bool twice = false;
    static constexpr unsigned BIAS = 0, LIMIT = ~0u;
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
    static __device__ __forceinline__ unsigned add_difference(pixel a, pixel b, unsigned sum)
    {
        const int x = apart(a.x, b.x), y = apart(a.y, b.y), z = apart(a.z, b.z),
                  w = apart(a.w, b.w);
        return sum + (unsigned)(x * x) + (unsigned)(y * y) + (unsigned)(z * z) + (unsigned)(w * w);
    }
    static __device__ __forceinline__ unsigned weight(unsigned distance,
                                                      const struct nlmeans_args &args)
    {
        return weight_of((float)(int)(distance >> 1) * args.nlmeans.factor);
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

/* The number of columns in which a warp computes results. PATCH columns on each side of the warp
 * lack neighbours. */
template <int PATCH> static constexpr int MADE = COLUMNS - 2 * PATCH;

static __host__ __device__ __forceinline__ int tile_pitch(int search)
{
    return COLUMNS + 2 * search + 2; /* rounded up to an even number */
}

template <class Pixels, int PATCH>
static __host__ __device__ __forceinline__ int tile_lines(int search)
{
    return WARPS * Pixels::rows + 2 * (search + PATCH);
}

template <class Pixels, int PATCH>
static __device__ __forceinline__ void fill_tile(const struct nlmeans_args &args, int x0, int y0,
                                                 typename Pixels::pixel *tile)
{
    const struct view_pair &p = args.p;
    const int search = args.nlmeans.search, pitch = tile_pitch(search);
    const int lines = tile_lines<Pixels, PATCH>(search), pixels = lines * pitch;
    const int last = p.out_y + p.rows - 1 + search + PATCH; /* the last row of the view */
    for (int i = (int)threadIdx.x; i < pixels; i += THREADS) {
        const int line = i / pitch, column = i - line * pitch;
        const int y = gf_border_index(min(y0 + line, last), p.height, p.border);
        const int x = gf_border_index(x0 + column, p.width, p.border);
        typename Pixels::pixel v = Pixels::nothing();
        if (x >= 0 && y >= 0)
            v = Pixels::load(p.in + (ptrdiff_t)(y - p.in_y) * (ptrdiff_t)p.in_pitch, x);
        tile[i] = v;
        if (Pixels::twice && i)
            tile[pixels + i - 1] = v;
    }
}

/* Loads two adjacent pixels from column `at` on. `at` is even without the shift dx, and `copy` is
 * the copy in which the access is aligned. */
template <class Pixels>
static __device__ __forceinline__ void load_two(const typename Pixels::pixel *row, int copy, int at,
                                                typename Pixels::pixel to[2])
{
    if constexpr (Pixels::twice) {
        const uint2 two = *(const uint2 *)(row + (at & 1 ? copy - 1 : 0) + at);
        to[0] = two.x;
        to[1] = two.y;
    } else {
        to[0] = row[at];
        to[1] = row[at + 1];
    }
}

/* Sums a patch along the row, for both columns of the lane, up to the limit. All lanes of the warp
 * call the function. */
template <int PATCH>
static __device__ __forceinline__ void sum_along(unsigned left, unsigned right, unsigned limit,
                                                 unsigned to[2])
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
    to[0] = __viaddmin_u32(middle[0], PATCH == 2 ? behind : before, limit);
    to[1] = __viaddmin_u32(middle[1], PATCH == 2 ? before : behind, limit);
}

template <class Pixels, int PATCH>
static __global__ void __launch_bounds__(THREADS) nlmeans_kernel(const struct nlmeans_args args)
{
    typedef typename Pixels::pixel pixel;
    constexpr int ROWS = Pixels::rows, SIDE = 2 * PATCH + 1, SPAN = ROWS + 2 * PATCH;
    extern __shared__ uint4 shared[];
    pixel *const tile = (pixel *)shared;
    const struct view_pair &p = args.p;
    const int search = args.nlmeans.search, pitch = tile_pitch(search);
    const int copy = tile_lines<Pixels, PATCH>(search) * pitch;
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const struct tile_origin origin = block_tile(p.width, MADE<PATCH>, WARPS * ROWS);
    const int x = origin.x - PATCH + 2 * lane; /* the picture's column of the lane's first column */
    const int top = origin.row + warp * ROWS;
    fill_tile<Pixels, PATCH>(args, origin.x - PATCH - search, p.out_y + origin.row - PATCH - search,
                             tile);
    __syncthreads();
    const pixel *const own = tile + (warp * ROWS + search) * pitch;
    pixel centre[SPAN][2];
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        centre[i][0] = own[i * pitch + 2 * lane + search];
        centre[i][1] = own[i * pitch + 2 * lane + search + 1];
    }
    /* SIDE columns together have the bias, modulo 2^32. */
    constexpr unsigned INVERSE = SIDE == 3 ? 0xAAAAAAABu : SIDE == 5 ? 0xCCCCCCCDu : 0xB6DB6DB7u;
    static_assert(INVERSE * SIDE == 1, "modulo 2^32");
    constexpr unsigned START = Pixels::BIAS * INVERSE;
    Pixels sums[ROWS][2] = {};
#pragma unroll 1
    for (int dy = -search; dy <= search; dy++) {
#pragma unroll 1
        for (int dx = -search; dx <= search; dx++) {
            const pixel *const other = own + dy * pitch;
            const int at = 2 * lane + search + dx;
            pixel with[SPAN][2];
            /* The sums of all rows so far; a patch's column is the difference of two of them. */
            unsigned sum[SPAN][2], column[2];
#pragma unroll
            for (int i = 0; i < SPAN; i++) {
                load_two<Pixels>(other + i * pitch, copy, at, with[i]);
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    sum[i][k] =
                        Pixels::add_difference(centre[i][k], with[i][k], i ? sum[i - 1][k] : 0);
                    column[k] = sum[i][k] - (i < SIDE ? 0 : sum[i - SIDE][k]) + START;
                }
                if (i < 2 * PATCH)
                    continue;
                const int row = i - 2 * PATCH;
                unsigned distance[2];
                sum_along<PATCH>(column[0], column[1], args.limit, distance);
#pragma unroll
                for (int k = 0; k < 2; k++)
                    sums[row][k].add(Pixels::weight(distance[k], args), with[row + PATCH][k]);
            }
        }
    }
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int made = 2 * lane + k;
            if (top + row < p.rows && made >= PATCH && made < COLUMNS - PATCH && x + k < p.width)
                sums[row][k].store(p.out + (size_t)(top + row) * p.out_pitch, x + k);
        }
    }
}

template <class Pixels, int PATCH>
static int launch_patch(struct nlmeans_args args, cudaStream_t stream)
{
    const double farthest = Pixels::BIAS + 2 * floor(125 / -(double)args.nlmeans.factor);
    args.limit = farthest < Pixels::LIMIT ? (unsigned)farthest : Pixels::LIMIT;
    args.offset = -8388608.0f * args.nlmeans.factor;
    const int search = args.nlmeans.search;
    const size_t bytes = (size_t)tile_lines<Pixels, PATCH>(search) * tile_pitch(search) *
                         sizeof(typename Pixels::pixel) * (Pixels::twice ? 2 : 1);
    const int blocks = tile_blocks(args.p.width, args.p.rows, MADE<PATCH>, WARPS * Pixels::rows);
    nlmeans_kernel<Pixels, PATCH><<<blocks, THREADS, bytes, stream>>>(args);
    return cudaGetLastError();
}

template <class Pixels>
static int launch_nlmeans(const struct nlmeans_args &args, cudaStream_t stream)
{
    switch (args.nlmeans.patch) {
    case 1:
        return launch_patch<Pixels, 1>(args, stream);
    case 2:
        return launch_patch<Pixels, 2>(args, stream);
    default:
        return launch_patch<Pixels, 3>(args, stream);
    }
}

extern "C" int gf_nlmeans_cuda(const struct gf_launch *launch)
{
    const struct gf_nlmeans *const nlmeans = (const struct gf_nlmeans *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct nlmeans_args args = {};
    args.p = view_pair_of(launch, nlmeans->border);
    args.nlmeans = *nlmeans;
    if (!args.p.rows)
        return cudaSuccess;
    return for_channels(args.p.channels, [&](auto channels) {
        constexpr int COUNT = decltype(channels)::value;
        return args.p.bits == 8 ? launch_nlmeans<pixels8<COUNT>>(args, stream)
                                : launch_nlmeans<pixels16<COUNT>>(args, stream);
    });
}
