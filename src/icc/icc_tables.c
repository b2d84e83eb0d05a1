/* Functions that all tables need. */
#include "icc/icc_tables.h"

#include <stdlib.h>

#include "base/fail.h"

unsigned gf_icc_reserve(size_t *end, size_t size)
{
    const size_t at = *end;
    *end = (at + size + 15) / 16 * 16;
    return (unsigned)at;
}

enum gf_status gf_icc_allocate(struct gf_icc_transform **transform, size_t size,
                               const struct gf_icc_transform *head, struct gf_error *error)
{
    free(*transform);
    *transform = calloc(1, size);
    if (!*transform)
        return gf_fail_memory(error);
    **transform = *head;
    (*transform)->bytes = (unsigned)size;
    return GF_OK;
}

#ifdef GF_WITH_LCMS

bool gf_icc_agrees(const struct gf_icc_making *b, int levels)
{
    enum { SIDE = 9 };
    const int bits = b->wish->bits, most = (1 << bits) - 1, inputs = b->wish->inputs,
              outputs = b->wish->outputs;
    int colours = SIDE * SIDE * SIDE * (inputs == 4 ? SIDE : 1);
    while (colours--) {
        uint16_t sample[4], exact[4], own16[4];
        unsigned char sample8[4], own8[4];
        for (int c = 0, rest = colours; c < inputs; c++, rest /= SIDE) {
            const int v = rest % SIDE * most / (SIDE - 1);
            sample8[c] = (unsigned char)v;
            sample[c] = (uint16_t)(bits == 8 ? v * 257 : v);
        }
        cmsDoTransform(b->exact, sample, exact, 1);
        gf_icc_convert(b->transform, bits == 8 ? (void *)sample8 : sample, inputs,
                       bits == 8 ? (void *)own8 : own16, outputs, 1);
        for (int c = 0; c < outputs; c++) {
            const int own = bits == 8 ? own8[c] : own16[c];
            if (abs(own - (int)gf_icc_in_bits(exact[c], bits)) >
                (bits == 8 ? levels : levels * 257))
                return false;
        }
    }
    return true;
}
#endif
