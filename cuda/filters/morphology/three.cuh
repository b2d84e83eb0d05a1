/* Squares of 3x3, in registers. */
#pragma once

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

/* Returns ones for the samples of word `w` that are alpha, if the last of 2 or 4 channels is. */
template <class Sample, int CHANNELS>
static __device__ __forceinline__ unsigned alpha_of_word(int w)
{
    if (CHANNELS % 2)
        return 0;
    if (sizeof(Sample) == 1)
        return CHANNELS == 2 ? 0xFF00FF00u : 0xFF000000u;
    return CHANNELS == 2 || w % 2 ? 0xFFFF0000u : 0;
}
