/* Marks the cells that have a distance: runs in all stripes, repeats in drawings. */
#include "cuda/png/cells.cuh"

enum {
    THREADS = 256,
    BLOCKS = 32 /* the most for a stripe */
};

static __device__ __forceinline__ bool is_run(const uint64_t *data, unsigned k, unsigned whole)
{
    return k > 0 && k < whole && data[k] == (data[k - 1] >> 56) * 0x0101010101010101ull;
}

/* Returns the final distance of cell k, from the distances that were found first. */
static __device__ __forceinline__ unsigned agreed(const uint64_t *data, const uint16_t *first,
                                                  unsigned k, unsigned whole)
{
    if (k >= whole)
        return 0;
    const unsigned own = first[k], behind = k + 1 < whole ? first[k + 1] : 0;
    return own != 1 && behind > 1 && repeats(data, k, behind) ? behind : own;
}

template <int CODING>
static __global__ void __launch_bounds__(THREADS)
    mark_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.y;
    if (CODING == REPEATS && !group.counts[index].drawing)
        return;
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t *const data = (const uint64_t *)group.filtered + stripe.cells;
    const uint16_t *const candidates = group.first + stripe.cells;
    const unsigned whole = stripe.size / CELL, end = (whole / WARP + 1) * WARP;
    unsigned runs = 0;
    for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < end; k += gridDim.x * THREADS) {
        unsigned own, before;
        if (CODING == RUNS) {
            own = is_run(data, k, whole);
            before = k && is_run(data, k - 1, whole);
        } else {
            own = agreed(data, candidates, k, whole);
            before = k ? agreed(data, candidates, k - 1, whole) : 0;
            group.distances[stripe.cells + k] = (uint16_t)own;
        }
        const unsigned found = __ballot_sync(~0u, own != 0),
                       breaks = __ballot_sync(~0u, own != before);
        if (threadIdx.x % WARP == 0) {
            group.found[CODING][(stripe.cells + k) / 32] = found;
            group.breaks[CODING][(stripe.cells + k) / 32] = breaks;
        }
        runs += __popc(found);
    }
    if (CODING == RUNS && runs && threadIdx.x % WARP == 0)
        atomicAdd(&group.counts[index].runs, runs);
}

cudaError_t gf_png_match_load(void)
{
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, mark_kernel<RUNS>);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, mark_kernel<REPEATS>);
    return status == cudaSuccess ? gf_png_repeats_load() : status;
}

cudaError_t gf_png_match_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned needed = blocks_for(group->cells_most, THREADS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const unsigned count = smaller(group->count - first, GRID_ROWS_MAX);
        const dim3 grid(smaller(needed, BLOCKS), count);
        mark_kernel<RUNS><<<grid, THREADS, 0, stream>>>(*group, first);
        gf_png_repeats_launch(group, first, count, stream);
        mark_kernel<REPEATS><<<grid, THREADS, 0, stream>>>(*group, first);
    }
    return cudaGetLastError();
}
