/* Thin edges of 8-bit pictures without alpha. A lane computes four columns, and a warp, whose outer
 * lanes only have what their neighbours need, goes down a strip of rows. Everything is in
 * registers, and neighbouring lanes exchange it by shuffles. Gradients are pairs of halves, as in
 * sobel, and squares are floats, both exact in units of 2^-24 and 2^-48. */
#pragma once

#include "cuda/filters/sobel/sobel_rolling.cuh"
#include "filters/canny/edges.h"

constexpr int THIN8_EACH = 4, THIN8_COLUMNS = THIN8_EACH * (WARP - 2), THIN8_ROWS = 32;
constexpr int THIN8_WARPS = 4;

struct thin8_args {
    struct view_pair p;
    int words;       /* the number of words of bits in a row */
    float low, high; /* squares */
};

/* The largest gradients of a row of the lane's columns. The squares include the columns next to
 * them. */
struct thin8_row {
    float square[THIN8_EACH + 2], x[THIN8_EACH], y[THIN8_EACH];
};

/* Returns four bytes of a row, from byte `first` after column x on. The nearest columns of the
 * picture replace columns beyond it. */
template <int CHANNELS>
static __device__ __noinline__ unsigned gather_columns(const unsigned char *row, int x, int first,
                                                       int width)
{
    unsigned word = 0;
    for (int i = 0; i < 4; i++) {
        const int column = min(max(x + (first + i) / CHANNELS, 0), width - 1);
        word |= (unsigned)row[(size_t)column * CHANNELS + (first + i) % CHANNELS] << 8 * i;
    }
    return word;
}

template <int CHANNELS> struct thin8_walk {
    const struct view_pair &p;
    int x;                                                     /* the lane's first column */
    __half2 slope[CHANNELS][2] = {}, slopes[CHANNELS][2] = {}; /* as in sobel8 */
    __half2 last[CHANNELS][2] = {}, before[CHANNELS][2] = {};  /* smoothed rows */

    /* Whether all of the lane's columns are in the picture. */
    __device__ __forceinline__ bool is_plain() const
    {
        return x >= 0 && x + THIN8_EACH <= p.width;
    }

    /* Loads row y, or the nearest row of the picture. */
    __device__ __forceinline__ void load(int y, unsigned (&word)[CHANNELS]) const
    {
        const unsigned char *const row =
            p.in + (long long)(min(max(y, 0), p.height - 1) - p.in_y) * (long long)p.in_pitch;
        if (is_plain()) {
#pragma unroll
            for (int w = 0; w < CHANNELS; w++)
                word[w] = __ldg((const unsigned *)(row + (size_t)x * CHANNELS) + w);
            return;
        }
#pragma unroll
        for (int w = 0; w < CHANNELS; w++)
            word[w] = gather_columns<CHANNELS>(row, x, 4 * w, p.width);
    }

    /* Takes row y + 1, and finds the gradients of row y. */
    __device__ __forceinline__ void take(const unsigned (&word)[CHANNELS], int y,
                                         struct thin8_row *row)
    {
        const __half2 two = __floats2half2_rn(2.0f, 2.0f);
        __half2 pair[6][2];
        float dx[4 * CHANNELS], dy[4 * CHANNELS];
#pragma unroll
        for (int w = 0; w < CHANNELS + 2; w++) {
            const unsigned of = w == 0 ? __shfl_up_sync(~0u, word[CHANNELS - 1], 1)
                                : w > CHANNELS
                                    ? __shfl_down_sync(~0u, word[0], 1)
                                    : word[w - 1 < CHANNELS ? max(w - 1, 0) : CHANNELS - 1];
            pair[w][0] = tiny_halves(of, 0);
            pair[w][1] = tiny_halves(of, 1);
        }
#pragma unroll
        for (int i = 0; i < 2 * CHANNELS; i++) {
            const int w = i / 2, k = i % 2;
            __half2 left, right;
            neighbours8<CHANNELS>(pair, w + 1, k, &left, &right);
            const __half2 rise = __hsub2(right, left);
            const __half2 smooth = __hfma2(two, pair[w + 1][k], __hadd2(left, right));
            const float2 across = __half22float2(__hadd2(slopes[w][k], rise));
            const float2 down = __half22float2(__hsub2(smooth, before[w][k]));
            dx[4 * w + k] = across.x, dx[4 * w + 2 + k] = across.y;
            dy[4 * w + k] = down.x, dy[4 * w + 2 + k] = down.y;
            slopes[w][k] = __hfma2(two, rise, slope[w][k]);
            slope[w][k] = rise;
            before[w][k] = last[w][k];
            last[w][k] = smooth;
        }
#pragma unroll
        for (int j = 0; j < THIN8_EACH; j++) {
            const int first = j * CHANNELS;
            float most = __fmaf_rn(dx[first], dx[first], dy[first] * dy[first]);
            row->x[j] = dx[first];
            row->y[j] = dy[first];
#pragma unroll
            for (int i = first + 1; i < first + CHANNELS; i++) {
                const float square = __fmaf_rn(dx[i], dx[i], dy[i] * dy[i]);
                const bool is_more = square > most;
                row->x[j] = is_more ? dx[i] : row->x[j];
                row->y[j] = is_more ? dy[i] : row->y[j];
                most = is_more ? square : most;
            }
            row->square[j + 1] = most;
        }
        if (!is_plain() || y < 0 || y >= p.height) {
#pragma unroll
            for (int j = 0; j < THIN8_EACH; j++) {
                if (y < 0 || y >= p.height || x + j < 0 || x + j >= p.width)
                    row->square[j + 1] = 0.0f;
            }
        }
        row->square[0] = __shfl_up_sync(~0u, row->square[THIN8_EACH], 1);
        row->square[THIN8_EACH + 1] = __shfl_down_sync(~0u, row->square[1], 1);
    }
};

