/* Halves the sides of a picture, for the levels of pyramids, on host and device: each result is the
 * mean of 2 x 2 pixels, rounded, a half up. Where the picture has an odd side, the pixels of the
 * last column or row count twice. Colours are weighted with alpha, as resize=50%:kernel=area does:
 * premultiplied to 16 bits, added, and divided by the mean of alpha. Floats are not rounded. */
#pragma once

#include "base/host_device.h"
#include "pixel/colour.h"
#include "pixel/sample.h"

GF_C_BEGIN

GF_HOST_DEVICE int gf_halve(int a, int b, int c, int d)
{
    return (a + b + c + d + 2) >> 2;
}

/* Returns the colour v times alpha, both 0..max, as 0..65535. */
GF_HOST_DEVICE int gf_halve_premultiply(int v, int alpha, float max)
{
    return gf_round_flat((float)v * (65535.0f / max) * (float)alpha / max, 65535.0f);
}

/* Returns the colour, 0..max, whose product with alpha is v; both are 0..65535. */
GF_HOST_DEVICE int gf_halve_unpremultiply(int v, int alpha, float max)
{
    const float straight = (float)v * max / (alpha > 0 ? (float)alpha : 1.0f);
    return alpha > 0 ? gf_round_flat(straight, max) : 0;
}

/* Returns an alpha of 0..65535 as 0..max, which is 255 or 65535. */
GF_HOST_DEVICE int gf_halve_alpha(int alpha, float max)
{
    return gf_round_flat((float)alpha / (65535.0f / max), max);
}

/* Halves two rows of a picture to one of gf_halved() pixels. Without a second row b is a. */
void gf_halve_rows(struct gf_format format, const void *a, const void *b, void *to);

/* Returns the length of a side that is halved. */
GF_HOST_DEVICE int gf_halved(int side)
{
    return side - side / 2;
}

GF_C_END
