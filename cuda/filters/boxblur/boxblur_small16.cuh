/* Box blur of 16 bits, and of straight RGBA of 8 and 16 bits, with a radius up to GF_BOX_SMALL_MAX,
 * in one kernel, as boxblur_small.cuh does it for 8 bits: a lane owns eight samples of a row and
 * keeps the sums of their columns, each in a word. */
#pragma once

#include "cuda/filters/boxblur/boxblur_small.cuh"

enum { SMALL16_EACH = STRIP_CHUNK / 2 }; /* samples of a lane */

struct small16_args {
    struct view_pair p;
    int rows; /* of a warp */
    struct gf_box_mean mean;
};

/* STRAIGHT: the bits of straight RGBA, or 0. */
template <int RADIUS_, int CHANNELS_, int STRAIGHT_> struct small16_shape {
    static constexpr int RADIUS = RADIUS_, CHANNELS = CHANNELS_, STRAIGHT = STRAIGHT_;
    static constexpr int HALO = RADIUS * CHANNELS; /* samples */
    /* The number of neighbouring lanes, on each side of the lane, that the windows reach. */
    static constexpr int LANES = (HALO + SMALL16_EACH - 1) / SMALL16_EACH;
    /* The samples of a row that a warp computes. */
    static constexpr int SAMPLES = (STRIP_LANES - 2 * LANES) * SMALL16_EACH;
    static constexpr int ROWS = SMALL_ROWS * STRIP_WARPS + 2 * RADIUS;
    static constexpr int STORED = STRAIGHT == 8 ? 1 : 2; /* bytes of a sample in the picture */
};

/* As small_tables, for samples. */
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

/* Returns the means of the lane's samples. Those of the first pixel are sums of all columns of
 * their windows, and each later one is the one a pixel before it, moved. All lanes of the warp take
 * part. */
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
                        (cudaStream_t)launch->stream, args);
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
