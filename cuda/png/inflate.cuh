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

/* A warp's codes, in shared memory. */
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
    for (unsigned n = least; n <= most; n++) {
        if (value < code->limit[n])
            return n << 16 | code->symbol[code->base[n] + (int)(value >> (LONGEST - n))];
    }
    return 0;
}

/* Takes the next symbol. Returns ~0 if no code matches. */
static __device__ __forceinline__ unsigned decode(struct bits *bits, const struct code *code)
{
    const unsigned found = find_symbol(code, (unsigned)bits->held, 1, LONGEST);
    drop(bits, found >> 16);
    return found ? found & 0xffff : ~0u;
}

/* Makes the code with these lengths. Returns false if they form no complete code. one_is_enough: a
 * single code of one bit is valid. The whole warp calls this function; its lane n counts the codes
 * of n bits. */
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
    return end == 1u << LONGEST || (one_is_enough && all == 1 && ones == 1);
}
