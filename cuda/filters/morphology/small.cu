/* Squares of 3x3 and 5x5, and openings of 3x3, in registers. */
#include "cuda/common/launch.cuh"
#include "cuda/common/walk.cuh"
#include "cuda/filters/morphology/window.cuh"

/* Finds the largest of each pixel and its neighbours on either side, for the words in the middle of
 * `word`. */
template <class Sample, int PIXEL, int IN, int OUT>
static __device__ __forceinline__ void three_across(const unsigned (&word)[IN],
                                                    samples<Sample> (&row)[OUT])
{
#pragma unroll
    for (int w = 0; w < OUT; w++) {
        const int at = 4 * w + 2 * (IN - OUT);
        row[w] = samples<Sample>::of(bytes_from(word, at))
                     .larger(samples<Sample>::of(bytes_from(word, at - PIXEL)))
                     .larger(samples<Sample>::of(bytes_from(word, at + PIXEL)));
    }
}

/* Goes down the rows: `last` is the row before, `both` has the larger samples of that row and the
 * row above it. */
template <class Sample, int PIXEL, int OUT> struct three_rows {
    samples<Sample> last[OUT] = {}, both[OUT] = {};

    /* Takes the next row. `result` gets the largest of each square around a sample of the row
     * before. */
    template <int IN>
    __device__ __forceinline__ void take(const unsigned (&word)[IN], unsigned (&result)[OUT])
    {
        samples<Sample> row[OUT];
        three_across<Sample, PIXEL>(word, row);
#pragma unroll
        for (int w = 0; w < OUT; w++) {
            result[w] = both[w].larger(row[w]).word();
            both[w] = last[w].larger(row[w]);
            last[w] = row[w];
        }
    }
};

/* Returns ones for the samples of word `w` that are alpha, if the last of 2 or 4 channels is; they
 * have 16 bits then. */
template <int CHANNELS> static __device__ __forceinline__ unsigned alpha_of_word(int w)
{
    return CHANNELS == 2 || (CHANNELS == 4 && w % 2) ? 0xFFFF0000u : 0;
}

/* Squares of 3x3 in one pass, a walk down strips (cuda/common/walk.cuh): dilation, erosion, and
 * their difference. */

template <class Sample, int CHANNELS, class Order = Sample>
struct largest_of_three : walk_stencil<Sample, CHANNELS> {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample), BESIDE = (PIXEL + 3) / 4;
    static constexpr int STEP = 2, PERIOD = STEP, BLOCKS = 6;
    static constexpr bool OWN_LOOP = true;
    typedef unsigned constants; /* all ones, to complement the samples; otherwise 0 */

    unsigned flip, result[4];
    struct three_rows<Order, PIXEL, 4> rows;

    __device__ __forceinline__ explicit largest_of_three(unsigned flip) : flip(flip)
    {
    }
    __device__ __forceinline__ void take(const unsigned (&word)[4 + 2 * BESIDE], int)
    {
        unsigned v[4 + 2 * BESIDE];
#pragma unroll
        for (int w = 0; w < 4 + 2 * BESIDE; w++)
            v[w] = word[w] ^ flip;
        rows.take(v, result);
#pragma unroll
        for (int w = 0; w < 4; w++)
            result[w] ^= flip;
    }
    /* Two rows are being loaded at any time. */
    template <class Walk> __device__ __forceinline__ void go_down(Walk &walk)
    {
        typename Walk::row word;
        const int rows = walk.lines() + 2;
        walk.load(0, 0);
        walk.load(1, 1);
#pragma unroll 1
        for (int i = 0; i < rows; i += STEP) {
#pragma unroll
            for (int k = 0; k < STEP; k++) {
                walk.take(k, i + k + STEP < rows, i + k + STEP, word);
                take(word, 0);
                if (i + k >= 2 && i + k < rows)
                    walk.store(result);
            }
        }
    }
};

/* The largest minus the least of each pixel's square. No sample borrows from the next one, since
 * the largest is never below the least. */
