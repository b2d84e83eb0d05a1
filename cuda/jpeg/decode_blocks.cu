/* The coefficients of a group: the blocks first, then the DC values. */
#include "cuda/common/launch.cuh"
#include "cuda/common/scan.cuh"
#include "cuda/jpeg/decode.cuh"
#include "cuda/jpeg/zigzag.cuh"

/* Decodes every subsequence from its entry and stores the coefficients. The kernel also checks the
 * assumptions of the steps before it: each subsequence begins where the previous one ended, all
 * codes are valid, and each interval contains exactly its number of blocks. A picture that passes
 * these checks is decoded correctly, whatever the earlier steps did. */

enum { DECODE_VOTE_AFTER = 2 };
/* A block's coefficients in shared memory, two in a word. The extra word puts the blocks of
 * different threads into different banks. */
enum { BLOCK_WORDS = BLOCK_SIZE / 2, BLOCK_STRIDE = BLOCK_WORDS + 1 };

/* The number of indices that a symbol can lead to, with the indices of damaged blocks. */
enum { PLACES = BLOCK_SIZE + ADVANCE_BAD + 1 };

struct decode_shared {
    uint32_t blocks[SEQUENCE * BLOCK_STRIDE];
    uint16_t one[TABLES * LOOKS];
    unsigned before[SEQUENCE]; /* the number of the sequence's blocks before each subsequence */
    unsigned warps[WARP];
    unsigned char place[PLACES];
    alignas(16) uint16_t beyond[1]; /* has group.beyond entries, not 1 */
};

/* The subsequence of a thread: what is to be decoded, and the progress. */
struct own {
    const uint32_t *words;
    unsigned bit;        /* the position of the next bit in the stream */
    unsigned block;      /* the index of the present block in its MCU */
    unsigned to, to_end; /* numbers of blocks of the group: the next block, and the end of the
                          * interval's blocks */
    unsigned end;        /* the end of the subsequence, in bits */
    bool active, bad_code;
};

/* Returns the number of blocks in earlier sequences that belong to the interval of the sequence's
 * first subsequence. */
static __device__ unsigned count_before(const struct jpeg_group &group,
                                        const struct jpeg_stream *stream, unsigned number,
                                        unsigned first, unsigned *warps)
{
    const unsigned owned = SEQUENCE - stream->overlap;
    const unsigned sequence = first / owned; /* the interval begins in this sequence */
    unsigned sum = 0, total;
    if (sequence < number) {
        const unsigned own = first + threadIdx.x;
        if (own < (sequence + 1) * owned)
            sum = group.blocks[(size_t)stream->first_subsequence + own];
        for (unsigned i = sequence + 1 + threadIdx.x; i < number; i += SEQUENCE)
            sum += group.sequence_blocks[stream->first_sequence + i];
    }
    (void)block_exclusive_sum<SEQUENCE>(sum, warps, &total);
    return total;
}

static __device__ __forceinline__ unsigned look_up_one(const struct decode_shared *shared,
                                                       unsigned table, uint32_t bits)
{
    unsigned entry = shared->one[table + (bits >> (32 - LOOK_BITS))];
    if (!(entry & 31))
        entry = shared->beyond[(entry >> 5) * BEYOND + (bits << LOOK_BITS >> (16 + LOOK_BITS))];
    return entry;
}

/* Stores the blocks that these lanes have completed and clears them; each half of the warp handles
 * one block at a time. Element 0 of a block is the difference of the DC value. */
static __device__ __forceinline__ void store_blocks(struct decode_shared *shared,
                                                    const struct jpeg_group &group, unsigned lanes,
                                                    unsigned to)
{
    const unsigned lane = threadIdx.x & (WARP - 1), warp = threadIdx.x - lane;
    const unsigned part = lane % (WARP / 2);
    __syncwarp();
    do {
        const unsigned rest = lanes & (lanes - 1), own = lane < WARP / 2 ? lanes : rest;
        const unsigned from = __ffs(own) - 1;
        const unsigned block = __shfl_sync(~0u, to, from);
        if (own) {
            uint32_t *const words = &shared->blocks[(warp + from) * BLOCK_STRIDE + 2 * part];
            const uint2 values = make_uint2(words[0], words[1]);
            words[0] = words[1] = 0;
            ((uint2 *)group.coefficients)[(size_t)block * (BLOCK_WORDS / 2) + part] = values;
            if (!part)
                group.dc[block] = (int16_t)values.x;
        }
        lanes = rest & (rest - 1);
    } while (lanes);
    __syncwarp();
}

