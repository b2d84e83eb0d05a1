/* Decompresses any deflate stream: those of files without the mark, and the stripes that
 * inflate_parts.cu leaves. A thread block processes a stream. It goes through a block of the stream
 * in windows, whose parts its threads decode at the same time, as inflate_parts.cu does: they begin
 * at guesses, until each begins where the part before it ends. Then all know where their bytes go;
 * literals are written, and matches listed. At last the warps copy the matches, each as soon as the
 * bytes that it repeats are there. */
#include "cuda/png/inflate.cuh"

#include "cuda/common/scan.cuh"
#include "cuda/png/parts.cuh"
#include "cuda/png/stripes.cuh"

#ifndef INFLATE_PARTS
#define INFLATE_PARTS 512
#endif
#ifndef INFLATE_LEAD
#define INFLATE_LEAD 128
#endif

enum {
    PARTS = INFLATE_PARTS, /* parts of a window, and threads of a block */
    WARPS = PARTS / WARP,
    LEAD = INFLATE_LEAD, /* the search for the beginning of a part starts this many bits before */
    /* The bits of a part: in the first window (PART_FIRST), the least, which are more than any
     * symbol has, and the most. */
    PART_FIRST = 256,
    PART_LEAST = 96,
    PART_MOST = 512,
    /* The most times that threads begin again; the window ends before the first part that still
     * begins at a wrong bit. */
    ROUNDS_MOST = 12,
    /* The most matches of a window, which ends before the part that would exceed them. */
    MATCHES_MOST = 16384,
    MATCH_BYTES = 3, /* the least bytes of a match */
    /* The bits of the index of the table of distances; longer codes are not in it. */
    NEAR_BITS = 9,
    NEAR = 1 << NEAR_BITS,
    /* The table's entry: the number of bits of a code, or 0 if the code is longer than the table's
     * index; the number of the distance's extra bits; the smallest distance. */
    DISTANCE_EXTRA = 4,
    DISTANCE_VALUE = 8,
    SLEEP_NS = 40,
    LONG_MATCH = 16, /* a warp copies a longer match together */
    /* A stream may have BLOCKS_LEAST blocks and one more for BLOCK_BYTES bytes each, at most
     * BLOCKS_MOST. A block takes some ten microseconds, and an empty one has 10 bits. */
    BLOCKS_LEAST = 256,
    BLOCKS_MOST = 1 << 16,
    BLOCK_BYTES = 64
};

/* The end of a part: the position in bits, and flags. ENDED: the block ends there; STOPPED: the
 * thread stopped before the part's bound, at the block's end or at bits that are no code. */
static constexpr unsigned STOPPED = 1u << 31, ENDED = 1u << 30, POSITION = ENDED - 1;

/* A match in 64 bits: its offset in the stripe from bit 0 on, then its length and its distance from
 * these bits on. */
enum { MATCH_LENGTH = 32, MATCH_DISTANCE = 48 };

uint64_t gf_png_matches_most(uint64_t filtered_bytes)
{
    const uint64_t most = filtered_bytes / MATCH_BYTES + 1;
    return most < MATCHES_MOST ? most : (uint64_t)MATCHES_MOST;
}

struct shared {
    struct codes codes;
    unsigned distances[NEAR];
    unsigned ends[PARTS];
    uint64_t sums[WARPS];
    /* For each warp, the offset in the stripe of the first match that it has not copied yet. */
    unsigned marks[WARPS];
    unsigned valid; /* number of parts that begin where the part before ends */
    /* begin: the position in bits of a block's contents; length: the bytes of a stored block. */
    unsigned begin, length;
    unsigned type;
    bool final, good;
};

/* ---- the head of a block ---- */

