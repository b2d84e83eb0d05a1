/* Reads the segments of a JPEG file up to its scan, for the decoder on the GPU. It takes the usual
 * kinds only; a file that is odd in any way goes to libjpeg-turbo, which says what is wrong. */
#ifndef GF_CODEC_JPEG_JPEG_HEADER_H
#define GF_CODEC_JPEG_JPEG_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"

GF_C_BEGIN

extern const uint8_t gf_jpeg_natural_order[64]; /* of each place in zigzag order */

enum { GF_JPEG_COMPONENTS_MOST = 3, GF_JPEG_TABLES = 4, GF_JPEG_MCU_BLOCKS_MOST = 10 };

/* Sampling factors, and the indices of the component's tables. */
struct gf_jpeg_component {
    int h, v;
    int quantiser, dc, ac;
};

/* counts[n]: the number of codes of n bits; their symbols in the order of the codes. */
struct gf_jpeg_huffman {
    unsigned char counts[17];
    unsigned char symbols[256];
};

struct gf_jpeg_header {
    int width, height;
    int components; /* 1, or 3 */
    bool ycc;       /* three components are YCbCr, not RGB; libjpeg-turbo decides the same */
    struct gf_jpeg_component component[GF_JPEG_COMPONENTS_MOST]; /* one component: h = v = 1 */
    uint16_t quantiser[GF_JPEG_TABLES][64]; /* in natural order; none that is used has a zero */
    struct gf_jpeg_huffman dc[GF_JPEG_TABLES], ac[GF_JPEG_TABLES];
    unsigned restart_interval; /* in MCUs; 0: none */
    size_t scan;               /* the offset of the first entropy-coded byte */
};

/* True for a JPEG whose scan the GPU decodes: Huffman codes, baseline or extended, of 8 bits, in
 * one scan of 1 or 3 components, with valid tables. (ITU-T T.81, annex B) The scan itself is not
 * looked at. */
bool gf_jpeg_header_read(const unsigned char *data, size_t size, struct gf_jpeg_header *header);

GF_C_END
#endif
