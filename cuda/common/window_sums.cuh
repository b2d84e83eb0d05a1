/* Sums over square windows: a block moves down a strip, and each of its threads keeps the sums of
 * the 2 radius + 1 samples of four neighbouring columns, of all channels. The sum of a window is
 * the difference of two prefix sums of the column sums over the block, so that the time does not
 * depend on the radius. All sums are of integers, so that every order gives the same bits. The
 * kernels do not use walk.cuh, since their windows may be wider than a strip. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

enum { WINDOW_EACH = 4 }; /* columns of a thread */

/* The columns on either side of a block for which it has no results. */
static __host__ __device__ __forceinline__ int window_margin(int radius)
{
    return (radius + WINDOW_EACH - 1) / WINDOW_EACH * WINDOW_EACH;
}

template <int THREADS> static __host__ __device__ __forceinline__ int windows_across(int radius)
{
    return WINDOW_EACH * THREADS - 2 * window_margin(radius);
}

/* The place of a block and a thread. The block computes rows top .. end - 1. The thread's columns
 * begin with x, which may be beyond the picture; `from` has the columns of the picture that replace
 * them, and -1 where zeros do. */
struct place {
    int x, from[WINDOW_EACH], top, end;
    bool plain; /* all four columns are in the picture */
    bool makes; /* the thread computes results in its columns */
};

template <int THREADS>
static __device__ __forceinline__ struct place place_of(const struct view_pair &p, int radius,
                                                        int strip, int rows)
{
    struct place place;
    const int t = (int)threadIdx.x, margin = window_margin(radius);
    const struct tile_origin origin = block_tile(p.width, windows_across<THREADS>(radius), strip);
    place.x = origin.x - margin + WINDOW_EACH * t;
#pragma unroll
    for (int k = 0; k < WINDOW_EACH; k++)
        place.from[k] = place.x + k < p.width + radius && place.x + k >= -radius
                            ? gf_border_index(place.x + k, p.width, p.border)
                            : -1;
    place.top = origin.row;
    place.end = min(origin.row + strip, rows);
    place.plain = place.x >= 0 && place.x + WINDOW_EACH <= p.width;
    place.makes =
        t >= margin / WINDOW_EACH && t < THREADS - margin / WINDOW_EACH && place.x < p.width;
    return place;
}

/* Returns the rows of a strip: so many that the blocks fill the device in whole rounds. */
template <int THREADS, class Kernel>
static inline cudaError_t window_strip(Kernel *kernel, int width, int rows, int radius, int *strip)
{
    constexpr int ITEM = 8, LEAST = 1, MOST = 32;
    int items = MOST;
    const cudaError_t status = items_for_rounds(
        (const void *)kernel, THREADS, ceil_div(width, windows_across<THREADS>(radius)),
        ceil_div(rows, ITEM), 1 + radius / ITEM, LEAST, MOST, &items);
    *strip = ITEM * items;
    return status;
}

/* Loads the samples of a thread's columns: sample k * CHANNELS + c is channel c of column k. */
template <class Sample, int CHANNELS>
static __device__ __forceinline__ void load_columns(const Sample *row, const struct place &place,
                                                    unsigned (&v)[WINDOW_EACH * CHANNELS])
{
    constexpr int EACH = 4 / sizeof(Sample), COUNT = WINDOW_EACH * CHANNELS;
    constexpr unsigned MAX = (Sample)~0;
    if (place.plain) {
        const unsigned *const words = (const unsigned *)(row + (size_t)place.x * CHANNELS);
#pragma unroll
        for (int i = 0; i < COUNT; i += EACH) {
            const unsigned word = __ldg(words + i / EACH);
#pragma unroll
            for (int j = 0; j < EACH; j++)
                v[i + j] = word >> 8 * (int)sizeof(Sample) * j & MAX;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int from = place.from[i / CHANNELS];
        v[i] = from < 0 ? 0 : __ldg(row + (size_t)from * CHANNELS + i % CHANNELS);
    }
}

template <class Sample>
static __device__ __forceinline__ const Sample *window_row(const struct view_pair &p, int y)
{
    return (const Sample *)(p.in + (ptrdiff_t)(y - p.in_y) * (ptrdiff_t)p.in_pitch);
}

/* What holds a sum of squares of samples. */
template <class Sample> struct window_square {
    typedef unsigned long long type;
};
template <> struct window_square<unsigned char> {
    typedef unsigned type;
};

/* The sums of samples and of their squares in a thread's columns, over the window's rows around
 * `row`. */
template <class Sample, class Square, int CHANNELS> struct columns {
    static constexpr int COUNT = WINDOW_EACH * CHANNELS;
    unsigned sum[COUNT];
    Square squares[COUNT];
    int row = -1;

    template <bool TAKES_AWAY>
    __device__ __forceinline__ void add(const struct view_pair &p, const struct place &place,
                                        int at)
    {
        const int y = gf_border_index(at, p.height, p.border);
        if (y < 0)
            return;
        unsigned v[COUNT];
        load_columns<Sample, CHANNELS>(window_row<Sample>(p, y), place, v);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            sum[i] += TAKES_AWAY ? 0u - v[i] : v[i];
            squares[i] += (Square)v[i] * (TAKES_AWAY ? (Square)0 - v[i] : (Square)v[i]);
        }
    }

    __device__ __forceinline__ void go_to(const struct view_pair &p, const struct place &place,
                                          int radius, int to)
    {
        const int step = to - row;
        if (row >= 0 && (step == 1 || step == -1)) {
            add<false>(p, place, to + step * radius);
            add<true>(p, place, row - step * radius);
        } else if (step) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                sum[i] = squares[i] = 0;
#pragma unroll 1
            for (int i = -radius; i <= radius; i++)
                add<false>(p, place, to + i);
        }
        row = to;
    }
};

