/* Unpacks stripes, a block each, whose threads follow parts of the stream side by side. Where a
 * part begins is a guess, which is right nearly always, since who follows a prefix code from a
 * wrong bit soon meets a right one. A thread whose guess was wrong begins again where the part
 * before ended. */
#include "cuda/common/launch.cuh"
#include "cuda/png/inflate_head.cuh"
#include "cuda/png/stripes.cuh"

enum {
    PARTS = 512,      /* of a stripe, and threads of a block */
    PART_LEAST = 512, /* bits, more than any symbol has */
    LEAD = 256,       /* bits before a part from which its begin is looked for */
    ROUNDS_MOST = 8,  /* of beginning again; streams that need more go to inflate.cu */
    STOPPED = 1u << 31,
    PACKED_MOST = 1 << 21, /* bytes: 258 of two bits each can be counted */
    NO_LITERAL = 256
};

/* ---- bits, as one thread follows them ---- */

struct reader {
    const unsigned *words;
    unsigned end;                  /* words with the stream's bytes; behind them are zeros */
    unsigned at;                   /* the next bit, from the first word on */
    unsigned first, second, third; /* the word of that bit, and those behind it */
};

static __device__ __forceinline__ unsigned word_of(const struct reader *reader, unsigned index)
{
    return index < reader->end ? reader->words[index] : 0;
}

static __device__ __forceinline__ void go_to(struct reader *reader, unsigned bit)
{
    reader->at = bit;
    reader->first = word_of(reader, bit / 32);
    reader->second = word_of(reader, bit / 32 + 1);
    reader->third = word_of(reader, bit / 32 + 2);
}

/* The next 32 bits. */
static __device__ __forceinline__ unsigned window_of(const struct reader *reader)
{
    return __funnelshift_r(reader->first, reader->second, reader->at % 32);
}

/* At most 32 bits. The word that is loaded is needed two words later. */
static __device__ __forceinline__ void skip(struct reader *reader, unsigned count)
{
    const unsigned before = reader->at;
    reader->at += count;
    if (before / 32 == reader->at / 32)
        return;
    reader->first = reader->second;
    reader->second = reader->third;
    reader->third = word_of(reader, reader->at / 32 + 2);
}

/* ---- what becomes of the symbols ---- */

/* Each gives bytes() up to three literals, the first one lowest, and run() copies of the byte
 * before, which returns false where there is none. */
struct nothing {
    __device__ void bytes(unsigned, unsigned)
    {
    }
    __device__ bool run(unsigned)
    {
        return true;
    }
};

struct counter {
    unsigned count;
    unsigned last; /* the last literal, or NO_LITERAL */
    bool first;    /* the stripe begins here */
    __device__ __forceinline__ void bytes(unsigned bytes, unsigned number)
    {
        count += number;
        last = bytes >> 8 * (number - 1) & 255;
    }
    __device__ __forceinline__ bool run(unsigned length)
    {
        count += length;
        return !first || last != NO_LITERAL;
    }
};

/* Writes words; those at both ends, which others share, byte by byte. */
struct writer {
    unsigned char *data;
    unsigned begin;      /* nothing is written before */
    unsigned word;       /* of the next word; a multiple of 4 */
    unsigned held_bytes; /* from there on, less than 4 between calls */
    uint64_t held;
    unsigned last;

