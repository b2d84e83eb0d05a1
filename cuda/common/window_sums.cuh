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

/* Returns the number of columns at either side of a block that it loads without having results
 * there. */
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

/* Sets *strip to the rows of a strip, `most` at most: so many that the blocks fill the device in
 * whole rounds. Returns CUDA's status. */
template <int THREADS, class Kernel>
static inline cudaError_t window_strip(Kernel *kernel, int width, int rows, int radius, int most,
                                       int *strip)
{
    constexpr int ITEM = 4, LEAST = 2;
    int items = LEAST;
    const cudaError_t status = items_for_rounds(
        (const void *)kernel, THREADS, ceil_div(width, windows_across<THREADS>(radius)),
        ceil_div(rows, ITEM), 2 + radius / ITEM, LEAST, max(most / ITEM, LEAST), &items);
    *strip = ITEM * items;
    return status;
}

/* The samples of a thread's columns as they are loaded: sample k * CHANNELS + c is channel c of
 * column k. */
template <class Sample, int CHANNELS> struct column_words {
    static constexpr int EACH = 4 / sizeof(Sample), COUNT = WINDOW_EACH * CHANNELS;
    unsigned word[COUNT / EACH];

    __device__ __forceinline__ void load(const Sample *row, const struct place &place)
    {
        const unsigned *const words = (const unsigned *)(row + (ptrdiff_t)place.x * CHANNELS);
#pragma unroll
        for (int i = 0; i < COUNT / EACH; i++)
            word[i] = place.plain ? __ldg(words + i) : 0;
        if (place.plain)
            return;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int from = place.from[i / CHANNELS];
            const unsigned v = from < 0 ? 0 : __ldg(row + (size_t)from * CHANNELS + i % CHANNELS);
            word[i / EACH] |= v << 8 * (int)sizeof(Sample) * (i % EACH);
        }
    }
    __device__ __forceinline__ unsigned operator[](int i) const
    {
        return word[i / EACH] >> 8 * (int)sizeof(Sample) * (i % EACH) & (unsigned)(Sample)~0;
    }
};

template <class Sample, int CHANNELS>
static __device__ __forceinline__ void load_columns(const Sample *row, const struct place &place,
                                                    unsigned (&v)[WINDOW_EACH * CHANNELS])
{
    struct column_words<Sample, CHANNELS> words;
    words.load(row, place);
#pragma unroll
    for (int i = 0; i < WINDOW_EACH * CHANNELS; i++)
        v[i] = words[i];
}

template <class Sample>
static __device__ __forceinline__ const Sample *window_row(const struct view_pair &p, int y)
{
    return (const Sample *)(p.in + (ptrdiff_t)(y - p.in_y) * (ptrdiff_t)p.in_pitch);
}

/* The type of a sum of squares of samples. */
template <class Sample> struct window_square {
    typedef unsigned long long type;
};
template <> struct window_square<unsigned char> {
    typedef unsigned type;
};

/* The sums of samples and of their squares in a thread's columns, over the window's rows around
 * `row`; -1: there are no sums yet. */
