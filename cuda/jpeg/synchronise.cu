/* Finds the entry of every subsequence. Each thread first decodes its own subsequence from a guess.
 * Then, in passes, each subsequence whose entry is not the exit of the previous subsequence is
 * decoded again, until there is none. After some symbols the codes resynchronise even from a wrong
 * guess. Thread blocks overlap, so that most have the right entry of their first own subsequence;
 * the others are repaired. */
#include "cuda/common/scan.cuh"
#include "cuda/jpeg/decode.cuh"

/* Constants of the search for repeated bits. The search begins after REPEATS_FROM passes, which
 * photographs seldom need, and goes back by up to BACK_MOST subsequences. On a blank page the bits
 * repeat after as many subsequences as the odd part of the number of bits of an MCU. The entries of
 * equal bits differ until as many blocks have passed as an MCU has. */
enum { REPEATS_FROM = 6, BACK_MOST = 15, LIKE_TRIES = 10 };
enum {
    REPAIR_PASSES_MOST = 512
};                                   /* the most passes in which a thread block repairs a picture's
                                      * sequences one after another */
enum kind { OUTSIDE, FIRST, LATER }; /* FIRST of its interval: the entry is known */

/* A picture's stream, its tables in shared memory, and its MCUs. */
struct source {
    const uint32_t *words, *walk;
    const uint16_t *beyond;
    unsigned mcu_blocks, pair_of_block, subsequence_bits;
};

/* A sequence in shared memory. */
struct sequence {
    uint16_t entry[SEQUENCE], exit[SEQUENCE], blocks[SEQUENCE], list[SEQUENCE];
    unsigned begin[SEQUENCE], end[SEQUENCE];
    unsigned listed[2]; /* the numbers of subsequences in the lists of this pass and of the next
                         * one */
    unsigned before;    /* the exit before the first subsequence */
    /* The distance, in subsequences, to an earlier subsequence with the same bits, or 0; and the
     * number of equal words. */
    unsigned char back[SEQUENCE], same_words[SEQUENCE];
};

static __host__ __device__ __forceinline__ unsigned table_bytes(unsigned beyond)
{
    return (unsigned)(PAIRS * WALK_PAIR * sizeof(uint32_t) + beyond * sizeof(uint16_t));
}

static __device__ __forceinline__ struct source
load_source(uint32_t *shared, const struct jpeg_group &group, unsigned picture)
{
    const struct jpeg_stream *const stream = &group.streams[picture];
    const struct jpeg_tables *const tables = &group.tables[stream->tables];
    uint32_t *const beyond = shared + PAIRS * WALK_PAIR;
    load_shared<SEQUENCE>(shared, tables->walk, sizeof tables->walk);
    load_shared<SEQUENCE>(beyond, tables->beyond, stream->beyond * sizeof(uint16_t));
    return {group.words + stream->words, shared,
            (const uint16_t *)beyond,    (unsigned)group.pictures[picture].blocks_per_mcu,
            stream->pair_of_block,       stream->subsequence_bits};
}

/* Masks the position of a walk, which is one number: the lower bits are the bit, counted from a
 * word of the stream; the upper bits are the index of the next coefficient. One addition advances
 * both, and the sign shows the end of a block. */
static constexpr unsigned AT_BIT = (1u << WALK_INDEX) - 1;
static constexpr unsigned STEP = ~AT_BIT | 31, AT_NEAR_END = (BLOCK_SIZE - WALK_AHEAD)
                                                             << WALK_INDEX;

/* Returns the entry of a code that is longer than LOOK_BITS. */
static __device__ __forceinline__ uint32_t look_beyond(const uint16_t *beyond, uint32_t entry,
                                                       uint32_t bits)
{
    const unsigned one = beyond[(entry >> 5) * BEYOND + (bits << LOOK_BITS >> (16 + LOOK_BITS))];
    return (one & 31) | min(one >> 9, (unsigned)BLOCK_SIZE) << WALK_INDEX;
}

/* Decodes the blocks that begin before bit `end`, from bit *bit and block number *block of an MCU
 * on. Returns their number. The address of the next look-up depends on as few instructions as
 * possible, since latency limits the loop. */
