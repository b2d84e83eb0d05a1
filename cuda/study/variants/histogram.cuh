/* Counters of histograms in global memory (Programming Guide 2.2.5), and in the shared memory of
 * a cluster of blocks. */
#pragma once

#include <cooperative_groups.h>

#include "cuda/filters/histogram/levels.cuh"

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
        LAUNCH_TRY(resident_blocks(count_global_kernel<BITS, COUNT, MIXTURE>, threads, 0, blocks,
                                   &blocks));
        return launch_kernel(count_global_kernel<BITS, COUNT, MIXTURE>, blocks, threads, 0,
                             counting.task.stream, counting.task, counting.count);
    }
};

/* Counts a histogram in the shared memory of a cluster of blocks (Programming Guide 2.2.3.8). Each
 * block holds a part of the counters, and a thread adds to the block that has the counter. A
 * cluster has room for 65,536 counters of 32 bits, which no block has, so that the picture is read
 * only once. Needs compute capability 9.0. */

namespace cg = cooperative_groups;

/* The number of blocks in a cluster: two, as in the guide, if they suffice; 8 are possible on every
 * GPU with clusters. */
enum { CLUSTER_LEAST = 2, CLUSTER_MOST = 8 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Adds to a cluster's counters. Neighbouring levels belong to different blocks, so that a dark
 * picture does not keep one block busy. */
struct cluster_accumulator {
    static constexpr bool together = false, takes_words = false;
    unsigned *part;
    unsigned stride, blocks, shift; /* 1 << shift is the number of blocks */

    __device__ __forceinline__ void add(int channel, unsigned level, bool counted)
    {
        const unsigned counter = (unsigned)channel * stride + level;
        unsigned *const owner = cg::this_cluster().map_shared_rank(part, counter & (blocks - 1));
        if (counted)
            atomicAdd(&owner[counter >> shift], 1u);
    }
};
#endif

template <int BITS, int COUNT, int MIXTURE>
__global__ void __launch_bounds__(count_threads<BITS>)
    count_cluster_kernel(const struct level_task task, unsigned size, unsigned long long *count)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ unsigned part[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < size; i += count_threads<BITS>)
        part[i] = 0;
    cluster.sync(); /* all blocks run from here on, and their counters are 0 */
    const unsigned blocks = cluster.num_blocks();
    struct cluster_accumulator accumulator = {part, task.stride, blocks,
                                              (unsigned)__ffs((int)blocks) - 1};
    for_each_level<BITS, COUNT, MIXTURE>(task, accumulator);
    cluster.sync(); /* no block ends while others add to its counters */
    for (unsigned i = threadIdx.x; i < size; i += count_threads<BITS>) {
        if (part[i])
            atomicAdd(&count[i * blocks + cluster.block_rank()], (unsigned long long)part[i]);
    }
#endif
}

/* Finds the smallest number of blocks whose shared memory has room for the counters, because
 * additions to other blocks are slow. */
static inline cudaError_t size_cluster(unsigned counters, unsigned *blocks)
{
    int device = 0, bytes = 0;
    cudaError_t status = cudaGetDevice(&device);
    GF_THEN(status,
            cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    for (*blocks = CLUSTER_LEAST;
         *blocks < CLUSTER_MOST && counters / *blocks * sizeof(unsigned) > (size_t)bytes;)
        *blocks *= 2;
    return status;
}

struct cluster_method {
    template <int BITS, int COUNT, int MIXTURE>
    static cudaError_t launch(const struct counting &counting)
    {
        const auto kernel = count_cluster_kernel<BITS, COUNT, MIXTURE>;
        unsigned blocks;
        cudaError_t status = size_cluster(counting.counters, &blocks);
        const unsigned size = counting.counters / blocks;
        const unsigned needed = blocks_for(blocks_of(counting.task, count_threads<BITS>), blocks);
        int resident = 0;
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = blocks;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(needed * blocks);
        config.blockDim = dim3(count_threads<BITS>);
        config.dynamicSmemBytes = size * sizeof(unsigned);
        config.stream = counting.task.stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        GF_THEN(status, cudaFuncSetAttribute((const void *)kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)config.dynamicSmemBytes));
        GF_THEN(status, cudaOccupancyMaxActiveClusters(&resident, kernel, &config));
        if (status != cudaSuccess)
            return status;
        if (needed > (unsigned)resident && resident > 0)
            config.gridDim = dim3((unsigned)resident * blocks);
        return cudaLaunchKernelEx(&config, kernel, counting.task, size, counting.count);
    }
};
