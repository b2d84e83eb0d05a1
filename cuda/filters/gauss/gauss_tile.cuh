/* The Gaussian with a radius up to GF_GAUSS_FUSED_MAX: both passes in one kernel; 16-bit pictures
 * are added in float, in the order of gauss.h. A Pass (gauss_tile_passes.cuh) defines the
 * differences between the depths, in addition to gauss_samples.cuh. WIDTH is the number of samples
 * in a tile's row, and listed() the number of input rows of a tile. In the vertical pass a thread
 * computes the columns of a word of samples, by blur_columns(); the type Columns has the vertical
 * taps if they differ from the horizontal ones. In the horizontal pass a thread computes a run by
 * blur_row(), of all channels with TOGETHER, otherwise of one channel. */
#pragma once

#include "cuda/filters/gauss/gauss_samples.cuh"
#include "stage/border.h"

/* The tile between the passes. Each channel has a plane of its own, so that the samples under the
 * taps are adjacent. */
struct tile_shape {
    int width; /* pixels of a row */
    int plane; /* values from one channel to the next */
    int row;   /* values from one row of values to the next */
};

static __host__ __device__ __forceinline__ struct tile_shape shape_of_tile(int samples,
                                                                           int channels, int radius)
{
    struct tile_shape shape;
    shape.width = samples / channels;
    shape.plane = (shape.width + 2 * radius + 3) / 4 * 4;
    shape.row = channels * shape.plane;
    /* Eight threads read 16 bytes each at once: four runs, 32 bytes apart, in two rows of values.
     * With an odd number of 16-byte units from row to row they access every bank once. */
    if (shape.row % 8 == 0)
        shape.row += 4;
    return shape;
}

/* Finds the addresses in the planes for the values of a thread's columns; nullptr for columns
 * outside the tile. */
template <int COLUMNS, class Value>
static __device__ __forceinline__ void find_targets(const struct view_pair &p,
                                                    const struct tile_shape &shape, int pixels,
                                                    int sample, Value *values, Value *to[COLUMNS])
{
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const int pixel = pixel_of(p, max(sample + j, 0));
        const int channel = sample + j - pixel * p.channels;
        to[j] =
            sample + j >= 0 && pixel < pixels ? values + channel * shape.plane + pixel : nullptr;
    }
}

/* The sources of a word of COLUMNS samples that are not all in the row: the index of the sample
 * that replaces each, and a mask, which is 0 if the border's constant replaces it. */
template <int COLUMNS> struct edge_columns {
    unsigned from[COLUMNS], mask[COLUMNS];
};

template <int COLUMNS>
static __device__ __forceinline__ struct edge_columns<COLUMNS>
edge_columns_at(const struct view_pair &p, int left, int sample) {
    constexpr int BITS = 32 / COLUMNS;
    struct edge_columns<COLUMNS> edge;
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const int at = max(sample + j, 0), pixel = pixel_of(p, at);
        const int index = gf_border_index(left + pixel, p.width, p.border);
        edge.from[j] = (unsigned)max(index, 0) * p.channels + (at - pixel * p.channels);
        edge.mask[j] = index < 0 ? 0u : ((1u << BITS) - 1) << BITS * j;
    }
    return edge;
}

/* The words of a tile's rows, of COLUMNS samples each, from sample `start` of the row on. Words
 * 0 .. left - 1 and right .. count - 1 are not all in the row. */
struct tile_words {
    long long start;
    int slack, count, left, right;
};

template <int RADIUS, class Args>
static __device__ __forceinline__ struct tile_words
words_of_tile(const Args &args, const struct tile_shape &shape, int x0)
{
    constexpr int COLUMNS = 4 / sizeof(typename Args::Pass::Sample);
    const struct view_pair &p = args.p;
    const int pixels = min(shape.width, p.width - x0) + 2 * RADIUS;
    const long long begin = (long long)(x0 - RADIUS) * p.channels;
    struct tile_words words;
    words.start = begin & ~(COLUMNS - 1LL);
    words.slack = (int)(begin - words.start);
    words.count = (words.slack + pixels * p.channels + COLUMNS - 1) / COLUMNS;
    words.left = words.start < 0 ? min((int)-words.start / COLUMNS, words.count) : 0;
    const long long whole = ((long long)p.width * p.channels - words.start) / COLUMNS;
    words.right = (int)max(min(whole, (long long)words.count), (long long)words.left);
    return words;
}

