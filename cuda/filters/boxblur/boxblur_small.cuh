/* Box blur of 8-bit pictures without alpha, with a radius up to GF_BOX_SMALL_MAX, in one kernel. A
 * lane owns 16 bytes of a row and moves down a strip of rows. It keeps the sums of its columns in
 * registers, two of 16 bits in a word. The sums of neighbouring columns come from other lanes by
 * shuffles. The outermost lanes of a warp store nothing: they only compute sums for the other
 * lanes. The kernel does not use walk.cuh: its windows reach beyond the neighbouring lanes, and it
 * loads each row twice, once to add it and once to subtract it. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/walk.cuh"
#include "filters/boxblur/boxblur.h"
#include "stage/border.h"

enum { SMALL_ROWS = 32 }; /* rows of a warp, at most */

struct small_args {
    struct view_pair p;
    int rows; /* rows of a warp's strip */
    /* n / 2 in both halves of the word, and 2^24 / n rounded up, for a window of n pixels */
    unsigned half, multiplier;
};

template <int RADIUS, int CHANNELS> struct small_shape {
    static constexpr int HALO = RADIUS * CHANNELS;
    /* The words that windows reach on either side of the lane's own words. */
    static constexpr int WORDS = (HALO + 3) / 4;
    /* The number of neighbouring lanes, on each side of the lane, whose words the windows reach. */
    static constexpr int LANES = (WORDS + 3) / 4;
    static constexpr int BYTES =
        (STRIP_LANES - 2 * LANES) * STRIP_CHUNK; /* bytes of a row that a warp computes */
    static constexpr int ROWS = SMALL_ROWS * STRIP_WARPS + 2 * RADIUS;
};

/* Tables in shared memory: the offset of each row (-1: a row of zeros) and, if the block's columns
 * reach beyond the row, the sample that the border uses for each column (-1: zero). */
template <int ROWS> struct small_tables {
    long long row[ROWS];
    int from[STRIP_LANES * STRIP_CHUNK];
};

struct small_strip {
    const unsigned char *in;
    const long long *row;
    const int *from;
    int byte;    /* the lane's first byte in the row; may lie beyond the row */
    bool inside; /* all of the lane's bytes are in the row */
};

