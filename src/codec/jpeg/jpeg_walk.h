/* Walks over the Huffman codes of a sequential scan without decoding more than the DC values, and
 * finds every invalid code. (ITU-T T.81, annexes C and F) */
#ifndef GF_CODEC_JPEG_JPEG_WALK_H
#define GF_CODEC_JPEG_JPEG_WALK_H

#include "codec/jpeg/jpeg_bits.h"
#include "codec/jpeg/jpeg_tables.h"

enum {
    GF_JPEG_LOOK_BITS = 11,
    GF_JPEG_DC_SIZES = GF_JPEG_DC_SYMBOLS,
    GF_JPEG_UNIT_BLOCKS = 10,
    GF_JPEG_COMPONENTS = 3,
    GF_JPEG_DC_MOST = 2047 /* the largest DC value that differs from 0 by 11 bits */
};

/* What the next LOOK_BITS bits hold: as many whole symbols as begin in them, each with the bits of
 * its value. */
struct gf_jpeg_step {
    _Alignas(4) uint8_t bits; /* to skip; 0: no code is that short */
    uint8_t need; /* coefficients that the block must have left; the end of block counts as one. 64
                     where no code is that short */
    uint8_t advance; /* coefficients; 64 where the block ends. In a DC table: the value's bits */
};

/* A Huffman table. `step` serves several symbols at once; single symbols are found by the bounds of
 * the codes of each length. */
struct gf_jpeg_table {
    struct gf_jpeg_step step[1 << GF_JPEG_LOOK_BITS];
    int32_t most[17];  /* the largest code of that length; -1: there is none */
    int32_t first[17]; /* the index of the smallest code's symbol, less that code */
    uint8_t symbol[256];
};

/* counts[n]: the number of codes of n bits, 1 to 16; counts[0] is not read. False for a table that
 * is damaged, or not one of a sequential JPEG of 8 bits. */
bool gf_jpeg_table_make(struct gf_jpeg_table *table, const uint8_t *counts, const uint8_t *symbols,
                        bool is_dc);

/* The codes of the bit counts of DC differences. */
struct gf_jpeg_dc_codes {
    struct gf_jpeg_code code[GF_JPEG_DC_SIZES];
};

/* The blocks of a unit (MCU) in their order. */
struct gf_jpeg_unit {
    int blocks;
    struct {
        int component;
        const struct gf_jpeg_table *dc, *ac;
    } block[GF_JPEG_UNIT_BLOCKS];
    const struct gf_jpeg_dc_codes *codes[GF_JPEG_COMPONENTS]; /* for gf_jpeg_copy_unit() */
};

/* Walks over `units` units and adds the DC differences to dc[component]. Returns 0 for invalid
 * codes; else 64 where the last block ends with its last coefficient, and more where it ends with
 * the end-of-block code. Whether the bits sufficed, gf_jpeg_bits_left() says. */
int gf_jpeg_walk(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits, int units,
                 int32_t *dc);

/* Copies a unit whose DC values continue dc_in[component], such that they continue
 * dc_out[component]. A block takes up to 512 bytes, with stuffed zeros. False where a difference
 * has no code. */
bool gf_jpeg_copy_unit(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits,
                       struct gf_jpeg_writer *writer, const int32_t *dc_in, const int32_t *dc_out);

#endif
