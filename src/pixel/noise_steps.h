/* Normal noise on samples of 8 bits as a table. What is added to a sample, rounded, depends on the
 * word alone: a staircase, but where the sum is so near to the middle of two samples that its
 * rounding as a float could decide. */
#ifndef GF_PIXEL_NOISE_STEPS_H
#define GF_PIXEL_NOISE_STEPS_H

#include <stdint.h>

#include "base/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GF_NOISE_CELL_BITS = 13, /* upper bits of a word, which are the number of its cell */
    GF_NOISE_CELLS = 1 << GF_NOISE_CELL_BITS,
    GF_NOISE_REST_BITS = 32 - GF_NOISE_CELL_BITS, /* a word's place in its cell */
    /* A cell plus a word: in the upper bits what is to be added, in the others how far the word
     * lies from the step. One bit more than a place takes, so that a cell without a step is
     * possible. */
    GF_NOISE_FRACTION_BITS = GF_NOISE_REST_BITS + 1,
};

/* Cells of which more is not known lie below it with any word. As a sum it is in doubt. */
#define GF_NOISE_UNKNOWN (-2047 * (1 << GF_NOISE_FRACTION_BITS))

/* Fills cells[GF_NOISE_CELLS] for noise of `scale` samples. Returns a mask: a sum in which none of
 * its bits is set is in doubt. 0: the scale is too small or too large for cells. */
uint32_t gf_noise_cells(float scale, uint32_t *cells);

/* The sum of a word and its cell. */
GF_HOST_DEVICE int32_t gf_noise_sum(const uint32_t *cells, uint32_t word)
{
    const int32_t sum = (int32_t)(cells[word >> GF_NOISE_REST_BITS] + word);
    return sum > GF_NOISE_UNKNOWN ? sum : GF_NOISE_UNKNOWN;
}

/* What is added to a sample, where the sum is not in doubt. */
GF_HOST_DEVICE int gf_noise_step(int32_t sum)
{
    return sum >> GF_NOISE_FRACTION_BITS;
}

#ifdef __cplusplus
}
#endif
#endif
