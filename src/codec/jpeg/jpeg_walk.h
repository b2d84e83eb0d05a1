/* Walks over the Huffman codes of a sequential scan, decodes only the DC values, and finds every
 * invalid code. (ITU-T T.81, annexes C and F) */
#pragma once

#include "codec/jpeg/jpeg_bits.h"
#include "codec/jpeg/jpeg_tables.h"

enum {
    GF_JPEG_LOOK_BITS = 11,
    GF_JPEG_DC_SIZES = GF_JPEG_DC_SYMBOLS,
    GF_JPEG_UNIT_BLOCKS = 10,
    GF_JPEG_COMPONENTS = 3,
    GF_JPEG_DC_MOST = 2047 /* the largest DC value; a value has at most 11 bits */
};

/* The symbols that begin in the next LOOK_BITS bits, each including the bits of its value. */
struct gf_jpeg_step {
    _Alignas(4) uint8_t bits; /* number of bits to skip; 0: even the first code is longer */
    uint8_t need;    /* coefficients that must be left in the block; 64: even the first code is
                      * longer */
    uint8_t advance; /* coefficients; 64: the block ends. In a DC table: bits of the value */
};

/* A Huffman table. `step` looks up several symbols at once; single symbols are found by the
 * smallest and largest code of each length. */
struct gf_jpeg_table {
    struct gf_jpeg_step step[1 << GF_JPEG_LOOK_BITS];
    int32_t most[17];  /* the largest code of each length; -1: there is none */
    int32_t first[17]; /* index of the smallest code's symbol, minus that code */
    uint8_t symbol[256];
};

/* Makes a table. counts[n] is the number of codes of n bits, 1 to 16; counts[0] is not read.
 * Returns false for a table that is damaged, or that no sequential JPEG of 8 bits can have. */
bool gf_jpeg_table_make(struct gf_jpeg_table *table, const uint8_t *counts, const uint8_t *symbols,
                        bool is_dc);

/* The codes of a DC table, by the size of the difference in bits. */
struct gf_jpeg_dc_codes {
    struct gf_jpeg_code code[GF_JPEG_DC_SIZES];
};

/* The blocks of a unit (MCU) in order. */
struct gf_jpeg_unit {
    int blocks;
    struct {
        int component;
        const struct gf_jpeg_table *dc, *ac;
    } block[GF_JPEG_UNIT_BLOCKS];
    const struct gf_jpeg_dc_codes *codes[GF_JPEG_COMPONENTS]; /* needed by gf_jpeg_copy_unit() */
};

/* Walks over `units` units and adds the DC differences to dc[component]. Returns 0 for invalid
 * codes, 64 if the last block ends with its last coefficient, and more than 64 if it ends with the
 * end-of-block code. The caller checks with gf_jpeg_bits_left() whether there were enough bits. */
int gf_jpeg_walk(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits, int units,
                 int32_t *dc);

/* Copies a unit. Its first DC differences refer to dc_in[component], and are changed to refer to
 * dc_out[component]. A block takes up to 512 bytes, including stuffed zeros. Returns false if the
 * table has no code for a difference. */
bool gf_jpeg_copy_unit(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits,
                       struct gf_jpeg_writer *writer, const int32_t *dc_in, const int32_t *dc_out);
