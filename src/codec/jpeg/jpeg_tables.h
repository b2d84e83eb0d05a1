/* The tables of a baseline JPEG as libjpeg-turbo writes them, for the project's own encoders. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/host_device.h"

GF_C_BEGIN

/* The numbers of symbols. A DC difference of 8-bit samples has 0 to 11 bits. */
enum { GF_JPEG_DC_SYMBOLS = 12, GF_JPEG_AC_SYMBOLS = 256 };

/* A Huffman code of `length` bits; length 0: the symbol has no code. */
struct gf_jpeg_code {
    uint16_t bits;
    uint8_t length;
};

/* Makes the codes of the symbols below `symbols_end`, in a table with counts[n] codes of n bits, 1
 * to 16. */
void gf_jpeg_codes_make(const uint8_t *counts, const uint8_t *symbols, int symbols_end,
                        struct gf_jpeg_code *codes);

/* The tables. Index 0 is for gray and luma, 1 for chroma. */
struct gf_jpeg_tables {
    uint16_t quantiser[2][64]; /* the quantisers in natural order */
    struct gf_jpeg_code dc[2][GF_JPEG_DC_SYMBOLS], ac[2][GF_JPEG_AC_SYMBOLS];
    uint8_t natural_order[64]; /* the index in natural order of each coefficient in zigzag order */
};

/* Makes the tables for a quality, 1 to GF_QUALITY_MAX. False when out of memory. */
bool gf_jpeg_tables_make(int quality, struct gf_jpeg_tables *tables);

GF_C_END
