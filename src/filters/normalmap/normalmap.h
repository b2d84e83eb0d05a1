/* The constants of normalmap and its arithmetic, for both backends. */
#ifndef GF_FILTERS_NORMALMAP_NORMALMAP_H
#define GF_FILTERS_NORMALMAP_NORMALMAP_H

#include <math.h>

#include "base/host_device.h"

struct gf_normalmap {
    float slope; /* factor from Sobel differences of gf_luma601_fine to strength * gradient */
    int border;
};

/* 256 times the luma, without rounding: exact for 8 and 16 bits. */
GF_HOST_DEVICE int gf_luma601_fine(int r, int g, int b)
{
    return 77 * r + 150 * g + 29 * b;
}

/* The squared length of the vector (-strength gx, -strength gy, 1). */
GF_HOST_DEVICE float gf_normal_square(float x, float y)
{
    return fmaf(x, x, fmaf(y, y, 1.0f));
}

/* A component n of the normal, -1..1, as a sample; half is M / 2. The rounding errors of n keep the
 * sum within 0..M + 1, so that no clamping is needed. The integer part of gf_normal_rounded() is
 * the sample. */
GF_HOST_DEVICE float gf_normal_rounded(float n, float half)
{
    return fmaf(n, half, half + 0.5f);
}

GF_HOST_DEVICE float gf_normal_unrounded(float n, float half)
{
    return fmaf(n, half, half);
}

#endif
