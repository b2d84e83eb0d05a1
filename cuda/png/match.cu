/* Finds the distance of each cell: runs in all stripes, repeats in drawings. */
#include "cuda/png/cells.cuh"

enum {
    THREADS = 256,
    BLOCKS = 32, /* of a stripe at most */
    AHEAD = 4,   /* segments, of which each has a cell for each lane */
    HASH_BITS = 13,
    WINDOW = 32768
};

static constexpr unsigned NO_HASH = ~0u;

static __device__ __forceinline__ bool is_run(const uint64_t *data, unsigned k, unsigned whole)
{
    return k > 0 && k < whole && data[k] == (data[k - 1] >> 56) * 0x0101010101010101ull;
}

/* Cell k's distance, from those that were found first. */
static __device__ __forceinline__ unsigned agreed(const uint64_t *data, const uint16_t *first,
                                                  unsigned k, unsigned whole)
{
    if (k >= whole)
        return 0;
    const unsigned own = first[k], before = k > 0 ? first[k - 1] : 0,
                   behind = k + 1 < whole ? first[k + 1] : 0;
    if (own == 1)
        return 1;
    if (before != own && repeats(data, k, before))
        return before;
    return !own && repeats(data, k, behind) ? behind : own;
}

template <int CODING>
static __global__ void __launch_bounds__(THREADS)
    mark_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.y;
    if (CODING == REPEATS && !is_drawing(group, index))
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

/* ---- repeats ---- */

static __device__ __forceinline__ unsigned hash(uint64_t bytes)
{
    return (unsigned)(bytes * 0x9E3779B185EBCA87ull >> (64 - HASH_BITS));
}

/* Enters the places of a lane's cell, of which the next begins with `next`. Of places with one hash
 * that follow each other, as in a run, only the last is entered. */
static __device__ __forceinline__ void enter(unsigned *table, unsigned k, uint64_t own,
                                             uint64_t next, unsigned size)
{
    unsigned hashes[CELL + 1];
#pragma unroll
    for (unsigned i = 0; i < CELL; i++) {
        const uint64_t bytes = i ? own >> 8 * i | next << (64 - 8 * i) : own;
        hashes[i] = CELL * k + i + CELL <= size ? hash(bytes) : NO_HASH;
    }
    hashes[CELL] = __shfl_down_sync(~0u, hashes[0], 1);
    if (threadIdx.x == WARP - 1)
        hashes[CELL] = NO_HASH;
#pragma unroll
    for (unsigned i = 0; i < CELL; i++) {
        if (hashes[i] != NO_HASH && hashes[i] != hashes[i + 1])
            atomicMax(table + hashes[i], CELL * k + i + 1);
    }
}

/* Loads a lane's cells of the next segments. */
static __device__ __forceinline__ void load_ahead(const uint64_t *data, unsigned k, unsigned whole,
                                                  uint64_t cells[AHEAD])
{
#pragma unroll
    for (unsigned i = 0; i < AHEAD; i++)
        cells[i] = k + i * WARP <= whole ? data[k + i * WARP] : 0;
}

/* A warp goes through a stripe segment by segment, since each sees what stands in those before. It
 * notes what the table says; check_kernel() compares the bytes. */
static __global__ void __launch_bounds__(WARP)
    look_up_kernel(const struct png_group group, unsigned first)
{
    __shared__ unsigned table[1 << HASH_BITS]; /* the latest place, plus one */
    const unsigned index = first + blockIdx.x;
    if (!is_drawing(group, index))
        return;
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t *const data = (const uint64_t *)group.filtered + stripe.cells;
    const unsigned whole = stripe.size / CELL;
    uint64_t cells[AHEAD], ahead[AHEAD];
    for (unsigned i = threadIdx.x; i < 1 << HASH_BITS; i += WARP)
        table[i] = 0;
    __syncwarp();
    load_ahead(data, threadIdx.x, whole, cells);
    for (unsigned begin = 0; begin < whole; begin += AHEAD * WARP) {
        load_ahead(data, begin + AHEAD * WARP + threadIdx.x, whole, ahead);
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            const unsigned k = begin + i * WARP + threadIdx.x;
            const uint64_t own = cells[i], behind = i + 1 < AHEAD ? cells[i + 1] : ahead[0];
            const uint64_t next =
                __shfl_sync(~0u, threadIdx.x ? own : behind, (threadIdx.x + 1) % WARP);
            if (k < whole) {
                const unsigned seen = table[hash(own)], distance = seen ? CELL * k + 1 - seen : 0;
                group.first[stripe.cells + k] = distance <= WINDOW ? (uint16_t)distance : 0;
            }
            __syncwarp();
            enter(table, k, own, next, stripe.size);
            __syncwarp();
        }
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++)
            cells[i] = ahead[i];
    }
}

static __global__ void __launch_bounds__(THREADS)
    check_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.y;
    if (!is_drawing(group, index))
        return;
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t *const data = (const uint64_t *)group.filtered + stripe.cells;
    const unsigned whole = stripe.size / CELL;
    for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < whole; k += gridDim.x * THREADS) {
        uint16_t *const distance = group.first + stripe.cells + k;
        if (is_run(data, k, whole))
            *distance = 1;
        else if (!repeats(data, k, *distance))
            *distance = 0;
    }
}

cudaError_t gf_png_match_load(void)
{
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, mark_kernel<RUNS>);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, mark_kernel<REPEATS>);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, look_up_kernel);
    return status == cudaSuccess ? cudaFuncGetAttributes(&attributes, check_kernel) : status;
}

cudaError_t gf_png_match_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned needed = blocks_for(group->cells_most, THREADS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const unsigned count = smaller(group->count - first, GRID_ROWS_MAX);
        const dim3 grid(smaller(needed, BLOCKS), count);
        mark_kernel<RUNS><<<grid, THREADS, 0, stream>>>(*group, first);
        look_up_kernel<<<count, WARP, 0, stream>>>(*group, first);
        check_kernel<<<grid, THREADS, 0, stream>>>(*group, first);
        mark_kernel<REPEATS><<<grid, THREADS, 0, stream>>>(*group, first);
    }
    return cudaGetLastError();
}
