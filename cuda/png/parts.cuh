/* Reading of the bits of a deflate stream, and writing of its bytes, by one of many threads that
 * decode parts of the stream at the same time. */
#pragma once

#include <stdint.h>

struct reader {
    const unsigned *words;
    unsigned end;                  /* number of words with the stream's bytes; zeros follow */
    unsigned at;                   /* the next bit, counted from the first word */
    unsigned first, second, third; /* the word that contains that bit, and the next two words */
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

/* Returns the next 32 bits. */
static __device__ __forceinline__ unsigned window_of(const struct reader *reader)
{
    return __funnelshift_r(reader->first, reader->second, reader->at % 32);
}

/* Skips at most 32 bits. The word that is loaded here is needed two words later. */
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

/* Writes whole words, except at both ends, where words are shared with other threads and written
 * byte by byte. */
struct word_writer {
    unsigned char *data;
    unsigned begin;      /* offset of the first byte that may be written */
    unsigned word;       /* offset of the next word; a multiple of 4 */
    unsigned held_bytes; /* number of bytes of that word so far; less than 4 between calls */
    uint64_t held;

    __device__ __forceinline__ void open(unsigned char *to, unsigned at)
    {
        data = to;
        begin = at;
        word = at / 4 * 4;
        held_bytes = at % 4;
        held = 0;
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
};
