/* The default counter of histograms. It chooses between three counters: a table for each lane, for
 * 8-bit samples; packed counters, for 16-bit samples; and tables in shared memory. The counter of
 * tiles comes before it; that of cells is in cells.cu. */
#include "cuda/filters/histogram/histogram.cuh"

#include "cuda/filters/histogram/extremes.cuh"
#include "cuda/filters/histogram/histogram_table.cuh"
#include "pixel/histogram/histogram.h"
#include "pixel/sample.h"
#include "stage/border.h"

/* Histograms of the tiles of a picture (struct gf_tiles). A block counts a part of one tile's rows,
 * as histogram.cuh does. */

enum {
    LEAST_ROWS = 4, /* rows of a block, at least */
    TILE_THREADS = 512,
    /* Tiles that extend beyond the picture count pixels near its edge again. These pixels are at
     * most this many rows or columns from the edge. */
    NEAR_EDGE = GF_TILES_MAX + 2
};

struct tile_task {
    struct view_pair p;
    struct gf_tiles tiles;
    int first_down; /* the first row of tiles that the view touches */
    int rows;       /* rows of a block, at most */
    int parts;      /* the number of parts of a tile */
    unsigned long long *count;
};

/* The pixels that a thread loads together. */
template <int COUNT, int BYTES> struct group {
    static constexpr int vectors = COUNT == 3 ? 3 : 1;
    static constexpr int pixels = vectors * VECTOR / (COUNT * BYTES);
};

/* Counts pixels of 8 bits. */
template <int COUNT_> struct byte_counter {
    static constexpr int COUNT = COUNT_, BYTES = 1, THREADS = TILE_THREADS;
    static constexpr int SOURCE = COUNT >= 3 ? LUMA : SAMPLE;
    typedef unsigned char sample;
    unsigned *counters, copy;

    __device__ __forceinline__ byte_counter(unsigned *shared, unsigned long long *)
    {
        counters = shared;
        copy = 4 * (threadIdx.x % layout<SOURCE>::copies);
        for (int i = (int)threadIdx.x; i < layout<SOURCE>::counters; i += THREADS)
            counters[i] = 0;
    }
    __device__ __forceinline__ void add(const unsigned *w, int i) const
    {
        count_pixel<SOURCE, COUNT>(counters, copy, w, i * COUNT, NULL);
    }
    __device__ __forceinline__ void finish(unsigned long long *count) const
    {
        add_up<SOURCE>(counters, count);
    }
};

/* Counts pixels of 16 bits. */
template <int COUNT_, bool IN_SHARED> struct short_counter {
    static constexpr int COUNT = COUNT_, BYTES = 2, THREADS = THREADS_16;
    typedef unsigned short sample;
    struct counter_16 counter;

    __device__ __forceinline__ short_counter(unsigned *shared, unsigned long long *count)
    {
        counter = {IN_SHARED ? shared : NULL, count};
        if (IN_SHARED)
            clear_16(shared);
    }
    __device__ __forceinline__ void add(const unsigned *w, int i) const
    {
        count_pixel_16(counter, COUNT >= 3 ? LUMA : SAMPLE, 1, pixel_of<COUNT>(w, i * COUNT), NULL);
    }
    __device__ __forceinline__ void finish(unsigned long long *) const
    {
        if (IN_SHARED)
            add_up_16(counter);
    }
};

template <class Counter>
static __device__ __forceinline__ void add_one(const Counter &counter,
                                               const typename Counter::sample *row, int x)
{
    constexpr int EACH = 4 / Counter::BYTES;
    unsigned word[2] = {0, 0};
#pragma unroll
    for (int c = 0; c < Counter::COUNT; c++)
        word[c / EACH] |= (unsigned)row[(size_t)x * Counter::COUNT + c]
                          << 8 * Counter::BYTES * (c % EACH);
    counter.add(word, 0);
}

/* Counts pixels first .. end - 1 of the row that are in group number `index`. */
template <class Counter>
static __device__ __forceinline__ void count_group(const Counter &counter,
                                                   const typename Counter::sample *row, int index,
                                                   int first, int end)
{
    typedef group<Counter::COUNT, Counter::BYTES> own;
    const int x = index * own::pixels;
    if (x < first || x + own::pixels > end) {
#pragma unroll 1
        for (int i = max(x, first); i < min(x + own::pixels, end); i++)
            add_one(counter, row, i);
        return;
    }
    unsigned w[4 * own::vectors];
#pragma unroll
    for (int i = 0; i < own::vectors; i++)
        unpack(((const uint4 *)row)[(size_t)index * own::vectors + i], w + 4 * i);
#pragma unroll
    for (int i = 0; i < own::pixels; i++)
        counter.add(w, i);
}

