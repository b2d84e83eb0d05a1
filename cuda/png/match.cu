/* The matches of a stripe: which granules have a distance, and how often each symbol is written. */
#include "cuda/png/granules.cuh"

/* Finds the distances of the granules of drawings. A warp processes the rounds of a stripe one
 * after another, because the search in each uses the bytes of the earlier rounds. */

enum {
    AHEAD = 4, /* rounds that are loaded together; each has a granule for each lane */
    SAMPLE = 8,
    HASH_BITS = 13,
    TABLE = 1 << HASH_BITS,
    WINDOW = 32768
};

static constexpr unsigned NO_HASH = ~0u;

/* The state of the search, which is the same in all lanes. */
struct search {
    const uint64_t *data;
    unsigned size, whole;
    unsigned distance; /* the distance of the last granule: 0, 1 or `kept` */
    unsigned kept;     /* the last distance other than 1; 0: none yet */
    uint64_t last;     /* the last granule before the round */
    unsigned *table;   /* the latest position with each hash, plus one */
};

static __device__ __forceinline__ unsigned hash(uint64_t bytes)
{
    return (unsigned)(bytes * 0x9E3779B185EBCA87ull >> (64 - HASH_BITS));
}

/* Enters the eight positions of a lane's granule, each by the hash of the eight bytes that begin
 * there. `next` is the next granule. If several neighbouring positions have the same hash, as in a
 * run, only the last is entered. */
static __device__ __forceinline__ void enter(unsigned *table, unsigned k, uint64_t own,
                                             uint64_t next, unsigned size)
{
    unsigned hashes[GRANULE + 1];
#pragma unroll
    for (unsigned i = 0; i < GRANULE; i++) {
        const uint64_t bytes = i ? own >> 8 * i | next << (64 - 8 * i) : own;
        hashes[i] = GRANULE * k + i + GRANULE <= size ? hash(bytes) : NO_HASH;
    }
    hashes[GRANULE] = __shfl_down_sync(~0u, hashes[0], 1);
    if (threadIdx.x == WARP - 1)
        hashes[GRANULE] = NO_HASH;
#pragma unroll
    for (unsigned i = 0; i < GRANULE; i++) {
        if (hashes[i] != NO_HASH && hashes[i] != hashes[i + 1])
            atomicMax(table + hashes[i], GRANULE * k + i + 1);
    }
}

static __device__ __forceinline__ bool stands_before(const struct search &search, unsigned k,
                                                     uint64_t own, unsigned distance)
{
    return k < search.whole && distance && distance <= GRANULE * k &&
           own == bytes_from(search.data, GRANULE * k - distance);
}

/* Returns the distance that the table has for a granule; 0: none. */
static __device__ __forceinline__ unsigned candidate(const struct search &search, unsigned k,
                                                     uint64_t own)
{
    const unsigned seen = search.table[hash(own)], distance = seen ? GRANULE * k + 1 - seen : 0;
    return distance <= WINDOW && stands_before(search, k, own, distance) ? distance : 0;
}

/* Returns the distance of a lane's granule, if no lane from `from` up to this one takes a
 * candidate. `runs` has a bit for each granule that is a run; `keeps` has a bit for each granule
 * that repeats the bytes `kept` before it. A granule that is both keeps the kind of distance of the
 * last granule before it that is not both; if there is none from lane `from` on, of the last
 * granule that has a distance already. */
static __device__ __forceinline__ unsigned kept_distance(const struct search &search, unsigned runs,
                                                         unsigned keeps, unsigned from)
{
    const unsigned lane = threadIdx.x, one = 1u << lane, either = runs & keeps;
    if (!(either & one))
        return keeps & one ? search.kept : runs & one ? 1 : 0;
    const unsigned sure = ~either & (one - 1) & (~0u << from);
    if (!sure)
        return search.distance > 1 ? search.kept : 1;
    return keeps >> (31 - __clz((int)sure)) & 1 ? search.kept : 1;
}

/* Finds the distances of a round's granules, one for each lane. At least one of the granules must
 * be no run. */
static __device__ __forceinline__ unsigned find(struct search *search, unsigned k, uint64_t own,
                                                unsigned runs)
{
    const unsigned lane = threadIdx.x, wanted = candidate(*search, k, own),
                   candidates = __ballot_sync(~0u, wanted != 0) & ~runs;
    unsigned distance = 0, from = 0;
    while (from < WARP) {
        const unsigned keeps = __ballot_sync(~0u, stands_before(*search, k, own, search->kept));
        const unsigned taken = candidates & ~keeps & (~0u << from),
                       stop = taken ? __ffs((int)taken) - 1 : WARP;
        if (lane >= from && lane < stop)
            distance = kept_distance(*search, runs, keeps, from);
        if (lane == stop)
            distance = wanted;
        if (stop < WARP)
            search->kept = search->distance = __shfl_sync(~0u, wanted, stop);
        from = stop + 1;
    }
    search->distance = __shfl_sync(~0u, distance, WARP - 1);
    return distance;
}