/* The shared memory of window_sums(). A place is free after every four prefix sums, so that lanes
 * access different banks. */
template <class A, class B, int CHANNELS, int THREADS> struct prefixes {
    static constexpr int PLACES = (WINDOW_EACH + 1) * THREADS + 1;
    A first_warp[CHANNELS][THREADS / WARP];
    B second_warp[CHANNELS][THREADS / WARP];
    A first[CHANNELS][PLACES];
    B second[CHANNELS][PLACES];
};

static __device__ __forceinline__ int prefix_place(int column)
{
    return column + column / WINDOW_EACH;
}

/* Replaces the numbers of a thread's columns by their prefix sums over the warp, and stores the
 * warp's sums. */
template <class T, int CHANNELS, int WARPS>
static __device__ __forceinline__ void sum_warp(T (&v)[WINDOW_EACH * CHANNELS],
                                                T (&warp)[CHANNELS][WARPS])
{
    const int lane = (int)threadIdx.x % WARP;
#pragma unroll
    for (int i = CHANNELS; i < WINDOW_EACH * CHANNELS; i++)
        v[i] += v[i - CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const T own = v[(WINDOW_EACH - 1) * CHANNELS + c];
        T sum = own;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const T other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step)
                sum += other;
        }
        if (lane == WARP - 1)
            warp[c][threadIdx.x / WARP] = sum;
#pragma unroll
        for (int k = 0; k < WINDOW_EACH; k++)
            v[k * CHANNELS + c] += sum - own;
    }
}

/* Stores the prefix sums over the block; place 0 is a zero. */
template <class T, int CHANNELS, int WARPS, int PLACES>
static __device__ __forceinline__ void store_prefixes(const T (&v)[WINDOW_EACH * CHANNELS],
                                                      const T (&warp)[CHANNELS][WARPS],
                                                      T (&to)[CHANNELS][PLACES])
{
    const int t = (int)threadIdx.x;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        T before = 0;
#pragma unroll
        for (int i = 0; i < WARPS - 1; i++) {
            if (i < t / WARP)
                before += warp[c][i];
        }
#pragma unroll
        for (int k = 0; k < WINDOW_EACH; k++)
            to[c][(WINDOW_EACH + 1) * t + prefix_place(k + 1)] = v[k * CHANNELS + c] + before;
        if (t == 0)
            to[c][0] = 0;
    }
}

template <class T, int CHANNELS, int PLACES>
static __device__ __forceinline__ void load_windows(const T (&from)[CHANNELS][PLACES], int radius,
                                                    T (&v)[WINDOW_EACH * CHANNELS])
{
    const int first = (WINDOW_EACH + 1) * ((int)threadIdx.x - window_margin(radius) / WINDOW_EACH);
#pragma unroll
    for (int k = 0; k < WINDOW_EACH; k++) {
        const int begin = window_margin(radius) + k - radius;
        const int least = first + prefix_place(begin),
                  most = first + prefix_place(begin + 2 * radius + 1);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            v[k * CHANNELS + c] = from[c][most] - from[c][least];
    }
}

/* Replaces the numbers of a thread's columns by their sums over the 2 radius + 1 columns around
 * each. The sums are valid in threads whose place.makes is set. All threads of the block call the
 * function. */
template <class A, class B, int CHANNELS, int THREADS>
static __device__ __forceinline__ void
window_sums(struct prefixes<A, B, CHANNELS, THREADS> &s, int radius, bool makes,
            A (&a)[WINDOW_EACH * CHANNELS], B (&b)[WINDOW_EACH * CHANNELS])
{
    sum_warp<A, CHANNELS>(a, s.first_warp);
    sum_warp<B, CHANNELS>(b, s.second_warp);
    __syncthreads(); /* and every thread has read the sums of the row before */
    store_prefixes<A, CHANNELS>(a, s.first_warp, s.first);
    store_prefixes<B, CHANNELS>(b, s.second_warp, s.second);
    __syncthreads();
    if (makes) {
        load_windows<A, CHANNELS>(s.first, radius, a);
        load_windows<B, CHANNELS>(s.second, radius, b);
    }
}

/* Stores the results of a thread's columns that are in the picture. */
template <class Sample, int CHANNELS>
static __device__ __forceinline__ void store_columns(const struct view_pair &p,
                                                     const struct place &place, int y,
                                                     const unsigned (&v)[WINDOW_EACH * CHANNELS])
{
    constexpr int EACH = 4 / sizeof(Sample), COUNT = WINDOW_EACH * CHANNELS;
    Sample *const to = (Sample *)(p.out + (size_t)y * p.out_pitch) + (size_t)place.x * CHANNELS;
    if (place.plain) {
#pragma unroll
        for (int i = 0; i < COUNT; i += EACH)
            ((unsigned *)to)[i / EACH] =
                EACH == 4 ? __byte_perm(__byte_perm(v[i], v[i + 1], 0x0040),
                                        __byte_perm(v[i + 2], v[i + EACH - 1], 0x0040), 0x5410)
                          : __byte_perm(v[i], v[i + 1], 0x5410);
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        if (place.x + i / CHANNELS < p.width)
            to[i] = (Sample)v[i];
    }
}