template <class Counter>
static __global__ void __launch_bounds__(Counter::THREADS) tiles_kernel(const struct tile_task task)
{
    extern __shared__ unsigned counters[];
    typedef group<Counter::COUNT, Counter::BYTES> own;
    const struct view_pair &p = task.p;
    const int across = (int)blockIdx.x / task.parts, part = (int)blockIdx.x % task.parts;
    const int down = task.first_down + (int)blockIdx.y;
    unsigned long long *const count = task.count + (size_t)(down * task.tiles.columns + across) *
                                                       (Counter::BYTES == 1 ? BINS_8 : BINS_16);
    const Counter counter(counters, count);
    __syncthreads();
    const int left = across * task.tiles.width, right = left + task.tiles.width;
    const int end = min(right, p.width);
    const int first_group = left / own::pixels;
    const int groups = end > left ? (end - 1) / own::pixels + 1 - first_group : 0;
    /* Each pixel beyond the right edge is one more item of the row. */
    const int row_items = groups + max(0, right - max(left, p.width));
    const int top = down * task.tiles.height + part * task.rows;
    const int bottom = min(top + task.rows, (down + 1) * task.tiles.height);
    /* The block counts the rows of the view that are in its part, then the rows beyond the
     * picture's lower edge. */
    const int from = max(top, p.in_y), to = max(from, min(min(bottom, p.height), p.in_y + p.rows));
    const int below = max(top, p.height), rows = to - from + max(0, bottom - below);
    for (int first = 0; first < rows * row_items; first += Counter::THREADS) {
        const int item = first + (int)threadIdx.x;
        const int i = (int)((unsigned)item / (unsigned)row_items), k = item - i * row_items;
        const int place = i < to - from ? from + i : below + i - (to - from);
        const int y = gf_border_index(place, p.height, GF_BORDER_REFLECT) - p.in_y;
        if (Counter::BYTES == 2)
            __syncthreads(); /* see count_16() */
        if (i >= rows || y < 0 || y >= p.rows)
            continue;
        const typename Counter::sample *const row =
            (const typename Counter::sample *)(p.in + (size_t)y * p.in_pitch);
        if (k < groups)
            count_group(counter, row, first_group + k, left, end);
        else
            add_one(counter, row,
                    gf_border_index(max(left, p.width) + k - groups, p.width, GF_BORDER_REFLECT));
    }
    __syncthreads();
    counter.finish(count);
}

/* Divides the rows of the tiles among as many blocks as the GPU holds at once. */
template <class Counter>
static cudaError_t launch_tiles(struct tile_task task, int bytes, cudaStream_t stream)
{
    const auto kernel = tiles_kernel<Counter>;
    const struct view_pair &p = task.p;
    const struct gf_tiles &tiles = task.tiles;
    const bool drawn_out = tiles.rows * tiles.height > p.height;
    const bool at_end = p.in_y + p.rows > p.height - NEAR_EDGE;
    const int last = drawn_out && at_end ? tiles.rows - 1 : (p.in_y + p.rows - 1) / tiles.height;
    task.first_down = p.in_y / tiles.height;
    const int downs = last - task.first_down + 1;
    unsigned blocks = 0;
    LAUNCH_TRY(allow_shared(kernel, bytes));
    LAUNCH_TRY(resident_blocks(kernel, Counter::THREADS, bytes, ~0u, &blocks));
    const int each = (int)blocks / (tiles.columns * downs);
    const int rows = ceil_div(tiles.height, each > 1 ? each : 1);
    task.rows = rows > LEAST_ROWS ? rows : LEAST_ROWS;
    task.parts = ceil_div(tiles.height, task.rows);
    const dim3 grid(tiles.columns * task.parts, downs);
    return launch_kernel(kernel, grid, Counter::THREADS, bytes, stream, task);
}

template <int COUNT>
static cudaError_t launch_tiles_16(const struct tile_task &task, cudaStream_t stream)
{
    bool fits = false;
    LAUNCH_TRY(packed_fits(&fits));
    return fits ? launch_tiles<short_counter<COUNT, true>>(task, WORDS_16 * 4, stream)
                : launch_tiles<short_counter<COUNT, false>>(task, 0, stream);
}

extern "C" int gf_histogram_tiles_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables,
                                       cudaStream_t stream)
{
    (void)tables;
    struct tile_task task = {};
    task.p = input_view(view);
    task.tiles = gf_tiles_of(statistic, view->format);
    task.count = count;
    if (!view->rows)
        return cudaSuccess;
    return for_channels(view->format.channels, [&](auto channels) {
        constexpr int COUNT = decltype(channels)::value;
        typedef byte_counter<COUNT> bytes;
        return (int)(view->format.bits == 8
                         ? launch_tiles<bytes>(task, layout<bytes::SOURCE>::bytes, stream)
                         : launch_tiles_16<COUNT>(task, stream));
    });
}

