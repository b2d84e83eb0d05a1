/* Finds the lowest and the highest level of a picture. Every thread does atomic operations in the
 * scope of its block (Programming Guide 2.2.5). */
#include "cuda/filters/histogram/extremes.cuh"

struct by_atomics {
    static __device__ void reduce(unsigned *low, unsigned *high)
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
};

extern "C" int gf_extremes_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                unsigned long long *count, const void *tables, void *stream)
{
    return find_extremes<struct by_atomics>(view, statistic, count, tables, stream);
}
