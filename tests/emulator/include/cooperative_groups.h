/* The part of cooperative groups that this project uses. */
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups
{

struct thread_block {
    void sync() const { __syncthreads(); }
};

static inline thread_block this_thread_block() { return {}; }

template <unsigned SIZE> struct thread_block_tile {
    static_assert(SIZE == 32, "only whole warps are emulated");
    unsigned thread_rank() const { return emulated::lane(); }
    unsigned meta_group_rank() const { return emulated::thread_in_block() / SIZE; }
    unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + SIZE - 1) / SIZE; }
};

template <unsigned SIZE> thread_block_tile<SIZE> tiled_partition(const thread_block &) { return {}; }

template <class T> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};

template <class T> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T, class Function> T reduce(const thread_block_tile<32> &, T value, const Function &function)
{
    for (int with = 16; with; with /= 2)
        value = function(value, __shfl_xor_sync(~0u, value, with));
    return value;
}

struct cluster_group {
    void sync() const { emulated::cluster_barrier(); }
    unsigned num_blocks() const { return emulated::cluster_blocks(); }
    unsigned block_rank() const { return emulated::cluster_rank(); }
    template <class T> T *map_shared_rank(T *own, unsigned rank) const
    {
        return (T *)emulated::shared_of_rank(own, rank);
    }
};

static inline cluster_group this_cluster() { return {}; }

} // namespace cooperative_groups