/* Gathers the words that are not all in the row, each with its row by one thread, so that the block
 * waits for all of them once. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void
gather_edges(const Args &args, const struct tile_words &words, const long long *rows, int left,
             unsigned *edges)
{
    typedef typename Args::Pass Pass;
    typedef typename Pass::Sample Sample;
    constexpr int COLUMNS = 4 / sizeof(Sample), ROWS = Pass::listed(RADIUS);
    const int outside = words.left + words.count - words.right;
    for (int i = threadIdx.x; i < outside * ROWS; i += GAUSS_THREADS) {
        const int slot = i / ROWS, w = slot + (slot < words.left ? 0 : words.right - words.left);
        const struct edge_columns<COLUMNS> edge =
            edge_columns_at<COLUMNS>(args.p, left, COLUMNS * w - words.slack);
        const Sample *const row = (const Sample *)(args.p.in + rows[i - slot * ROWS]);
        unsigned word = 0;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            word |= (unsigned)__ldg(row + edge.from[j]) << 32 / COLUMNS * j & edge.mask[j];
        edges[i] = word;
    }
}

/* The rows and columns of the picture from which a thread loads its word of samples. */
template <class Sample> struct tile_source {
    static constexpr int COLUMNS = 4 / sizeof(Sample);
    const struct view_pair &p;
    const long long *rows; /* the offsets of rows from row `top` on, from list_rows() */
    int top;
    const unsigned *edges; /* the word in each of the rows, from gather_edges(), or nullptr */
    long long byte;

    /* Loads the words of COUNT successive rows, from index `first` of the list on. */
    template <int COUNT> __device__ __forceinline__ void load(int first, unsigned (&r)[COUNT]) const
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            r[i] =
                edges ? edges[first + i] : __ldg((const unsigned *)(p.in + rows[first + i] + byte));
        if (p.border == GF_BORDER_CONSTANT) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                if (top + first + i < 0 || top + first + i >= p.height)
                    r[i] = 0;
            }
        }
    }
};

/* Computes the sums of a run. The last access also reads beyond the tile's columns, and the planes
 * also hold values beyond the picture's columns; no sum that is written contains either. */
template <int RADIUS, class Args, class Value>
static __device__ __forceinline__ void blur_run(const Args &args, const Value *from,
                                                Value (*sum)[RUN])
{
    typedef typename Args::Pass Pass;
    constexpr int SPAN = (RUN + 2 * RADIUS + 3) / 4 * 4;
    Value v[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; i += 4) {
        unpack(*(const typename Pass::Vector *)(from + i), v + i);
    }
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        Pass::begin(args.tap[0], v[i + RADIUS], sum, i);
#pragma unroll
        for (int k = 1; k <= RADIUS; k++)
            Pass::add(args.tap[k], v[i + RADIUS - k], v[i + RADIUS + k], sum, i);
        Pass::separate(sum, i);
    }
}

template <class Pass_, class Finish_> struct tile_args {
    typedef Pass_ Pass;
    typedef Finish_ Finish;
    struct view_pair p;
    int radius; /* the radius of the taps, at most RADIUS */
    Finish finish;
    int in_rows, out_rows; /* of struct gf_stack: block (., z) works on picture z */
    typename Pass::Value tap[GF_GAUSS_FUSED_MAX + 1]; /* zeros follow the last tap */
    typename Pass::Columns columns;
};

template <int RADIUS, class Args>
static __device__ __forceinline__ void
blur_columns(const Args &args, const struct tile_shape &shape, const struct tile_words &words,
             const long long *rows, const unsigned *edges, typename Args::Pass::Value *values,
             int x0, int y0)
{
    typedef typename Args::Pass Pass;
    typedef typename Pass::Sample Sample;
    constexpr int COLUMNS = tile_source<Sample>::COLUMNS;
    const struct view_pair &p = args.p;
    const int pixels = min(shape.width, p.width - x0) + 2 * RADIUS;
    for (int w = threadIdx.x; w < words.count; w += GAUSS_THREADS) {
        const int slot = w < words.left ? w : w >= words.right ? words.left + w - words.right : -1;
        const tile_source<Sample> source = {
            p, rows, y0 - RADIUS, slot < 0 ? nullptr : edges + slot * Pass::listed(RADIUS),
            (words.start + COLUMNS * w) * (int)sizeof(Sample)};
        typename Pass::Value *to[COLUMNS];
        find_targets<COLUMNS>(p, shape, pixels, COLUMNS * w - words.slack, values, to);
        Pass::template blur_columns<RADIUS>(args, source, to, shape.row);
    }
}

