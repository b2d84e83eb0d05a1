/* Writes bits to the output. The output must contain zeros, because several threads may write to
 * the same word. */
#pragma once

#include "cuda/png/encode_group.cuh"

/* Writes `count` (up to 32) bits, the lowest first. The other bits of `value` are 0. */
static __device__ __forceinline__ void put_bits(unsigned *out, uint64_t at, unsigned value,
                                                unsigned count)
{
    const unsigned shift = at % 32;
    unsigned *const word = out + at / 32;
    atomicOr(word, value << shift);
    if (shift + count > 32)
        atomicOr(word + 1, value >> (32 - shift));
}

/* Returns the index of the first bit of a stripe's deflate data. */
static __device__ __forceinline__ uint64_t data_bit(const struct png_stripe &stripe,
                                                    const struct png_chunk &chunk)
{
    return 8 * (chunk.at + CHUNK_HEAD + (stripe.first ? ZLIB_HEAD : 0));
}

static __device__ __forceinline__ unsigned byte_swapped(unsigned word)
{
    return __byte_perm(word, 0, 0x0123);
}
