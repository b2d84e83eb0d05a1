/* The constants of normalmap and its arithmetic, for both backends. */
#pragma once

#include <math.h>

#include "base/host_device.h"

struct gf_normalmap {
    float slope; /* factor from Sobel differences of gf_luma601_fine to strength * gradient */
    int border;
};

/* Returns 256 times the luma, without rounding. It is exact for 8 and 16 bits. */
GF_HOST_DEVICE int gf_luma601_fine(int r, int g, int b)
{
    return 77 * r + 150 * g + 29 * b;
}

/* Returns the squared length of the vector (-strength gx, -strength gy, 1). */
GF_HOST_DEVICE float gf_normal_square(float x, float y)
{
    return fmaf(x, x, fmaf(y, y, 1.0f));
}

/* Converts a component n of the normal, -1..1, to a sample, which is the integer part of
 * gf_normal_rounded(). `half` is half the largest sample M. The rounding errors of n keep the sum
 * within 0..M + 1, so that no clamping is needed. */
GF_HOST_DEVICE float gf_normal_rounded(float n, float half)
{
    return fmaf(n, half, half + 0.5f);
}

GF_HOST_DEVICE float gf_normal_unrounded(float n, float half)
{
    return fmaf(n, half, half);
}
