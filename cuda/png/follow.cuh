/* A part of a deflate stream, as one thread follows it, and the sinks that take its symbols. */
#ifndef GF_CUDA_PNG_FOLLOW_CUH
#define GF_CUDA_PNG_FOLLOW_CUH

#include "cuda/png/inflate_head.cuh"

/* ---- bits, as one thread follows them ---- */

struct reader {
    const unsigned *words;
    unsigned end;                  /* words with the stream's bytes; behind them are zeros */
    unsigned at;                   /* the next bit, from the first word on */
    unsigned first, second, third; /* the word of that bit, and those behind it */
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

/* The next 32 bits. */
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

/* ---- what becomes of the symbols ---- */

enum { NO_LITERAL = 256 };

/* The sinks. Each has bytes(), which takes up to three literals, the first one lowest, and run(),
 * which takes copies of the byte before, and returns false where there is none. */
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
    bool first;    /* the stripe begins here */
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

/* Writes words. The words at both ends, which others share, are written byte by byte. */
struct writer {
    unsigned char *data;
    unsigned begin;      /* nothing is written before */
    unsigned word;       /* of the next word; a multiple of 4 */
    unsigned held_bytes; /* from there on, less than 4 between calls */
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

/* Follows the stream to the first symbol from `bound` on. Returns false where it ends before: at
 * the end of the block, or at bits that mean nothing. Where it stops does not depend on how the
 * table joins literals: of joined literals that reach beyond the bound, the first is taken
 * alone. */
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
                return false; /* there is but one distance, whose code is a 0 */
            bits++;
        }
        skip(reader, bits);
    }
    return true;
}

#endif
