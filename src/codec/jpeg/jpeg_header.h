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
enum { GF_JPEG_SCANS_MOST = 32 }; /* the most scans that the GPU decodes; programs write ten */

/* The sampling factors of a component, and the indices of its tables. */
struct gf_jpeg_component {
    int h, v;
    int quantiser, dc, ac;
};

/* A Huffman table. counts[n] is the number of codes of n bits; `symbols` are in the order of the
 * codes. */
struct gf_jpeg_huffman {
    unsigned char counts[17], symbols[256];
};

/* A scan of a file of several scans. Offsets are those of the file. */
struct gf_jpeg_scan {
    uint8_t components; /* a bit for each component, in the order of the frame */
    /* The band of coefficients in zigzag order, and the bits that were known of them before the
     * scan and that are left to later scans. A sequential scan has the band 0 to 63. */
    uint8_t first, last, high, low;
    unsigned restart_interval; /* as in struct gf_jpeg_header */
    uint32_t begin, end;       /* offsets of the entropy-coded bytes and of the marker after them */
    /* Where the tables of each component begin, at the 16 numbers of codes; 0: a table that the
     * scan does not use. */
    uint32_t dc[GF_JPEG_COMPONENTS_MOST], ac[GF_JPEG_COMPONENTS_MOST];
};

struct gf_jpeg_header {
    int width, height;
    int components; /* 1 or 3 */
    bool ycc;       /* the three components are YCbCr, not RGB; decided as libjpeg-turbo does */
    struct gf_jpeg_component component[GF_JPEG_COMPONENTS_MOST]; /* a single component has h = v
                                                                  * = 1 */
    uint16_t quantiser[GF_JPEG_TABLES][64]; /* the last tables in natural order, without zeros */
    /* The quantisers of each component: those in force at its first scan. */
    uint16_t latched[GF_JPEG_COMPONENTS_MOST][64];
    struct gf_jpeg_huffman dc[GF_JPEG_TABLES], ac[GF_JPEG_TABLES];
    unsigned restart_interval; /* the units (MCUs) between restart markers; 0: there are no restart
                                * markers */
    size_t scan;               /* the offset of the first entropy-coded byte */
    int scans;                 /* the number of scans; 0 if a single scan has all components */
    struct gf_jpeg_scan list[GF_JPEG_SCANS_MOST];
    size_t end; /* the offset after the end marker; only set if `scans` is not 0 */
};

/* Reads the header of a JPEG, and all headers of a file of several scans. Returns true if the GPU
 * can decode the scans: Huffman codes, baseline, extended or progressive, of 8 bits, of 1 or 3
 * components, with valid tables (ITU-T T.81, annexes B and G). Several scans must bring every bit
 * of every coefficient once and in order, so that libjpeg-turbo has no warning and smooths nothing.
 * The scans' codes are not checked. */
bool gf_jpeg_header_read(const unsigned char *data, size_t size, struct gf_jpeg_header *header);

/* The same for a tile of a TIFF, which lacks the tables that the JPEG `tables` defines (not NULL;
 * tables_size may be 0). Which colours the components are is the TIFF's to say. */
bool gf_jpeg_header_read_tile(const unsigned char *tables, size_t tables_size,
                              const unsigned char *data, size_t size,
                              struct gf_jpeg_header *header);

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

/* What libjpeg can count, and its longest code before they are made shorter. */
enum { GF_JPEG_LONGEST = 32, GF_JPEG_SYMBOLS_MOST = 1000000000 };

/* Makes codes longer than 16 bits shorter: two of them move below a shorter code, as ITU-T T.81,
 * K.3, has it. The last code, of ones alone, is then left out. */
GF_HOST_DEVICE void gf_jpeg_codes_shorten(int *counts)
{
    for (int length = GF_JPEG_LONGEST; length > 16; length--) {
        while (counts[length]) {
            int from = length - 2;
            while (!counts[from])
                from--;
            counts[length] -= 2;
            counts[length - 1]++;
            counts[from + 1] += 2;
            counts[from]--;
        }
    }
    int longest = 16;
    while (!counts[longest])
        longest--;
    counts[longest]--;
}

/* Makes the table that libjpeg makes for the numbers of the symbols, one of which is not 0. False
 * if there are more than libjpeg can count, or codes are so long that it fails. */
bool gf_jpeg_codes_optimise(const uint32_t *numbers, int symbols, struct gf_jpeg_huffman *table);

/* The tables of a scan's own codes, which a GPU's coded bytes begin with: a multiple of 16 bytes.
 * Index 0 is for gray and luma, 1 for chroma. */
struct gf_jpeg_own_codes {
    struct gf_jpeg_huffman dc[2], ac[2];
    unsigned char unused[12];
};

/* The tables. Index 0 is for gray and luma, 1 for chroma. */
struct gf_jpeg_tables {
    uint16_t quantiser[2][64]; /* the quantisers in natural order */
    struct gf_jpeg_code dc[2][GF_JPEG_DC_SYMBOLS], ac[2][GF_JPEG_AC_SYMBOLS];
    uint8_t natural_order[64]; /* the index in natural order of each coefficient in zigzag order */
};

/* Makes the tables for a quality, 1 to GF_QUALITY_MAX. False when out of memory. */
bool gf_jpeg_tables_make(int quality, struct gf_jpeg_tables *tables);

GF_C_END