/* Reads the head at a bit of the stripe. The first warp calls this function. */
static __device__ void open_block(const unsigned *words, unsigned bit, unsigned total,
                                  struct shared *shared)
{
    struct bits bits;
    bool good = true;
    unsigned length = 0;
    open_bits(&bits, (const unsigned char *)words + bit / 8, total / 8 - bit / 8);
    drop(&bits, bit % 8);
    refill(&bits);
    const bool final = take(&bits, 1);
    const unsigned type = take(&bits, 2);
    if (type == STORED) {
        drop(&bits, bits.count % 8);
        refill(&bits);
        length = take(&bits, 16);
        good = length == (take(&bits, 16) ^ 0xffff) && left(&bits) >= 8 * (int64_t)length;
    } else if (type == FIXED) {
        make_fixed(&shared->codes);
    } else {
        good = type == DYNAMIC && read_head(&bits, &shared->codes);
    }
    if (threadIdx.x)
        return;
    shared->good = good && !is_over(&bits);
    shared->final = final;
    shared->type = type;
    shared->length = length;
    shared->begin = (unsigned)((int64_t)total - left(&bits));
}

static __device__ __forceinline__ unsigned distance_entry(const struct code *code, unsigned window,
                                                          unsigned least, unsigned most)
{
    const unsigned found = find_symbol(code, window, least, most), symbol = found & 0xffff,
                   extra = symbol < 4 ? 0 : symbol / 2 - 1,
                   base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
    return found && symbol < DISTANCES
               ? base << DISTANCE_VALUE | extra << DISTANCE_EXTRA | found >> 16
               : 0;
}

static __device__ __forceinline__ void fill_tables(struct shared *shared)
{
    for (unsigned i = threadIdx.x; i < NEAR; i += PARTS)
        shared->distances[i] = distance_entry(&shared->codes.distance, i, 1, NEAR_BITS);
    fill_table<PARTS>(&shared->codes);
}

/* ---- the symbols of a part ---- */

/* The sinks get literals, up to three with the first one lowest, and matches. */
struct nothing {
    __device__ void bytes(unsigned, unsigned)
    {
    }
    __device__ void match(unsigned, unsigned)
    {
    }
};

struct counter {
    unsigned count, matches;
    __device__ __forceinline__ void bytes(unsigned, unsigned number)
    {
        count += number;
    }
    __device__ __forceinline__ void match(unsigned length, unsigned)
    {
        count += length;
        matches++;
    }
};

/* Writes literals, and lists matches. */
struct lister : word_writer {
    uint64_t *list;
    bool bad; /* a match refers to bytes before the beginning of the stream */

    __device__ __forceinline__ void bytes(unsigned bytes, unsigned number)
    {
        add(bytes, number);
    }
    __device__ __forceinline__ void match(unsigned length, unsigned distance)
    {
        const unsigned at = word + held_bytes;
        store_bytes();
        bad |= distance > at;
        *list++ = at | (uint64_t)length << MATCH_LENGTH | (uint64_t)distance << MATCH_DISTANCE;
        open(data, at + length);
    }
};

/* Decodes the stream up to the first symbol that begins at `bound` or later. Returns false if the
 * decoding ends before: at the end of the block (*ended), or at bits that are no code. The end does
 * not depend on how the table joins literals: if joined literals reach beyond the bound, only the
 * first is taken. */
template <class Sink>
static __device__ __forceinline__ bool follow_symbols(struct reader *reader, unsigned bound,
                                                      const struct shared *shared, Sink *sink,
                                                      bool *ended)
{
    const struct codes *const codes = &shared->codes;
    *ended = false;
    while (reader->at < bound) {
        const unsigned window = window_of(reader);
        unsigned entry = codes->table[window % TABLE];
        if (!entry)
            entry = single_entry(&codes->literal, window, TABLE_BITS + 1, LONGEST);
        unsigned bits = entry & ENTRY_BITS, literals = literals_of(entry),
                 value = entry >> ENTRY_VALUE;
        if (literals) {
            if (literals > 1 && reader->at + bits > bound) {
                value &= 255;
                bits = codes->lengths[value];
                literals = 1;
            }
            sink->bytes(value, literals);
            skip(reader, bits);
            continue;
        }
        const unsigned length = value & 511, extra = entry >> ENTRY_EXTRA & 7,
                       more = window >> bits & ((1u << extra) - 1);
        *ended = !length && bits;
        skip(reader, bits + extra);
        if (!length)
            return false;
        const unsigned next = window_of(reader);
        unsigned far = shared->distances[next % NEAR];
        if (!far)
            far = distance_entry(&codes->distance, next, NEAR_BITS + 1, LONGEST);
        if (!far)
            return false;
        const unsigned code = far & ENTRY_BITS, rest = far >> DISTANCE_EXTRA & 15;
        sink->match(length + more, (far >> DISTANCE_VALUE) + (next >> code & ((1u << rest) - 1)));
        skip(reader, code + rest);
    }
    return true;
}

