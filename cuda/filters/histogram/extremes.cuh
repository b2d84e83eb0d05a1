/* Finds the lowest and the highest level of a picture. Every thread reduces the levels that it
 * reads in registers. REDUCTION::reduce() reduces the threads' results to one result for the block.
 * The block then counts its two levels as if they were pixels. The lowest and the highest level
 * that any block counts are the picture's levels, so that blocks, bands and lanes need not wait for
 * each other. */
#pragma once

#include <cuda/atomic>

#include "cuda/filters/histogram/levels.cuh"

enum { THREADS = 512, NONE = 0xffffffffu };

/* The extremes of each channel. `low` is NONE if nothing was counted. The samples of pictures
 * without alpha, if no level is computed from several of them, are read as words of two 16-bit
 * halves. For RGB the halves belong to the same channels again three words later, for gray in every
 * word. */
template <int BITS, int COUNT, int MIXTURE> struct extremes {
    static constexpr bool together = false, takes_words = MIXTURE == EACH && COUNT % 2 == 1;
    static constexpr int channels = levels_of<COUNT, MIXTURE>;
    static constexpr int period = COUNT == 3 ? 3 : 1, splits = BITS == 8 ? 2 : 1;
    static constexpr int pairs = period * splits;
    unsigned low[channels], high[channels];
    unsigned low_pair[pairs], high_pair[pairs];

    __device__ __forceinline__ extremes()
    {
#pragma unroll
        for (int c = 0; c < channels; c++) {
            low[c] = NONE;
            high[c] = 0;
        }
#pragma unroll
        for (int i = 0; i < pairs; i++) {
            low_pair[i] = NONE;
            high_pair[i] = 0;
        }
    }

    __device__ __forceinline__ void add(int channel, unsigned level, bool counted)
    {
        low[channel] = min(low[channel], counted ? level : NONE);
        high[channel] = max(high[channel], counted ? level : 0);
    }

    __device__ __forceinline__ void add_pair(int i, unsigned two)
    {
        low_pair[i] = __vminu2(low_pair[i], two);
        high_pair[i] = __vmaxu2(high_pair[i], two);
    }

    __device__ __forceinline__ void add_words(const unsigned *w)
    {
#pragma unroll
        for (int i = 0; i < item<BITS, COUNT>::words; i++) {
            if (BITS == 8) { /* samples 0 and 2, then samples 1 and 3 */
                add_pair(i % period * 2, w[i] & 0x00ff00ffu);
                add_pair(i % period * 2 + 1, w[i] >> 8 & 0x00ff00ffu);
            } else {
                add_pair(i % period, w[i]);
            }
        }
    }

    /* Merges the pairs into `low` and `high`. `any` tells whether at least one word was read;
     * otherwise the pairs hold no levels. */
    __device__ __forceinline__ void take_pairs()
    {
#pragma unroll
        for (int i = 0; takes_words && i < pairs; i++) {
            const bool any = BITS == 8 ? low_pair[i] <= 0x00ff00ffu
                                       : low_pair[i] != NONE || high_pair[i] == NONE;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int sample = BITS == 8 ? i / 2 * 4 + i % 2 + 2 * half : 2 * i + half;
                const int channel = sample % channels;
                add(channel, low_pair[i] >> 16 * half & 65535u, any);
                add(channel, high_pair[i] >> 16 * half & 65535u, any);
            }
        }
    }
};

static __device__ __forceinline__ void mark(unsigned long long *counter)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*counter).fetch_add(
        1, cuda::memory_order_relaxed);
}

template <int BITS, int COUNT, int MIXTURE, class REDUCTION>
__global__ void __launch_bounds__(THREADS)
    extremes_kernel(const struct level_task task, unsigned long long *count)
{
    struct extremes<BITS, COUNT, MIXTURE> found;
    for_each_level<BITS, COUNT, MIXTURE>(task, found);
    found.take_pairs();
#pragma unroll
    for (int c = 0; c < found.channels; c++) {
        REDUCTION::reduce(&found.low[c], &found.high[c]);
        if (threadIdx.x == 0 && found.low[c] != NONE) {
            mark(&count[(unsigned)c * task.stride + found.low[c]]);
            mark(&count[(unsigned)c * task.stride + found.high[c]]);
        }
    }
}

template <int BITS, int COUNT, int MIXTURE, class REDUCTION>
static cudaError_t launch_mixture(const struct level_task &task, unsigned long long *count)
{
    const auto kernel = extremes_kernel<BITS, COUNT, MIXTURE, REDUCTION>;
    unsigned blocks = blocks_of(task, THREADS);
    LAUNCH_TRY(resident_blocks(kernel, THREADS, 0, blocks, &blocks));
    return launch_kernel(kernel, blocks, THREADS, 0, task.stream, task, count);
}

template <int BITS, int COUNT, class REDUCTION>
static cudaError_t launch_count(const struct level_task &task, enum mixture mixture,
                                unsigned long long *count)
{
    constexpr int luma = COUNT >= 3 ? LUMA_OF_3 : EACH;
    return mixture == EACH ? launch_mixture<BITS, COUNT, EACH, REDUCTION>(task, count)
                           : launch_mixture<BITS, COUNT, luma, REDUCTION>(task, count);
}

/* Finds the extremes of a view. The statistic is never lightness, since only normalize needs
 * extremes. */
template <class REDUCTION>
static int find_extremes(const struct gf_view *view, enum gf_statistic statistic,
                         unsigned long long *count, const void *tables, cudaStream_t stream)
{
    static cudaError_t (*const launch[2][4])(const struct level_task &, enum mixture,
                                             unsigned long long *) = {
        {launch_count<8, 1, REDUCTION>, launch_count<8, 2, REDUCTION>,
         launch_count<8, 3, REDUCTION>, launch_count<8, 4, REDUCTION>},
        {launch_count<16, 1, REDUCTION>, launch_count<16, 2, REDUCTION>,
         launch_count<16, 3, REDUCTION>, launch_count<16, 4, REDUCTION>},
    };
    const enum mixture mixture = mixture_of(statistic, view->format);
    if (mixture == LIGHTNESS_OF_3)
        return cudaErrorInvalidValue;
    if (!view->rows)
        return cudaSuccess;
    return launch[view->format.bits == 16][view->format.channels - 1](
        task_of(view, statistic, tables, stream), mixture, count);
}