static __device__ __forceinline__ unsigned walk(const struct source &source, unsigned *bit,
                                                unsigned *block, unsigned end)
{
    const uint32_t *from = source.words + *bit / 32;
    const unsigned from_bit = *bit & ~31u, relative_end = end - from_bit;
    unsigned at = *bit & 31, own = *block, blocks = 0;
    unsigned base = (source.pair_of_block >> own & 1) * WALK_PAIR, table = base;
    uint32_t high = __ldg(from), low = __ldg(from + 1), next = __ldg(from + 2);
    from += 3;
#pragma unroll 2
    for (bool walks = *bit < end; walks;) {
        const unsigned next_block = own + 1 == source.mcu_blocks ? 0 : own + 1;
        const unsigned next_base = (source.pair_of_block >> next_block & 1) * WALK_PAIR;
        const uint32_t bits = __funnelshift_l(low, high, at);
        uint32_t entry = source.walk[table + (bits >> (32 - LOOK_BITS))];
        if (!(entry & 31))
            entry = look_beyond(source.beyond, entry, bits);
        const unsigned before = at;
        at += entry & STEP;
        const bool crosses = (at ^ before) & 32;
        high = crosses ? low : high;
        low = crosses ? next : low;
        if (crosses)
            next = __ldg(from);
        from += crosses;
        const bool ends = (int)at < 0;
        table = ends ? next_base : base + (at < AT_NEAR_END ? WALK_SEVERAL : WALK_ONE);
        base = ends ? next_base : base;
        own = ends ? next_block : own;
        blocks += ends;
        at = ends ? at & AT_BIT : at;
        walks = !ends || at < relative_end;
    }
    *bit = from_bit + at;
    *block = own;
    return blocks;
}

/* Decodes a subsequence from its entry. */
static __device__ __forceinline__ void walk_subsequence(struct sequence *sequence, int at,
                                                        const struct source &source)
{
    const unsigned entry = sequence->entry[at], end = sequence->end[at];
    unsigned bit = sequence->begin[at] + state_bits(entry), block = state_block(entry);
    sequence->blocks[at] = (uint16_t)walk(source, &bit, &block, end);
    sequence->exit[at] = pack_state(bit - end, block);
}

/* Lists the subsequences whose entry is not the exit before them, and sets the entry to that exit.
 * Returns the number of subsequences listed. */
static __device__ __forceinline__ unsigned list_changed(struct sequence *sequence, enum kind kind,
                                                        unsigned pass)
{
    const int own = threadIdx.x, lane = own & (WARP - 1);
    __syncthreads();
    const unsigned before = own ? sequence->exit[own - 1] : sequence->before;
    const bool changed = kind == LATER && before != sequence->entry[own];
    const unsigned mask = __ballot_sync(~0u, changed);
    unsigned at = 0;
    if (mask) {
        if (!lane)
            at = atomicAdd(&sequence->listed[pass & 1], __popc(mask));
        at = __shfl_sync(~0u, at, 0);
        if (changed) {
            sequence->list[at + __popc(mask & ((1u << lane) - 1))] = (uint16_t)own;
            sequence->entry[own] = (uint16_t)before;
        }
    }
    __syncthreads();
    if (!own)
        sequence->listed[(pass + 1) & 1] = 0;
    return sequence->listed[pass & 1];
}

/* Finds the subsequences whose bits repeat earlier ones. Returns whether there are any. */
static __device__ bool find_repeats(struct sequence *sequence, enum kind kind,
                                    const struct source &source)
{
    const unsigned bits = source.subsequence_bits;
    const unsigned own = threadIdx.x, begin = kind == LATER ? sequence->begin[own] : 0;
    const unsigned words_most = bits / 32 + STATE_BITS_MOST / 32 + 2;
    sequence->back[own] = 0;
    for (unsigned back = 1; kind == LATER && back <= BACK_MOST && back <= own; back++) {
        if (begin - sequence->begin[own - back] != back * bits)
            break;
        const uint32_t *const here = source.words + begin / 32;
        const uint32_t *const there = here - back * (bits / 32);
        unsigned same = 0;
        while (same < words_most && __ldg(here + same) == __ldg(there + same))
            same++;
        if (same * 32 < bits)
            continue;
        sequence->back[own] = (unsigned char)back;
        sequence->same_words[own] = (unsigned char)same;
        break;
    }
    return __syncthreads_or(sequence->back[own]);
}

/* Returns an earlier subsequence that has the same bits as subsequence `at` and the entry `entry`;
 * else `at`. As many bits must be equal as the exit depends on: a code has at most 16 bits, and the
 * first word may begin before the subsequence. */
static __device__ __forceinline__ int find_like(const struct sequence *sequence, int at,
                                                unsigned entry, unsigned subsequence_bits)
{
    unsigned same_words = ~0u;
    int from = at;
    for (int tries = 0; tries < LIKE_TRIES && sequence->back[from]; tries++) {
        same_words = min(same_words, (unsigned)sequence->same_words[from]);
        from -= sequence->back[from];
        if (sequence->entry[from] == entry)
            return same_words * 32 >= 31 + subsequence_bits + state_bits(sequence->exit[from]) + 16
                       ? from
                       : at;
    }
    return at;
}

