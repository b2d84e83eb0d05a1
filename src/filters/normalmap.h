/* The constants of normalmap and its arithmetic, for both backends. Only the reciprocal square root
 * is left to each: the device has an instruction for it (Best Practices Guide, 11.1.3), good to two
 * units in the last place. */
#ifndef GF_FILTERS_NORMALMAP_H
#define GF_FILTERS_NORMALMAP_H

#include "base/host_device.h"

struct gf_normalmap {
    float slope; /* times a Sobel difference of gf_luma601_fine gives strength * gradient */
    int border;
};

/* 256 times the luma, not rounded: exact for 8 and 16 bits. */
GF_HOST_DEVICE int gf_luma601_fine(int r, int g, int b)
{
    return 77 * r + 150 * g + 29 * b;
}

/* The squared length of the vector (-strength gx, -strength gy, 1), and a component n/length of it
 * as a sample. */
GF_HOST_DEVICE float gf_normal_square(float x, float y)
{
    return x * x + y * y + 1.0f;
}

GF_HOST_DEVICE float gf_normal_sample(float component, float reciprocal_length, float max)
{
    return (component * reciprocal_length * 0.5f + 0.5f) * max;
}

#endif