/* Whether column j of a row is an edge, like is_thin(), with gf_edge_direction() of floats, whose
 * products are exact. */
static __device__ __forceinline__ bool is_thin8(const struct thin8_row &above,
                                                const struct thin8_row &here,
                                                const struct thin8_row &below, int j)
{
    const float x = fabsf(here.x[j]), y = fabsf(here.y[j]), low = x * (GF_EDGE_TANGENT / 32768.0f);
    const bool across = low > y, down = __fmaf_rn(-2.0f, x, y) > low;
    const bool rises = (__float_as_uint(here.x[j]) ^ __float_as_uint(here.y[j])) & 1u << 31;
    const float *const a = above.square + j, *const h = here.square + j,
                       *const b = below.square + j;
    const float first = across ? h[0] : down ? a[1] : rises ? a[2] : a[0];
    const float second = across ? h[2] : down ? b[1] : rises ? b[0] : b[2];
    return h[1] > first & (h[1] > second | ((across | down) & h[1] == second));
}

template <int CHANNELS>
__global__ void __launch_bounds__(THIN8_WARPS *WARP, 4) thin8_kernel(const struct thin8_args args)
{
    const struct view_pair &p = args.p;
    const int lane = (int)threadIdx.x % WARP;
    const struct tile_origin tile =
        block_tile(args.words * WARP, THIN8_COLUMNS, THIN8_ROWS * THIN8_WARPS);
    struct thin8_walk<CHANNELS> walk = {
        p, tile.x + THIN8_EACH *(lane - 1)
    };
    const int first = p.out_y + tile.row + (int)threadIdx.x / WARP * THIN8_ROWS;
    const int end = min(first + THIN8_ROWS, p.out_y + p.rows);
    /* Two lanes store a byte of bits. */
    const int byte = tile.x / 8 + lane / 2;
    const bool stores = lane % 2 && lane < WARP - 1 && byte < 4 * args.words;
    unsigned char *to = p.out + (long long)(first - p.out_y) * (long long)p.out_pitch + byte;
    unsigned word[CHANNELS], next[CHANNELS];
    struct thin8_row above, here = {}, below = {};
    if (first >= end)
        return;
    walk.load(first - 2, next);
#pragma unroll 3
    for (int y = first - 2; y <= end + 1; y++) {
#pragma unroll
        for (int w = 0; w < CHANNELS; w++)
            word[w] = next[w];
        walk.load(min(y + 1, end + 1), next);
        above = here;
        here = below;
        walk.take(word, y - 1, &below);
        if (y < first + 2)
            continue;
        unsigned bits = 0; /* weak ones, from bit 8 on strong ones */
#pragma unroll
        for (int j = 0; j < THIN8_EACH; j++) {
            const float square = here.square[j + 1];
            const bool is_edge = square > args.low & is_thin8(above, here, below, j);
            bits |= is_edge ? (square > args.high ? 0x101u : 1u) << j : 0;
        }
        bits |= __shfl_down_sync(~0u, bits, 1) << THIN8_EACH;
        if (stores) {
            to[0] = (unsigned char)bits;
            to[4 * args.words] = (unsigned char)(bits >> 8);
        }
        to += p.out_pitch;
    }
}

/* Returns a limit for squares in units of 2^-48. No square is above 2^22. */
static inline float thin8_limit(int64_t limit)
{
    return (float)(limit < 1 << 22 ? limit : 1 << 22) / 16777216.0f / 16777216.0f;
}

template <int CHANNELS>
static int launch_thin8(const struct view_pair &p, int words, const struct gf_edge_limits *limits,
                        cudaStream_t stream)
{
    const struct thin8_args args = {p, words, thin8_limit(limits->low), thin8_limit(limits->high)};
    thin8_kernel<CHANNELS>
        <<<tile_blocks(words * WARP, p.rows, THIN8_COLUMNS, THIN8_ROWS * THIN8_WARPS),
           THIN8_WARPS * WARP, 0, stream>>>(args);
    return cudaGetLastError();
}
