/* Counters of histograms in global memory (Programming Guide 2.2.5). */
#pragma once

#include "cuda/filters/histogram/counting.cuh"

struct global_accumulator {
    static constexpr bool together = false, takes_words = false;
    unsigned long long *count;
    unsigned stride;

    __device__ __forceinline__ void add(int channel, unsigned level, bool counted)
    {
        if (counted)
            atomicAdd(&count[(unsigned)channel * stride + level], 1ull);
    }
};

template <int BITS, int COUNT, int MIXTURE>
__global__ void __launch_bounds__(count_threads<BITS>)
    count_global_kernel(const struct level_task task, unsigned long long *count)
{
    struct global_accumulator accumulator = {count, task.stride};
    for_each_level<BITS, COUNT, MIXTURE>(task, accumulator);
}

struct global_method {
    template <int BITS, int COUNT, int MIXTURE>
    static cudaError_t launch(const struct counting &counting)
    {
        const int threads = count_threads<BITS>;
        unsigned blocks = blocks_of(counting.task, threads);
        const cudaError_t status = resident_blocks(
            (const void *)count_global_kernel<BITS, COUNT, MIXTURE>, threads, 0, blocks, &blocks);
        if (status != cudaSuccess)
            return status;
        count_global_kernel<BITS, COUNT, MIXTURE>
            <<<blocks, threads, 0, counting.task.stream>>>(counting.task, counting.count);
        return cudaGetLastError();
    }
};
