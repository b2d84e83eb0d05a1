/* Prefix codes of bounded length for deflate (RFC 1951). */
#ifndef GF_CODEC_PNG_HUFFMAN_H
#define GF_CODEC_PNG_HUFFMAN_H

#include <stdint.h>

enum { GF_HUFFMAN_SYMBOLS = 288, GF_HUFFMAN_LONGEST = 15 };

/* The lengths of the codes of `symbols` symbols that come `frequency` times, none over `longest`; 0
 * for what does not come. Two symbols at least must come. */
void gf_huffman_lengths(const uint32_t *frequency, int symbols, int longest, uint8_t *lengths);

/* The codes that belong to the lengths, their first bit lowest, as deflate's bits are packed. */
void gf_huffman_codes(const uint8_t *lengths, int symbols, uint16_t *codes);

#endif
