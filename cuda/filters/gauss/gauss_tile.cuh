/* The Gaussian over tiles in shared memory, and first what all kernels of the Gaussian share. */
#pragma once

#include "cuda/common/byte_operands.cuh"
#include "cuda/common/floats.cuh"
#include "cuda/common/stencil.cuh"
#include "pixel/gauss/gauss.h"
#include "stage/border.h"

/* A type Finish defines how blurred samples are finished: blur rounds them, unsharp compares them
 * with the picture. For 8 bits, sample8(sum, original) computes the sample from a sum with 24
 * fraction bits, which began at START. If ORIGINAL is set, `original` is the picture's own sample.
 * BYTE is the byte of the result that holds the sample. four(sum, originals) computes a word of
 * four samples. For 16 bits, sample16(blurred, in) has the sample in its lower 16 bits.
 * sample16_near() does the same for a `blurred` that is less than half a level outside 0..65535, as
 * sums of few taps are. For floats, end() ends the sums of neighbours. BLOCKS is the
 * number of blocks that a multiprocessor's registers must hold for radii up to 6. */

enum {
    GAUSS_THREADS = 256,
    TILE_SAMPLES =
        768, /* samples of a row of a tile: whole pixels and 16-byte chunks for 1 to 4 channels */
    TILE_ROWS = 16,
    STRETCH = 8, /* pixels of a row that a thread computes */
};

/* Packs byte BYTE of four results into a word. */
template <int BYTE>
static __device__ __forceinline__ unsigned pack_bytes(unsigned a, unsigned b, unsigned c,
                                                      unsigned d)
{
    const unsigned selector = BYTE | (4 + BYTE) << 4;
    return __byte_perm(__byte_perm(a, b, selector), __byte_perm(c, d, selector), 0x5410);
}

/* How the Gaussian's kernels store samples between the two passes and add them. Each depth has a
 * type, which their templates call Pass. A Value is an element of shared memory and has the samples
 * of LINES rows; a Vector is four Values. A Mid is a sample of scratch memory, and pack() makes a
 * Value of the Mids of LINES rows. ROWS_PITCH is the number of Samples that a row of results takes
 * in gauss.cuh. begin() adds sample i of a stretch times its tap to the sums of LINES rows, add()
 * adds its two neighbours at a distance, and separate() ends the sums. tap() returns the tap at
 * distance k. A shift `up`, of the tap or of the sum in finish_row(), gives sums of 8-bit samples
 * 24 fraction bits. */

enum {
    STAGING_BYTES = TILE_SAMPLES + 16
}; /* bytes of a row of results; 16 more than samples, so that banks differ */

/* A word holds the samples of two rows, the upper row in its lower half. One addition adds the
 * samples to the left and right in both rows (the sums stay below 2^16), then each row has a
 * multiplication of its own; the two multiplications run in different pipes. The multiplication for
 * the upper row, in the lower half of the word, is not masked: it adds 2^16 times the lower row's
 * sum, which separate() subtracts. The result is exact, since the sums are modulo 2^32. */
struct gauss_bytes {
    typedef unsigned char Sample;
    /* Tap is the type of a tap in gauss.cuh, which shifts the sums and not the taps, so that 16
     * bits suffice. */
    typedef unsigned short Mid, Tap;
    typedef unsigned Value;
    typedef uint4 Vector;
    static constexpr bool EXACT = false;
    static constexpr int LINES = 2, ROWS_PITCH = STAGING_BYTES;

