#include "codec/png/inflate/inflate.h"

#include "base/target_clones.h"

enum {
    BASE = 65521,
    LANES = 32,
    STEPS = 170 /* number of bytes after which no sum can reach 1 << 32 */
};

/* Adds steps of LANES bytes. Adler-32 has two sums. The first is the sum of the bytes. The second
 * adds the first sum after each byte, so that each byte counts once for itself and once for each
 * later byte. Both sums are kept for LANES columns of bytes, and the second in units of whole
 * steps, until the columns are joined. */
GF_TARGET_CLONES static void add_steps(const uint8_t *data, int steps, uint32_t *first,
                                       uint32_t *second)
{
    uint32_t sum[LANES] = {0}, sums[LANES] = {0};
    for (int step = 0; step < steps; step++, data += LANES)
        for (int i = 0; i < LANES; i++) {
            sums[i] += sum[i];
            sum[i] += data[i];
        }
    uint32_t bytes = 0, whole = 0, part = 0;
    for (int i = 0; i < LANES; i++) {
        bytes += sum[i];
        whole += sums[i];
        part += (uint32_t)(LANES - i) * sum[i];
    }
    *second = (*second + (uint32_t)steps * LANES * *first + LANES * whole + part) % BASE;
    *first = (*first + bytes) % BASE;
}

uint32_t gf_adler32(const uint8_t *data, size_t size)
{
    uint32_t first = 1, second = 0;
    while (size >= LANES) {
        const int steps = size / LANES < STEPS ? (int)(size / LANES) : STEPS;
        add_steps(data, steps, &first, &second);
        data += steps * LANES;
        size -= (size_t)steps * LANES;
    }
    for (; size; size--) {
        first = (first + *data++) % BASE;
        second = (second + first) % BASE;
    }
    return second << 16 | first;
}