template <class Sample, int CHANNELS> struct gradient_of_three : walk_stencil<Sample, CHANNELS> {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample), BESIDE = (PIXEL + 3) / 4;
    static constexpr int BLOCKS = 4;
    typedef unsigned constants; /* all ones, if the last of 2 or 4 channels is alpha; otherwise 0 */

    unsigned keeps;
    struct largest_of_three<Sample, CHANNELS> most, least;
    unsigned last[4], middle[4]; /* the row before, and the row of the result, as they were read */

    __device__ __forceinline__ explicit gradient_of_three(unsigned keeps)
        : keeps(keeps), most(0), least(~0u)
    {
    }
    __device__ __forceinline__ void take(const unsigned (&word)[4 + 2 * BESIDE], int phase)
    {
        most.take(word, phase);
        least.take(word, phase);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            middle[w] = last[w];
            last[w] = word[BESIDE + w];
        }
    }
    __device__ __forceinline__ void make(int, unsigned (&out)[4]) const
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const unsigned kept = alpha_of_word<CHANNELS>(w) & keeps;
            out[w] = ((most.result[w] - least.result[w]) & ~kept) | (middle[w] & kept);
        }
    }
};

int gf_morphology_gradient(const struct view_pair &p, bool has_alpha, cudaStream_t stream)
{
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        return walk_strips<gradient_of_three<decltype(sample), decltype(channels)::value>>(
            p, has_alpha ? ~0u : 0, stream);
    });
}

int gf_morphology_small(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        return walk_strips<largest_of_three<decltype(sample), decltype(channels)::value>>(p, flip,
                                                                                          stream);
    });
}

/* Squares of 5x5 in one pass, on strips (cuda/common/walk.cuh): along each row by windows of 2 and
 * 4 pixels, down the rows by van Herk's blocks, in registers. The kernel does not use walk.cuh,
 * which would take up to 14 more registers. */

/* The number of blocks of rows in a strip. A block has the height of the window. The strip begins
 * with the rows of one more block. */
constexpr int BLOCKS_LEAST = 2, BLOCKS_MOST = 8;
/* LENGTH is the largest power of 2 below WINDOW. */
constexpr int REACH = 2, WINDOW = 2 * REACH + 1, LENGTH = 4;

template <class Sample, int CHANNELS> struct medium_layout {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    /* Words next to the lane's own words. */
    static constexpr int BESIDE = (REACH * PIXEL + 3) / 4;
    static constexpr int WORDS = 4 + 2 * BESIDE, ROWS_MOST = BLOCKS_MOST * WINDOW;
};

template <class Sample>
static __device__ __forceinline__ unsigned larger_word(unsigned a, unsigned b)
{
    return samples<Sample>::of(a).larger(samples<Sample>::of(b)).word();
}

/* Finds the largest sample of each window of a row, for the lane's own four words, which are in the
 * middle of `word`. Words near the end hold wrong values after a step; no window of the lane's own
 * words uses them. */
