/* The Huffman codes of the quick deflate coder's block: fitted to its contents, and written in its
 * head. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_CODE_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_CODE_H

#include <string.h>

#include "codec/png/deflate/deflate_cells.h"

enum {
    GF_DEFLATE_END = 256, /* symbol that ends a block */
    GF_DEFLATE_SYMBOLS = 286,
    GF_DEFLATE_DISTANCES = 30,
    GF_DEFLATE_LENGTHS = 19,  /* number of symbols of the code for the code lengths */
    GF_DEFLATE_CODE_BITS = 14 /* four codes and seven older bits fit into a word */
};

/* Bits that are not written yet. The lowest one is the next. */
struct gf_deflate_bits {
    uint64_t held;
    unsigned count; /* number of bits; below 8 after gf_deflate_flush() */
    uint8_t *out;
};

static inline void gf_deflate_put(struct gf_deflate_bits *bits, uint64_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
}

/* Writes the whole bytes. The seven bytes behind them are overwritten as well. */
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

/* Code lengths in bits; 0 for a symbol that does not occur. */
struct gf_deflate_code {
    uint8_t literal[GF_DEFLATE_SYMBOLS], distance[GF_DEFLATE_DISTANCES];
    uint64_t bits; /* size of the whole block: head, data and end */
    /* The head: the symbols for the code lengths, each with its extra bits. */
    int literals, distances, tokens;
    struct {
        uint8_t symbol, extra, rest;
    } token[GF_DEFLATE_SYMBOLS + GF_DEFLATE_DISTANCES];
    uint8_t length[GF_DEFLATE_LENGTHS];
};

/* Fits a code to literals and matches. repeats: matches have any distance; otherwise only 1. */
void gf_deflate_fit(const struct gf_deflate_piece *piece, bool repeats,
                    struct gf_deflate_code *code);
/* Writes the head of the block. */
void gf_deflate_put_head(struct gf_deflate_bits *bits, const struct gf_deflate_code *code,
                         bool last);

/* The symbols of a match's length and of its distance; `extra` bits follow a symbol and contain
 * `rest`. */
int gf_deflate_length_symbol(size_t length, unsigned *extra, unsigned *rest);
int gf_deflate_distance_symbol(uint32_t distance, unsigned *extra, unsigned *rest);

#endif
