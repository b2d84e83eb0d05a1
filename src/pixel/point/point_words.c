#include "pixel/point/point_planes.h"

#include <string.h>

#include "base/target_clones.h"

enum {
    LEVELS = 65536,
    MOST = LEVELS - 1,
    PART = 4096
}; /* the table is compared in parts, because
    * most tables differ early */

GF_TARGET_CLONES static bool is_linear(const uint16_t *table, int sign, int offset)
{
    int differs = 0;
    for (int first = 0; first < LEVELS && !differs; first += PART) {
        for (int v = first; v < first + PART; v++) {
            const int sum = sign * v + offset, limited = sum < 0 ? 0 : sum > MOST ? MOST : sum;
            differs |= table[v] ^ limited;
        }
    }
    return !differs;
}

GF_TARGET_CLONES static bool is_step(const uint16_t *table, int least)
{
    int differs = 0;
    for (int first = 0; first < LEVELS && !differs; first += PART) {
        for (int v = first; v < first + PART; v++)
            differs |= table[v] ^ (v >= least ? MOST : 0);
    }
    return !differs;
}

/* Returns the first index in a step's table whose value is MOST. */
static int least_of_step(const uint16_t *table)
{
    int below = -1, from = LEVELS;
    while (from - below > 1) {
        const int middle = (below + from) / 2;
        if (table[middle] == MOST)
            from = middle;
        else
            below = middle;
    }
    return from;
}

bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op)
{
    const int half = LEVELS / 2;
    for (int sign = -1; sign <= 1; sign += 2) {
        const int offset = table[half] - sign * half;
        *op = (struct gf_point_op){
            .kind = GF_POINT_LINEAR, .max = MOST, .b = (float)sign, .c = (float)offset};
        if (is_linear(table, sign, offset))
            return true;
    }
    const int least = least_of_step(table);
    *op = (struct gf_point_op){.kind = GF_POINT_STEP, .max = MOST, .a = (float)least};
    return is_step(table, least);
}

/* Adds or subtracts with saturation. `plus` or `minus` is 0. */
GF_TARGET_CLONES static void add(uint16_t flipped, uint16_t plus, uint16_t minus,
                                 const uint16_t *in, uint16_t *out, size_t n)
{
    const uint16_t most = (uint16_t)(MOST - plus);
    GF_INDEPENDENT for (size_t i = 0; i < n; i++)
    {
        const uint16_t v = in[i] ^ flipped, low = v < most ? v : most;
        const uint16_t sum = (uint16_t)(low + plus), high = sum > minus ? sum : minus;
        out[i] = (uint16_t)(high - minus);
    }
}

GF_TARGET_CLONES static void step(uint16_t least, const uint16_t *in, uint16_t *out, size_t n)
{
    GF_INDEPENDENT for (size_t i = 0; i < n; i++) out[i] = in[i] >= least ? MOST : 0;
}

void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n)
{
    const int offset = (int)op->c - (op->b < 0 ? MOST : 0); /* MOST - v equals v with all bits
                                                             * inverted */
    if (op->kind == GF_POINT_LINEAR)
        add(op->b < 0 ? MOST : 0, (uint16_t)(offset > 0 ? offset : 0),
            (uint16_t)(offset < 0 ? -offset : 0), in, out, n);
    else if (op->a > MOST)
        memset(out, 0, n * sizeof *out);
    else
        step((uint16_t)op->a, in, out, n);
}