/* ---- matches ---- */

/* Copies a match by one thread. */
static __device__ __forceinline__ void copy_alone(unsigned char *to, unsigned length,
                                                  unsigned distance)
{
    enum { STEP = 4 };
    for (unsigned i = 0; i < length;) {
        const unsigned some = min(min((unsigned)STEP, distance), length - i);
        unsigned char byte[STEP];
#pragma unroll
        for (unsigned k = 0; k < STEP; k++)
            byte[k] = k < some ? to[(int)(i + k) - (int)distance] : 0;
#pragma unroll
        for (unsigned k = 0; k < STEP; k++) {
            if (k < some)
                to[i + k] = byte[k];
        }
        i += some;
    }
}

/* Copies a match by a warp. */
static __device__ __forceinline__ void copy_together(unsigned char *to, unsigned length,
                                                     unsigned distance)
{
    const unsigned char *const from = to - distance;
    for (unsigned i = threadIdx.x % WARP; i < length; i += WARP)
        to[i] = from[i < distance ? i : i % distance];
}

/* Copies all matches of a window. A warp takes 32 of them at a time, and copies each as soon as the
 * bytes that it repeats have been written. All bytes before the first match that no warp has copied
 * yet are written, so that this match can always be copied. */
static __device__ void copy_matches(const struct png_stripe &stripe, unsigned count,
                                    struct shared *shared)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    volatile unsigned *const marks = shared->marks;
    unsigned first = warp * WARP;
    if (!lane)
        marks[warp] = first < count ? (unsigned)stripe.matches[first] : ~0u;
    __syncthreads();
    for (; first < count; first += PARTS) {
        const uint64_t match = first + lane < count ? stripe.matches[first + lane] : 0;
        const unsigned at = (unsigned)match, length = (unsigned)(match >> MATCH_LENGTH) & 511,
                       distance = (unsigned)(match >> MATCH_DISTANCE),
                       needs = at - distance + min(length, distance);
        bool waits = length > 0;
        for (unsigned waiting = __ballot_sync(~0u, waits); waiting;) {
            unsigned there = lane < WARPS ? marks[lane] : ~0u;
            for (unsigned step = WARP / 2; step; step /= 2)
                there = min(there, __shfl_xor_sync(~0u, there, step));
            __threadfence_block();
            const bool now = waits && needs <= there;
            if (!__any_sync(~0u, now)) {
                __nanosleep(SLEEP_NS); /* other warps first have to copy earlier matches */
                continue;
            }
            if (now && length <= LONG_MATCH)
                copy_alone(stripe.filtered + at, length, distance);
            for (unsigned those = __ballot_sync(~0u, now && length > LONG_MATCH); those;
                 those &= those - 1) {
                const int from = __ffs((int)those) - 1;
                copy_together(stripe.filtered + __shfl_sync(~0u, at, from),
                              __shfl_sync(~0u, length, from), __shfl_sync(~0u, distance, from));
            }
            waits &= !now;
            waiting = __ballot_sync(~0u, waits);
            __threadfence_block();
            __syncwarp();
            const unsigned mark = __shfl_sync(~0u, at, waiting ? __ffs((int)waiting) - 1 : 0);
            if (!lane && waiting)
                marks[warp] = mark;
        }
        if (!lane)
            marks[warp] = first + PARTS < count ? (unsigned)stripe.matches[first + PARTS] : ~0u;
        __syncwarp();
    }
    __syncthreads();
}

