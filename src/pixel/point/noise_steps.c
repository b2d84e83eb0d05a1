/* Makes the table for adding normal noise to 8-bit samples. A code is the upper 24 bits of a random
 * word; noise depends on these bits alone, and grows with them. */
#include "pixel/point/noise.h"

#include <math.h>

enum {
    CODES = 1 << 24,
    CELL_CODES = CODES / GF_NOISE_CELLS,
    UNITS = 256 >> GF_NOISE_SKIPPED_BITS, /* one code is this many units of a sum */
    STEPS_MOST = 1500, /* the most steps of noise on each side of 0, with a margin */
    DOUBT_MOST = CELL_CODES / 4
};

static double noise_of(int code, float scale)
{
    return (double)gf_noise_normal(gf_noise_even((uint32_t)code << 8)) * (double)scale;
}

/* Returns the first code, from `from` on, whose noise is at least `least`, or CODES. */
static int first_code(double least, float scale, int from)
{
    int end = CODES;
    while (from < end) {
        const int middle = from + (end - from) / 2;
        if (noise_of(middle, scale) < least)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* The largest distance between noise and a step at which rounding to float can change the result.
 * The sum with a sample is below 256 and is rounded twice, by at most 2^-17 each time. */
static const double doubtful = 0x1p-16;

/* The step from sample k - 1 to k. For codes first .. end - 1 the rounded result is uncertain. */
struct step {
    int first, end;
};

static struct step step_to(int k, float scale, int from)
{
    const double at = k - 0.5;
    struct step step;
    step.first = first_code(at - doubtful, scale, from);
    step.end = first_code(at + doubtful, scale, step.first);
    return step;
}

static uint32_t cell_of(int index, int value, int fraction)
{
    return ((uint32_t)value << GF_NOISE_FRACTION_BITS) + (uint32_t)fraction -
           ((uint32_t)index << (GF_NOISE_REST_BITS - GF_NOISE_SKIPPED_BITS));
}

/* Marks the cells that contain the step. `crossed` counts the steps of each cell. */
static void mark_step(uint32_t *cells, uint8_t *crossed, struct step step, int k, int doubt)
{
    const int middle = step.first + (step.end - step.first) / 2;
    const int most = step.end > step.first ? step.end - 1 : step.first;
    for (int i = step.first / CELL_CODES; i <= most / CELL_CODES && i < GF_NOISE_CELLS; i++) {
        const int before = middle - doubt - i * CELL_CODES; /* the codes of the cell before the sum
                                                             * wraps */
        cells[i] = crossed[i]++ ? cell_of(i, GF_NOISE_UNKNOWN, 0)
                                : cell_of(i, k - 1, (1 << GF_NOISE_FRACTION_BITS) - before * UNITS);
    }
}

uint32_t gf_noise_cells(float scale, uint32_t *cells)
{
    static const int half = 1 << (GF_NOISE_FRACTION_BITS - 2);
    uint8_t crossed[GF_NOISE_CELLS] = {0};
    const int least = (int)floor(noise_of(0, scale) + 0.5);
    const int most = (int)floor(noise_of(CODES - 1, scale) + 0.5);
    if (!(scale > 0) || least < -STEPS_MOST || most > STEPS_MOST)
        return 0;
    int doubt = 1, from = 0;
    for (int k = least; k <= most + 1; k++) { /* the steps in the middle span the most codes */
        const struct step step = step_to(k, scale, from);
        while (2 * doubt < step.end - step.first + 2)
            doubt *= 2;
        from = step.first;
    }
    if (doubt > DOUBT_MOST)
        return 0;
    from = 0;
    int cell = 0;
    for (int k = least; k <= most + 1; k++) {
        const struct step step = step_to(k, scale, from);
        for (; cell < GF_NOISE_CELLS && cell * CELL_CODES < step.first; cell++) {
            if (!crossed[cell])
                cells[cell] = cell_of(cell, k - 1, half);
        }
        if (step.end > 0)
            mark_step(cells, crossed, step, k, doubt);
        from = step.first;
    }
    for (; cell < GF_NOISE_CELLS; cell++) {
        if (!crossed[cell])
            cells[cell] = cell_of(cell, most, half);
    }
    return 2u * (uint32_t)doubt * UNITS;
}