template <class Sample, class Square, int CHANNELS> struct columns {
    static constexpr int COUNT = WINDOW_EACH * CHANNELS;
    unsigned sum[COUNT];
    Square squares[COUNT];
    int row = -1;

    struct column_words<Sample, CHANNELS> more, less;
    /* The row whose sums result from adding `more` and subtracting `less`; -1: none. */
    int fetched = -1;

    template <bool TAKES_AWAY>
    __device__ __forceinline__ void add(const struct column_words<Sample, CHANNELS> &words)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const unsigned v = words[i];
            sum[i] += TAKES_AWAY ? 0u - v : v;
            squares[i] += (Square)v * (TAKES_AWAY ? (Square)0 - v : (Square)v);
        }
    }
    __device__ __forceinline__ void load(const struct view_pair &p, const struct place &place,
                                         int at, struct column_words<Sample, CHANNELS> &words)
    {
        const int y = gf_border_index(at, p.height, p.border);
        words = {};
        if (y >= 0)
            words.load(window_row<Sample>(p, y), place);
    }
    /* Loads the rows by which the sums of row `to` differ, if it is beside the sums' row. */
    __device__ __forceinline__ void fetch(const struct view_pair &p, const struct place &place,
                                          int radius, int to)
    {
        const int step = to - row;
        if (row < 0 || to < 0 || (step != 1 && step != -1))
            return;
        load(p, place, to + step * radius, more);
        load(p, place, row - step * radius, less);
        fetched = to;
    }
    __device__ __forceinline__ void go_to(const struct view_pair &p, const struct place &place,
                                          int radius, int to)
    {
        if (to != row && fetched != to)
            fetch(p, place, radius, to);
        if (to != row && fetched == to) {
            add<false>(more);
            add<true>(less);
        } else if (to != row) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                sum[i] = squares[i] = 0;
#pragma unroll 1
            for (int i = -radius; i <= radius; i++) {
                load(p, place, to + i, more);
                add<false>(more);
            }
        }
        fetched = -1;
        row = to;
    }
};

/* COUNT numbers that one or two instructions load. */
template <class T, int COUNT>
struct alignas(sizeof(T) * COUNT < VECTOR ? sizeof(T) * COUNT : (size_t)VECTOR) numbers {
    T v[COUNT];
};

/* The shared memory of window_sums(). After four zeros it has a place for each thread, with the
 * prefix sums of the thread's four columns: sums from the first column of the warp on. Two rows
 * follow each other in two buffers, if they fit, so that a row's sums may be stored while threads
 * still read those of the row before. */
template <class A, class B, int CHANNELS, int THREADS> struct prefixes {
    static constexpr int PLACES = THREADS + 1;
    static constexpr int BYTES = CHANNELS * PLACES * WINDOW_EACH * (int)(sizeof(A) + sizeof(B));
    static constexpr int BUFFERS = 2 * BYTES <= 48 * 1024 ? 2 : 1;
    struct numbers<A, WINDOW_EACH> first[BUFFERS][CHANNELS][PLACES];
    struct numbers<B, WINDOW_EACH> second[BUFFERS][CHANNELS][PLACES];
};

/* Prefix sums begin anew with each warp's first column. A window that reaches from one warp's
 * columns into the next ones therefore also needs the last prefix sum of the earlier warp. place[i]
 * is the first column of a warp into which windows of the thread's columns may reach, and
 * crosses[i][k] tells whether that of column k does. */
template <int WARPS> struct window_joins {
    int place[WARPS];
    unsigned crosses[WARPS][WINDOW_EACH]; /* all ones: it does; 0: it does not */

    __device__ __forceinline__ explicit window_joins(int radius)
    {
        constexpr int SPAN = WINDOW_EACH * WARP;
        const int first = WINDOW_EACH * (int)threadIdx.x - radius;
        for (int i = 0; i < WARPS; i++) {
            place[i] = (first <= 0 ? 0 : (first + SPAN - 1) / SPAN * SPAN) + i * SPAN;
            for (int k = 0; k < WINDOW_EACH; k++)
                crosses[i][k] =
                    first + k <= place[i] && first + k + 2 * radius + 1 > place[i] ? ~0u : 0;
        }
    }
};

/* Stores the prefix sums of a thread's columns: the sums of the numbers from the warp's first
 * column to each of them. */
template <class T, int CHANNELS, int PLACES>
static __device__ __forceinline__ void
store_prefixes(const T (&v)[WINDOW_EACH * CHANNELS],
               struct numbers<T, WINDOW_EACH> (&to)[CHANNELS][PLACES])
{
    const int t = (int)threadIdx.x, lane = t % WARP;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        struct numbers<T, WINDOW_EACH> sums;
        sums.v[0] = v[c];
#pragma unroll
        for (int k = 1; k < WINDOW_EACH; k++)
            sums.v[k] = sums.v[k - 1] + v[k * CHANNELS + c];
        const T own = sums.v[WINDOW_EACH - 1];
        T sum = own;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const T other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step)
                sum += other;
        }
