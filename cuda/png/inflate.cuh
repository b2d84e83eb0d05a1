/* The bits and Huffman codes of a deflate stream (RFC 1951), which a warp decodes: all lanes have
 * the same state and do the same; only the words that they have loaded differ. */
#pragma once

#include <stdint.h>

#include "cuda/common/launch.cuh"

struct bits {
    const unsigned *words; /* the word that contains the first byte */
    unsigned skipped;      /* bits of that word before the byte */
    unsigned end;          /* number of words with the stream's bytes */
    unsigned next;         /* index of the next word to load */
    int64_t total;         /* bits of the stream, including the skipped bits */
    unsigned now, later;   /* a lane's word of the 32 words that are being read, and of the next
                            * 32 */
    uint64_t held;
    unsigned count; /* number of bits in the buffer */
};

static __device__ __forceinline__ unsigned load_word(const struct bits *bits, unsigned index)
{
    return index < bits->end ? bits->words[index] : 0;
}

/* Loads words until the buffer has at least 32 bits. After the end of the stream these are
 * zeros. */
static __device__ __forceinline__ void refill(struct bits *bits)
{
    if (bits->count >= 32)
        return;
    bits->held |= (uint64_t)__shfl_sync(~0u, bits->now, bits->next % WARP) << bits->count;
    bits->count += 32;
    if (++bits->next % WARP == 0) {
        bits->now = bits->later;
        bits->later = load_word(bits, bits->next + WARP + threadIdx.x % WARP);
    }
}

static __device__ __forceinline__ void drop(struct bits *bits, unsigned count)
{
    bits->held >>= count;
    bits->count -= count;
}

/* Takes up to 16 bits from the buffer. */
static __device__ __forceinline__ unsigned take(struct bits *bits, unsigned count)
{
    const unsigned value = (unsigned)bits->held & ((1u << count) - 1);
    drop(bits, count);
    return value;
}

static __device__ __forceinline__ void open_bits(struct bits *bits, const unsigned char *data,
                                                 unsigned size)
{
    const unsigned lane = threadIdx.x % WARP, before = (unsigned)((uintptr_t)data % 4);
    *bits = {};
    bits->words = (const unsigned *)(data - before);
    bits->skipped = 8 * before;
    bits->end = (before + size + 3) / 4;
    bits->total = 8 * (int64_t)(before + size);
    bits->now = load_word(bits, lane);
    bits->later = load_word(bits, WARP + lane);
    refill(bits);
    drop(bits, bits->skipped);
}

/* Returns the number of bits in the stream that were not taken; negative after its end. */
static __device__ __forceinline__ int64_t left(const struct bits *bits)
{
    return bits->total - (32 * (int64_t)bits->next - bits->count);
}

static __device__ __forceinline__ bool is_over(const struct bits *bits)
{
    return left(bits) < 0;
}

enum {
    LONGEST = 15,
    TABLE_BITS = 12,
    TABLE = 1 << TABLE_BITS,
    END = 256, /* the symbol that ends a block */
    /* The table's entry contains the number of bits of its codes, up to 12, and either 1 to 3
     * literals and their number, or 0, the smallest length (0 for the end of the block) and the
     * number of the length's extra bits. An entry of 0 means that the code is longer than the
     * table's index. */
    ENTRY_BITS = 15,
    ENTRY_COUNT = 4,
    ENTRY_VALUE = 8,
    ENTRY_EXTRA = 17
};

/* A canonical code: its symbols in the order of their codes. As 15-bit numbers with the first bit
 * highest, all codes of up to n bits are below limit[n]. The code of n bits with the number c
 * belongs to symbol[base[n] + c]. */
struct code {
    unsigned short limit[LONGEST + 1], symbol[288];
    short base[LONGEST + 1];
};

/* A warp decodes by these Huffman codes, which are in shared memory. */
struct codes {
    unsigned table[TABLE];
    struct code literal, distance;
    unsigned char lengths[320]; /* all code lengths: literals and lengths, then distances */
};

/* Finds the symbol whose code is at the start of the bits, and from bit 16 on the code's length,
 * which is `least` to `most`. Returns 0 if there is none. */
static __device__ __forceinline__ unsigned find_symbol(const struct code *code, unsigned window,
                                                       unsigned least, unsigned most)
{
    const unsigned value = __brev(window) >> (32 - LONGEST);
    if (least > 1 && value < code->limit[least - 1]) /* a shorter code, of no valid symbol */
        return 0;
    for (unsigned n = least; n <= most; n++) {
        if (value < code->limit[n])
            return n << 16 | code->symbol[code->base[n] + (int)(value >> (LONGEST - n))];
    }
    return 0;
}

