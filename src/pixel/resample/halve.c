/* Halves rows on the CPU. */
#include "pixel/resample/halve.h"

#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "base/simd.h"
#include "pixel/float_rows.h"
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

enum { PIECE = 256, PIECE_SAMPLES = 4 * PIECE }; /* pixels of the result */

/* Converts the pixels of a row that `count` pixels of the result from `first` on need. */
static void take_floats(struct gf_format format, const void *row, int first, int count, float *to)
{
    const int channels = format.channels, left = format.width - 2 * first,
              pixels = left < 2 * count ? left : 2 * count;
    gf_floats_of_row((const char *)row + (size_t)(2 * first) * gf_pixel_bytes(format), format,
                     (size_t)(pixels * channels), to);
    if (pixels % 2)
        memcpy(to + pixels * channels, to + (pixels - 1) * channels, (size_t)channels * sizeof *to);
}

/* Halves floats, of which none is limited. A colour is the mean of colours times alpha, divided by
 * the mean of alpha; 0 where that is 0. */
static void halve_floats(struct gf_format format, const void *a, const void *b, void *to)
{
    const int channels = format.channels, last = channels - 1, width = gf_halved(format.width);
    float above[2 * PIECE_SAMPLES], below[2 * PIECE_SAMPLES], made[PIECE_SAMPLES];
    for (int first = 0, count; first < width; first += count) {
        count = width - first < PIECE ? width - first : PIECE;
        take_floats(format, a, first, count, above);
        take_floats(format, b, first, count, below);
        for (int i = 0; i < count * channels; i++) {
            const int at = i / channels * 2 * channels, c = i % channels;
            const float *const p = above + at, *const q = p + channels, *const r = below + at,
                               *const s = r + channels;
            const float alpha = (p[last] + q[last]) + (r[last] + s[last]);
            if (channels % 2 || c == last)
                made[i] = ((p[c] + q[c]) + (r[c] + s[c])) * 0.25f;
            else
                made[i] =
                    alpha == 0
                        ? 0
                        : ((p[c] * p[last] + q[c] * q[last]) + (r[c] * r[last] + s[c] * s[last])) /
                              alpha;
        }
        gf_floats_to_row(made, format, (size_t)(count * channels),
                         (char *)to + (size_t)first * gf_pixel_bytes(format));
    }
}

void gf_halve_rows(struct gf_format format, const void *a, const void *b, void *to)
{
    if (gf_is_float(format)) {
        halve_floats(format, a, b, to);
        return;
    }
    const int vectors = format.bits == 8 && format.channels % 2
                            ? gf_resample_halve_once(a, b, format.width / 2, format.channels, to)
                            : 0;
    if (format.bits == 8)
        halve_bytes(format.channels, a, b, vectors, format.width, to);
    else
        halve_words(format.channels, a, b, vectors, format.width, to);
}