/* Chooses the counter. */

typedef cudaError_t counting_launcher(const struct count_request *);

/* Calls the launcher for the picture's number of channels. */
static cudaError_t count_with(counting_launcher *const launch[4], const struct gf_view *view,
                              enum gf_statistic statistic, unsigned long long *count,
                              const void *tables, cudaStream_t stream)
{
    struct count_request request;
    request.p = join_rows(input_view(view), gf_row_bytes(view->format), 0);
    request.source = source_of(statistic, view->format);
    request.count = count;
    request.lightness = (const struct gf_lightness *)tables;
    request.stream = stream;
    return view->rows ? launch[view->format.channels - 1](&request) : cudaSuccess;
}

static counting_launcher *const by_lanes[] = {launch_gray_8<1>, launch_gray_8<2>,
                                              launch_colour_8<3>, launch_colour_8<4>};
static counting_launcher *const packed[] = {launch_16<1>, launch_16<2>, launch_16<3>, launch_16<4>};

extern "C" int gf_histogram_lanes_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables,
                                       cudaStream_t stream)
{
    return count_with(by_lanes, view, statistic, count, tables, stream);
}

extern "C" int gf_histogram_packed_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables,
                                        cudaStream_t stream)
{
    return count_with(packed, view, statistic, count, tables, stream);
}

/* A picture of at most this many pixels is counted faster with one table for each block, which
 * takes less time to add up than a table for each lane. Times on an H200 in microseconds, with one
 * table and with a table for each lane: the luma of 900x600 RGB8 4.9 and 5.4, 900x600 gray8 4.9 and
 * 5.3, 1920x1080 gray8 5.3 and 5.3. */
enum { SHARED_PIXELS = 1 << 20 };

/* Chooses the counter that is fastest for a photograph on an H200. Packed counters look each
 * lightness up once; a table that is counted in parts looks it up once for each part. The tables of
 * three channels leave room for fewer copies: a photograph takes 0.040 ms with a table for each
 * lane and 0.032 ms with one shared table; evenly distributed bytes take 0.041 ms and 0.051 ms. */
static cudaError_t choose(const struct gf_view *view, enum gf_statistic statistic,
                          gf_counter **counter)
{
    bool fits = false;
    const cudaError_t status = packed_fits(&fits);
    if (view->format.bits == 16)
        *counter = statistic == GF_STATISTIC_LIGHTNESS && fits ? gf_histogram_packed_cuda
                                                               : gf_histogram_shared_cuda;
    else
        *counter = (statistic == GF_STATISTIC_CHANNELS && view->format.channels == 3) ||
                           (long long)view->rows * view->format.width <= SHARED_PIXELS
                       ? gf_histogram_shared_cuda
                       : gf_histogram_lanes_cuda;
    return status;
}

extern "C" int gf_histogram_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                 unsigned long long *count, const void *tables, cudaStream_t stream)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES)
        return gf_histogram_tiles_cuda(view, statistic, count, tables, stream);
    if (statistic == GF_STATISTIC_CELLS)
        return gf_cells_cuda(view, statistic, count, tables, stream);
    gf_counter *counter = NULL;
    const cudaError_t status = choose(view, statistic, &counter);
    return status == cudaSuccess ? counter(view, statistic, count, tables, stream) : status;
}

/* Counts a histogram in a table in the shared memory of each block. */

GF_COUNTS(gf_histogram_shared_cuda, count_by<struct table_method<ONE_TABLE>>)

/* Finds the lowest and the highest level of a picture. Every thread does atomic operations in the
 * scope of its block (Programming Guide 2.2.5). */
struct by_atomics {
    static __device__ void reduce(unsigned *low, unsigned *high)
    {
        __shared__ unsigned lowest, highest;
        if (threadIdx.x == 0) {
            lowest = NONE;
            highest = 0;
        }
        __syncthreads();
        cuda::atomic_ref<unsigned, cuda::thread_scope_block>(lowest).fetch_min(
            *low, cuda::memory_order_relaxed);
        cuda::atomic_ref<unsigned, cuda::thread_scope_block>(highest).fetch_max(
            *high, cuda::memory_order_relaxed);
        __syncthreads();
        *low = lowest;
        *high = highest;
        __syncthreads();
    }
};

GF_COUNTS(gf_extremes_cuda, find_extremes<struct by_atomics>)
