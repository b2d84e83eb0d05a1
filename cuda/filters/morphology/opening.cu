/* Openings and closings by squares of 3x3, and their differences from the picture, in one pass: a
 * walk down strips (cuda/common/walk.cuh) that keeps rows of the picture and rows of the first
 * operation's result in registers. A closing is the complement of the complement's opening. */
#include "cuda/common/walk.cuh"
#include "cuda/filters/morphology/three.cuh"

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
                const unsigned kept = alpha_of_word<Sample, CHANNELS>(w) & args.keeps;
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
    return for_samples(p, [&](auto sample, auto channels) -> int {
        typedef decltype(sample) Sample;
        constexpr int CHANNELS = decltype(channels)::value;
        return subtracts ? walk_strips<opening_of_three<Sample, CHANNELS, true>>(p, args, stream)
                         : walk_strips<opening_of_three<Sample, CHANNELS, false>>(p, args, stream);
    });
}
