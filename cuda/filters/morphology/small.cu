/* Squares of 3x3 in one pass: rows roll through registers, on strips (cuda/common/strip.cuh). */
#include "cuda/common/early.cuh"
#include "cuda/common/strip.cuh"
#include "cuda/filters/morphology/window.cuh"

constexpr int ROWS = 16;  /* of a strip */
constexpr int BLOCKS = 6; /* that a multiprocessor's registers are to hold */

template <class Sample, int CHANNELS> struct small_layout {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    static constexpr int BESIDE = (PIXEL + 3) / 4;
};

/* 4 bytes of a row from byte AT on, which may be negative, counted from the lane's own. */
template <int BESIDE, int AT>
static __device__ __forceinline__ unsigned bytes_at(const unsigned (&word)[4 + 2 * BESIDE])
{
    constexpr int FROM = AT + 4 * BESIDE;
    return FROM % 4 ? __byte_perm(word[FROM / 4], word[FROM / 4 + (FROM % 4 != 0)],
                                  0x3210 + 0x1111 * (FROM % 4))
                    : word[FROM / 4];
}

/* The largest of each pixel and those at either side of it. */
template <class Sample, int PIXEL, int BESIDE, int W>
static __device__ __forceinline__ void three_across(const unsigned (&word)[4 + 2 * BESIDE],
                                                    samples<Sample> (&row)[4])
{
    row[W] = samples<Sample>::of(bytes_at<BESIDE, 4 * W>(word))
                 .larger(samples<Sample>::of(bytes_at<BESIDE, 4 * W - PIXEL>(word)))
                 .larger(samples<Sample>::of(bytes_at<BESIDE, 4 * W + PIXEL>(word)));
    if constexpr (W < 3)
        three_across<Sample, PIXEL, BESIDE, W + 1>(word, row);
}

template <class Sample, int CHANNELS>
static __global__ void __launch_bounds__(STRIP_THREADS, BLOCKS)
    small_kernel(const struct view_pair p, unsigned flip)
{
    constexpr int PIXEL = small_layout<Sample, CHANNELS>::PIXEL;
    constexpr int BESIDE = small_layout<Sample, CHANNELS>::BESIDE;
    __shared__ struct strip_tables<Sample, BESIDE, ROWS * STRIP_WARPS + 2> tables;
    __shared__ struct sample_tables<fuse_none> none;
    struct strip strip = find_strip(p, tables, ROWS, 1, 1);
    if (strip.lines <= 0)
        return;
    early_next();
    early_wait();
    struct strip_row<BESIDE> next;
    samples<Sample> last[4], both[4]; /* the row before, and the larger of it and the one above */
    const auto take = [&](samples<Sample>(&row)[4], int following) {
        unsigned word[4 + 2 * BESIDE];
        join_row(strip, next, word);
        if (following < strip.lines + 2)
            fetch_row<Sample>(p, strip, following, &next);
#pragma unroll
        for (int w = 0; w < 4 + 2 * BESIDE; w++)
            word[w] ^= flip;
        three_across<Sample, PIXEL, BESIDE, 0>(word, row);
    };
    fetch_row<Sample>(p, strip, 0, &next);
    take(both, 1);
    take(last, 2);
#pragma unroll
    for (int w = 0; w < 4; w++)
        both[w] = both[w].larger(last[w]);
#pragma unroll 2
    for (int line = 0; line < strip.lines; line++) {
        samples<Sample> row[4];
        unsigned out[4];
        take(row, line + 3);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            out[w] = both[w].larger(row[w]).word() ^ flip;
            both[w] = last[w].larger(row[w]);
            last[w] = row[w];
        }
        store_row<fuse_none>(p, strip, none, out);
    }
}

int gf_morphology_small(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    return for_channels(p.channels, [&](auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        return p.bits == 8
                   ? launch_early(small_kernel<unsigned char, CHANNELS>, strip_blocks(p, 1, ROWS),
                                  STRIP_THREADS, 0, stream, p, flip)
                   : launch_early(small_kernel<unsigned short, CHANNELS>, strip_blocks(p, 2, ROWS),
                                  STRIP_THREADS, 0, stream, p, flip);
    });
}