/* Makes the code with these lengths. Returns false if they form no complete code. one_is_enough: a
 * single code of one bit is valid, or none. The whole warp calls this function; its lane n counts
 * the codes of n bits. */
static __device__ bool make_code(struct code *code, const unsigned char *lengths, unsigned symbols,
                                 bool one_is_enough)
{
    const unsigned lane = threadIdx.x % WARP, below = (1u << lane) - 1;
    unsigned count = 0;
    for (unsigned first = 0; first < symbols; first += WARP) {
        const unsigned length = first + lane < symbols ? lengths[first + lane] : 0;
        for (unsigned n = 1; n <= LONGEST; n++) {
            const unsigned those = __ballot_sync(~0u, length == n);
            count += lane == n ? __popc(those) : 0;
        }
    }
    const unsigned shift = lane <= LONGEST ? LONGEST - lane : 0;
    unsigned limit = count << shift, place = count;
    for (unsigned step = 1; step < WARP; step *= 2) {
        const unsigned before = __shfl_up_sync(~0u, place, step),
                       lower = __shfl_up_sync(~0u, limit, step);
        place += lane >= step ? before : 0;
        limit += lane >= step ? lower : 0;
    }
    const unsigned all = __shfl_sync(~0u, place, LONGEST), end = __shfl_sync(~0u, limit, LONGEST),
                   ones = __shfl_sync(~0u, count, 1);
    place -= count;
    if (lane <= LONGEST) {
        code->limit[lane] = (unsigned short)limit;
        code->base[lane] = (short)((int)place - (int)((limit >> shift) - count));
    }
    for (unsigned first = 0; first < symbols; first += WARP) {
        const unsigned length = first + lane < symbols ? lengths[first + lane] : 0;
        unsigned rank = 0, found = 0;
        for (unsigned n = 1; n <= LONGEST; n++) {
            const unsigned those = __ballot_sync(~0u, length == n);
            rank = length == n ? __popc(those & below) : rank;
            found = lane == n ? __popc(those) : found;
        }
        rank += __shfl_sync(~0u, place, length);
        if (length)
            code->symbol[rank] = (unsigned short)(first + lane);
        place += found;
    }
    __syncwarp();
    return end == 1u << LONGEST || (one_is_enough && all <= 1 && ones == all);
}

/* Reads the head of a deflate block with its own codes, and fills the table of its literals and
 * lengths. */

enum {
    SYMBOLS = 286,
    DISTANCES = 30,
    STORED = 0,
    FIXED = 1,
    DYNAMIC = 2,
    HEAD_LONGEST = 7 /* bits of a code for a code length */
};

static __device__ __forceinline__ unsigned entry_of(unsigned symbol)
{
    if (symbol < END)
        return 1 << ENTRY_COUNT | symbol << ENTRY_VALUE;
    if (symbol == END)
        return 0;
    const unsigned over = symbol - (END + 1), extra = over < 8 || over == 28 ? 0 : over / 4 - 1,
                   base = over == 28 ? 258
                          : over < 8 ? over + 3
                                     : ((4 + over % 4) << extra) + 3;
    return base << ENTRY_VALUE | extra << ENTRY_EXTRA;
}

static __device__ __forceinline__ unsigned literals_of(unsigned entry)
{
    return entry >> ENTRY_COUNT & 3;
}

/* Returns the table's entry for the first code in these bits, with `least` to `most` bits; 0 if
 * there is none. */
static __device__ __forceinline__ unsigned single_entry(const struct code *code, unsigned window,
                                                        unsigned least, unsigned most)
{
    const unsigned found = find_symbol(code, window, least, most), symbol = found & 0xffff;
    return found && symbol < SYMBOLS ? entry_of(symbol) | found >> 16 : 0;
}

/* Returns the entry of an index, joined with the entries of the literals that follow within the
 * index. Entries up to that index must not be joined yet. */
static __device__ __forceinline__ unsigned joined(const struct codes *codes, unsigned index)
{
    const unsigned MOST = 3;
    unsigned entry = codes->table[index], bits = entry & ENTRY_BITS, count = literals_of(entry);
    while (count && count < MOST) {
        const unsigned next = codes->table[index >> bits];
        if (!literals_of(next) || bits + (next & ENTRY_BITS) > TABLE_BITS)
            break;
        entry |= (next >> ENTRY_VALUE & 255) << (ENTRY_VALUE + 8 * count++);
        bits += next & ENTRY_BITS;
    }
    return count
               ? (entry & ~(unsigned)(ENTRY_BITS | 3 << ENTRY_COUNT)) | count << ENTRY_COUNT | bits
               : entry;
}