/* Copies exits from equal subsequences. A subsequence with the bits and the entry of an earlier one
 * also has its exit. Without this, a stretch of repeating bits, such as blank paper, would need a
 * pass for each subsequence, since a wrong entry never resynchronises there. */
static __device__ void copy_repeats(struct sequence *sequence, enum kind kind,
                                    unsigned subsequence_bits)
{
    const int own = threadIdx.x;
    __syncthreads();
    bool begins = false;
    if (kind == LATER && own && sequence->back[own]) {
        const unsigned before = sequence->exit[own - 1];
        begins = before != sequence->entry[own] &&
                 find_like(sequence, own, before, subsequence_bits) != own;
    }
    if (!__syncthreads_or(begins))
        return;
    for (int at = 1; !own && at < SEQUENCE; at++) {
        const unsigned before = sequence->exit[at - 1];
        if (!sequence->back[at] || before == sequence->entry[at])
            continue;
        const int from = find_like(sequence, at, before, subsequence_bits);
        if (from == at)
            continue;
        sequence->entry[at] = (uint16_t)before;
        sequence->exit[at] = sequence->exit[from];
        sequence->blocks[at] = sequence->blocks[from];
    }
}

/* Decodes changed subsequences until nothing changes, in at most *passes passes, which the function
 * counts down. Each pass finishes at least one subsequence. Returns false if the passes do not
 * suffice. */
static __device__ bool settle_subsequences(struct sequence *sequence, enum kind kind,
                                           const struct source &source, unsigned repeats_from,
                                           int *passes)
{
    bool repeats = false;
    for (unsigned pass = 0;; pass++) {
        if (pass == repeats_from)
            repeats = find_repeats(sequence, kind, source);
        if (repeats)
            copy_repeats(sequence, kind, source.subsequence_bits);
        const unsigned listed = list_changed(sequence, kind, pass);
        if (!listed)
            return true;
        if (!*passes)
            return false;
        --*passes;
        if (threadIdx.x < listed)
            walk_subsequence(sequence, sequence->list[threadIdx.x], source);
    }
}

/* Sets this thread's subsequence, which has the number `subsequence` in the picture. Returns its
 * kind. */
static __device__ __forceinline__ enum kind place(struct sequence *sequence,
                                                  const struct jpeg_group &group,
                                                  const struct jpeg_stream *stream,
                                                  unsigned subsequence, unsigned subsequences)
{
    if (subsequence >= subsequences) /* or before the first one, which wraps around */
        return OUTSIDE;
    const struct span span = find_span(group, stream, subsequence);
    sequence->begin[threadIdx.x] = span.begin;
    sequence->end[threadIdx.x] = span.end;
    return subsequence == span.first ? FIRST : LATER;
}

/* Stores the results of the sequence's own subsequences. The first `overlap` subsequences belong to
 * another sequence. */
static __device__ void store(const struct sequence *sequence, const struct jpeg_group &group,
                             const struct jpeg_stream *stream, unsigned number, unsigned overlap,
                             enum kind kind)
{
    __shared__ unsigned warps[WARP];
    const unsigned own = threadIdx.x, owned = SEQUENCE - stream->overlap;
    const bool stored = own >= overlap && own < overlap + owned && kind != OUTSIDE;
    const size_t at = (size_t)stream->first_subsequence + number * owned + own - overlap;
    unsigned total;
    (void)block_exclusive_sum<SEQUENCE>(stored ? (unsigned)sequence->blocks[own] : 0u, warps,
                                        &total);
    if (stored) {
        group.exits[at] = sequence->exit[own];
        group.blocks[at] = sequence->blocks[own];
    }
    if (own == overlap) {
        group.sequence_entry[stream->first_sequence + number] = sequence->entry[own];
        group.sequence_blocks[stream->first_sequence + number] = total;
    }
}

