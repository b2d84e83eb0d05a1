/* Counters of histograms in tables in shared memory (Programming Guide 2.2.3.2, 2.2.3.8). */
#pragma once

#include "cuda/filters/histogram/levels.cuh"

enum tables { ONE_TABLE, TABLE_A_WARP, TABLE_A_LANE, AGGREGATED };

/* Returns the number of tables in a block of `threads` threads. */
static constexpr __host__ __device__ unsigned copies_of(int tables, unsigned threads)
{
    return tables == TABLE_A_WARP ? threads / WARP : tables == TABLE_A_LANE ? (unsigned)WARP : 1u;
}

/* Returns the index of counter i in a copy of size + 1 counters. The counters of a lane are all in
 * one bank, and the counters of a warp are consecutive. */
template <int TABLES>
static __device__ __forceinline__ unsigned index_in_copy(unsigned i, unsigned copy, unsigned size)
{
    return TABLES == TABLE_A_LANE ? i * WARP + copy : copy * (size + 1) + i;
}

/* Adds to counters first .. first + size - 1. Levels that other blocks count, and pixels that are
 * not counted, go to an unused counter after these: lanes that add to the same counter take less
 * time than a branch. */
template <int TABLES> struct table_accumulator {
    static constexpr bool together = TABLES == AGGREGATED, takes_words = false;
    unsigned *table;
    unsigned stride, first, size, copy;

    __device__ __forceinline__ void add(int channel, unsigned level, bool counted)
    {
        const unsigned inside = min((unsigned)channel * stride + level - first, size);
        const unsigned at = counted ? inside : size;
        if (TABLES == AGGREGATED) {
            const unsigned same = __match_any_sync(~0u, at);
            if ((same & ((1u << threadIdx.x % WARP) - 1)) == 0)
                atomicAdd(&table[at], (unsigned)__popc(same));
        } else {
            atomicAdd(&table[index_in_copy<TABLES>(at, copy, size)], 1u);
        }
    }
};

/* Counts the levels of the picture that belong to part blockIdx.y of the counters. A part has
 * `size` counters. */
template <int BITS, int COUNT, int MIXTURE, int TABLES>
__global__ void __launch_bounds__(count_threads<BITS>)
    count_table_kernel(const struct level_task task, unsigned size, unsigned long long *count)
{
    extern __shared__ unsigned table[];
    const unsigned threads = count_threads<BITS>;
    const unsigned copies = copies_of(TABLES, threads);
    const unsigned copy = TABLES == TABLE_A_WARP   ? threadIdx.x / WARP
                          : TABLES == TABLE_A_LANE ? threadIdx.x % WARP
                                                   : 0;
    const unsigned first = blockIdx.y * size;
    for (unsigned i = threadIdx.x; i < copies * (size + 1); i += threads)
        table[i] = 0;
    __syncthreads();
    struct table_accumulator<TABLES> accumulator = {
        table, task.stride, first, size, copy
    };
    for_each_level<BITS, COUNT, MIXTURE>(task, accumulator);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += threads) {
        unsigned sum = 0;
        for (unsigned k = 0; k < copies;
             k++) /* lanes begin with different copies, in different banks */
            sum += table[index_in_copy<TABLES>(i, (k + i) % copies, size)];
        if (sum)
            atomicAdd(&count[first + i], (unsigned long long)sum);
    }
}

static inline size_t table_bytes(int tables, unsigned size, int threads)
{
    return (size + 1) * sizeof(unsigned) * copies_of(tables, (unsigned)threads);
}

/* Finds the number of counters that fit in the shared memory of a block. The table is counted in
 * parts of that size. */
static inline cudaError_t cut_table(unsigned counters, unsigned *size)
{
    int bytes = 0;
    const cudaError_t status = shared_most(&bytes);
    *size = counters;
    for (unsigned part = 65536; table_bytes(ONE_TABLE, *size, 0) > (size_t)bytes; part /= 2)
        *size = part;
    return status;
}

template <int TABLES> struct table_method {
    /* Launches the blocks of all parts together. They read the same rows at about the same time, so
     * that the picture is read from memory once. */
    template <int BITS, int COUNT, int MIXTURE>
    static cudaError_t launch(const struct counting &counting)
    {
        const auto kernel = count_table_kernel<BITS, COUNT, MIXTURE, TABLES>;
        const int threads = count_threads<BITS>;
        unsigned size, resident = 0, needed = blocks_of(counting.task, threads);
        LAUNCH_TRY(cut_table(counting.counters, &size));
        const size_t bytes = table_bytes(TABLES, size, threads);
        LAUNCH_TRY(allow_shared(kernel, (int)bytes));
        const unsigned parts = counting.counters / size;
        LAUNCH_TRY(resident_blocks(kernel, threads, bytes, needed * parts, &resident));
        const dim3 blocks(resident / parts ? resident / parts : 1, parts);
        return launch_kernel(kernel, blocks, threads, bytes, counting.task.stream, counting.task,
                             size, counting.count);
    }
};