/* Searches a round, whose granules the lanes have loaded. `behind` is the first granule of the next
 * round. Returns the number of granules without a distance. */
static __device__ __forceinline__ unsigned add_round(struct search *search, unsigned k,
                                                     uint64_t own, uint64_t behind, uint16_t *first)
{
    const uint64_t above = __shfl_up_sync(~0u, own, 1), before = threadIdx.x ? above : search->last;
    const bool there = k < search->whole;
    const unsigned all = __ballot_sync(~0u, there),
                   runs = __ballot_sync(~0u, there && k &&
                                                 own == (before >> 56) * 0x0101010101010101ull);
    unsigned distance = 1;
    search->last = __shfl_sync(~0u, own, WARP - 1);
    if (runs != all) {
        const uint64_t next =
            __shfl_sync(~0u, threadIdx.x ? own : behind, (threadIdx.x + 1) % WARP);
        distance = find(search, k, own, runs);
        __syncwarp();
        enter(search->table, k, own, next, search->size);
        __syncwarp();
    } else {
        search->distance = 1;
    }
    if (there)
        first[k] = (uint16_t)distance;
    return __popc(all & ~__ballot_sync(~0u, distance != 0));
}

/* Loads a lane's granules of the next rounds. */
static __device__ __forceinline__ void load_ahead(const uint64_t *data, unsigned k, unsigned whole,
                                                  uint64_t granules[AHEAD])
{
#pragma unroll
    for (unsigned i = 0; i < AHEAD; i++)
        granules[i] = k + i * WARP <= whole ? data[k + i * WARP] : 0;
}

/* Searches the rounds of granules begin .. end - 1. Both are multiples of a round, and `end` may
 * be after the last granule. It stops when `most` granules have no distance, and returns false. */
static __device__ bool search_all(struct search search, unsigned begin, unsigned end, unsigned most,
                                  uint16_t *first)
{
    uint64_t granules[AHEAD], ahead[AHEAD];
    unsigned missed = 0;
    for (unsigned i = threadIdx.x; i < TABLE; i += WARP)
        search.table[i] = 0;
    __syncwarp();
    search.last = begin ? search.data[begin - 1] : 0;
    load_ahead(search.data, begin + threadIdx.x, search.whole, granules);
    for (; begin < end && missed < most; begin += AHEAD * WARP) {
        load_ahead(search.data, begin + AHEAD * WARP + threadIdx.x, search.whole, ahead);
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            if (begin + i * WARP < end && missed < most)
                missed += add_round(&search, begin + i * WARP + threadIdx.x, granules[i],
                                    i + 1 < AHEAD ? granules[i + 1] : ahead[0], first);
        }
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++)
            granules[i] = ahead[i];
    }
    return missed < most;
}

/* Whether a search for repeats pays: more than half of all granules are runs, or more than three
 * quarters of the granules in a sample repeat earlier bytes. */
static __device__ bool is_drawing(const struct search &search, unsigned runs, uint16_t *first)
{
    const unsigned rounds = search.whole / WARP, begin = rounds / 2,
                   number = rounds - begin < SAMPLE ? rounds - begin : SAMPLE;
    return 2 * runs > search.whole ||
           (number &&
            search_all(search, begin * WARP, (begin + number) * WARP, WARP / 4 * number, first));
}

static __global__ void __launch_bounds__(WARP)
    repeats_kernel(const struct png_group group, unsigned first)
{
    __shared__ unsigned table[TABLE];
    const unsigned index = first + blockIdx.x;
    const struct png_stripe stripe = group.stripes[index];
    uint16_t *const distances = group.first + stripe.granules;
    const struct search search = {(const uint64_t *)group.filtered + stripe.granules,
                                  stripe.size,
                                  stripe.size / GRANULE,
                                  0,
                                  0,
                                  0,
                                  table};
    if (!is_drawing(search, group.counts[index].runs, distances))
        return;
    if (threadIdx.x == 0)
        group.counts[index].drawing = 1;
    __syncwarp();
    search_all(search, 0, search.whole, ~0u, distances);
}

void gf_png_repeats_launch(const struct png_group *group, unsigned first, unsigned count,
                           cudaStream_t stream)
{
    repeats_kernel<<<count, WARP, 0, stream>>>(*group, first);
}

/* Marks the granules that have a distance: runs in all stripes, repeats in drawings. */

enum {
    MARK_THREADS = 256,
    MARK_BLOCKS = 32 /* the most for a stripe */
};

static __device__ __forceinline__ bool is_run(const uint64_t *data, unsigned k, unsigned whole)
{
    return k > 0 && k < whole && data[k] == (data[k - 1] >> 56) * 0x0101010101010101ull;
}

