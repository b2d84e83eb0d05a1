/* Counts the symbols of a stripe in each of its possible codings. */
#include "cuda/png/cells.cuh"

/* COPIES is the number of tables that neighbouring lanes use in turns. The most frequent bytes have
 * few values, so that lanes would often need the same counter. */
enum { THREADS = 256, BLOCKS = 32, COPIES = 4 };

static __device__ __forceinline__ void count_match(unsigned *counts, const struct written &written)
{
    const struct parts parts = parts_of(written.length);
    unsigned number = parts.whole;
    if (parts.whole)
        atomicAdd(counts + SYMBOLS - 1, parts.whole);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (!parts.last[i])
            continue;
        atomicAdd(counts + length_symbol(parts.last[i]).symbol, 1u);
        number++;
    }
    atomicAdd(counts + SYMBOLS + distance_symbol(written.distance).symbol, number);
}

static __global__ void __launch_bounds__(THREADS)
    count_kernel(const struct png_group group, unsigned first, int coding)
{
    __shared__ unsigned tables[COPIES * CODES];
    const unsigned index = first + blockIdx.y;
    if (coding == REPEATS && !group.counts[index].drawing)
        return;
    const struct png_stripe stripe = group.stripes[index];
    const struct cells cells = cells_at(group, stripe, coding);
    const unsigned end = cells_in(stripe.size);
    unsigned *const counts = tables + threadIdx.x % COPIES * CODES;
    if (blockIdx.x * THREADS >= end)
        return;
    for (int i = threadIdx.x; i < COPIES * CODES; i += THREADS)
        tables[i] = 0;
    __syncthreads();
    for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < end; k += gridDim.x * THREADS) {
        const struct written written = written_by(cells, k);
        const uint64_t bytes = cells.data[k];
#pragma unroll
        for (int i = 0; i < CELL; i++) {
            if (i >= written.from && i < written.end)
                atomicAdd(counts + (bytes >> 8 * i & 255), 1u);
        }
        if (written.length)
            count_match(counts, written);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CODES; i += THREADS) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; copy++)
            sum += tables[copy * CODES + i];
        if (sum)
            atomicAdd(group.counts[index].counts[coding] + i, sum);
    }
}

cudaError_t gf_png_count_load(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, count_kernel);
}

cudaError_t gf_png_count_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned needed = blocks_for(group->cells_most, THREADS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const dim3 grid(smaller(needed, BLOCKS), smaller(group->count - first, GRID_ROWS_MAX));
        for (int coding = RUNS; coding < CODINGS; coding++)
            count_kernel<<<grid, THREADS, 0, stream>>>(*group, first, coding);
    }
    return cudaGetLastError();
}
