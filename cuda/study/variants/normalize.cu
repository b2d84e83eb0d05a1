/* Methods of finding the lowest and the highest level of a picture. Every thread reduces what it
 * reads in registers; the methods differ in how the threads of a block reduce further to one
 * result. The block then counts its two levels as if they were pixels: the lowest and the highest
 * level counted are those of the picture, so that blocks, bands and lanes need not wait for each
 * other. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

#include "cuda/study/variants/level_counting.cuh"

namespace cg = cooperative_groups;

enum { THREADS = 512, NONE = 0xffffffffu };
enum method { BY_SHARED, BY_WARP, BY_GROUPS, BY_ATOMIC };

/* The extremes of each channel; low is NONE if nothing was counted. Pictures without alpha and
 * mixtures are taken as words of two 16-bit halves. The halves of a word belong to the same
 * channels again three words later for RGB, and in every word for gray. */
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
            if (BITS == 8) { /* samples 0 and 2, then 1 and 3 */
                add_pair(i % period * 2, w[i] & 0x00ff00ffu);
                add_pair(i % period * 2 + 1, w[i] >> 8 & 0x00ff00ffu);
            } else {
                add_pair(i % period, w[i]);
            }
        }
    }

    /* Merges the pairs into low and high. any: at least one word was taken; otherwise the pairs
     * hold no levels. */
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

/* A tree in shared memory: in each of nine steps half of the threads merge the results of the other
 * half (Best Practices Guide 9.2.3). Adjacent threads read adjacent words, so that there are no
 * bank conflicts. */
static __device__ void reduce_shared(unsigned *low, unsigned *high)
{
    __shared__ unsigned lows[THREADS], highs[THREADS];
    const int i = (int)threadIdx.x;
    lows[i] = *low;
    highs[i] = *high;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) {
            lows[i] = min(lows[i], lows[i + half]);
            highs[i] = max(highs[i], highs[i + half]);
        }
    }
    if (i == 0) {
        *low = lows[0];
        *high = highs[0];
    }
    __syncthreads(); /* before the next channel */
}

static __device__ __forceinline__ void reduce_lanes(unsigned *low, unsigned *high)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        *low = min(*low, __shfl_xor_sync(~0u, *low, distance));
        *high = max(*high, __shfl_xor_sync(~0u, *high, distance));
    }
}

/* By shuffles within warps; then each warp writes its result to shared memory, and the first warp
 * reduces these. */
static __device__ void reduce_warp(unsigned *low, unsigned *high)
{
    enum { WARPS = THREADS / WARP };
    __shared__ unsigned lows[WARPS], highs[WARPS];
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    reduce_lanes(low, high);
    if (lane == 0) {
        lows[warp] = *low;
        highs[warp] = *high;
    }
    __syncthreads();
    if (warp == 0) {
        *low = lane < WARPS ? lows[lane] : NONE;
        *high = lane < WARPS ? highs[lane] : 0;
        reduce_lanes(low, high);
    }
    __syncthreads();
}

/* The same by cooperative groups, which use the reduction instruction of GPUs that have it
 * (Programming Guide 2.2.6). A tile as large as the block could do the second step too, but
 * racecheck does not understand its synchronisation. */
static __device__ void reduce_groups(unsigned *low, unsigned *high)
{
    __shared__ unsigned lows[THREADS / WARP], highs[THREADS / WARP];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<WARP>(block);
    *low = cg::reduce(warp, *low, cg::less<unsigned>());
    *high = cg::reduce(warp, *high, cg::greater<unsigned>());
    if (warp.thread_rank() == 0) {
        lows[warp.meta_group_rank()] = *low;
        highs[warp.meta_group_rank()] = *high;
    }
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const bool any = warp.thread_rank() < warp.meta_group_size();
        *low = cg::reduce(warp, any ? lows[warp.thread_rank()] : NONE, cg::less<unsigned>());
        *high = cg::reduce(warp, any ? highs[warp.thread_rank()] : 0u, cg::greater<unsigned>());
    }
    block.sync();
}

