/* Decodes a part of a deflate stream by one thread, and passes its symbols to a sink. */
#pragma once

#include "cuda/png/inflate_head.cuh"

/* ---- reading bits, by one thread ---- */

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

/* Writes whole words, except at both ends, where words are shared with other threads and written
 * byte by byte. */
struct writer {
    unsigned char *data;
    unsigned begin;      /* offset of the first byte that may be written */
    unsigned word;       /* offset of the next word; a multiple of 4 */
    unsigned held_bytes; /* number of bytes of that word so far; less than 4 between calls */
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