    static __device__ __forceinline__ Value pack(const Value mid[LINES])
    {
        return mid[0] | mid[1] << 16;
    }
    static Value tap(const struct gf_gauss *gauss, int k, int up)
    {
        return (Value)gauss->fixed[k] << up;
    }
    static __device__ __forceinline__ void begin(Value tap, Value centre, Value (*sum)[STRETCH],
                                                 int i)
    {
        sum[0][i] = tap * centre;
        sum[1][i] = tap * (centre >> 16);
    }
    static __device__ __forceinline__ void add(Value tap, Value left, Value right,
                                               Value (*sum)[STRETCH], int i)
    {
        const Value both = left + right;
        sum[0][i] += tap * both;
        sum[1][i] += tap * (both >> 16);
    }
    static __device__ __forceinline__ void separate(Value (*sum)[STRETCH], int i)
    {
        sum[0][i] -= sum[1][i] << 16;
    }
};

/* Floats are added as 16-bit samples are, but no zero follows the last tap of an EXACT type. */
template <class Sample_ = unsigned short> struct gauss_float_sums {
    typedef Sample_ Sample;
    static constexpr bool EXACT = is_float_type<Sample>::value;
    typedef float Mid, Tap, Value;
    typedef float4 Vector;
    static constexpr int LINES = 1, ROWS_PITCH = TILE_SAMPLES;

    static __device__ __forceinline__ Value pack(const Value mid[LINES])
    {
        return mid[0];
    }
    static Value tap(const struct gf_gauss *gauss, int k, int)
    {
        return gauss->real[k];
    }
    static __device__ __forceinline__ void begin(Value tap, Value centre, Value (*sum)[STRETCH],
                                                 int i)
    {
        sum[0][i] = tap * centre;
    }
    static __device__ __forceinline__ void add(Value tap, Value left, Value right,
                                               Value (*sum)[STRETCH], int i)
    {
        sum[0][i] = sum[0][i] + tap * (left + right);
    }
    static __device__ __forceinline__ void separate(Value (*)[STRETCH], int)
    {
    }
};
typedef gauss_float_sums<> gauss_shorts;

template <class Args>
static __device__ __forceinline__ void finish_stretch(const Args &args, const unsigned sum[STRETCH],
                                                      int up, int x, int y, int channel,
                                                      unsigned word[2])
{
    const struct view_pair &p = args.p;
    const unsigned char *const in = p.in + (long long)(y - p.in_y) * (long long)p.in_pitch;
    unsigned result[STRETCH];
#pragma unroll
    for (int i = 0; i < STRETCH; i++)
        result[i] =
            args.finish.sample8((sum[i] << up) + decltype(args.finish)::START,
                                decltype(args.finish)::ORIGINAL
                                    ? in[(long long)min(x + i, p.width - 1) * p.channels + channel]
                                    : 0);
#pragma unroll
    for (int i = 0; i < 2; i++)
        word[i] = pack_bytes<decltype(args.finish)::BYTE>(result[4 * i], result[4 * i + 1],
                                                          result[4 * i + 2], result[4 * i + 3]);
}

/* Computes samples from a stretch of sums. (x, y) is the first sample's place in the picture, and
 * `to` its place in a row of results. */
template <class Args>
static __device__ __forceinline__ void finish_row(const Args &args, const unsigned sum[STRETCH],
                                                  int up, int x, int y, int channel,
                                                  unsigned char *to)
{
    unsigned word[2];
    finish_stretch(args, sum, up, x, y, channel, word);
#pragma unroll
    for (int i = 0; i < STRETCH; i++)
        to[i * args.p.channels] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
}

