/* Codes coefficients as bits. A thread codes a block. */
#pragma once

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward_transform.cuh"

/* A block has at most 1168 bits. The squares of its 64 coefficients add up to at most 2^20, like
 * the squares of its samples; with the standard codes the longest block under this limit has 63
 * coefficients of 8 bits, each 18 bits long with its code. The number of words is odd, so that
 * threads that write the same word of their blocks have no bank conflict. */
enum { BLOCK_BITS = 1168, BLOCK_WORDS = 37 };
enum { CODE_SHIFT = 5, LENGTH_MASK = 31 };

struct bit_writer {
    unsigned *words; /* the words of the block, in shared memory */
    unsigned next;
    unsigned above, bits; /* the bits written so far; the lowest `count` of these 64 bits are not
                           * stored in `words` yet */
    unsigned count;
};

/* Appends a code. A word that is not full is stored, too, and is stored again later. */
static __device__ __forceinline__ void put(struct bit_writer &writer, unsigned code,
                                           unsigned length)
{
    writer.above = __funnelshift_l(writer.bits, writer.above, length);
    writer.bits = writer.bits << length | code;
    writer.count += length;
    writer.words[writer.next] = __funnelshift_r(writer.bits, writer.above, writer.count);
    writer.next += writer.count / 32;
    writer.count %= 32;
}

static __device__ __forceinline__ void put_entry(struct bit_writer &writer, unsigned entry)
{
    put(writer, entry >> CODE_SHIFT, entry & LENGTH_MASK);
}

/* Appends the code of a value's size and the bits of the value. A negative value has the bits of
 * value - 1. */
static __device__ __forceinline__ void put_value(struct bit_writer &writer, const unsigned *codes,
                                                 int run, int value)
{
    const int zeros = __clz(abs(value)); /* 32 - size */
    const unsigned entry = codes[run * 16 + zeros - 16];
    const unsigned bits = (unsigned)(value + (value >> 31)) & __funnelshift_rc(~0u, 0, zeros);
    put(writer, entry >> CODE_SHIFT | bits, entry & LENGTH_MASK);
}

/* Sets bit 15 of each half that is not zero. */
static __device__ __forceinline__ unsigned flag_halves(unsigned halves)
{
    return (((halves & 0x7fff7fff) + 0x7fff7fff) | halves) & 0x80008000;
}

/* Returns a bit for each of 32 coefficients, set if the coefficient is not zero. The highest bit
 * stands for the first coefficient. */
static __device__ __forceinline__ unsigned nonzero_mask(const short *coefficients)
{
    unsigned mask = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint4 eight = ((const uint4 *)coefficients)[i];
        const unsigned first = __byte_perm(flag_halves(eight.x), flag_halves(eight.y), 0x7531),
                       second = __byte_perm(flag_halves(eight.z), flag_halves(eight.w), 0x7531);
        const unsigned bits = __dp4a(first, 0x10204080u, __dp4a(second, 0x01020408u, 0u));
        mask |= bits >> 7 << (24 - 8 * i);
    }
    return mask;
}

/* Codes the coefficients after the first. The bits of `mask`, and then of `later`, say which
 * coefficients from `next` on are not zero. */
static __device__ __forceinline__ void put_ac(struct bit_writer &writer, const unsigned *codes,
                                              const short *coefficients)
{
    unsigned mask = nonzero_mask(coefficients) << 1, later = nonzero_mask(coefficients + 32);
    mask |= later >> 31;
    later <<= 1;
    int next = 1;
    while (mask | later) {
        int run;
#pragma unroll 1
        while ((run = __clz(mask)) > 15) {
            put_entry(writer, codes[ZERO_RUN]);
            mask = __funnelshift_l(later, mask, 16);
            later <<= 16;
            next += 16;
        }
        put_value(writer, codes, run, coefficients[next + run]);
        mask = __funnelshift_l(later, mask, run + 1);
        later <<= run + 1;
        next += run + 1;
    }
    if (next != 64)
        put_entry(writer, codes[END_OF_BLOCK]);
}

/* Writes the bits of block `block` to its words and returns their number. */
static __device__ __forceinline__ unsigned encode_block(const short *coefficients, int dc_before,
                                                        const unsigned *dc, const unsigned *ac,
                                                        unsigned *words, int block)
{
    const unsigned first = block * BLOCK_WORDS;
    struct bit_writer writer = {words, first, 0, 0, 0};
    put_value(writer, dc, 0, coefficients[0] - dc_before);
    put_ac(writer, ac, coefficients);
    if (writer.count)
        words[writer.next] = writer.bits << (32 - writer.count);
    return (writer.next - first) * 32 + writer.count;
}

/* Adds `count` bits to a string of bits at `position`. The string has zeros there. */
static __device__ __forceinline__ void append_bits(const unsigned *bits, unsigned count,
                                                   unsigned position, unsigned *string)
{
    const unsigned shift = position % 32;
    unsigned *to = string + position / 32;
    unsigned above = 0; /* the previous word */
    for (unsigned i = 0; 32 * i < count; i++) {
        const unsigned word = bits[i];
        atomicOr(to++, __funnelshift_r(word, above, shift));
        above = word;
    }
    if (shift && (count - 1) % 32 + 1 + shift > 32)
        atomicOr(to, __funnelshift_r(0, above, shift));
}
