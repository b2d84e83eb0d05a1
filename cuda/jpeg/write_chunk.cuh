/* Writes the bits of a chunk as bytes at their place in the scan. */
#pragma once

#include "cuda/jpeg/chunk_memory.cuh"
#include "cuda/common/look_back.cuh"

/* The words of the scan that end in the chunk. In the last chunk of a picture, ones fill the last
 * word. */
struct chunk_words {
    unsigned shift;   /* the number of bits of the first word that belong to the previous chunk */
    unsigned whole;   /* words */
    unsigned partial; /* the number of bits of an incomplete word, in the last chunk */
};

static __device__ __forceinline__ unsigned word_at(const struct chunk_memory &memory,
                                                   const struct chunk_words &words, unsigned i)
{
    const unsigned above = i ? memory.string[i - 1] : memory.tail_before;
    const unsigned word = __funnelshift_r(memory.string[i], above, words.shift);
    return i < words.whole ? word : word | ~0u >> words.partial;
}

static __device__ __forceinline__ unsigned bytes_at(const struct chunk_words &words, unsigned i)
{
    return i < words.whole ? 4 : (words.partial + 7) / 8;
}

/* Returns bit 7 set for each byte that is 0xff, among the first `bytes` bytes from the highest. */
static __device__ __forceinline__ unsigned flag_full(unsigned word, unsigned bytes)
{
    const unsigned flags = ((word & 0x7f7f7f7f) + 0x01010101) & word & 0x80808080;
    return bytes == 4 ? flags : flags & ~(~0u >> 8 * bytes);
}

static __device__ __forceinline__ unsigned count_full(const struct chunk_memory &memory,
                                                      const struct chunk_words &words,
                                                      unsigned first, unsigned end)
{
    unsigned count = 0;
    for (unsigned i = first; i < end; i++)
        count += __popc(flag_full(word_at(memory, words, i), bytes_at(words, i)));
    return count;
}

/* Writes words first to end - 1, and a zero after each byte 0xff. `to` may be shared memory. */
static __device__ __forceinline__ void stuff_words(const struct chunk_memory &memory,
                                                   const struct chunk_words &words, unsigned first,
                                                   unsigned end, unsigned char *to)
{
    for (unsigned i = first; i < end; i++) {
        const unsigned word = word_at(memory, words, i), bytes = bytes_at(words, i);
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            const unsigned char byte = (unsigned char)(word >> (24 - 8 * j));
            if (j < bytes)
                *to++ = byte;
            if (j < bytes && byte == 0xff)
                *to++ = 0;
        }
    }
}

static __device__ __forceinline__ void tell_tail(const struct chunk &chunk,
                                                 const struct chunk_memory &memory, unsigned bits)
{
    const unsigned end = bits / 32;
    tell(&chunk.state->tail,
         TOLD_SUM | __funnelshift_l(memory.string[end], memory.string[end - 1], bits % 32));
}

/* Finds the chunk's position in the picture's bits. A warp calls this function. */
static __device__ __forceinline__ void find_position(const struct chunk &chunk, unsigned bits,
                                                     struct chunk_memory &memory)
{
    const uint64_t position = sum_before<STATE_WORDS>(&chunk.state->bits, chunk.number, bits);
    if (threadIdx.x % WARP)
        return;
    memory.position = position;
    memory.tail_before = chunk.number ? (unsigned)wait_for(&chunk.state[-1].tail) : 0;
}

/* Finds the number of bytes 0xff before the chunk. A warp calls this function. */
static __device__ __forceinline__ void find_stuffed(const struct chunk &chunk, unsigned own,
                                                    struct chunk_memory &memory)
{
    if (threadIdx.x == 0)
        tell_own(&chunk.state->stuffing, chunk.number, own);
    const uint64_t sum = sum_before<STATE_WORDS>(&chunk.state->stuffing, chunk.number, own);
    if (threadIdx.x == 0)
        memory.stuffed_before = sum;
}

/* Copies bytes from shared to global memory. Both pointers are aligned; the first byte to copy is
 * `skipped` bytes after each pointer. */
static __device__ __forceinline__ void copy_bytes(const unsigned *from, unsigned skipped,
                                                  unsigned count, unsigned char *to)
{
    for (unsigned i = threadIdx.x; 4 * i < skipped + count; i += ENCODE_THREADS) {
        const unsigned word = from[i];
        if (4 * i >= skipped && 4 * i + 4 <= skipped + count) {
            ((unsigned *)to)[i] = word;
            continue;
        }
        for (unsigned j = 4 * i; j < 4 * i + 4; j++) {
            if (j >= skipped && j < skipped + count)
                to[j] = (unsigned char)(word >> 8 * (j % 4));
        }
    }
}

/* Writes the bytes. They are collected in shared memory, so that whole words are written. If shared
 * memory has no room for all zeros after 0xff, bytes are written one by one. */
static __device__ __forceinline__ void write_bytes(const struct chunk_words &words, unsigned first,
                                                   unsigned end, unsigned before, unsigned count,
                                                   unsigned char *to, struct chunk_memory &memory)
{
    const unsigned skipped = (uintptr_t)to % 4, own = 4 * first + before;
    if (skipped + count > sizeof memory.stuffed) {
        stuff_words(memory, words, first, end, to + own);
        return;
    }
    stuff_words(memory, words, first, end, memory.stuffed + skipped + own);
    __syncthreads();
    copy_bytes((const unsigned *)memory.stuffed, skipped, count, to - skipped);
}

/* Writes the chunk, which has `bits` bits. All threads call this function; the last chunk sets the
 * scan's size. */
static __device__ __forceinline__ void write_chunk(const struct encode_picture &picture,
                                                   const struct chunk &chunk, unsigned bits,
                                                   struct chunk_memory &memory, uint64_t *size)
{
    if (threadIdx.x == 0 && !chunk.last)
        tell_tail(chunk, memory, bits);
    if (threadIdx.x < WARP)
        find_position(chunk, bits, memory);
    __syncthreads();
    const unsigned shift = (unsigned)memory.position % 32, end_bit = shift + bits;
    const struct chunk_words words = {shift, end_bit / 32, chunk.last ? end_bit % 32 : 0};
    const unsigned count = words.whole + (words.partial > 0);
    /* The number is odd, so that threads have no bank conflicts. */
    const unsigned each = (count + ENCODE_THREADS - 1) / ENCODE_THREADS | 1;
    const unsigned first = min(threadIdx.x * each, count), end = min(first + each, count);
    unsigned stuffed;
    const unsigned before =
        sum_threads(count_full(memory, words, first, end), memory.scan, &stuffed);
    if (threadIdx.x < WARP)
        find_stuffed(chunk, stuffed, memory);
    __syncthreads();
    const uint64_t start = memory.position / 32 * 4 + memory.stuffed_before;
    const unsigned bytes = 4 * words.whole + (words.partial + 7) / 8 + stuffed;
    if (chunk.last && threadIdx.x == 0)
        *size = start + bytes;
    if (start + bytes <= picture.capacity)
        write_bytes(words, first, end, before, bytes, picture.scan + start, memory);
}
