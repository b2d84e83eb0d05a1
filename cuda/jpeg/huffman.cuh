/* Reads states and subsequences of a stream. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/entropy.cuh"

/* Packs a state: the number of bits between a subsequence's end and the first block that begins
 * there or later, which is less than the bits of a block, and the index of that block in its
 * MCU. */
enum { STATE_BITS_MOST = 27 + 63 * 26 };
static __device__ __forceinline__ uint16_t pack_state(unsigned bits, unsigned block)
{
    return (uint16_t)(bits << 4 | block);
}

static __device__ __forceinline__ unsigned state_bits(unsigned state)
{
    return state >> 4;
}

static __device__ __forceinline__ unsigned state_block(unsigned state)
{
    return state & 15;
}

/* A subsequence of a picture: the positions, in bits, at which the subsequence and its interval
 * begin and end. */
struct span {
    unsigned interval, first; /* the number of the interval, and the number of its first
                               * subsequence */
    unsigned begin, end, interval_end;
};

static __device__ __forceinline__ struct span
find_span(const struct jpeg_group &group, const struct jpeg_stream *stream, unsigned subsequence)
{
    const unsigned *const firsts = group.interval_subsequence + stream->first_interval;
    const unsigned *const bytes = group.interval_byte + stream->first_interval;
    struct span span;
    unsigned low = 0, high = stream->intervals; /* firsts[low] <= subsequence < firsts[high] */
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (firsts[middle] <= subsequence)
            low = middle;
        else
            high = middle;
    }
    span.interval = low;
    span.first = firsts[low];
    span.begin = bytes[low] * 8 + (subsequence - span.first) * stream->subsequence_bits;
    span.interval_end = bytes[low + 1] * 8;
    span.end = min(span.begin + stream->subsequence_bits, span.interval_end);
    return span;
}

/* Copies `bytes` bytes, a multiple of 16, to shared memory. */
template <int THREADS>
static __device__ __forceinline__ void load_shared(void *to, const void *from, int bytes)
{
    for (int i = threadIdx.x; i < bytes / 16; i += THREADS)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
}
