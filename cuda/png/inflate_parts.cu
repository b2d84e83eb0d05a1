/* Decompresses stripes whose parts are decoded side by side. */
#include "cuda/common/launch.cuh"
#include "cuda/png/inflate.cuh"
#include "cuda/png/parts.cuh"
#include "cuda/png/stripes.cuh"

/* Decodes a part of a deflate stream by one thread, and passes its symbols to a sink. */

enum { NO_LITERAL = 256 };

/* The sinks. A sink has a function bytes(), which gets up to three literals, the first one lowest,
 * and run(), which gets copies of the byte before and returns false if there is no such byte. */
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
    bool first;    /* the part begins the stripe */
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

struct writer : word_writer {
    unsigned last;

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

/* Decodes the stream up to the first symbol that begins at `bound` or later. Returns false if the
 * decoding ends before: at the end of the block, or at bits that are no code. The end does not
 * depend on how the table joins literals: if joined literals reach beyond the bound, only the first
 * is taken. */
template <class Sink>
static __device__ __forceinline__ bool follow_symbols(struct reader *reader, unsigned bound,
                                                      const struct codes *codes, Sink *sink,
                                                      bool *ended)
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
                return false; /* the only distance has the code 0 */
            bits++;
        }
        skip(reader, bits);
    }
    return true;
}

/* Decompresses stripes. A thread block processes a stripe, and its threads decode parts of the
 * stream at the same time. The beginning of a part is a guess, which is nearly always right: a
 * reader that decodes a Huffman code from a wrong bit soon resynchronises. A thread whose guess was
 * wrong begins again where the part before it ended. */

enum {
    PARTS = 512,      /* parts of a stripe, and threads of a block */
    PART_LEAST = 512, /* bits, which is more than any symbol has */
    LEAD = 256,       /* the search for the beginning of a part starts this many bits before it */
    ROUNDS_MOST = 8,  /* most restarts of threads; streams that need more go to inflate.cu */
    STOPPED = 1u << 31,
    PACKED_MOST = 1 << 21 /* bytes; the bytes of the output of a larger stream could not be
                           * counted */
};

struct shared {
    struct codes codes;
    unsigned begin, total; /* positions in bits: the end of the block's head, the end of the
                            * stream */
    bool final, good;
    unsigned ends[PARTS];
    unsigned stop; /* the first part in which the block ends */
    unsigned sums[PARTS / WARP], literals[PARTS / WARP];
};

/* Opens a stripe. The first warp calls this function. */
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
                   distance->limit[LONGEST] == 1 << (LONGEST - 1); /* there is a single code */
    shared->final = final;
    shared->total = (unsigned)bits.total;
    shared->begin = (unsigned)(bits.total - left(&bits));
    shared->stop = PARTS;
}

/* Returns the number of bytes of the parts before the thread's part, and sets the last literal in
 * these parts. *all becomes the number of all bytes. */
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

/* Whether the stream ends correctly after the block: within a byte or, for a stripe that is not the
 * last, with an empty stored block. */
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

/* The state of a thread's part. */
struct part {
    struct reader reader; /* the reader at the end of the part, after the part was decoded */
    unsigned start, bound;
    struct counter counter;
    bool ended; /* the block ends in the part */
};

/* Prepares the thread's part and its reader, and guesses where the first symbol of the part begins.
 * To guess, it decodes from up to LEAD bits before the part. The first part needs no guess. */
static __device__ __forceinline__ void open_part(struct part *part, const struct png_stripe &stripe,
                                                 const struct shared *shared)
{
    const unsigned index = threadIdx.x, before = (unsigned)((uintptr_t)stripe.packed % 4),
                   begin = shared->begin, total = shared->total,
                   each = max((total - begin + PARTS - 1) / PARTS, (unsigned)PART_LEAST),
                   from = min(begin + index * each, total);
    struct reader *const reader = &part->reader;
    struct nothing nothing;
    reader->words = (const unsigned *)(stripe.packed - before);
    reader->end = (before + stripe.packed_bytes + 3) / 4;
    part->start = from;
    part->bound = min(from + each, total);
    if (!index || from == total)
        return;
    go_to(reader, from > begin + LEAD ? from - LEAD : begin);
    if (follow_symbols(reader, from, &shared->codes, &nothing, &part->ended))
        part->start = reader->at;
}

/* Decodes the parts until each begins where the part before it ends. Returns false if that takes
 * too many rounds. */
static __device__ __forceinline__ bool follow_parts(struct part *part, struct shared *shared)
{
    const unsigned index = threadIdx.x;
    bool changed = true;
    for (int round = 0; round <= ROUNDS_MOST; round++) {
        if (changed) {
            part->counter = {0, NO_LITERAL, !index};
            go_to(&part->reader, part->start);
            const bool stops = !follow_symbols(&part->reader, part->bound, &shared->codes,
                                               &part->counter, &part->ended);
            shared->ends[index] = part->reader.at | (stops ? STOPPED : 0);
        }
        __syncthreads();
        const unsigned end = index ? shared->ends[index - 1] : part->start;
        changed = !(end & STOPPED) && end != part->start;
        part->start = changed ? end : part->start;
        if (!__syncthreads_or(changed))
            return true;
    }
    return false;
}

static __device__ bool unpack(const struct png_stripe &stripe, struct shared *shared)
{
    const unsigned index = threadIdx.x;
    if (index < WARP)
        open_stripe(stripe, shared);
    __syncthreads();
    if (!shared->good)
        return false;
    fill_table<PARTS>(&shared->codes);
    struct part part;
    open_part(&part, stripe, shared);
    if (!follow_parts(&part, shared))
        return false;
    /* Parts after the first part that stops do not count. */
    if (shared->ends[index] & STOPPED)
        atomicMin(&shared->stop, index);
    __syncthreads();
    const unsigned stop = shared->stop;
    bool good = stop < PARTS;
    if (index == stop)
        good = part.ended && ends_well(&part.reader, shared->total, shared->final) &&
               shared->final == stripe.last;
    unsigned all, last = index <= stop ? part.counter.last : NO_LITERAL;
    const unsigned at = sum_up(shared, index <= stop ? part.counter.count : 0, &last, &all);
    if (!__syncthreads_and(good && all == stripe.filtered_bytes))
        return false;
    if (index > stop)
        return true;
    struct writer writer;
    writer.open(stripe.filtered, at);
    writer.last = last;
    go_to(&part.reader, part.start);
    follow_symbols(&part.reader, part.bound, &shared->codes, &writer, &part.ended);
    writer.store_bytes();
    return true;
}

static __global__ void __launch_bounds__(PARTS, 2)
    inflate_parts_kernel(const struct png_decode_group group)
{
    __shared__ struct shared shared;
    const bool done = unpack(group.stripes[blockIdx.x], &shared);
    if (!threadIdx.x)
        group.unpacked[blockIdx.x] = done;
}

cudaError_t gf_png_inflate_parts(const struct png_decode_group *group, cudaStream_t stream)
{
    if (group->marked)
        inflate_parts_kernel<<<group->marked, PARTS, 0, stream>>>(*group);
    return cudaGetLastError();
}
