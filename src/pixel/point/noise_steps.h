/* Normal noise on samples of 8 bits as a table. The rounded noise is a step function of the random
 * word. Only where the sum of noise and sample is very close to the middle between two samples does
 * rounding to float matter; such sums are called uncertain. */
#ifndef GF_PIXEL_POINT_NOISE_STEPS_H
#define GF_PIXEL_POINT_NOISE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "base/host_device.h"

GF_C_BEGIN

enum {
    GF_NOISE_CELL_BITS = 13, /* the upper bits of a word are the number of its cell */
    GF_NOISE_CELLS = 1 << GF_NOISE_CELL_BITS,
    GF_NOISE_REST_BITS = 32 - GF_NOISE_CELL_BITS, /* bits of a word's position in its cell */
    /* A cell plus the upper bits of a word: the upper half is the noise to add, the lower half is
     * the word's distance from the step. There is one bit more than a position needs, so that a
     * cell can have no step. */
    GF_NOISE_FRACTION_BITS = 16,
    GF_NOISE_SKIPPED_BITS = GF_NOISE_REST_BITS + 1 - GF_NOISE_FRACTION_BITS,
    /* The noise in sums of cells that are not usable: it is less than that of any other sum. */
    GF_NOISE_UNKNOWN = -2048,
};

/* Fills cells[GF_NOISE_CELLS] for noise of `scale` samples. Returns a limit: a sum is uncertain if
 * its lower half is below the limit, or if its noise is GF_NOISE_UNKNOWN. 0: the scale is too small
 * or too large for cells. */
uint32_t gf_noise_cells(float scale, uint32_t *cells);

/* The sum of a word and its cell. */
GF_HOST_DEVICE uint32_t gf_noise_sum(const uint32_t *cells, uint32_t word)
{
    return cells[word >> GF_NOISE_REST_BITS] + (word >> GF_NOISE_SKIPPED_BITS);
}

/* The noise to add to a sample. The sum must not be uncertain. */
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
