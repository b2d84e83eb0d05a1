/* Reads the marker segments of a JPEG file up to its scan, for the decoder on the GPU. Only the
 * usual kinds of files are accepted; libjpeg-turbo reads all others and reports their faults. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"

GF_C_BEGIN

extern const uint8_t gf_jpeg_natural_order[64]; /* the index in natural order of each coefficient in
                                                 * zigzag order */

enum { GF_JPEG_COMPONENTS_MOST = 3, GF_JPEG_TABLES = 4, GF_JPEG_MCU_BLOCKS_MOST = 10 };

/* The sampling factors of a component, and the indices of its tables. */
struct gf_jpeg_component {
    int h, v;
    int quantiser, dc, ac;
};

/* A Huffman table. counts[n] is the number of codes of n bits; `symbols` are in the order of the
 * codes. */
struct gf_jpeg_huffman {
    unsigned char counts[17];
    unsigned char symbols[256];
};

struct gf_jpeg_header {
    int width, height;
    int components; /* 1 or 3 */
    bool ycc;       /* the three components are YCbCr, not RGB; decided as libjpeg-turbo does */
    struct gf_jpeg_component component[GF_JPEG_COMPONENTS_MOST]; /* a single component has h = v
                                                                  * = 1 */
    uint16_t quantiser[GF_JPEG_TABLES][64]; /* the quantisers in natural order; a table that is used
                                             * has no zeros */
    struct gf_jpeg_huffman dc[GF_JPEG_TABLES], ac[GF_JPEG_TABLES];
    unsigned restart_interval; /* the units (MCUs) between restart markers; 0: there are no restart
                                * markers */
    size_t scan;               /* the offset of the first entropy-coded byte */
};

/* Reads the header of a JPEG. Returns true if the GPU can decode the scan: Huffman codes, baseline
 * or extended, of 8 bits, in one scan of 1 or 3 components, with valid tables (ITU-T T.81, annex
 * B). The scan's codes are not checked. */
bool gf_jpeg_header_read(const unsigned char *data, size_t size, struct gf_jpeg_header *header);

/* ---- the tables of a baseline JPEG as libjpeg-turbo writes them, for the own encoders ---- */

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