template <class Sample, int PIXEL, int WORDS>
static __device__ __forceinline__ void windows_across(unsigned (&word)[WORDS], unsigned (&row)[4])
{
    constexpr int FIRST = (WORDS - 4) * 2 - REACH * PIXEL;
#pragma unroll
    for (int length = 1; length < LENGTH; length *= 2) {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            word[i] = larger_word<Sample>(word[i], bytes_from(word, 4 * i + length * PIXEL));
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        row[i] = larger_word<Sample>(bytes_from(word, FIRST + 4 * i),
                                     bytes_from(word, FIRST + 4 * i + (WINDOW - LENGTH) * PIXEL));
}

template <class Sample, int CHANNELS, class Order, class Fuse>
static __global__ void __launch_bounds__(STRIP_THREADS)
    medium_kernel(const struct view_pair p, int rows, unsigned flip)
{
    typedef struct medium_layout<Sample, CHANNELS> layout;
    constexpr int BESIDE = layout::BESIDE;
    typedef struct strip_tables<Sample, BESIDE, layout::ROWS_MOST * STRIP_WARPS + 2 * REACH> places;
    __shared__ places tables;
    __shared__ struct sample_tables<Fuse> none;
    struct strip strip = find_strip<Fuse>(p, tables, rows, REACH, REACH);
    if (strip.lines <= 0)
        return;
    early_next();
    early_wait();
    struct strip_row<BESIDE> next;
    int taken = 0, line = 0;
    const auto take = [&](unsigned(&row)[4]) {
        unsigned word[layout::WORDS];
        map_row<Fuse>(strip, none, &next);
        join_row(strip, next, word);
        if (++taken < strip.lines + 2 * REACH)
            fetch_row<Sample, Fuse>(p, strip, taken, &next);
#pragma unroll
        for (int w = 0; w < layout::WORDS; w++)
            word[w] ^= flip;
        windows_across<Order, layout::PIXEL, layout::WORDS>(word, row);
    };
    /* Stores a row. Returns true for the last row. */
    const auto store = [&](const unsigned(&row)[4]) {
        const unsigned out[4] = {row[0] ^ flip, row[1] ^ flip, row[2] ^ flip, row[3] ^ flip};
        store_row<Fuse>(p, strip, none, out);
        return ++line >= strip.lines;
    };
    /* `block` first has the rows of a block. Then it has, for each of them, the largest from the
     * row to the block's end, while the rows of the next block replace rows that have been used. */
    unsigned block[WINDOW][4];
    fetch_row<Sample, Fuse>(p, strip, 0, &next);
#pragma unroll
    for (int i = 0; i < WINDOW - 1; i++)
        take(block[i]);
#pragma unroll 1
    for (;;) {
        take(block[WINDOW - 1]);
#pragma unroll
        for (int i = WINDOW - 2; i >= 0; i--) {
#pragma unroll
            for (int w = 0; w < 4; w++)
                block[i][w] = larger_word<Order>(block[i][w], block[i + 1][w]);
        }
        if (store(block[0]))
            return;
        unsigned begin[4]; /* the largest of the next block's rows so far */
#pragma unroll
        for (int i = 1; i < WINDOW; i++) {
            unsigned out[4];
            take(block[i - 1]);
#pragma unroll
            for (int w = 0; w < 4; w++) {
                begin[w] = i == 1 ? block[0][w] : larger_word<Order>(begin[w], block[i - 1][w]);
                out[w] = larger_word<Order>(begin[w], block[i][w]);
            }
            if (store(out))
                return;
        }
    }
}

template <class Sample, int CHANNELS, class Order = Sample, class Fuse = fuse_none>
static int launch_medium(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    typedef struct medium_layout<Sample, CHANNELS> layout;
    if constexpr (sizeof(Sample) == 2 && CHANNELS == 4 && !Fuse::STRAIGHT && !Fuse::FLOATS) {
        if (p.straight == 8)
            return launch_medium<Sample, CHANNELS, Order, fuse_straight<8>>(p, flip, stream);
        if (p.straight)
            return launch_medium<Sample, CHANNELS, Order, fuse_straight<16>>(p, flip, stream);
    }
    const auto kernel = medium_kernel<Sample, CHANNELS, Order, Fuse>;
    const int across = ceil_div(p.width * layout::PIXEL, STRIP_BYTES);
    int blocks = BLOCKS_LEAST;
    LAUNCH_TRY(items_for_rounds((const void *)kernel, STRIP_THREADS, across,
                                ceil_div(p.rows, WINDOW * STRIP_WARPS), 1, BLOCKS_LEAST,
                                BLOCKS_MOST, &blocks));
    const int rows = blocks * WINDOW;
    return launch_early(kernel, strip_blocks(p, (int)sizeof(Sample), rows), STRIP_THREADS, 0,
                        stream, p, rows, flip);
}

int gf_morphology_medium(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        return launch_medium<decltype(sample), decltype(channels)::value>(p, flip, stream);
    });
}

int gf_morphology_floats(const struct gf_launch *launch, const struct gf_morphology *morphology,
                         unsigned flip)
{
    const struct view_pair p = view_pair_of(launch, morphology->border);
    return for_float_stencil<true>(p, [&](auto sample, auto channels, auto fuse) -> int {
        typedef typename bits_of<decltype(sample)>::type Bits;
        typedef decltype(fuse) Fuse;
        constexpr int CHANNELS = decltype(channels)::value;
        const auto order_by = [&](auto order, unsigned complements) -> int {
            typedef decltype(order) Order;
            return morphology->rx == 1
                       ? walk_strips<largest_of_three<Bits, CHANNELS, Order>, Fuse>(p, complements,
                                                                                    launch->stream)
                       : launch_medium<Bits, CHANNELS, Order, Fuse>(p, complements, launch->stream);
        };
        if constexpr (sizeof(Bits) == 4)
            return flip ? order_by(ordered_float<true>(), 0) : order_by(ordered_float<false>(), 0);
        else
            return order_by(Bits(), flip);
    });
}

/* Openings and closings by squares of 3x3, and their differences from the picture, in one pass: a
 * walk down strips (cuda/common/walk.cuh) that keeps rows of the picture and rows of the first
 * operation's result in registers. A closing is the complement of the complement's opening. */

struct opening_args {
    unsigned flip;    /* all ones for closings, to complement the samples; otherwise 0 */
    unsigned outside; /* what the second operation finds beyond the picture, complemented by flip */
    bool wraps;       /* the second operation finds what the border repeats instead */
    unsigned keeps;   /* all ones, if the last of 2 or 4 channels is alpha and kept; otherwise 0 */
};

