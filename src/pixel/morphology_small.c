/* Dilation and erosion by small rectangles on the CPU: the extreme of three, five or seven rows,
 * then of as many columns, each in one pass. */
#include "base/target_clones.h"
#include "pixel/morphology.h"
#include "pixel/stencil.h"

/* to[i] = the extreme of row[k][i + k * step], k < window. Rows may be the same one. */
#define EXTREME(name, window, type, compare) \
    GF_TARGET_CLONES static void name(const unsigned char *const *rows, size_t step, \
                                      unsigned char *to_, size_t count) \
    { \
        const type *from[window]; \
        type *const to = (type *)(void *)to_; \
        for (int k = 0; k < (window); k++) \
            from[k] = (const type *)(const void *)rows[k] + (size_t)k * step; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) \
        { \
            type most = from[0][i]; \
            for (int k = 1; k < (window); k++) \
                most = from[k][i] compare most ? from[k][i] : most; \
            to[i] = most; \
        } \
    }
#define EXTREMES(name, type, compare) \
    EXTREME(name##_3, 3, type, compare) \
    EXTREME(name##_5, 5, type, compare) \
    EXTREME(name##_7, 7, type, compare)
EXTREMES(least8, uint8_t, <)
EXTREMES(largest8, uint8_t, >)
EXTREMES(least16, gf_u16_any, <)
EXTREMES(largest16, gf_u16_any, >)

typedef void extreme_function(const unsigned char *const *rows, size_t step, unsigned char *to,
                              size_t count);

bool gf_morphology_is_small(const struct gf_morphology *morphology)
{
    return morphology->is_rectangle && morphology->rx >= 1 && morphology->rx <= 3 &&
           morphology->ry >= 1 && morphology->ry <= 3;
}

void gf_morphology_small(const struct gf_morphology *morphology, bool dilates,
                         const unsigned char *const *rows, const struct gf_view *out,
                         unsigned char *padded)
{
    static extreme_function *const by_window[4][3] = {{least8_3, least8_5, least8_7},
                                                      {largest8_3, largest8_5, largest8_7},
                                                      {least16_3, least16_5, least16_7},
                                                      {largest16_3, largest16_5, largest16_7}};
    const struct gf_format format = out->format;
    const int rx = morphology->rx, ry = morphology->ry;
    const size_t pixel_bytes = (size_t)(format.channels * format.bits / 8);
    extreme_function *const *const of = by_window[2 * (format.bits == 16) + dilates];
    const unsigned char *const along[7] = {padded, padded, padded, padded, padded, padded, padded};
    unsigned char *const row = padded + (size_t)rx * pixel_bytes;
    for (int i = 0; i < out->rows; i++) {
        of[ry - 1](rows + i, 0, row, gf_samples(format));
        gf_stencil_pad(row, format.width, rx, pixel_bytes, morphology->border);
        of[rx - 1](along, (size_t)format.channels, gf_view_row(out, out->y + i),
                   gf_samples(format));
    }
}
