/* Normal noise on samples of 8 bits as a table. What is added to a sample, rounded, depends on the
 * word alone: a staircase, but where the sum is so near to the middle of two samples that its
 * rounding as a float could decide. */
#ifndef GF_PIXEL_POINT_NOISE_STEPS_H
#define GF_PIXEL_POINT_NOISE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "base/host_device.h"

GF_C_BEGIN

enum {
    GF_NOISE_CELL_BITS = 13, /* upper bits of a word, which are the number of its cell */
    GF_NOISE_CELLS = 1 << GF_NOISE_CELL_BITS,
    GF_NOISE_REST_BITS = 32 - GF_NOISE_CELL_BITS, /* a word's place in its cell */
    /* A cell plus the upper bits of a word: in the upper half what is to be added, in the lower how
     * far the word lies from the step. One bit more than a place takes, so that a cell without a
     * step is possible. */
    GF_NOISE_FRACTION_BITS = 16,
    GF_NOISE_SKIPPED_BITS = GF_NOISE_REST_BITS + 1 - GF_NOISE_FRACTION_BITS,
    /* What sums of cells of which more is not known add: less than any other's. */
    GF_NOISE_UNKNOWN = -2048,
};

/* Fills cells[GF_NOISE_CELLS] for noise of `scale` samples. Returns a limit: a sum whose lower half
 * is below it is in doubt, and so is one that adds GF_NOISE_UNKNOWN. 0: the scale is too small or
 * too large for cells. */
uint32_t gf_noise_cells(float scale, uint32_t *cells);

/* The sum of a word and its cell. */
GF_HOST_DEVICE uint32_t gf_noise_sum(const uint32_t *cells, uint32_t word)
{
    return cells[word >> GF_NOISE_REST_BITS] + (word >> GF_NOISE_SKIPPED_BITS);
}

/* What is added to a sample, where the sum is not in doubt. */
GF_HOST_DEVICE int gf_noise_step(uint32_t sum)
{
    return (int32_t)sum >> GF_NOISE_FRACTION_BITS;
}

GF_HOST_DEVICE bool gf_noise_doubtful(uint32_t sum, uint32_t limit)
{
    return (sum & ((1u << GF_NOISE_FRACTION_BITS) - 1)) < limit ||
           gf_noise_step(sum) == GF_NOISE_UNKNOWN;
}

GF_C_END
#endif
