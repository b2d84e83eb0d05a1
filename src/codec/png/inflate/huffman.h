/* Huffman codes with a limited length for deflate (RFC 1951). */
#pragma once

#include <stdint.h>

enum { GF_HUFFMAN_SYMBOLS = 288, GF_HUFFMAN_LONGEST = 15 };

/* Finds the code lengths of symbols that occur `frequency` times: at most `longest` bits, 0 for a
 * symbol that does not occur. At least two symbols must occur. */
void gf_huffman_lengths(const uint32_t *frequency, int symbols, int longest, uint8_t *lengths);

/* Makes the codes with these lengths. The first bit of a code is its lowest bit, as in deflate. */
void gf_huffman_codes(const uint8_t *lengths, int symbols, uint16_t *codes);
