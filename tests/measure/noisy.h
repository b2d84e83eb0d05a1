/* The pictures that tests of measures compare: smooth ones with squares, and the same with noise.
 */
#pragma once

#include <stdint.h>

#include "base/image.h"
#include "support.h"

static struct gf_error failure;

/* The original, or a changed picture with noise. */
static inline int value_of(bool changed, int x, int y, int c, struct gf_format format)
{
    const bool wide = format.bits == 16;
    if (format.channels % 2 == 0 && c == format.channels - 1)
        return (x * 5 + y * 3) % 256 * (wide ? 257 : 1);
    int v = (x * x / 7 + y * 3 + c * 50 + (x / 9 + y / 5) % 2 * 60) % 256;
    if (changed)
        v += (x * 31 + y * 17 + c * 13) % 11 - 5;
    v = v < 0 ? 0 : v > 255 ? 255 : v;
    return wide ? v * 257 - (v ? x * y % 200 : 0) : v;
}

static inline struct gf_image make(struct gf_format format, bool changed)
{
    struct gf_image image;
    assert_int_equal(gf_image_alloc(&image, format, &failure), GF_OK);
    for (int y = 0; y < format.height; y++) {
        unsigned char *const row = image.data + (size_t)y * image.pitch;
        for (int i = 0; i < format.width * format.channels; i++) {
            const int v = value_of(changed, i / format.channels, y, i % format.channels, format);
            if (format.bits == 8)
                row[i] = (unsigned char)v;
            else
                ((uint16_t *)(void *)row)[i] = (uint16_t)v;
        }
    }
    return image;
}
