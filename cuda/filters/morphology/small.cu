/* Squares of 3x3 in one pass, a walk down strips (cuda/common/walk.cuh): dilation, erosion, and
 * their difference. */
#include "cuda/common/walk.cuh"
#include "cuda/filters/morphology/three.cuh"

template <class Sample, int CHANNELS> struct largest_of_three : walk_stencil<Sample, CHANNELS> {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample), BESIDE = (PIXEL + 3) / 4;
    static constexpr int STEP = 2, PERIOD = STEP, BLOCKS = 6;
    static constexpr bool OWN_LOOP = true;
    typedef unsigned constants; /* all ones, to complement the samples; otherwise 0 */

    unsigned flip, result[4];
    struct three_rows<Sample, PIXEL, 4> rows;

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
            const unsigned kept = alpha_of_word<Sample, CHANNELS>(w) & keeps;
            out[w] = ((most.result[w] - least.result[w]) & ~kept) | (middle[w] & kept);
        }
    }
};

int gf_morphology_gradient(const struct view_pair &p, bool has_alpha, cudaStream_t stream)
{
    return for_samples(p, [&](auto sample, auto channels) -> int {
        return walk_strips<gradient_of_three<decltype(sample), decltype(channels)::value>>(
            p, has_alpha ? ~0u : 0, stream);
    });
}

int gf_morphology_small(const struct view_pair &p, unsigned flip, cudaStream_t stream)
{
    return for_samples(p, [&](auto sample, auto channels) -> int {
        return walk_strips<largest_of_three<decltype(sample), decltype(channels)::value>>(p, flip,
                                                                                          stream);
    });
}