/* Every thread by atomic operations of the scope of the block (Programming Guide 2.2.5). */
static __device__ void reduce_atomic(unsigned *low, unsigned *high)
{
    __shared__ unsigned lowest, highest;
    if (threadIdx.x == 0) {
        lowest = NONE;
        highest = 0;
    }
    __syncthreads();
    cuda::atomic_ref<unsigned, cuda::thread_scope_block>(lowest).fetch_min(
        *low, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block>(highest).fetch_max(
        *high, cuda::memory_order_relaxed);
    __syncthreads();
    *low = lowest;
    *high = highest;
    __syncthreads();
}

template <int METHOD>
static __device__ __forceinline__ void reduce_block(unsigned *low, unsigned *high)
{
    if (METHOD == BY_SHARED)
        reduce_shared(low, high);
    else if (METHOD == BY_WARP)
        reduce_warp(low, high);
    else if (METHOD == BY_GROUPS)
        reduce_groups(low, high);
    else
        reduce_atomic(low, high);
}

static __device__ __forceinline__ void mark(unsigned long long *counter)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*counter).fetch_add(
        1, cuda::memory_order_relaxed);
}

template <int BITS, int COUNT, int MIXTURE, int METHOD>
__global__ void __launch_bounds__(THREADS)
    extremes_kernel(const struct level_task task, unsigned long long *count)
{
    struct extremes<BITS, COUNT, MIXTURE> found;
    for_each_level<BITS, COUNT, MIXTURE>(task, found);
    found.take_pairs();
#pragma unroll
    for (int c = 0; c < found.channels; c++) {
        reduce_block<METHOD>(&found.low[c], &found.high[c]);
        if (threadIdx.x == 0 && found.low[c] != NONE) {
            mark(&count[(unsigned)c * task.stride + found.low[c]]);
            mark(&count[(unsigned)c * task.stride + found.high[c]]);
        }
    }
}

template <int BITS, int COUNT, int MIXTURE, int METHOD>
static cudaError_t launch_mixture(const struct level_task &task, unsigned long long *count)
{
    const auto kernel = extremes_kernel<BITS, COUNT, MIXTURE, METHOD>;
    unsigned blocks = blocks_of(task, THREADS);
    const cudaError_t status = resident_blocks((const void *)kernel, THREADS, 0, blocks, &blocks);
    if (status != cudaSuccess)
        return status;
    kernel<<<blocks, THREADS, 0, task.stream>>>(task, count);
    return cudaGetLastError();
}

template <int BITS, int COUNT, int METHOD>
static cudaError_t launch_count(const struct level_task &task, enum mixture mixture,
                                unsigned long long *count)
{
    constexpr int luma = COUNT >= 3 ? LUMA_OF_3 : EACH;
    return mixture == EACH ? launch_mixture<BITS, COUNT, EACH, METHOD>(task, count)
                           : launch_mixture<BITS, COUNT, luma, METHOD>(task, count);
}

/* normalize does not use lightness. */
template <int METHOD>
static int find_extremes(const struct gf_view *view, enum gf_statistic statistic,
                         unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[2][4])(const struct level_task &, enum mixture,
                                             unsigned long long *) = {
        {launch_count<8, 1, METHOD>, launch_count<8, 2, METHOD>, launch_count<8, 3, METHOD>,
         launch_count<8, 4, METHOD>},
        {launch_count<16, 1, METHOD>, launch_count<16, 2, METHOD>, launch_count<16, 3, METHOD>,
         launch_count<16, 4, METHOD>},
    };
    const enum mixture mixture = mixture_of(statistic, view->format);
    if (mixture == LIGHTNESS_OF_3)
        return cudaErrorInvalidValue;
    if (!view->rows)
        return cudaSuccess;
    return launch[view->format.bits == 16][view->format.channels - 1](
        task_of(view, statistic, tables, stream), mixture, count);
}

extern "C" int gf_extremes_shared_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    return find_extremes<BY_SHARED>(view, statistic, count, tables, stream);
}

extern "C" int gf_extremes_warp_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                     unsigned long long *count, const void *tables, void *stream)
{
    return find_extremes<BY_WARP>(view, statistic, count, tables, stream);
}

extern "C" int gf_extremes_groups_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    return find_extremes<BY_GROUPS>(view, statistic, count, tables, stream);
}

extern "C" int gf_extremes_atomic_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    return find_extremes<BY_ATOMIC>(view, statistic, count, tables, stream);
}