    __device__ __forceinline__ void open(unsigned char *to, unsigned at, unsigned before)
    {
        data = to;
        begin = at;
        word = at / 4 * 4;
        held_bytes = at % 4;
        held = 0;
        last = before;
    }
    __device__ __forceinline__ void store_bytes(void)
    {
        for (unsigned i = 0; i < 4; i++) {
            if (word + i >= begin && i < held_bytes)
                data[word + i] = (unsigned char)(held >> 8 * i);
        }
    }
    __device__ __forceinline__ void add(unsigned bytes, unsigned number)
    {
        held |= (uint64_t)bytes << 8 * held_bytes;
        held_bytes += number;
        if (held_bytes < 4)
            return;
        if (word >= begin)
            *(unsigned *)(data + word) = (unsigned)held;
        else
            store_bytes();
        word += 4;
        held >>= 32;
        held_bytes -= 4;
    }
    __device__ __forceinline__ void bytes(unsigned bytes, unsigned number)
    {
        add(bytes, number);
        last = bytes >> 8 * (number - 1) & 255;
    }
    __device__ __forceinline__ bool run(unsigned length)
    {
        const unsigned four = last * 0x01010101u;
        for (; length >= 4; length -= 4)
            add(four, 4);
        if (length)
            add(four & ((1u << 8 * length) - 1), length);
        return true;
    }
};

/* Follows the stream to the first symbol from `bound` on, or to the end of the block or of what
 * makes sense: then it returns false. Where it gets does not depend on how the table joins
 * literals: of those that reach beyond the bound, the first comes alone. */
template <class Sink>
static __device__ __forceinline__ bool follow(struct reader *reader, unsigned bound,
                                              const struct codes *codes, Sink *sink, bool *ended)
{
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
        } else {
            const unsigned length = value & 511, extra = entry >> ENTRY_EXTRA & 7,
                           more = window >> bits & ((1u << extra) - 1);
            bits += extra;
            if (!length) {
                *ended = bits > 0;
                skip(reader, bits);
                return false;
            }
            if (window >> bits & 1 || !sink->run(length + more))
                return false; /* there is but one distance, whose code is a 0 */
            bits++;
        }
        skip(reader, bits);
    }
    return true;
}

/* ---- a block of threads ---- */

struct shared {
    struct codes codes;
    unsigned begin, total; /* bits: behind the block's head, and at the end */
    bool final, good;
    unsigned ends[PARTS];
    unsigned stop; /* the first part in which the block ends */
    unsigned sums[PARTS / WARP], literals[PARTS / WARP];
};

/* By the first warp. */
static __device__ void open_stripe(const struct png_stripe &stripe, struct shared *shared)
{
    struct bits bits;
    open_bits(&bits, stripe.packed, stripe.packed_bytes);
    refill(&bits);
    const bool final = take(&bits, 1);
    const bool good =
        take(&bits, 2) == DYNAMIC && read_head(&bits, &shared->codes) && !is_over(&bits);
    const struct code *const distance = &shared->codes.distance;
    if (threadIdx.x)
        return;
    shared->good = good && stripe.packed_bytes < PACKED_MOST && !distance->symbol[0] &&
                   distance->limit[LONGEST] == 1 << (LONGEST - 1); /* a single code */
    shared->final = final;
    shared->total = (unsigned)bits.total;
    shared->begin = (unsigned)(bits.total - left(&bits));
    shared->stop = PARTS;
}

/* Of the bytes and the last literals of all parts: how many bytes come before the thread's, which
 * literal is the last before it, and *all bytes. */
static __device__ unsigned sum_up(struct shared *shared, unsigned bytes, unsigned *literal,
                                  unsigned *all)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned sum = bytes, latest = *literal;
    for (unsigned step = 1; step < WARP; step *= 2) {
        const unsigned before = __shfl_up_sync(~0u, sum, step),
                       earlier = __shfl_up_sync(~0u, latest, step);
        sum += lane >= step ? before : 0;
        latest = lane >= step && latest == NO_LITERAL ? earlier : latest;
    }
    if (lane == WARP - 1) {
        shared->sums[warp] = sum;
        shared->literals[warp] = latest;
    }
    __syncthreads();
    unsigned from = 0, carried = NO_LITERAL;
    *all = 0;
    for (unsigned i = 0; i < PARTS / WARP; i++) {
        from += i < warp ? shared->sums[i] : 0;
        carried = i < warp && shared->literals[i] != NO_LITERAL ? shared->literals[i] : carried;
        *all += shared->sums[i];
    }
    const unsigned own = __shfl_up_sync(~0u, latest, 1);
    *literal = lane && own != NO_LITERAL ? own : carried;
    return from + sum - bytes;
}

