/* Squares of 5x5 in one pass, on strips (cuda/common/strip.cuh): along each row by windows of 2 and
 * 4 pixels, down the rows by van Herk's blocks, in registers. The kernel does not use walk.cuh,
 * which would take up to 14 more registers. */
#include "cuda/common/early.cuh"
#include "cuda/common/strip.cuh"
#include "cuda/filters/morphology/window.cuh"

/* The number of blocks of rows in a strip. A block has the height of the window. The strip begins
 * with the rows of one more block. */
constexpr int BLOCKS_LEAST = 2, BLOCKS_MOST = 8;
/* LENGTH is the largest power of 2 below WINDOW. */
constexpr int REACH = 2, WINDOW = 2 * REACH + 1, LENGTH = 4;

template <class Sample, int CHANNELS> struct medium_layout {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    /* Words next to the lane's own words, at most as many as its own. */
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

template <class Sample, int CHANNELS, class Fuse>
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
        windows_across<Sample, layout::PIXEL, layout::WORDS>(word, row);
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
                block[i][w] = larger_word<Sample>(block[i][w], block[i + 1][w]);
        }
        if (store(block[0]))
            return;
        unsigned begin[4] = {}; /* the largest of the next block's rows so far */
#pragma unroll
        for (int i = 1; i < WINDOW; i++) {
            unsigned out[4];
            take(block[i - 1]);
#pragma unroll
            for (int w = 0; w < 4; w++) {
                begin[w] = larger_word<Sample>(begin[w], block[i - 1][w]);
                out[w] = larger_word<Sample>(begin[w], block[i][w]);
            }
            if (store(out))
                return;
        }
    }
}

template <class Sample, int CHANNELS, class Fuse = fuse_none>
static int launch_medium(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    typedef struct medium_layout<Sample, CHANNELS> layout;
    if constexpr (sizeof(Sample) == 2 && CHANNELS == 4 && !Fuse::STRAIGHT) {
        if (p.straight == 8)
            return launch_medium<Sample, CHANNELS, fuse_straight<8>>(p, flip, stream);
        if (p.straight)
            return launch_medium<Sample, CHANNELS, fuse_straight<16>>(p, flip, stream);
    }
    const auto kernel = medium_kernel<Sample, CHANNELS, Fuse>;
    const int across = ceil_div(p.width * layout::PIXEL, STRIP_BYTES);
    int blocks = BLOCKS_LEAST;
    const cudaError_t status = items_for_rounds((const void *)kernel, STRIP_THREADS, across,
                                                ceil_div(p.rows, WINDOW * STRIP_WARPS), 1,
                                                BLOCKS_LEAST, BLOCKS_MOST, &blocks);
    if (status != cudaSuccess)
        return status;
    const int rows = blocks * WINDOW;
    return launch_early(kernel, strip_blocks(p, (int)sizeof(Sample), rows), STRIP_THREADS, 0,
                        stream, p, rows, flip);
}

int gf_morphology_medium(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    return for_samples(p, [&](auto sample, auto channels) -> int {
        return launch_medium<decltype(sample), decltype(channels)::value>(p, flip, stream);
    });
}
