/* From coefficients to bits: a thread codes a block. */
#ifndef GF_CUDA_JPEG_ENTROPY_CUH
#define GF_CUDA_JPEG_ENTROPY_CUH

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward_transform.cuh"

/* A block has at most 20 bits of DC and 63 times 26 of AC; an odd number of words, so that threads
 * that write the same word of their blocks meet no bank twice. */
enum { BLOCK_WORDS = 53 };
enum { ZERO_RUN = 0xf0, END_OF_BLOCK = 0, CODE_SHIFT = 5, LENGTH_MASK = 31 };

struct bit_writer {
    unsigned *next;
    uint64_t bits; /* the lowest `count` are not written yet */
    unsigned count;
};

static __device__ __forceinline__ void put(struct bit_writer &writer, unsigned code,
                                           unsigned length)
{
    writer.bits = writer.bits << length | code;
    writer.count += length;
    if (writer.count >= 32) {
        writer.count -= 32;
        *writer.next++ = (unsigned)(writer.bits >> writer.count);
    }
}

/* The code of a size and the bits of the value: those of value - 1 if it is negative. */
static __device__ __forceinline__ void put_value(struct bit_writer &writer, const unsigned *codes,
                                                 int run, int value)
{
    const int size = 32 - __clz(abs(value));
    const unsigned entry = codes[run << 4 | size];
    const unsigned bits = (unsigned)(value + (value >> 31)) & ((1u << size) - 1);
    put(writer, entry >> CODE_SHIFT | bits, entry & LENGTH_MASK);
}

/* Bit 15 of each half that is not zero. */
static __device__ __forceinline__ unsigned flag_halves(unsigned halves)
{
    return (((halves & 0x7fff7fff) + 0x7fff7fff) | halves) & 0x80008000;
}

/* One bit for each of 32 coefficients that is not zero, the first highest. */
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

/* Codes the coefficients of a mask; `at` is the place of its highest bit, `last` the place of the
 * coefficient before. */
static __device__ __forceinline__ int put_masked(struct bit_writer &writer, const unsigned *codes,
                                                 const short *coefficients, unsigned mask, int at,
                                                 int last)
{
    while (mask) {
        const int skipped = __clz(mask);
        mask ^= 0x80000000u >> skipped;
        int run = at + skipped - last - 1;
        for (; run > 15; run -= 16)
            put(writer, codes[ZERO_RUN] >> CODE_SHIFT, codes[ZERO_RUN] & LENGTH_MASK);
        put_value(writer, codes, run, coefficients[at + skipped]);
        last = at + skipped;
    }
    return last;
}

/* Writes the bits of a block to `to` and returns their number. */
static __device__ __forceinline__ unsigned encode_block(const short *coefficients, int dc_before,
                                                        const unsigned *dc, const unsigned *ac,
                                                        unsigned *to)
{
    struct bit_writer writer = {to, 0, 0};
    const unsigned low = nonzero_mask(coefficients) & 0x7fffffff,
                   high = nonzero_mask(coefficients + 32);
    put_value(writer, dc, 0, coefficients[0] - dc_before);
    int last = put_masked(writer, ac, coefficients, low, 0, 0);
    last = put_masked(writer, ac, coefficients, high, 32, last);
    if (last != 63)
        put(writer, ac[END_OF_BLOCK] >> CODE_SHIFT, ac[END_OF_BLOCK] & LENGTH_MASK);
    if (writer.count)
        *writer.next = (unsigned)(writer.bits << (32 - writer.count));
    return (unsigned)(writer.next - to) * 32 + writer.count;
}

/* Adds `count` bits to a string of bits at a position; what lies there is zero. */
static __device__ __forceinline__ void append_bits(const unsigned *bits, unsigned count,
                                                   unsigned position, unsigned *string)
{
    const unsigned shift = position % 32;
    unsigned *to = string + position / 32;
    unsigned above = 0; /* the word before */
    for (unsigned i = 0; 32 * i < count; i++) {
        const unsigned word = bits[i];
        atomicOr(to++, __funnelshift_r(word, above, shift));
        above = word;
    }
    if (shift && (count - 1) % 32 + 1 + shift > 32)
        atomicOr(to, __funnelshift_r(0, above, shift));
}

#endif