/* ---- windows ---- */

/* A window. bit: the position of its first bit; at: the offset of its first byte in the stripe;
 * each: the bits of a part; ended: the block ended in the window that was decoded last. */
struct window {
    unsigned bit, at, each;
    bool ended;
};

/* A thread's part, and a count of its bytes and matches. `start` and `bound` are positions in bits;
 * the part's last symbol may end after `bound`. */
struct part {
    struct reader reader;
    unsigned start, bound;
    struct counter counter;
};

/* Guesses where the first symbol of the thread's part begins, by decoding from some bits before it.
 * The first part needs no guess. */
static __device__ __forceinline__ void open_part(struct part *part, const struct window *window,
                                                 unsigned total, const struct shared *shared)
{
    const unsigned index = threadIdx.x, from = min(window->bit + index * window->each, total);
    struct nothing nothing;
    bool ended;
    part->start = from;
    part->bound = min(from + window->each, total);
    if (!index || from == total)
        return;
    go_to(&part->reader, from > window->bit + LEAD ? from - LEAD : window->bit);
    if (follow_symbols(&part->reader, from, shared, &nothing, &ended))
        part->start = part->reader.at;
}

/* Decodes the parts until each begins where the part before it ends, but at most ROUNDS_MOST times
 * again. Each round makes at least one more part right. Returns the number of parts, from the first
 * one on, that are right. */
static __device__ __forceinline__ unsigned follow_parts(struct part *part, struct shared *shared)
{
    const unsigned index = threadIdx.x;
    bool changed = true, ended;
    unsigned before;
    if (!index)
        shared->valid = PARTS;
    for (int round = 0;; round++) {
        if (changed) {
            part->counter = {};
            go_to(&part->reader, part->start);
            const bool stops =
                !follow_symbols(&part->reader, part->bound, shared, &part->counter, &ended);
            shared->ends[index] = part->reader.at | (stops ? STOPPED : 0) | (ended ? ENDED : 0);
        }
        __syncthreads();
        before = index ? shared->ends[index - 1] : part->start;
        changed = before < ENDED && before != part->start;
        if (!__syncthreads_or(changed) || round == ROUNDS_MOST)
            break;
        part->start = changed ? before : part->start;
    }
    if (before != part->start)
        atomicMin(&shared->valid, index);
    __syncthreads();
    return shared->valid;
}

/* Returns the sum of the numbers of the threads before this one; *all is the sum of all. */
static __device__ uint64_t sum_before(struct shared *shared, uint64_t own, uint64_t *all)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint64_t sum = own;
    for (unsigned step = 1; step < WARP; step *= 2) {
        const uint64_t before = __shfl_up_sync(~0u, sum, step);
        sum += lane >= step ? before : 0;
    }
    if (lane == WARP - 1)
        shared->sums[warp] = sum;
    __syncthreads();
    *all = 0;
    for (unsigned i = 0; i < WARPS; i++) {
        sum += i < warp ? shared->sums[i] : 0;
        *all += shared->sums[i];
    }
    return sum - own;
}

/* Decompresses a window of a block, and moves it to the next one. Returns false if the stream is
 * damaged. */