static __device__ __noinline__ uint4 gather_bytes(const unsigned char *row, const int *from)
{
    unsigned word[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < STRIP_CHUNK; i++) {
        const int at = from[i];
        word[i / 4] |= at < 0 ? 0u : (unsigned)row[at] << 8 * (i % 4);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

static __device__ __forceinline__ uint4 fetch_chunk(const struct small_strip &strip, int row)
{
    const long long offset = strip.row[row];
    if (offset < 0)
        return make_uint4(0, 0, 0, 0);
    return strip.inside ? __ldg((const uint4 *)(strip.in + offset + strip.byte))
                        : gather_bytes(strip.in + offset, strip.from);
}

/* Adds bytes 0 and 2 of each word to the word's first sum, and bytes 1 and 3 to its second sum. No
 * sum exceeds 15 * 255. */
template <bool ADD>
static __device__ __forceinline__ void count_chunk(const uint4 &chunk, unsigned sum[4][2])
{
    const unsigned word[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const unsigned even = __byte_perm(word[w], 0, 0x4240),
                       odd = __byte_perm(word[w], 0, 0x4341);
        sum[w][0] += ADD ? even : 0u - even;
        sum[w][1] += ADD ? odd : 0u - odd;
    }
}

/* Joins the lane's column sums with the sums of its neighbouring lanes. All lanes of the warp take
 * part. */
template <class Shape>
static __device__ __forceinline__ void join_sums(const unsigned sum[4][2],
                                                 unsigned all[4 + 2 * Shape::WORDS][2])
{
    constexpr int WORDS = Shape::WORDS;
#pragma unroll
    for (int t = 0; t < 2; t++) {
#pragma unroll
        for (int w = 0; w < 4; w++)
            all[WORDS + w][t] = sum[w][t];
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            all[WORDS + 4 + w][t] = __shfl_down_sync(0xFFFFFFFFu, sum[w % 4][t], 1 + w / 4);
            all[WORDS - 1 - w][t] = __shfl_up_sync(0xFFFFFFFFu, sum[3 - w % 4][t], 1 + w / 4);
        }
    }
}

/* Returns the column sums of samples i (low half) and i + 2 (high half); sample 0 is the first of
 * all[0]. */
static __device__ __forceinline__ unsigned pair_at(const unsigned (*all)[2], int i)
{
    const unsigned *const word = all[i / 4];
    return i % 4 < 2 ? word[i % 4]
                     : __byte_perm(word[i % 4 - 2], all[i / 4 + 1][i % 4 - 2], 0x5432);
}

/* Returns (sum + n / 2) / n for the four samples of a word, as byte 3 of the product with 2^24 / n,
 * rounded up. For n up to 225 and sums up to 255 n the product is below 2^32, and rounding the
 * factor up adds less than 2^24 / n to the product. */
static __device__ __forceinline__ unsigned mean_word(const struct small_args &args, unsigned even,
                                                     unsigned odd)
{
    even += args.half;
    odd += args.half;
    const unsigned low =
        __byte_perm((even & 0xFFFFu) * args.multiplier, (odd & 0xFFFFu) * args.multiplier, 0x0073);
    const unsigned high =
        __byte_perm((even >> 16) * args.multiplier, (odd >> 16) * args.multiplier, 0x0073);
    return __byte_perm(low, high, 0x5410);
}

template <int RADIUS, int CHANNELS>
static __device__ __forceinline__ uint4 mean_row(const struct small_args &args,
                                                 const unsigned sum[4][2])
{
    typedef small_shape<RADIUS, CHANNELS> Shape;
    unsigned all[4 + 2 * Shape::WORDS][2], mean[4];
    join_sums<Shape>(sum, all);
#pragma unroll
    for (int w = 0; w < 4; w++) {
        unsigned both[2] = {0, 0};
#pragma unroll
        for (int t = 0; t < 2; t++) {
#pragma unroll
            for (int k = -RADIUS; k <= RADIUS; k++)
                both[t] += pair_at(all, 4 * (Shape::WORDS + w) + t + k * CHANNELS);
        }
        mean[w] = mean_word(args, both[0], both[1]);
    }
    return make_uint4(mean[0], mean[1], mean[2], mean[3]);
}

/* Fills the tables of offsets for the input rows of `lines` result rows, from band row `top` on,
 * and of the samples that the border puts at the block's columns, from byte `left` on. */
template <int RADIUS, int CHANNELS, int ROWS>
static __device__ __forceinline__ void fill_tables(const struct view_pair &p,
                                                   struct small_tables<ROWS> &tables, int top,
                                                   int lines, int left, int row_bytes)
{
    for (int i = threadIdx.x; i < lines + 2 * RADIUS; i += STRIP_THREADS) {
        const int index = gf_border_index(p.out_y + top - RADIUS + i, p.height, p.border);
        tables.row[i] = index < 0 ? -1 : (long long)(index - p.in_y) * (long long)p.in_pitch;
    }
    if (left < 0 || left + STRIP_LANES * STRIP_CHUNK > row_bytes) {
        /* No column is more than this number of pixels to the left of the row. */
        constexpr int BACK = 2 * STRIP_CHUNK;
        for (int i = threadIdx.x; i < STRIP_LANES * STRIP_CHUNK; i += STRIP_THREADS) {
            const int pixel = (left + i + BACK * CHANNELS) / CHANNELS - BACK;
            const int index = gf_border_index(pixel, p.width, p.border);
            tables.from[i] = index < 0 ? -1 : left + i + (index - pixel) * CHANNELS;
        }
    }
    __syncthreads();
}

template <int RADIUS, int CHANNELS>
__global__ void __launch_bounds__(STRIP_THREADS) box_small_kernel(const struct small_args args)
{
    typedef small_shape<RADIUS, CHANNELS> Shape;
    __shared__ struct small_tables<Shape::ROWS> tables;
    const struct view_pair &p = args.p;
    const int lane = threadIdx.x % STRIP_LANES, first = threadIdx.x / STRIP_LANES * args.rows;
    const int row_bytes = p.width * CHANNELS;
    const struct tile_origin origin = block_tile(row_bytes, Shape::BYTES, args.rows * STRIP_WARPS);
    const int left = origin.x - Shape::LANES * STRIP_CHUNK, top = origin.row;
    const int block_lines = min(args.rows * (int)STRIP_WARPS, p.rows - top);
    early_next();
    fill_tables<RADIUS, CHANNELS>(p, tables, top, block_lines, left, row_bytes);
    early_wait();
    const int lines = min(args.rows, block_lines - first);
    const int byte = left + lane * STRIP_CHUNK;
    const struct small_strip strip = {p.in, tables.row + first, tables.from + lane * STRIP_CHUNK,
                                      byte, byte >= 0 && byte + STRIP_CHUNK <= row_bytes};
    const bool is_inner = lane >= Shape::LANES && lane < STRIP_LANES - Shape::LANES;
    unsigned char *out = p.out + (long long)(top + first) * (long long)p.out_pitch + byte;
    unsigned sum[4][2] = {};
    if (lines <= 0)
        return;
#pragma unroll
    for (int i = 0; i < 2 * RADIUS; i++)
        count_chunk<true>(fetch_chunk(strip, i), sum);
    uint4 enter = fetch_chunk(strip, 2 * RADIUS);
#pragma unroll 1
    for (int i = 0; i < lines; i++) {
        /* The loads of the entering and the leaving row overlap with the work on this row. */
        const uint4 leave = fetch_chunk(strip, i);
        count_chunk<true>(enter, sum);
        if (i + 1 < lines)
            enter = fetch_chunk(strip, i + 1 + 2 * RADIUS);
        const uint4 mean = mean_row<RADIUS, CHANNELS>(args, sum);
        if (is_inner && byte + STRIP_CHUNK <= row_bytes)
            *(uint4 *)out = mean;
        else if (is_inner && byte < row_bytes)
            store_rest(out, row_bytes - byte, mean);
        out += p.out_pitch;
        count_chunk<false>(leave, sum);
    }
}

template <int RADIUS, int CHANNELS>
static int launch_small_as(const struct gf_launch *launch, const struct gf_box *box)
{
    const unsigned n = (2 * RADIUS + 1) * (2 * RADIUS + 1);
    const struct view_pair p = view_pair_of(launch, box->border);
    constexpr int BYTES = small_shape<RADIUS, CHANNELS>::BYTES;
    const int rows = strip_rows(ceil_div(p.width * CHANNELS, BYTES), p.rows, SMALL_ROWS, 4);
    const struct small_args args = {p, rows, n / 2 * 0x10001u, ((1u << 24) + n - 1) / n};
    const int blocks = tile_blocks(p.width * CHANNELS, p.rows, BYTES, rows * STRIP_WARPS);
    return launch_early(box_small_kernel<RADIUS, CHANNELS>, (unsigned)blocks, STRIP_THREADS, 0,
                        launch->stream, args);
}

template <int RADIUS>
static int launch_small_of(const struct gf_launch *launch, const struct gf_box *box)
{
    return launch->in.format.channels == 1 ? launch_small_as<RADIUS, 1>(launch, box)
                                           : launch_small_as<RADIUS, 3>(launch, box);
}

/* Launches the kernel for pictures and radii that gf_box_small() accepts. */
static int launch_small(const struct gf_launch *launch, const struct gf_box *box)
{
    static int (*const by_radius[GF_BOX_SMALL_MAX])(const struct gf_launch *,
                                                    const struct gf_box *) = {
        launch_small_of<1>, launch_small_of<2>, launch_small_of<3>, launch_small_of<4>,
        launch_small_of<5>, launch_small_of<6>, launch_small_of<7>,
    };
    return by_radius[box->radius - 1](launch, box);
}

/* Box blur of 16 bits, and of straight RGBA of 8 and 16 bits, with a radius up to GF_BOX_SMALL_MAX,
 * in one kernel, as above for 8 bits: a lane owns eight samples of a row and keeps the sums of
 * their columns, each in a word. */

enum { SMALL16_EACH = STRIP_CHUNK / 2 }; /* samples of a lane */

struct small16_args {
    struct view_pair p;
    int rows; /* rows of a warp's strip */
    struct gf_box_mean mean;
};

/* STRAIGHT: the bits of straight RGBA, or 0. */
template <int RADIUS_, int CHANNELS_, int STRAIGHT_> struct small16_shape {
    static constexpr int RADIUS = RADIUS_, CHANNELS = CHANNELS_, STRAIGHT = STRAIGHT_;
    /* Samples that a window reaches on either side. */
    static constexpr int HALO = RADIUS * CHANNELS;
    /* The number of neighbouring lanes, on each side of the lane, that the windows reach. */
    static constexpr int LANES = (HALO + SMALL16_EACH - 1) / SMALL16_EACH;
    /* The samples of a row that a warp computes. */
    static constexpr int SAMPLES = (STRIP_LANES - 2 * LANES) * SMALL16_EACH;
    static constexpr int ROWS = SMALL_ROWS * STRIP_WARPS + 2 * RADIUS;
    static constexpr int STORED = STRAIGHT == 8 ? 1 : 2; /* bytes of a sample in the picture */
};

/* Tables in shared memory like small_tables, but `from` counts samples. */
template <class Shape> struct small16_tables {
    long long row[Shape::ROWS];
    int from[STRIP_LANES * SMALL16_EACH];
};

template <class Shape>
static __device__ __forceinline__ void fill_tables16(const struct view_pair &p,
                                                     struct small16_tables<Shape> &tables, int top,
                                                     int lines, int left)
{
    constexpr int CHANNELS = Shape::CHANNELS, COUNT = STRIP_LANES * SMALL16_EACH;
    for (int i = threadIdx.x; i < lines + 2 * Shape::RADIUS; i += STRIP_THREADS) {
        const int index = gf_border_index(p.out_y + top - Shape::RADIUS + i, p.height, p.border);
        tables.row[i] = index < 0 ? -1 : (long long)(index - p.in_y) * (long long)p.in_pitch;
    }
    if (left < 0 || left + COUNT > p.width * CHANNELS) {
        for (int i = threadIdx.x; i < COUNT; i += STRIP_THREADS) {
            const int pixel = (left + i + COUNT * CHANNELS) / CHANNELS - COUNT;
            const int index = gf_border_index(pixel, p.width, p.border);
            tables.from[i] = index < 0 ? -1 : left + i + (index - pixel) * CHANNELS;
        }
    }
    __syncthreads();
}

/* The lane's eight samples of a row, in the format of the picture. */
template <class Shape>
static __device__ __forceinline__ uint4 fetch_samples(const struct view_pair &p, long long offset,
                                                      const int *from, int sample, bool inside)
{
    const unsigned char *const row = p.in + offset;
    if (offset < 0)
        return make_uint4(0, 0, 0, 0);
    if (Shape::STRAIGHT == 8) {
        if (!inside)
            return make_uint4(gather_pixel(row, from), gather_pixel(row, from + 4), 0, 0);
        const uint2 pair = __ldg((const uint2 *)(row + sample));
        return make_uint4(pair.x, pair.y, 0, 0);
    }
    return inside ? __ldg((const uint4 *)(row + 2 * (ptrdiff_t)sample))
                  : make_uint4(gather_word<unsigned short>(row, from),
                               gather_word<unsigned short>(row, from + 2),
                               gather_word<unsigned short>(row, from + 4),
                               gather_word<unsigned short>(row, from + 6));
}

/* Adds samples that were fetched to the sums, or subtracts them. */
template <class Shape, bool ADD>
static __device__ __forceinline__ void count_samples(const uint4 &fetched,
                                                     unsigned (&sum)[SMALL16_EACH])
{
    uint4 own = fetched;
    if constexpr (Shape::STRAIGHT != 0)
        own = premultiplied_words<Shape::STRAIGHT>(own);
    const unsigned word[4] = {own.x, own.y, own.z, own.w};
#pragma unroll
    for (int i = 0; i < SMALL16_EACH; i++) {
        const unsigned v = i % 2 ? word[i / 2] >> 16 : word[i / 2] & 0xFFFF;
        sum[i] += ADD ? v : 0u - v;
    }
}

/* Returns the means of the lane's samples. The windows of the first pixel are sums of all their
 * columns; each later window is that of the pixel before it, plus the column that enters and minus
 * the one that leaves. All lanes of the warp take part. */
template <class Shape>
static __device__ __forceinline__ uint4 mean_samples(const struct gf_box_mean &mean,
                                                     const unsigned (&sum)[SMALL16_EACH])
{
    constexpr int CHANNELS = Shape::CHANNELS, HALO = Shape::HALO, EACH = SMALL16_EACH;
    constexpr int LEFT = Shape::LANES * EACH;
    unsigned all[EACH + 2 * HALO], window[EACH], word[4];
#pragma unroll
    for (int i = 0; i < EACH + 2 * HALO; i++) {
        const int at = i - HALO + LEFT, lane = at / EACH - Shape::LANES;
        const unsigned v = sum[at % EACH];
        all[i] = lane < 0   ? __shfl_up_sync(0xFFFFFFFFu, v, -lane)
                 : lane > 0 ? __shfl_down_sync(0xFFFFFFFFu, v, lane)
                            : v;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (i < CHANNELS) {
            window[i] = all[i];
#pragma unroll
            for (int k = 1; k <= 2 * Shape::RADIUS; k++)
                window[i] += all[i + k * CHANNELS];
        } else {
            window[i] = window[i - CHANNELS] + all[i + 2 * HALO] - all[i - CHANNELS];
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = __byte_perm((unsigned)gf_box_mean8(&mean, window[2 * i]),
                              (unsigned)gf_box_mean8(&mean, window[2 * i + 1]), 0x5410);
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Stores the lane's samples, of which `rest` are in the row. */
template <class Shape>
static __device__ __forceinline__ void store_samples(unsigned char *out, int rest, uint4 own)
{
    if constexpr (Shape::STRAIGHT != 0) {
        typedef typename straight_pixel<Shape::STRAIGHT>::type pixel;
        const pixel left = straightened<pixel>(make_uint2(own.x, own.y));
        const pixel right = straightened<pixel>(make_uint2(own.z, own.w));
        ((pixel *)out)[0] = left;
        if (rest > 4)
            ((pixel *)out)[1] = right;
    } else if (rest >= SMALL16_EACH) {
        *(uint4 *)out = own;
    } else {
        store_rest(out, 2 * rest, own);
    }
}

template <class Shape>
__global__ void __launch_bounds__(STRIP_THREADS) box_small16_kernel(const struct small16_args args)
{
    constexpr int RADIUS = Shape::RADIUS, STORED = Shape::STORED;
    __shared__ struct small16_tables<Shape> tables;
    const struct view_pair &p = args.p;
    const int lane = threadIdx.x % STRIP_LANES, first = threadIdx.x / STRIP_LANES * args.rows;
    const int row_samples = p.width * Shape::CHANNELS;
    const struct tile_origin origin =
        block_tile(row_samples, Shape::SAMPLES, args.rows * STRIP_WARPS);
    const int left = origin.x - Shape::LANES * SMALL16_EACH, top = origin.row;
    const int block_lines = min(args.rows * (int)STRIP_WARPS, p.rows - top);
    early_next();
    fill_tables16<Shape>(p, tables, top, block_lines, left);
    early_wait();
    const int lines = min(args.rows, block_lines - first);
    const int sample = left + lane * SMALL16_EACH, *const from = tables.from + lane * SMALL16_EACH;
    const bool inside = sample >= 0 && sample + SMALL16_EACH <= row_samples;
    const bool is_stored =
        lane >= Shape::LANES && lane < STRIP_LANES - Shape::LANES && sample < row_samples;
    const auto fetch = [&](int row) {
        return fetch_samples<Shape>(p, tables.row[first + row], from, sample, inside);
    };
    unsigned char *out =
        p.out + (long long)(top + first) * (long long)p.out_pitch + (ptrdiff_t)sample * STORED;
    unsigned sum[SMALL16_EACH] = {};
    if (lines <= 0)
        return;
#pragma unroll 4
    for (int i = 0; i < 2 * RADIUS; i++)
        count_samples<Shape, true>(fetch(i), sum);
    uint4 enter = fetch(2 * RADIUS);
#pragma unroll 1
    for (int i = 0; i < lines; i++) {
        /* The loads of the entering and the leaving row overlap with the work on this row. */
        const uint4 leave = fetch(i);
        count_samples<Shape, true>(enter, sum);
        if (i + 1 < lines)
            enter = fetch(i + 1 + 2 * RADIUS);
        const uint4 mean = mean_samples<Shape>(args.mean, sum);
        if (is_stored)
            store_samples<Shape>(out, row_samples - sample, mean);
        out += p.out_pitch;
        count_samples<Shape, false>(leave, sum);
    }
}

template <class Shape>
static int launch_small16_as(const struct gf_launch *launch, const struct gf_box *box)
{
    const struct view_pair p = view_pair_of(launch, box->border);
    const int across = ceil_div(p.width * Shape::CHANNELS, Shape::SAMPLES);
    const int rows = strip_rows(across, p.rows, SMALL_ROWS, 4);
    const struct small16_args args = {p, rows, box->mean};
    const int blocks =
        tile_blocks(p.width * Shape::CHANNELS, p.rows, Shape::SAMPLES, rows * STRIP_WARPS);
    return launch_early(box_small16_kernel<Shape>, (unsigned)blocks, STRIP_THREADS, 0,
                        launch->stream, args);
}

template <int RADIUS>
static int launch_small16_of(const struct gf_launch *launch, const struct gf_box *box)
{
    if (launch->straight == 8)
        return launch_small16_as<small16_shape<RADIUS, 4, 8>>(launch, box);
    if (launch->straight)
        return launch_small16_as<small16_shape<RADIUS, 4, 16>>(launch, box);
    return for_channels(launch->in.format.channels, [&](auto channels) -> int {
        return launch_small16_as<small16_shape<RADIUS, decltype(channels)::value, 0>>(launch, box);
    });
}

/* Launches the kernel for 16-bit pictures and radii that gf_box_small() accepts, and for straight
 * RGBA. */
static int launch_small16(const struct gf_launch *launch, const struct gf_box *box)
{
    static int (*const by_radius[GF_BOX_SMALL_MAX])(const struct gf_launch *,
                                                    const struct gf_box *) = {
        launch_small16_of<1>, launch_small16_of<2>, launch_small16_of<3>, launch_small16_of<4>,
        launch_small16_of<5>, launch_small16_of<6>, launch_small16_of<7>,
    };
    return by_radius[box->radius - 1](launch, box);
}
