/* Hysteresis on bits: weak pixels that are connected with strong ones, by any of the eight
 * neighbours and by way of other weak pixels, become strong.
 *
 * A row of planes holds two rows of gf_bit_words() 32-bit words: first the pixels that are weak or
 * strong, then those that are strong, which are among the former. Pixel x is bit x % 8 of byte
 * x / 8; bits beyond the width are 0. */
#ifndef GF_FILTERS_CANNY_HYSTERESIS_H
#define GF_FILTERS_CANNY_HYSTERESIS_H

#include <stddef.h>

#include "base/c_linkage.h"
#include "stage/view.h"

GF_C_BEGIN

/* The words of a row of bits: an even number. */
static inline int gf_bit_words(int width)
{
    return (int)(((unsigned)width + 63) / 64 * 2);
}

/* in: all rows of the planes, as gray samples of 8 bits. bits: [rows][words / 2], which become the
 * strong pixels and what is connected with them. scratch: gf_hysteresis_scratch() bytes. */
void gf_hysteresis(const struct gf_view *in, unsigned char *bits, void *scratch);
size_t gf_hysteresis_scratch(struct gf_format planes);

/* On the device: a run of pixels of two rows, within a word, is a node of a tree; node 0 is strong.
 * All runs of a word begin on different pairs of pixels. */
static inline size_t gf_hysteresis_nodes(struct gf_format planes)
{
    const size_t words = (size_t)planes.width / 8, strips = ((size_t)planes.height + 1) / 2;
    return 1 + 16 * words * strips;
}

GF_C_END
#endif