static __device__ bool unpack_window(const struct png_stripe &stripe, struct part *part,
                                     struct window *window, unsigned total, struct shared *shared)
{
    enum { MATCHES = 32 /* the first bit of the number of matches in a sum */ };
    const unsigned index = threadIdx.x;
    open_part(part, window, total, shared);
    unsigned valid = follow_parts(part, shared);
    const uint64_t own = part->counter.count | (uint64_t)part->counter.matches << MATCHES;
    uint64_t all, before = sum_before(shared, index < valid ? own : 0, &all);
    if (all >> MATCHES > MATCHES_MOST) {
        if ((before + own) >> MATCHES > MATCHES_MOST)
            atomicMin(&shared->valid, index);
        __syncthreads();
        valid = shared->valid;
        before = sum_before(shared, index < valid ? own : 0, &all);
    }
    const unsigned end = shared->ends[valid - 1];
    const unsigned bytes = (unsigned)all;
    window->ended = end & ENDED;
    if ((end & STOPPED && !window->ended) || (end & POSITION) > total ||
        bytes > stripe.filtered_bytes - window->at)
        return false;
    if (index < valid) {
        struct lister lister;
        bool ended;
        lister.open(stripe.filtered, window->at + (unsigned)before);
        lister.list = stripe.matches + (before >> MATCHES);
        lister.bad = false;
        go_to(&part->reader, part->start);
        follow_symbols(&part->reader, part->bound, shared, &lister, &ended);
        lister.store_bytes();
        if (lister.bad)
            shared->good = false;
    }
    __syncthreads();
    if (!shared->good)
        return false;
    if (all >> MATCHES)
        copy_matches(stripe, (unsigned)(all >> MATCHES), shared);
    window->bit = end & POSITION;
    window->at += bytes;
    return true;
}

/* Decompresses the contents of a block with codes. */
static __device__ bool unpack_codes(const struct png_stripe &stripe, struct part *part,
                                    struct window *window, unsigned total, struct shared *shared)
{
    const unsigned begin = window->bit;
    fill_tables(shared);
    do {
        if (window->bit >= total || !unpack_window(stripe, part, window, total, shared))
            return false;
    } while (!window->ended);
    /* The next block is probably as long as this one, and should fit in a window. */
    const unsigned like = (window->bit - begin) / PARTS * 17 / 16 + 4;
    window->each = like < PART_LEAST ? PART_LEAST : min(like, (unsigned)PART_MOST);
    return true;
}

static __device__ bool unpack(const struct png_stripe &stripe, struct shared *shared)
{
    const unsigned before = (unsigned)((uintptr_t)stripe.packed % 4),
                   total = 8 * (before + stripe.packed_bytes);
    struct window window = {8 * before, 0, PART_FIRST, false};
    struct part part;
    unsigned blocks =
        min(BLOCKS_LEAST + stripe.filtered_bytes / BLOCK_BYTES, (unsigned)BLOCKS_MOST);
    bool final = false;
    part.reader.words = (const unsigned *)(stripe.packed - before);
    part.reader.end = (before + stripe.packed_bytes + 3) / 4;
    while (!final && window.bit < total) {
        if (!blocks--)
            return false;
        __syncthreads(); /* before the codes change */
        if (threadIdx.x < WARP)
            open_block(part.reader.words, window.bit, total, shared);
        __syncthreads();
        if (!shared->good)
            return false;
        final = shared->final;
        window.bit = shared->begin;
        if (shared->type != STORED) {
            if (!unpack_codes(stripe, &part, &window, total, shared))
                return false;
            continue;
        }
        const unsigned char *const from = (const unsigned char *)part.reader.words + window.bit / 8;
        const unsigned length = shared->length;
        if (length > stripe.filtered_bytes - window.at)
            return false;
        for (unsigned i = threadIdx.x; i < length; i += PARTS)
            stripe.filtered[window.at + i] = from[i];
        window.at += length;
        window.bit += 8 * length;
    }
    return window.at == stripe.filtered_bytes && final == stripe.last && window.bit <= total &&
           total - window.bit < 8 && (final || window.bit == total);
}

static __global__ void __launch_bounds__(PARTS, 1)
    inflate_kernel(const struct png_decode_group group)
{
    __shared__ struct shared shared;
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    if (blockIdx.x < group.marked && group.unpacked[blockIdx.x])
        return;
    if (!unpack(stripe, &shared) && !threadIdx.x)
        atomicOr(group.flags + stripe.picture, 1u);
}

cudaError_t gf_png_inflate_rest(const struct png_decode_group *group, cudaStream_t stream)
{
    return launch_kernel(inflate_kernel, group->count, PARTS, 0, stream, *group);
}