#pragma unroll
        for (int k = 0; k < WINDOW_EACH; k++)
            sums.v[k] += sum - own;
        to[c][t + 1] = sums;
        if (t == 0)
            to[c][0] = {};
    }
}

/* Returns the four numbers from number FIRST of the place on. The next place follows it in
 * memory. */
template <int FIRST, class T>
static __device__ __forceinline__ struct numbers<T, WINDOW_EACH>
four_from(const struct numbers<T, WINDOW_EACH> *place) {
    typedef struct numbers<T, 2> two;
    if (FIRST == 0)
        return place[0];
    if (FIRST == 2) {
        const two a = *(const two *)(place[0].v + 2), b = *(const two *)place[1].v;
        return {a.v[0], a.v[1], b.v[0], b.v[1]};
    }
    const struct numbers<T, WINDOW_EACH> most = place[FIRST / 2];
    return FIRST == 1 ? numbers<T, WINDOW_EACH>{most.v[1], most.v[2], most.v[3], place[1].v[0]}
                      : numbers<T, WINDOW_EACH>{place[0].v[3], most.v[0], most.v[1], most.v[2]};
}

/* Sets v to the sums of the windows around a thread's columns: differences of prefix sums. REST is
 * radius % WINDOW_EACH. */
template <int REST, class T, int CHANNELS, int PLACES, int WARPS>
static __device__ __forceinline__ void
load_windows(const struct numbers<T, WINDOW_EACH> (&from)[CHANNELS][PLACES], int radius,
             const struct window_joins<WARPS> &joins, T (&v)[WINDOW_EACH * CHANNELS])
{
    const int own = (int)threadIdx.x + 1, reach = radius / WINDOW_EACH;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const struct numbers<T, WINDOW_EACH> most = four_from<REST>(from[c] + own + reach);
        const struct numbers<T, WINDOW_EACH> least =
            four_from<WINDOW_EACH - 1 - REST>(from[c] + own - reach - 1);
#pragma unroll
        for (int k = 0; k < WINDOW_EACH; k++)
            v[k * CHANNELS + c] = most.v[k] - least.v[k];
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            const T before =
                ((const T *)from[c])[min(joins.place[i], WINDOW_EACH * (PLACES - 1)) + 3];
#pragma unroll
            for (int k = 0; k < WINDOW_EACH; k++)
                v[k * CHANNELS + c] += before & (T)(int)joins.crosses[i][k];
        }
    }
}

/* Replaces the numbers of a thread's columns by their sums over the 2 radius + 1 columns around
 * each. The sums are valid in threads whose `makes` is set. All threads of the block call the
 * function, for one row after the other. */
template <class A, class B, int CHANNELS, int THREADS, int WARPS>
static __device__ __forceinline__ void
window_sums(struct prefixes<A, B, CHANNELS, THREADS> &s, int row, int radius,
            const struct window_joins<WARPS> &joins, bool makes, A (&a)[WINDOW_EACH * CHANNELS],
            B (&b)[WINDOW_EACH * CHANNELS])
{
    constexpr int BUFFERS = prefixes<A, B, CHANNELS, THREADS>::BUFFERS;
    auto &first = s.first[row % BUFFERS];
    auto &second = s.second[row % BUFFERS];
    if (BUFFERS == 1)
        __syncthreads(); /* every thread has read the sums of the row before */
    store_prefixes<A, CHANNELS>(a, first);
    store_prefixes<B, CHANNELS>(b, second);
    __syncthreads();
    if (!makes)
        return;
    const auto load = [&](auto rest) {
        constexpr int REST = decltype(rest)::value;
        load_windows<REST>(first, radius, joins, a);
        load_windows<REST>(second, radius, joins, b);
    };
    switch (radius % WINDOW_EACH) {
    case 0:
        load(constant<0>());
        break;
    case 1:
        load(constant<1>());
        break;
    case 2:
        load(constant<2>());
        break;
    default:
        load(constant<3>());
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