template <int RADIUS, class Args>
static __device__ __forceinline__ void blur_rows(const Args &args, const struct tile_shape &shape,
                                                 const typename Args::Pass::Value *values,
                                                 unsigned char *staging, int x0, int y0, int lines)
{
    typedef typename Args::Pass Pass;
    const struct view_pair &p = args.p;
    const int quarter = shape.width / RUN / 4, strips = Pass::TOGETHER ? 1 : p.channels;
    for (int item = threadIdx.x; item < quarter * 4 * strips * TILE_ROWS / Pass::LINES;
         item += GAUSS_THREADS) {
        const int rest = item >> 3, strip = rest / quarter;
        const int run = (rest - strip * quarter) * 4 + (item & 3);
        const int high = Pass::TOGETHER ? strip : strip / p.channels;
        const int value = 2 * high + (item >> 2 & 1), first = Pass::LINES * value;
        const int x = x0 + run * RUN;
        if (x >= p.width || first >= lines)
            continue;
        Pass::template blur_row<RADIUS>(args, values + value * shape.row + run * RUN, shape.plane,
                                        x, y0 + first, y0 + lines - 1, strip - high * p.channels,
                                        (typename Pass::Sample *)(staging + first * STAGING_BYTES) +
                                            run * RUN * p.channels);
    }
}

template <int RADIUS, class Pass, class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS, RADIUS > 6         ? 2
                                                 : Pass::LINES == 2 ? Finish::BLOCKS
                                                                    : 3)
    blur_tile_kernel(const tile_args<Pass, Finish> args)
{
    typedef typename Pass::Value Value;
    constexpr int SIZE = (int)sizeof(typename Pass::Sample);
    /* 2 RADIUS pixels of four samples are the most that a row of a tile has outside. */
    static_assert(8 * RADIUS * SIZE * Pass::listed(RADIUS) <= TILE_ROWS * STAGING_BYTES,
                  "the words of gather_edges() do not fit");
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct tile_shape shape = shape_of_tile(Pass::WIDTH, p.channels, RADIUS);
    long long *const rows = (long long *)shared;
    Value *const values = (Value *)(rows + Pass::listed(RADIUS));
    unsigned char *const staging = (unsigned char *)(values + TILE_ROWS / Pass::LINES * shape.row);
    const struct tile_origin origin = block_tile(p.width, shape.width, TILE_ROWS);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min(TILE_ROWS, p.out_y + p.rows - y0);
    struct view_pair own = p; /* the same rows of this block's picture */
    own.in_y -= (int)blockIdx.y * args.in_rows;
    list_rows(own, rows, Pass::listed(RADIUS), y0 - RADIUS, y0 - args.radius,
              y0 + lines - 1 + args.radius);
    __syncthreads();
    const struct tile_words words = words_of_tile<RADIUS>(args, shape, x0);
    unsigned *const edges = (unsigned *)staging; /* until the rows are blurred */
    if (words.left || words.right < words.count) {
        gather_edges<RADIUS>(args, words, rows, x0 - RADIUS, edges);
        __syncthreads();
    }
    blur_columns<RADIUS>(args, shape, words, rows, edges, values, x0, y0);
    __syncthreads();
    blur_rows<RADIUS>(args, shape, values, staging, x0, y0, lines);
    __syncthreads();
    store_tile(p, staging, STAGING_BYTES, SIZE * Pass::WIDTH, lines,
               y0 + (int)blockIdx.y * args.out_rows, SIZE * (long long)x0 * p.channels,
               SIZE * (long long)p.width * p.channels);
}

template <class Pass, int RADIUS, class Finish>
static int launch_tile_of(const struct gf_launch *launch, const struct view_pair &p,
                          const struct gf_gauss *gauss, const Finish &finish)
{
    const struct tile_shape shape = shape_of_tile(Pass::WIDTH, p.channels, RADIUS);
    struct tile_args<Pass, Finish> args = {
    };
    args.p = p;
    args.radius = gauss->radius;
    args.finish = finish;
    args.in_rows = launch->stack.in_rows;
    args.out_rows = launch->stack.out_rows;
    for (int k = 0; k <= gauss->radius; k++)
        args.tap[k] = Pass::tap(gauss, k, GF_GAUSS_SHIFT_MAX - gauss->shift);
    args.columns.set(gauss, RADIUS);
    const size_t shared = Pass::listed(RADIUS) * sizeof(long long) +
                          TILE_ROWS / Pass::LINES * shape.row * sizeof(typename Pass::Value) +
                          TILE_ROWS * STAGING_BYTES;
    const int tiles = tile_blocks(p.width, p.rows, shape.width, TILE_ROWS);
    blur_tile_kernel<RADIUS, Pass, Finish>
        <<<dim3(tiles, launch->stack.count > 1 ? launch->stack.count : 1), GAUSS_THREADS, shared,
           (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

template <class Pass, class Finish>
static int launch_tile(const struct gf_launch *launch, const struct view_pair &p,
                       const struct gf_gauss *gauss, const Finish &finish)
{
    const int radius = gauss->radius;
    return radius <= 3    ? launch_tile_of<Pass, 3>(launch, p, gauss, finish)
           : radius <= 6  ? launch_tile_of<Pass, 6>(launch, p, gauss, finish)
           : radius <= 10 ? launch_tile_of<Pass, 10>(launch, p, gauss, finish)
                          : launch_tile_of<Pass, 16>(launch, p, gauss, finish);
}
