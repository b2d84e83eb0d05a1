/* Halves rows on the CPU. */
#include "pixel/resample/halve.h"

#include <stdint.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "pixel/resample/resample.h"

/* Halves pixel `x` of the result, of samples of the given type, without alpha or with it. */
#define HALVES(name, type, most) \
    GF_INLINE void name##_pixel(const int channels, const type *a, const type *b, \
                                const ptrdiff_t second, type *restrict to) \
    { \
        const int alpha = channels - 1; \
        if (channels % 2) { \
            for (int c = 0; c < channels; c++) \
                to[c] = (type)gf_halve(a[c], a[second + c], b[c], b[second + c]); \
            return; \
        } \
        const int scale = 65535 / (most); \
        const int sum = gf_halve(a[alpha] * scale, a[second + alpha] * scale, b[alpha] * scale, \
                                 b[second + alpha] * scale); \
        for (int c = 0; c < alpha; c++) { \
            const int mean = \
                gf_halve(gf_halve_premultiply(a[c], a[alpha], most), \
                         gf_halve_premultiply(a[second + c], a[second + alpha], most), \
                         gf_halve_premultiply(b[c], b[alpha], most), \
                         gf_halve_premultiply(b[second + c], b[second + alpha], most)); \
            to[c] = (type)gf_halve_unpremultiply(mean, sum, most); \
        } \
        to[alpha] = (type)gf_halve_alpha(sum, most); \
    } \
    GF_INLINE void name##_row(const int channels, const type *a, const type *b, int from, \
                              int width, type *restrict to) \
    { \
        for (int x = from; x < width / 2; x++) { \
            const ptrdiff_t at = (ptrdiff_t)2 * x * channels; \
            name##_pixel(channels, a + at, b + at, channels, to + (ptrdiff_t)x * channels); \
        } \
        if (width % 2) { \
            const ptrdiff_t at = (ptrdiff_t)(width - 1) * channels; \
            name##_pixel(channels, a + at, b + at, 0, to + (ptrdiff_t)(width / 2) * channels); \
        } \
    } \
    GF_TARGET_CLONES static void name(int channels, const type *a, const type *b, int from, \
                                      int width, type *restrict to) \
    { \
        GF_BY_CHANNELS(channels, CHANNELS, name##_row(CHANNELS, a, b, from, width, to)) \
    }

HALVES(halve_bytes, uint8_t, 255)
HALVES(halve_words, uint16_t, 65535)

void gf_halve_rows(struct gf_format format, const void *a, const void *b, void *to)
{
    const int vectors = format.bits == 8 && format.channels % 2
                            ? gf_resample_halve_once(a, b, format.width / 2, format.channels, to)
                            : 0;
    if (format.bits == 8)
        halve_bytes(format.channels, a, b, vectors, format.width, to);
    else
        halve_words(format.channels, a, b, vectors, format.width, to);
}
