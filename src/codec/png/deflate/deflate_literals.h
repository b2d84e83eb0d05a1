/* Writes literals in a block's Huffman code, 64 at a time on processors with AVX-512 VBMI. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_LITERALS_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_LITERALS_H

#include "codec/png/deflate/deflate_code.h"

struct gf_deflate_symbol {
    uint16_t bits, count;
};

enum { GF_DEFLATE_LITERALS = 256 };
/* The literals' codes as tables for AVX-512: the lower bytes, the upper bytes, and the numbers of
 * bits. */
enum { GF_DEFLATE_LOW, GF_DEFLATE_HIGH, GF_DEFLATE_COUNT, GF_DEFLATE_TABLES };

struct gf_deflate_literals {
    struct gf_deflate_symbol symbol[GF_DEFLATE_END + 1];
    uint8_t table[GF_DEFLATE_TABLES][GF_DEFLATE_LITERALS];
    bool vbmi; /* the processor has VBMI, and the tables are filled */
};

/* Fills the tables. length, code: of each literal and of the symbol that ends the block. */
void gf_deflate_literals_fill(const uint8_t *length, const uint16_t *code,
                              struct gf_deflate_literals *literals);
/* Writes the literals from `at` to `end`. */
void gf_deflate_put_literals(struct gf_deflate_bits *bits,
                             const struct gf_deflate_literals *literals, const uint8_t *at,
                             const uint8_t *end);

static inline void gf_deflate_put_symbol(struct gf_deflate_bits *bits,
                                         struct gf_deflate_symbol symbol)
{
    gf_deflate_put(bits, symbol.bits, symbol.count);
    gf_deflate_flush(bits);
}

#endif
