/* Squares of 3x3 in one pass, a walk down strips (cuda/common/walk.cuh): dilation, erosion, and
 * their difference. */
#include "cuda/common/walk.cuh"
#include "cuda/filters/morphology/window.cuh"

/* Returns 4 bytes of a row from byte AT on, counted from the lane's own first byte; AT may be
 * negative. */
template <int BESIDE, int AT>
static __device__ __forceinline__ unsigned bytes_at(const unsigned (&word)[4 + 2 * BESIDE])
{
    constexpr int FROM = AT + 4 * BESIDE;
    return FROM % 4 ? __byte_perm(word[FROM / 4], word[FROM / 4 + (FROM % 4 != 0)],
                                  0x3210 + 0x1111 * (FROM % 4))
                    : word[FROM / 4];
}

/* Finds the largest of each pixel and its neighbours on either side. */
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

template <class Sample, int CHANNELS> struct largest_of_three : walk_stencil<Sample, CHANNELS> {
    static constexpr int PIXEL = CHANNELS * (int)sizeof(Sample), BESIDE = (PIXEL + 3) / 4;
    static constexpr int UNROLL = 2, BLOCKS = 6;
    typedef unsigned constants; /* all ones, to complement the samples; otherwise 0 */

    unsigned flip;
    /* `last` is the row before, `both` has the larger samples of that row and the row above it. */
    samples<Sample> last[4], both[4];
    unsigned result[4];

    __device__ __forceinline__ explicit largest_of_three(unsigned flip) : flip(flip)
    {
    }
    __device__ __forceinline__ void take(const unsigned (&word)[4 + 2 * BESIDE], int phase)
    {
        unsigned v[4 + 2 * BESIDE];
        samples<Sample> row[4];
#pragma unroll
        for (int w = 0; w < 4 + 2 * BESIDE; w++)
            v[w] = word[w] ^ flip;
        three_across<Sample, PIXEL, BESIDE, 0>(v, row);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            if (phase >= 0)
                result[w] = both[w].larger(row[w]).word() ^ flip;
            both[w] = phase > -2 ? last[w].larger(row[w]) : row[w];
            last[w] = row[w];
        }
    }
    __device__ __forceinline__ void make(int, unsigned (&out)[4]) const
    {
#pragma unroll
        for (int w = 0; w < 4; w++)
            out[w] = result[w];
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
    /* Returns ones for the samples of word `w` that are alpha. */
    static __device__ __forceinline__ unsigned alpha(int w)
    {
        if (CHANNELS % 2)
            return 0;
        if (sizeof(Sample) == 1)
            return CHANNELS == 2 ? 0xFF00FF00u : 0xFF000000u;
        return CHANNELS == 2 || w % 2 ? 0xFFFF0000u : 0;
    }
    __device__ __forceinline__ void make(int, unsigned (&out)[4]) const
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const unsigned kept = alpha(w) & keeps;
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