static __global__ void __launch_bounds__(SEQUENCE) synchronise_kernel(const struct jpeg_group group)
{
    extern __shared__ uint32_t shared[];
    __shared__ struct sequence sequence;
    const unsigned picture = group.sequence_picture[blockIdx.x];
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned number = blockIdx.x - stream->first_sequence;
    const unsigned first = number * (SEQUENCE - stream->overlap);
    const unsigned subsequences = group.found[picture].subsequences;
    if (group.flags[picture] || first >= subsequences)
        return;
    const struct source source = load_source(shared, group, picture);
    const unsigned overlap = stream->overlap;
    const enum kind kind =
        place(&sequence, group, stream, first + threadIdx.x - overlap, subsequences);
    sequence.entry[threadIdx.x] = 0;
    if (!threadIdx.x) {
        sequence.before = 0;
        sequence.listed[0] = 0;
    }
    __syncthreads();
    if (kind != OUTSIDE)
        walk_subsequence(&sequence, threadIdx.x, source);
    int passes = SEQUENCE;
    (void)settle_subsequences(&sequence, kind, source, REPEATS_FROM, &passes);
    store(&sequence, group, stream, number, overlap, kind);
}

/* Whether the assumed entry of sequence `number` differs from the exit before it. */
static __device__ __forceinline__ bool is_wrong(const struct jpeg_group &group,
                                                const struct jpeg_stream *stream, unsigned number)
{
    const unsigned first = number * (SEQUENCE - stream->overlap);
    const uint16_t entry = group.sequence_entry[stream->first_sequence + number];
    return entry != group.exits[(size_t)stream->first_subsequence + first - 1] &&
           find_span(group, stream, first).first != first;
}

/* Returns the first sequence from `number` on whose assumed entry is wrong, or `sequences` if there
 * is none. */
static __device__ unsigned next_wrong(const struct jpeg_group &group,
                                      const struct jpeg_stream *stream, unsigned number,
                                      unsigned sequences)
{
    __shared__ unsigned found;
    __syncthreads();
    if (!threadIdx.x)
        found = sequences;
    __syncthreads();
    for (unsigned i = number + threadIdx.x; i < sequences; i += SEQUENCE) {
        if (is_wrong(group, stream, i))
            atomicMin(&found, i);
    }
    __syncthreads();
    return found;
}

/* Decodes the sequences with wrong entries again. PARALLEL: all of them at once, each by a thread
 * block that uses the exits stored before. Otherwise one thread block decodes the sequences of a
 * picture one after another. */
template <bool PARALLEL>
static __global__ void __launch_bounds__(SEQUENCE) repair_kernel(const struct jpeg_group group)
{
    extern __shared__ uint32_t shared[];
    __shared__ struct sequence sequence;
    const unsigned picture = PARALLEL ? group.sequence_picture[blockIdx.x] : blockIdx.x;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned owned = SEQUENCE - stream->overlap;
    const unsigned subsequences = group.found[picture].subsequences;
    unsigned number = PARALLEL ? blockIdx.x - stream->first_sequence : 1;
    unsigned sequences = (subsequences + owned - 1) / owned;
    if (group.flags[picture] || !number || number >= sequences)
        return;
    if (PARALLEL)
        sequences = number + 1;
    number = next_wrong(group, stream, number, sequences);
    if (number == sequences)
        return;
    const struct source source = load_source(shared, group, picture);
    int passes = PARALLEL ? SEQUENCE : REPAIR_PASSES_MOST;
    bool settled = true;
    for (; number < sequences && settled;
         number = next_wrong(group, stream, number + 1, sequences)) {
        const unsigned own = threadIdx.x, subsequence = number * owned + own;
        const size_t at = (size_t)stream->first_subsequence + subsequence;
        const enum kind kind =
            own < owned ? place(&sequence, group, stream, subsequence, subsequences) : OUTSIDE;
        if (kind != OUTSIDE) {
            sequence.exit[own] = group.exits[at];
            sequence.blocks[own] = group.blocks[at];
            sequence.entry[own] = kind == FIRST ? 0 : group.exits[at - 1];
        }
        if (!own) {
            sequence.before = sequence.entry[0];
            sequence.entry[0] = group.sequence_entry[stream->first_sequence + number];
            sequence.listed[0] = 0;
        }
        settled = settle_subsequences(&sequence, kind, source, 1, &passes);
        store(&sequence, group, stream, number, 0, kind);
    }
    if (!settled && !threadIdx.x)
        atomicOr(&group.flags[picture], JPEG_NOT_IN_STEP);
}

cudaError_t gf_jpeg_synchronise(const struct jpeg_group *group, cudaStream_t stream)
{
    const unsigned shared = table_bytes(group->beyond);
    synchronise_kernel<<<group->sequences, SEQUENCE, shared, stream>>>(*group);
    repair_kernel<true><<<group->sequences, SEQUENCE, shared, stream>>>(*group);
    return launch_kernel(repair_kernel<false>, group->count, SEQUENCE, shared, stream, *group);
}
