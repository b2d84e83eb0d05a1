/* Hysteresis on bits: weak pixels become strong if they are connected with strong ones, by any of
 * the eight neighbours and by way of other weak pixels.
 *
 * A row of planes contains two rows of gf_bit_words() 32-bit words: first a bit for each pixel that
 * is weak or strong, then a bit for each pixel that is strong. Pixel x is bit x % 8 of byte x / 8;
 * bits beyond the width are 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stage/view.h"

/* The number of words in a row of bits, which is even. */
static inline int gf_bit_words(int width)
{
    return (int)(((unsigned)width + 63) / 64 * 2);
}

/* Connects the pixels. in: all rows of the planes, declared as gray samples of 8 bits. bits:
 * [rows][words / 2], the result: strong pixels and all that are connected with them. scratch:
 * gf_hysteresis_scratch() bytes. */
void gf_hysteresis(const struct gf_view *in, unsigned char *bits, void *scratch);
size_t gf_hysteresis_scratch(struct gf_format planes);

/* The number of nodes of the device's union-find trees. Each run of pixels within a word of two
 * rows is a node; node 0 stands for strong pixels. Any two runs of a word begin at different pairs
 * of pixels. */
static inline size_t gf_hysteresis_nodes(struct gf_format planes)
{
    const size_t words = (size_t)planes.width / 8, strips = ((size_t)planes.height + 1) / 2;
    return 1 + 16 * words * strips;
}

/* The bytes of the device's scratch: the trees, and a plane of bits after them. */
static inline size_t gf_hysteresis_device_scratch(struct gf_format planes)
{
    const size_t plane = (size_t)planes.width / 8 * (size_t)planes.height;
    return (gf_hysteresis_nodes(planes) + plane) * sizeof(uint32_t);
}