/* Whether the stream ends behind the block as it should: within a byte, or for a stripe before the
 * last with an empty stored block. */
static __device__ bool ends_well(struct reader *reader, unsigned total, bool final)
{
    if (final)
        return reader->at <= total && total - reader->at < 8;
    go_to(reader, reader->at);
    if (window_of(reader) & 7)
        return false;
    go_to(reader, (reader->at + 3 + 7) / 8 * 8);
    return window_of(reader) == 0xffff0000 && reader->at + 32 == total;
}

static __device__ unsigned smaller_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static __device__ bool unpack(const struct png_stripe &stripe, struct shared *shared)
{
    const unsigned part = threadIdx.x;
    if (part < WARP)
        open_stripe(stripe, shared);
    __syncthreads();
    if (!shared->good)
        return false;
    fill_table<PARTS>(&shared->codes);
    const unsigned before = (unsigned)((uintptr_t)stripe.packed % 4), total = shared->total,
                   begin = shared->begin,
                   each = max((total - begin + PARTS - 1) / PARTS, (unsigned)PART_LEAST),
                   from = smaller_of(begin + part * each, total),
                   bound = smaller_of(from + each, total);
    struct reader reader = {(const unsigned *)(stripe.packed - before),
                            (before + stripe.packed_bytes + 3) / 4};
    struct counter counter = {};
    struct nothing nothing;
    unsigned start = from;
    bool ended = false, changed = true;
    if (part && from < total) {
        go_to(&reader, from > begin + LEAD ? from - LEAD : begin);
        start = follow(&reader, from, &shared->codes, &nothing, &ended) ? reader.at : from;
    }
    for (int round = 0;; round++) {
        if (changed) {
            counter = {0, NO_LITERAL, !part};
            go_to(&reader, start);
            shared->ends[part] = follow(&reader, bound, &shared->codes, &counter, &ended)
                                     ? reader.at
                                     : reader.at | STOPPED;
        }
        __syncthreads();
        const unsigned end = part ? shared->ends[part - 1] : begin;
        changed = !(end & STOPPED) && end != start;
        start = changed ? end : start;
        if (!__syncthreads_or(changed))
            break;
        if (round == ROUNDS_MOST)
            return false;
    }
    /* Behind the first part that stops is nothing more. */
    if (shared->ends[part] & STOPPED)
        atomicMin(&shared->stop, part);
    __syncthreads();
    const unsigned stop = shared->stop;
    bool good = stop < PARTS;
    if (part == stop)
        good = ended && ends_well(&reader, total, shared->final) && shared->final == stripe.last;
    unsigned all, last = part <= stop ? counter.last : NO_LITERAL;
    const unsigned at = sum_up(shared, part <= stop ? counter.count : 0, &last, &all);
    if (!__syncthreads_and(good && all == stripe.filtered_bytes))
        return false;
    if (part > stop)
        return true;
    struct writer writer;
    writer.open(stripe.filtered, at, last);
    go_to(&reader, start);
    follow(&reader, bound, &shared->codes, &writer, &ended);
    writer.store_bytes();
    return true;
}

static __global__ void __launch_bounds__(PARTS)
    inflate_parts_kernel(const struct png_decode_group group)
{
    __shared__ struct shared shared;
    const bool done = unpack(group.stripes[blockIdx.x], &shared);
    if (!threadIdx.x)
        group.unpacked[blockIdx.x] = done;
}

cudaError_t gf_png_inflate_parts(const struct png_decode_group *group, cudaStream_t stream)
{
    inflate_parts_kernel<<<group->count, PARTS, 0, stream>>>(*group);
    return cudaGetLastError();
}
