/* Ways of counting a histogram, beginning with an atomic addition in global memory for each
 * sample; and ways of finding the lowest and the highest level. */
#include "cuda/study/variants/histogram.cuh"

#include <cooperative_groups/reduce.h>

#include "cuda/filters/histogram/extremes.cuh"
#include "cuda/filters/histogram/histogram_table.cuh"

GF_COUNTS(gf_histogram_global_cuda, count_by<struct global_method>)
GF_COUNTS(gf_histogram_aggregated_cuda, count_by<struct table_method<AGGREGATED>>)

/* Counts in a table for each warp. The variant refuses 16 bits, whose tables are too large for
 * that. */
extern "C" int gf_histogram_warp_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                      unsigned long long *count, const void *tables,
                                      cudaStream_t stream)
{
    const struct counting counting = counting_of(view, statistic, count, tables, stream);
    const enum mixture mixture = mixture_of(statistic, view->format);
    if (!view->rows)
        return cudaSuccess;
    if (view->format.bits != 8)
        return cudaErrorInvalidValue;
    return for_channels(view->format.channels, [&](auto channels) -> int {
        return launch_mixture<struct table_method<TABLE_A_WARP>, 8, decltype(channels)::value>(
            counting, mixture);
    });
}

GF_COUNTS(gf_histogram_cluster_cuda, count_by<struct cluster_method>)

/* ---- the lowest and the highest level: other ways than cuda/filters/histogram/histogram.cu ----
 */

/* Reduces by a tree in shared memory: in each of nine steps half of the threads merge the results
 * of the other half (Best Practices Guide 9.2.3). Adjacent threads read adjacent words, so that
 * there are no bank conflicts. */
struct by_shared {
    static __device__ void reduce(unsigned *low, unsigned *high)
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
        __syncthreads(); /* wait before the next channel overwrites the arrays */
    }
};

static __device__ __forceinline__ void reduce_lanes(unsigned *low, unsigned *high)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        *low = min(*low, __shfl_xor_sync(~0u, *low, distance));
        *high = max(*high, __shfl_xor_sync(~0u, *high, distance));
    }
}

/* Reduces by shuffles within warps; then each warp writes its result to shared memory, and the
 * first warp reduces these results. */
struct by_warp {
    static __device__ void reduce(unsigned *low, unsigned *high)
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
};

/* Reduces by cooperative groups, which use the reduction instruction of GPUs that have it
 * (Programming Guide 2.2.6). A tile as large as the block could do the second step, too, but
 * racecheck does not understand its synchronisation. */
struct by_groups {
    static __device__ void reduce(unsigned *low, unsigned *high)
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
};

GF_COUNTS(gf_extremes_shared_cuda, find_extremes<struct by_shared>)
GF_COUNTS(gf_extremes_warp_cuda, find_extremes<struct by_warp>)
GF_COUNTS(gf_extremes_groups_cuda, find_extremes<struct by_groups>)
