/* A histogram over the shared memory of a cluster of blocks (Programming Guide 2.2.3.8): every thread adds to
 * whichever block holds the counter. 65,536 counters of 32 bits, which no block has room for, are there once
 * for each cluster, and the picture is read once. Clusters are there from compute capability 9.0 on. */
#ifndef GF_EQUALIZE_CLUSTER_CUH
#define GF_EQUALIZE_CLUSTER_CUH

#include <cooperative_groups.h>

#include "equalize_variants.cuh"

namespace cg = cooperative_groups;

/* The most that every such GPU can have together; the guide's two where the table is small. */
template <int BITS> constexpr unsigned cluster_blocks = BITS == 8 ? 2 : 8;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Neighbouring levels are different blocks', so that none has all of a picture's darkness. */
template <unsigned BLOCKS> struct cluster_tally {
    unsigned *table;
    unsigned stride;

    __device__ __forceinline__ void add(int channel, unsigned level, bool counted)
    {
        const unsigned counter = (unsigned)channel * stride + level;
        unsigned *const owner = cg::this_cluster().map_shared_rank(table, counter % BLOCKS);
        if (counted)
            atomicAdd(&owner[counter / BLOCKS], 1u);
    }
};
#endif

template <int BITS, int COUNT, int MIXTURE>
__global__ void __launch_bounds__(count_threads<BITS>)
    count_cluster_kernel(const struct bins_task task, unsigned size, unsigned long long *count)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ unsigned part[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < size; i += count_threads<BITS>)
        part[i] = 0;
    cluster.sync(); /* all blocks are there, and their parts are clear */
    struct cluster_tally<cluster_blocks<BITS>> tally = {part, task.stride};
    for_each_level<BITS, COUNT, MIXTURE>(task, tally);
    cluster.sync(); /* no block leaves while others still add to it */
    for (unsigned i = threadIdx.x; i < size; i += count_threads<BITS>) {
        if (part[i])
            atomicAdd(&count[i * cluster_blocks<BITS> + cluster.block_rank()],
                      (unsigned long long)part[i]);
    }
#endif
}

struct cluster_way {
    template <int BITS, int COUNT, int MIXTURE>
    static cudaError_t launch(const struct counting &counting)
    {
        const auto kernel = count_cluster_kernel<BITS, COUNT, MIXTURE>;
        const unsigned size = counting.counters / cluster_blocks<BITS>;
        const unsigned needed =
            blocks_for(blocks_of(counting.task, count_threads<BITS>), cluster_blocks<BITS>);
        int resident = 0;
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = cluster_blocks<BITS>;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(needed * cluster_blocks<BITS>);
        config.blockDim = dim3(count_threads<BITS>);
        config.dynamicSmemBytes = size * sizeof(unsigned);
        config.stream = counting.task.stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        cudaError_t status =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)config.dynamicSmemBytes);
        if (status == cudaSuccess)
            status = cudaOccupancyMaxActiveClusters(&resident, kernel, &config);
        if (status != cudaSuccess)
            return status;
        if (needed > (unsigned)resident && resident > 0)
            config.gridDim = dim3((unsigned)resident * cluster_blocks<BITS>);
        return cudaLaunchKernelEx(&config, kernel, counting.task, size, counting.count);
    }
};

#endif