/* Synchronises THREADS threads, which are a warp or the whole block. */
template <unsigned THREADS> static __device__ __forceinline__ void wait_for(void)
{
    if (THREADS == WARP)
        __syncwarp();
    else
        __syncthreads();
}

/* Fills the table with the symbols of the short codes. */
template <unsigned THREADS> static __device__ void fill_table(struct codes *codes)
{
    const unsigned thread = threadIdx.x % THREADS;
    for (unsigned i = thread; i < TABLE; i += THREADS)
        codes->table[i] = single_entry(&codes->literal, i, 1, TABLE_BITS);
    wait_for<THREADS>();
    /* The loop goes down: the entries that follow a literal have smaller indices, and are joined
     * later. */
    for (int block = TABLE - (int)THREADS; block >= 0; block -= (int)THREADS) {
        const unsigned entry = joined(codes, (unsigned)block + thread);
        wait_for<THREADS>();
        codes->table[(unsigned)block + thread] = entry;
        wait_for<THREADS>();
    }
}

/* Reads the code lengths in a block's head: first the lengths for literals and lengths, then the
 * lengths for distances. */
static __device__ bool read_lengths(struct bits *bits, struct codes *codes, unsigned count)
{
    unsigned last = 0;
    for (unsigned i = threadIdx.x % WARP; i < 1 << HEAD_LONGEST; i += WARP)
        codes->table[i] = find_symbol(&codes->distance, i, 1, HEAD_LONGEST);
    __syncwarp();
    for (unsigned i = 0; i < count;) {
        refill(bits);
        const unsigned found = codes->table[bits->held % (1 << HEAD_LONGEST)],
                       symbol = found & 0xffff;
        drop(bits, found >> 16);
        if (!found || is_over(bits) || (symbol == 16 && !i))
            return false;
        const unsigned times = symbol < 16    ? 1
                               : symbol == 16 ? 3 + take(bits, 2)
                               : symbol == 17 ? 3 + take(bits, 3)
                                              : 11 + take(bits, 7);
        last = symbol < 16 ? symbol : symbol == 16 ? last : 0;
        if (times > count - i)
            return false;
        for (unsigned k = threadIdx.x % WARP; k < times; k += WARP)
            codes->lengths[i + k] = (unsigned char)last;
        i += times;
    }
    __syncwarp();
    return true;
}

/* The order in which a head stores the lengths of the code for code lengths. */
static __constant__ unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};

/* Makes both codes. A warp calls this function. Returns false if the head is damaged. */
static __device__ bool read_head(struct bits *bits, struct codes *codes)
{
    refill(bits);
    const unsigned literals = take(bits, 5) + 257, distances = take(bits, 5) + 1,
                   given = take(bits, 4) + 4, lane = threadIdx.x % WARP;
    if (literals > SYMBOLS || distances > DISTANCES)
        return false;
    if (lane < 19)
        codes->lengths[lane] = 0;
    __syncwarp();
    for (unsigned i = 0; i < given; i++) {
        refill(bits);
        const unsigned length = take(bits, 3);
        if (!lane)
            codes->lengths[order[i]] = (unsigned char)length;
    }
    __syncwarp();
    /* The code for code lengths uses the memory of the code for distances, which is made later. */
    return make_code(&codes->distance, codes->lengths, 19, false) &&
           read_lengths(bits, codes, literals + distances) && codes->lengths[END] &&
           make_code(&codes->distance, codes->lengths + literals, distances, true) &&
           make_code(&codes->literal, codes->lengths, literals, false);
}

/* Makes the codes of a block of the type FIXED, which RFC 1951, section 3.2.6, defines. */
static __device__ void make_fixed(struct codes *codes)
{
    enum { ALL = 288, FIXED_DISTANCES = 32 };
    for (unsigned i = threadIdx.x % WARP; i < ALL + FIXED_DISTANCES; i += WARP)
        codes->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < ALL ? 8 : 5;
    __syncwarp();
    make_code(&codes->distance, codes->lengths + ALL, FIXED_DISTANCES, false);
    make_code(&codes->literal, codes->lengths, ALL, false);
}