template <class Sample, int CHANNELS, bool SUBTRACTS>
struct opening_of_three : walk_stencil<Sample, CHANNELS> {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    static constexpr int NEXT = (PIXEL + 3) / 4, BESIDE = 2 * NEXT;
    static constexpr int REACH = 2, ROWS = 32, BLOCKS = 4;
    static constexpr bool OWN_LOOP = true;
    typedef struct opening_args constants;

    const struct opening_args &args;
    struct three_rows<Sample, PIXEL, 4 + 2 * NEXT> first;
    struct three_rows<Sample, PIXEL, 4> second;
    unsigned last[4] = {}, before[4] = {}; /* the two rows before, as they were read */

    __device__ __forceinline__ explicit opening_of_three(const struct opening_args &args)
        : args(args)
    {
    }
    /* Replaces samples of the first operation's row that are beyond the ends of the row. */
    static __device__ __forceinline__ void end_row(const struct strip &strip, int row_bytes,
                                                   unsigned outside, unsigned (&row)[4 + 2 * NEXT])
    {
#pragma unroll
        for (int w = 0; w < 4 + 2 * NEXT; w++) {
            const int at = 4 * (w - NEXT), rest = strip.rest - at;
            const unsigned is_inside = rest <= 0 || row_bytes - strip.rest + at < 0
                                           ? 0
                                           : ~0u >> (rest < 4 ? 32 - 8 * rest : 0);
            row[w] = (row[w] & is_inside) | (outside & ~is_inside);
        }
    }
    /* Takes row `y + 1` of the picture, which completes row y of the first operation and row y - 1
     * of the second. */
    __device__ __forceinline__ void take(const unsigned (&word)[4 + 2 * BESIDE],
                                         const struct view_pair &p, const struct strip &strip,
                                         int y, unsigned (&out)[4])
    {
        unsigned v[4 + 2 * BESIDE], row[4 + 2 * NEXT];
#pragma unroll
        for (int w = 0; w < 4 + 2 * BESIDE; w++)
            v[w] = word[w] ^ ~args.flip;
        first.take(v, row);
#pragma unroll
        for (int w = 0; w < 4 + 2 * NEXT; w++)
            row[w] = ~row[w];
        if (!args.wraps && (y < 0 || y >= p.height)) {
#pragma unroll
            for (int w = 0; w < 4 + 2 * NEXT; w++)
                row[w] = args.outside;
        } else if (!args.wraps && !strip.plain) {
            end_row(strip, p.width * PIXEL, args.outside, row);
        }
        second.take(row, out);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            if (SUBTRACTS) {
                const unsigned kept = alpha_of_word<CHANNELS>(w) & args.keeps;
                const unsigned from = before[w] ^ args.flip;
                const unsigned more =
                    samples<Sample>::of(from).larger(samples<Sample>::of(out[w])).word();
                out[w] = ((more - out[w]) & ~kept) | (before[w] & kept);
                before[w] = last[w];
                last[w] = word[BESIDE + w];
            } else {
                out[w] ^= args.flip;
            }
        }
    }
    template <class Walk> __device__ __forceinline__ void go_down(Walk &walk)
    {
        typename Walk::row word;
        typename Walk::results out;
        const int rows = walk.lines() + 2 * REACH, y = walk.strip.y - REACH - 1;
        walk.load(0, 0);
#pragma unroll 1
        for (int i = 0; i < rows; i++) {
            walk.take(0, i + 1 < rows, i + 1, word);
            take(word, walk.p, walk.strip, y + i, out);
            if (i >= 2 * REACH)
                walk.store(out);
        }
    }
};

int gf_morphology_opening(const struct view_pair &p, enum gf_morphology_make make, bool has_alpha,
                          cudaStream_t stream)
{
    const bool closes = make == GF_MORPHOLOGY_CLOSE || make == GF_MORPHOLOGY_BLACKHAT;
    const bool subtracts = make == GF_MORPHOLOGY_TOPHAT || make == GF_MORPHOLOGY_BLACKHAT;
    struct opening_args args = {};
    args.flip = closes ? ~0u : 0;
    args.outside = p.border == GF_BORDER_CONSTANT ? args.flip : 0;
    args.wraps = p.border == GF_BORDER_WRAP;
    args.keeps = has_alpha ? ~0u : 0;
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        typedef decltype(sample) Sample;
        constexpr int CHANNELS = decltype(channels)::value;
        return subtracts ? walk_strips<opening_of_three<Sample, CHANNELS, true>>(p, args, stream)
                         : walk_strips<opening_of_three<Sample, CHANNELS, false>>(p, args, stream);
    });
}