/* Returns the final distance of granule k, from the distances that were found first. */
static __device__ __forceinline__ unsigned agreed(const uint64_t *data, const uint16_t *first,
                                                  unsigned k, unsigned whole)
{
    if (k >= whole)
        return 0;
    const unsigned own = first[k], behind = k + 1 < whole ? first[k + 1] : 0;
    return own != 1 && behind > 1 && repeats(data, k, behind) ? behind : own;
}

template <int CODING>
static __global__ void __launch_bounds__(MARK_THREADS)
    mark_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.y;
    if (CODING == REPEATS && !group.counts[index].drawing)
        return;
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t *const data = (const uint64_t *)group.filtered + stripe.granules;
    const uint16_t *const candidates = group.first + stripe.granules;
    const unsigned whole = stripe.size / GRANULE, end = (whole / WARP + 1) * WARP;
    unsigned runs = 0;
    for (unsigned k = blockIdx.x * MARK_THREADS + threadIdx.x; k < end;
         k += gridDim.x * MARK_THREADS) {
        unsigned own, before;
        if (CODING == RUNS) {
            own = is_run(data, k, whole);
            before = k && is_run(data, k - 1, whole);
        } else {
            own = agreed(data, candidates, k, whole);
            before = k ? agreed(data, candidates, k - 1, whole) : 0;
            group.distances[stripe.granules + k] = (uint16_t)own;
        }
        const unsigned found = __ballot_sync(~0u, own != 0),
                       breaks = __ballot_sync(~0u, own != before);
        if (threadIdx.x % WARP == 0) {
            group.found[CODING][(stripe.granules + k) / 32] = found;
            group.breaks[CODING][(stripe.granules + k) / 32] = breaks;
        }
        runs += __popc(found);
    }
    if (CODING == RUNS && runs && threadIdx.x % WARP == 0)
        atomicAdd(&group.counts[index].runs, runs);
}

cudaError_t gf_png_match_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned needed = blocks_for(group->granules_most, MARK_THREADS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const unsigned count = min(group->count - first, (unsigned)GRID_ROWS_MAX);
        const dim3 grid(min(needed, (unsigned)MARK_BLOCKS), count);
        mark_kernel<RUNS><<<grid, MARK_THREADS, 0, stream>>>(*group, first);
        gf_png_repeats_launch(group, first, count, stream);
        mark_kernel<REPEATS><<<grid, MARK_THREADS, 0, stream>>>(*group, first);
    }
    return cudaGetLastError();
}

/* Counts the symbols of a stripe in each of its possible codings. */

/* COPIES is the number of tables that neighbouring lanes use in turns. The most frequent bytes have
 * few values, so that lanes would often need the same counter. */
enum { COUNT_THREADS = 256, COUNT_BLOCKS = 32, COPIES = 4 };

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

static __global__ void __launch_bounds__(COUNT_THREADS)
    count_kernel(const struct png_group group, unsigned first, int coding)
{
    __shared__ unsigned tables[COPIES * CODES];
    const unsigned index = first + blockIdx.y;
    if (coding == REPEATS && !group.counts[index].drawing)
        return;
    const struct png_stripe stripe = group.stripes[index];
    const struct granules granules = granules_at(group, stripe, coding);
    const unsigned end = granules_in(stripe.size);
    unsigned *const counts = tables + threadIdx.x % COPIES * CODES;
    if (blockIdx.x * COUNT_THREADS >= end)
        return;
    for (int i = threadIdx.x; i < COPIES * CODES; i += COUNT_THREADS)
        tables[i] = 0;
    __syncthreads();
    for (unsigned k = blockIdx.x * COUNT_THREADS + threadIdx.x; k < end;
         k += gridDim.x * COUNT_THREADS) {
        const struct written written = written_by(granules, k);
        const uint64_t bytes = granules.data[k];
#pragma unroll
        for (int i = 0; i < GRANULE; i++) {
            if (i >= written.from && i < written.end)
                atomicAdd(counts + (bytes >> 8 * i & 255), 1u);
        }
        if (written.length)
            count_match(counts, written);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CODES; i += COUNT_THREADS) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; copy++)
            sum += tables[copy * CODES + i];
        if (sum)
            atomicAdd(group.counts[index].counts[coding] + i, sum);
    }
}

cudaError_t gf_png_match_load(void)
{
    return load_all(mark_kernel<RUNS>, mark_kernel<REPEATS>, repeats_kernel, count_kernel);
}

cudaError_t gf_png_count_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned needed = blocks_for(group->granules_most, COUNT_THREADS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const dim3 grid(min(needed, (unsigned)COUNT_BLOCKS),
                        min(group->count - first, (unsigned)GRID_ROWS_MAX));
        for (int coding = RUNS; coding < CODINGS; coding++)
            count_kernel<<<grid, COUNT_THREADS, 0, stream>>>(*group, first, coding);
    }
    return cudaGetLastError();
}