/* Returns the value of the `size` bits after a code of `code` bits (F.2.2.1). */
static __device__ __forceinline__ int extend(uint32_t bits, unsigned code, unsigned size)
{
    const uint32_t from = bits << code;
    const int value = (int)__funnelshift_l(from, 0, size);
    return value + ((int)from < 0 ? 0 : (int)(~0u << size) + 1);
}

/* Returns the index of the DC table for a block of the MCU. The AC table follows LOOKS entries
 * later. */
static __device__ __forceinline__ unsigned block_table(unsigned pair_of_block, unsigned block)
{
    return (pair_of_block >> block & 1) * (2 * LOOKS);
}

static __device__ __forceinline__ void decode(struct own *own, struct decode_shared *shared,
                                              const struct jpeg_group &group,
                                              unsigned pair_of_block, unsigned mcu_blocks)
{
    char *const mine = (char *)&shared->blocks[threadIdx.x * BLOCK_STRIDE];
    unsigned index = 0, base = block_table(pair_of_block, own->block), table = base;
    const uint32_t *from = own->words + own->bit / 32;
    uint32_t high = __ldg(from), low = __ldg(from + 1), next = __ldg(from + 2);
    from += 3;
    while (__any_sync(~0u, own->active)) {
#pragma unroll
        for (int i = 0; i < DECODE_VOTE_AFTER; i++) {
            const unsigned next_block = own->block + 1 == mcu_blocks ? 0 : own->block + 1;
            const unsigned next_base = block_table(pair_of_block, next_block);
            const uint32_t bits = __funnelshift_l(low, high, own->bit);
            const unsigned entry = look_up_one(shared, table, bits);
            const unsigned size = entry >> 5 & 15, advance = entry >> 9;
            const unsigned before = own->bit;
            own->bit += own->active ? entry & 31 : 0;
            const bool crosses = (own->bit ^ before) & 32;
            high = crosses ? low : high;
            low = crosses ? next : low;
            if (crosses)
                next = __ldg(from);
            from += crosses;
            index += advance;
            if (own->active && size)
                *(int16_t *)(mine + shared->place[index]) =
                    (int16_t)extend(bits, (entry & 31) - size, size);
            const bool ends = own->active && index >= BLOCK_SIZE;
            own->bad_code |= ends && index != BLOCK_SIZE && advance != BLOCK_SIZE;
            const unsigned completed = __ballot_sync(~0u, ends);
            if (completed)
                store_blocks(shared, group, completed, own->to);
            table = ends ? next_base : base + LOOKS;
            base = ends ? next_base : base;
            own->block = ends ? next_block : own->block;
            index = ends ? 0 : index;
            own->to += ends;
            own->active =
                own->active && !(ends && (own->bit >= own->end || own->to == own->to_end));
        }
    }
}

/* Whether the subsequence ended at the beginning of the next subsequence, or less than a byte
 * before the end of its interval. */
static __device__ bool ended_right(const struct own *own, const struct span *span, unsigned decoded,
                                   unsigned assumed, unsigned assumed_exit)
{
    if (own->to == own->to_end)
        return assumed >= decoded && span->interval_end >= own->bit &&
               span->interval_end - own->bit < 8;
    return span->end < span->interval_end && assumed == decoded &&
           assumed_exit == pack_state(own->bit - span->end, own->block);
}

