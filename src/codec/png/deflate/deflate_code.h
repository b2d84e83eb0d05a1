/* The prefix codes of the quick deflate coder's block: fitted to what it writes, and their head. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_CODE_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_CODE_H

#include <string.h>

#include "codec/png/deflate/deflate_cells.h"

enum {
    GF_DEFLATE_END = 256, /* the symbol that ends a block */
    GF_DEFLATE_SYMBOLS = 286,
    GF_DEFLATE_DISTANCES = 30,
    GF_DEFLATE_LENGTHS = 19, /* symbols of the code in which the code lengths are written */
    GF_DEFLATE_CODE_BITS =
        14 /* four of these and seven bits left over from before fit into a word */
};

/* A word of bits, which are written from the lowest on. */
struct gf_deflate_bits {
    uint64_t held;
    unsigned count; /* below 8 after gf_deflate_flush() */
    uint8_t *out;
};

static inline void gf_deflate_put(struct gf_deflate_bits *bits, uint64_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
}

/* Writes the whole bytes; seven more bytes behind them are overwritten. */
static inline void gf_deflate_flush(struct gf_deflate_bits *bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t word = __builtin_bswap64(bits->held);
#else
    const uint64_t word = bits->held;
#endif
    memcpy(bits->out, &word, sizeof word);
    bits->out += bits->count >> 3;
    bits->held >>= bits->count & ~7u;
    bits->count &= 7;
}

/* Code lengths; 0 for a symbol that does not occur. */
struct gf_deflate_code {
    uint8_t literal[GF_DEFLATE_SYMBOLS], distance[GF_DEFLATE_DISTANCES];
    uint64_t bits; /* of the block: its head, its data and its end */
    /* The head: the symbols of the code lengths, with what follows each of them. */
    int literals, distances, tokens;
    struct {
        uint8_t symbol, extra, rest;
    } token[GF_DEFLATE_SYMBOLS + GF_DEFLATE_DISTANCES];
    uint8_t length[GF_DEFLATE_LENGTHS];
};

/* Fits a code to literals and matches. `repeats`: matches have any distance, not only 1. */
void gf_deflate_fit(const struct gf_deflate_piece *piece, bool repeats,
                    struct gf_deflate_code *code);
/* Writes the head of the block. */
void gf_deflate_put_head(struct gf_deflate_bits *bits, const struct gf_deflate_code *code,
                         bool last);

/* The symbol of a match's length, or of a distance; `extra` bits follow it, which hold `rest`. */
int gf_deflate_length_symbol(size_t length, unsigned *extra, unsigned *rest);
int gf_deflate_distance_symbol(uint32_t distance, unsigned *extra, unsigned *rest);

#endif