template <class Args>
static __device__ __forceinline__ void finish_row(const Args &args, const float sum[STRETCH], int,
                                                  int x, int y, int channel, unsigned short *to)
{
    const struct view_pair &p = args.p;
    const unsigned short *const in =
        (const unsigned short *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
#pragma unroll
    for (int i = 0; i < STRETCH; i++)
        to[i * p.channels] = (unsigned short)args.finish.sample16(
            sum[i], in + (long long)min(x + i, p.width - 1) * p.channels + channel);
}

template <class Args, class Sample>
static __device__ __forceinline__ void finish_row(const Args &args, const float sum[STRETCH], int,
                                                  int x, int y, int channel, Sample *to)
{
    const struct view_pair &p = args.p;
    const Sample *const in =
        (const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
    float v[STRETCH];
    memcpy(v, sum, sizeof v);
    args.finish.template end<false>(v, [&](int i) {
        return float_of(in[(long long)min(x + i, p.width - 1) * p.channels + channel]);
    });
#pragma unroll
    for (int i = 0; i < STRETCH; i++)
        store_float(to + i * p.channels, v[i]);
}

/* The Gaussian with a radius up to GF_GAUSS_FUSED_MAX: both passes in one kernel; 16-bit pictures
 * are added in float, in the order of gauss.h. A Pass defines the differences between the depths,
 * in addition to what is said above. WIDTH is the number of samples in a tile's row, and listed()
 * the number of input rows of a tile. In the vertical pass a thread computes the columns of a word
 * of samples, by blur_columns(); the type Columns has the vertical taps if they differ from the
 * horizontal ones. In the horizontal pass a thread computes a stretch by blur_row(), of all
 * channels with TOGETHER, otherwise of one channel. */

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
    /* Eight threads read 16 bytes each at once: four stretches, 32 bytes apart, in two rows of
     * values. With an odd number of 16-byte units from row to row they access every bank once. */
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
    const unsigned *edges; /* one gathered word for each row; nullptr: load() reads the picture */
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

/* Computes the sums of a stretch. The last access also reads beyond the tile's columns, and the
 * planes also hold values beyond the picture's columns; no sum that is written contains either. */
template <int RADIUS, class Args, class Value>
static __device__ __forceinline__ void blur_stretch(const Args &args, const Value *from,
                                                    Value (*sum)[STRETCH])
{
    typedef typename Args::Pass Pass;
    constexpr int SPAN = (STRETCH + 2 * RADIUS + 3) / 4 * 4;
    Value v[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; i += 4) {
        unpack(*(const typename Pass::Vector *)(from + i), v + i);
    }
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
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
    /* The rows from one picture of a stack to the next; blockIdx.y is the number of the block's
     * picture. */
    int in_rows, out_rows;
    /* From the middle tap on; zeros follow the last tap. */
    typename Pass::Value tap[GF_GAUSS_FUSED_MAX + 1];
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
    const int quarter = shape.width / STRETCH / 4, strips = Pass::TOGETHER ? 1 : p.channels;
    for (int item = threadIdx.x; item < quarter * 4 * strips * TILE_ROWS / Pass::LINES;
         item += GAUSS_THREADS) {
        const int rest = item >> 3, strip = rest / quarter;
        const int stretch = (rest - strip * quarter) * 4 + (item & 3);
        const int high = Pass::TOGETHER ? strip : strip / p.channels;
        const int value = 2 * high + (item >> 2 & 1), first = Pass::LINES * value;
        const int x = x0 + stretch * STRETCH;
        if (x >= p.width || first >= lines)
            continue;
        Pass::template blur_row<RADIUS>(args, values + value * shape.row + stretch * STRETCH,
                                        shape.plane, x, y0 + first, y0 + lines - 1,
                                        strip - high * p.channels,
                                        (typename Pass::Sample *)(staging + first * STAGING_BYTES) +
                                            stretch * STRETCH * p.channels);
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
    /* At most 2 RADIUS pixels of four samples in a row of a tile are outside of the picture. */
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
    struct view_pair own = p; /* row y of `own` is row y of this block's picture in the stack */
    own.in_y -= (int)blockIdx.y * args.in_rows;
    list_rows(own, rows, Pass::listed(RADIUS), y0 - RADIUS, y0 - args.radius,
              y0 + lines - 1 + args.radius);
    __syncthreads();
    const struct tile_words words = words_of_tile<RADIUS>(args, shape, x0);
    /* `staging` keeps the gathered words until blur_rows() needs it. */
    unsigned *const edges = (unsigned *)staging;
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
    const dim3 blocks(tiles, launch->stack.count > 1 ? launch->stack.count : 1);
    return launch_kernel(blur_tile_kernel<RADIUS, Pass, Finish>, blocks, GAUSS_THREADS, shared,
                         launch->stream, args);
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

/* The two types of Pass for tiles, one for each depth. */

/* Interleaves the channels of four pixels. plane[0] holds the bytes of the last channel, plane[1]
 * those of the channel before it. */
static __device__ __forceinline__ void interleave_bytes(unsigned char *to, const unsigned plane[4],
                                                        int channels)
{
    unsigned *const out = (unsigned *)to;
    if (channels == 1) {
        out[0] = plane[0];
    } else if (channels == 2) {
        out[0] = __byte_perm(plane[1], plane[0], 0x5140);
        out[1] = __byte_perm(plane[1], plane[0], 0x7362);
    } else if (channels == 3) {
        const unsigned low = __byte_perm(plane[2], plane[1], 0x5140);
        const unsigned high = __byte_perm(plane[2], plane[1], 0x7362);
        out[0] = __byte_perm(low, plane[0], 0x2410);
        out[1] = __byte_perm(__byte_perm(low, plane[0], 0x0053), high, 0x5410);
        out[2] = __byte_perm(high, plane[0], 0x7326);
    } else {
        const unsigned a = __byte_perm(plane[3], plane[2], 0x5140);
        const unsigned b = __byte_perm(plane[1], plane[0], 0x5140);
        const unsigned c = __byte_perm(plane[3], plane[2], 0x7362);
        const unsigned d = __byte_perm(plane[1], plane[0], 0x7362);
        out[0] = __byte_perm(a, b, 0x5410);
        out[1] = __byte_perm(a, b, 0x7632);
        out[2] = __byte_perm(c, d, 0x5410);
        out[3] = __byte_perm(c, d, 0x7632);
    }
}

struct tile_of_bytes : gauss_bytes {
    static constexpr int WIDTH = TILE_SAMPLES;
    static constexpr bool TOGETHER = true;

    struct Columns {
        int drop; /* low bits of a sum that the vertical pass drops */
        /* even[u] has taps 2u and 2u + 1, and odd[u] has taps 2u - 1 and 2u, counted from the
         * topmost tap. The first tap of a pair is in the low half. */
        unsigned even[GF_GAUSS_FUSED_MAX + 1], odd[GF_GAUSS_FUSED_MAX + 1];

        void set(const struct gf_gauss *gauss, int radius)
        {
            drop = gauss->shift - GF_GAUSS_FRACTION;
            for (int u = 0; u <= radius; u++) {
                const unsigned tap = gf_gauss_tap(gauss, 2 * u - radius);
                even[u] = tap | (unsigned)gf_gauss_tap(gauss, 2 * u + 1 - radius) << 16;
                odd[u] = (unsigned)gf_gauss_tap(gauss, 2 * u - 1 - radius) | tap << 16;
            }
        }
    };

    /* Returns the number of groups of four input rows that four output rows need. */
    static constexpr __host__ __device__ int groups(int radius)
    {
        return (2 * radius + 3) / 4 + 1;
    }
    static constexpr __host__ __device__ int listed(int radius)
    {
        return 4 * (groups(radius) + TILE_ROWS / 4 - 1);
    }

    /* Computes output rows 4 step .. 4 step + 3 of one column, as two words that are `row` words
     * apart. */
    template <int RADIUS>
    static __device__ __forceinline__ void
    blur_column(const Columns &taps, const unsigned (*window)[4], int c, unsigned *to, int row)
    {
        unsigned sum[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum[i] = 1u << (taps.drop - 1);
#pragma unroll
            for (int u = 0; u <= RADIUS; u++) {
                const int two = u + i / 2; /* the index of a pair of the window's rows */
                const unsigned tap = i % 2 ? taps.odd[u] : taps.even[u];
                const unsigned bytes = window[two / 2][c];
                sum[i] = two % 2 ? __dp2a_hi(tap, bytes, sum[i]) : __dp2a_lo(tap, bytes, sum[i]);
            }
            sum[i] >>= taps.drop;
        }
        if (to) {
            to[0] = sum[0] | sum[1] << 16;
            to[row] = sum[2] | sum[3] << 16;
        }
    }

    /* Transposes four rows at a time into four columns of bytes, and multiplies two bytes at a time
     * by two taps with dp2a, while the next four rows are being loaded. */
    template <int RADIUS, class Args>
    static __device__ __forceinline__ void
    blur_columns(const Args &args, const tile_source<Sample> &source, unsigned *to[4], int row)
    {
        constexpr int GROUPS = groups(RADIUS), STEPS = TILE_ROWS / 4;
        unsigned raw[GROUPS][4], window[GROUPS + STEPS - 1][4];
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            source.load(4 * group, raw[group]);
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            transpose_bytes(raw[group], window[group]);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int next = GROUPS + step;
            if (step + 1 < STEPS)
                source.load(4 * next, raw[0]);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                blur_column<RADIUS>(args.columns, window + step, c, to[c], row);
                to[c] += to[c] ? 2 * row : 0;
            }
            if (step + 1 < STEPS)
                transpose_bytes(raw[0], window[next]);
        }
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void blur_row(const Args &args, const unsigned *from,
                                                    int plane, int x, int y, int last, int,
                                                    unsigned char *to)
    {
        const int channels = args.p.channels;
        /* The indices are the row, the half of the stretch, and the channel, with the latest
         * channel first. */
        unsigned latest[2][2][4] = {};
        for (int channel = 0; channel < channels; channel++) {
            unsigned sum[LINES][STRETCH], word[2];
            blur_stretch<RADIUS>(args, from + channel * plane, sum);
#pragma unroll
            for (int row = 0; row < LINES; row++) {
                finish_stretch(args, sum[row], 0, x, min(y + row, last), channel, word);
#pragma unroll
                for (int half = 0; half < 2; half++) {
#pragma unroll
                    for (int i = 3; i > 0; i--)
                        latest[row][half][i] = latest[row][half][i - 1];
                    latest[row][half][0] = word[half];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            interleave_bytes(to + i / 2 * STAGING_BYTES + i % 2 * STRETCH / 2 * channels,
                             latest[i / 2][i % 2], channels);
    }
};

struct tile_of_shorts : gauss_shorts {
    static constexpr int WIDTH = TILE_SAMPLES / 2;
    static constexpr bool TOGETHER = false;

    struct Columns { /* empty: the vertical taps equal the horizontal ones */
        void set(const struct gf_gauss *, int)
        {
        }
    };

    static constexpr __host__ __device__ int listed(int radius)
    {
        return TILE_ROWS + 2 * radius;
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void
    blur_columns(const Args &args, const tile_source<Sample> &source, float *to[2], int row)
    {
        float v[TILE_ROWS + 2 * RADIUS][2];
#pragma unroll
        for (int i = 0; i < TILE_ROWS + 2 * RADIUS; i++) {
            unsigned pair[1];
            source.load(i, pair);
            v[i][0] = float_of_low(pair[0]);
            v[i][1] = float_of_high(pair[0]);
        }
#pragma unroll
        for (int i = 0; i < TILE_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float sum = args.tap[0] * v[i + RADIUS][j];
#pragma unroll
                for (int k = 1; k <= RADIUS; k++)
                    sum = sum + args.tap[k] * (v[i + RADIUS - k][j] + v[i + RADIUS + k][j]);
                if (to[j])
                    to[j][i * row] = sum;
            }
        }
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void blur_row(const Args &args, const float *from, int plane,
                                                    int x, int y, int, int channel,
                                                    unsigned short *to)
    {
        float sum[LINES][STRETCH];
        blur_stretch<RADIUS>(args, from + channel * plane, sum);
        finish_row(args, sum[0], 0, x, y, channel, to + channel);
    }
};