static __global__ void __launch_bounds__(SEQUENCE) decode_kernel(const struct jpeg_group group)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct decode_shared *const shared = (struct decode_shared *)memory;
    const unsigned picture = group.sequence_picture[blockIdx.x];
    const struct jpeg_stream *const stream = &group.streams[picture];
    const struct jpeg_picture *const about = &group.pictures[picture];
    const unsigned owned = SEQUENCE - stream->overlap;
    const unsigned number = blockIdx.x - stream->first_sequence, begin = number * owned;
    const unsigned subsequence = begin + threadIdx.x;
    const unsigned subsequences = group.found[picture].subsequences;
    if (__syncthreads_or(!threadIdx.x && group.flags[picture]) || begin >= subsequences)
        return;
    load_shared<SEQUENCE>(shared->one, group.tables[stream->tables].one, sizeof shared->one);
    load_shared<SEQUENCE>(shared->beyond, group.tables[stream->tables].beyond,
                          stream->beyond * sizeof(uint16_t));
    if (threadIdx.x < PLACES)
        shared->place[threadIdx.x] =
            threadIdx.x - 1 < BLOCK_SIZE ? zigzag_place[threadIdx.x - 1] * sizeof(int16_t) : 0;
    for (unsigned i = threadIdx.x; i < SEQUENCE * BLOCK_STRIDE; i += SEQUENCE)
        shared->blocks[i] = 0;

    const bool there = threadIdx.x < owned && subsequence < subsequences;
    const size_t at = (size_t)stream->first_subsequence + subsequence;
    struct span span = {0, 0, 0, 0, 0};
    unsigned assumed = 0, total;
    if (there) {
        span = find_span(group, stream, subsequence);
        assumed = group.blocks[at];
    }
    const unsigned carry =
        count_before(group, stream, number, find_span(group, stream, begin).first, shared->warps);
    shared->before[threadIdx.x] = block_exclusive_sum<SEQUENCE>(assumed, shared->warps, &total);
    __syncthreads();

    struct own own;
    const unsigned before = shared->before[threadIdx.x] +
                            (span.first < begin ? carry : 0u - shared->before[span.first - begin]);
    const unsigned interval_blocks = stream->interval_mcus * about->blocks_per_mcu;
    const unsigned interval_first = span.interval * interval_blocks;
    const unsigned blocks = min(interval_blocks, about->blocks - interval_first);
    const unsigned entry = there && subsequence > span.first ? group.exits[at - 1] : 0;
    own.words = group.words + stream->words;
    own.block = state_block(entry);
    own.to = about->first_block + interval_first + before;
    own.to_end = about->first_block + interval_first + blocks;
    own.end = span.end;
    own.bad_code = false;
    own.bit = span.begin + state_bits(entry);
    const bool decodes = there && before < blocks;
    own.active = decodes && own.bit < span.end;
    const unsigned from = own.to;
    decode(&own, shared, group, stream->pair_of_block, about->blocks_per_mcu);
    if (own.bad_code)
        atomicOr(&group.flags[picture], JPEG_BAD_CODE);
    if (decodes && !ended_right(&own, &span, own.to - from, assumed, group.exits[at]))
        atomicOr(&group.flags[picture], JPEG_BAD_LENGTH);
}

cudaError_t gf_jpeg_decode_blocks(const struct jpeg_group *group, cudaStream_t stream)
{
    const int shared = (int)(sizeof(struct decode_shared) + group->beyond * sizeof(uint16_t));
    LAUNCH_TRY(allow_shared(decode_kernel, shared));
    return launch_kernel(decode_kernel, group->sequences, SEQUENCE, shared, stream, *group);
}

/* Adds up the differences of the DC values of each component, from the beginning of each restart
 * interval: first the sums of tiles of MCUs, then each value. */

enum { DC_THREADS = 256, DC_EACH = DC_TILE / DC_THREADS };

/* The sums of the three components since an interval began. `begun` tells whether an interval began
 * among the MCUs that were added. */
struct sums {
    int value[3];
    int begun;
};

static __device__ __forceinline__ void add(struct sums *sums, unsigned component, int value)
{
#pragma unroll
    for (unsigned c = 0; c < 3; c++)
        sums->value[c] += component == c ? value : 0;
}

/* Returns the sums over the MCUs of `left` and the MCUs of `right`, which follow them. */
static __device__ __forceinline__ struct sums join(const struct sums &left,
                                                   const struct sums &right)
{
    struct sums sums = right;
#pragma unroll
    for (int c = 0; c < 3; c++)
        sums.value[c] += right.begun ? 0 : left.value[c];
    sums.begun |= left.begun;
    return sums;
}

static __device__ __forceinline__ struct sums shift_up(const struct sums &sums, int step)
{
    struct sums other;
#pragma unroll
    for (int c = 0; c < 3; c++)
        other.value[c] = __shfl_up_sync(~0u, sums.value[c], step);
    other.begun = __shfl_up_sync(~0u, sums.begun, step);
    return other;
}

static __device__ __forceinline__ struct sums warp_scan(struct sums sums)
{
    const int lane = threadIdx.x & (WARP - 1);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const struct sums other = shift_up(sums, step);
        if (lane >= step)
            sums = join(other, sums);
    }
    return sums;
}

/* Returns the sums over the MCUs before this thread's MCUs; *all is the sum over all threads. */
static __device__ struct sums block_scan(const struct sums &own, struct sums *warps,
                                         struct sums *all)
{
    const int lane = threadIdx.x & (WARP - 1), warp = threadIdx.x / WARP;
    const struct sums inclusive = warp_scan(own);
    struct sums before = shift_up(inclusive, 1);
    if (!lane)
        before = {{0, 0, 0}, 0};
    __syncthreads();
    if (lane == WARP - 1)
        warps[warp] = inclusive;
    __syncthreads();
    struct sums earlier = {{0, 0, 0}, 0};
    *all = earlier;
    for (int i = 0; i < DC_THREADS / WARP; i++) {
        if (i == warp)
            earlier = *all;
        *all = join(*all, warps[i]);
    }
    return join(earlier, before);
}

/* Calls a function for each value of a thread's MCUs. `sums` are the sums before them. */
template <class Function>
static __device__ __forceinline__ struct sums each_value(const struct jpeg_stream *stream,
                                                         unsigned mcu_blocks, unsigned mcu,
                                                         struct sums sums, const Function &function)
{
    for (unsigned i = mcu; i < mcu + DC_EACH && i < stream->mcus; i++) {
        if (i % stream->interval_mcus == 0)
            sums = {{0, 0, 0}, 1};
        for (unsigned block = 0; block < mcu_blocks; block++)
            function(&sums, i * mcu_blocks + block, stream->components_of_block >> 2 * block & 3);
    }
    return sums;
}

/* Returns the sums before a tile, over the earlier tiles since its first interval began. */
static __device__ struct sums sums_before(const struct jpeg_group &group,
                                          const struct jpeg_stream *stream, unsigned tile,
                                          struct sums *warps)
{
    const unsigned mcu = tile * DC_TILE;
    const unsigned first = (mcu - mcu % stream->interval_mcus) / DC_TILE;
    struct sums sums = {{0, 0, 0}, 0}, all;
    for (unsigned i = first + threadIdx.x; i < tile; i += DC_THREADS) {
        const int4 other = group.dc_sums[stream->first_dc_tile + i];
        sums.value[0] += other.x;
        sums.value[1] += other.y;
        sums.value[2] += other.z;
    }
    (void)block_scan(sums, warps, &all);
    return all;
}

static __global__ void __launch_bounds__(DC_THREADS) tile_sums_kernel(const struct jpeg_group group)
{
    __shared__ struct sums warps[DC_THREADS / WARP];
    const unsigned picture = group.dc_tile_picture[blockIdx.x];
    if (group.flags[picture])
        return;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned tile = blockIdx.x - stream->first_dc_tile;
    const int16_t *const dc = group.dc + group.pictures[picture].first_block;
    struct sums all;
    const struct sums own = each_value(stream, group.pictures[picture].blocks_per_mcu,
                                       tile * DC_TILE + threadIdx.x * DC_EACH, {{0, 0, 0}, 0},
                                       [&](struct sums *sums, unsigned block, unsigned component) {
                                           add(sums, component, dc[block]);
                                       });
    (void)block_scan(own, warps, &all);
    if (!threadIdx.x)
        group.dc_sums[blockIdx.x] = make_int4(all.value[0], all.value[1], all.value[2], 0);
}

static __global__ void __launch_bounds__(DC_THREADS) sum_dc_kernel(const struct jpeg_group group)
{
    __shared__ struct sums warps[DC_THREADS / WARP];
    const unsigned picture = group.dc_tile_picture[blockIdx.x];
    if (__syncthreads_or(!threadIdx.x && group.flags[picture])) /* another tile may set the flags */
        return;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned mcu_blocks = group.pictures[picture].blocks_per_mcu;
    const unsigned tile = blockIdx.x - stream->first_dc_tile;
    const unsigned mcu = tile * DC_TILE + threadIdx.x * DC_EACH;
    int16_t *const dc = group.dc + group.pictures[picture].first_block;
    struct sums all;
    const struct sums own = each_value(stream, mcu_blocks, mcu, {{0, 0, 0}, 0},
                                       [&](struct sums *sums, unsigned block, unsigned component) {
                                           add(sums, component, dc[block]);
                                       });
    const struct sums before = sums_before(group, stream, tile, warps);
    const struct sums start = join(before, block_scan(own, warps, &all));
    bool out_of_range = false;
    (void)each_value(stream, mcu_blocks, mcu, start,
                     [&](struct sums *sums, unsigned block, unsigned component) {
                         add(sums, component, dc[block]);
                         const int value = component == 0   ? sums->value[0]
                                           : component == 1 ? sums->value[1]
                                                            : sums->value[2];
                         out_of_range |= value != (int16_t)value;
                         dc[block] = (int16_t)value;
                     });
    if (out_of_range)
        atomicOr(&group.flags[picture], JPEG_OUT_OF_RANGE);
}

cudaError_t gf_jpeg_sum_dc(const struct jpeg_group *group, cudaStream_t stream)
{
    tile_sums_kernel<<<group->dc_tiles, DC_THREADS, 0, stream>>>(*group);
    return launch_kernel(sum_dc_kernel, group->dc_tiles, DC_THREADS, 0, stream, *group);
}
