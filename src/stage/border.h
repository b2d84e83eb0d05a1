/* The rule for samples that a stencil reads beyond the edges of the picture. */
#pragma once

#include "base/host_device.h"

enum gf_border { GF_BORDER_EDGE, GF_BORDER_REFLECT, GF_BORDER_WRAP, GF_BORDER_CONSTANT };

/* Returns the index in 0..n-1 of the sample that stands for index i of a row or column of n
 * samples, or -1 if 0 stands for it (a constant border). Reflection does not repeat the sample at
 * the edge: -1 becomes 1; for n = 1 it is always 0. */
GF_HOST_DEVICE int gf_border_index(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == GF_BORDER_EDGE)
        return i < 0 ? 0 : n - 1;
    if (border == GF_BORDER_CONSTANT)
        return -1;
    if (border == GF_BORDER_WRAP) {
        i %= n;
        return i < 0 ? i + n : i;
    }
    if (n == 1)
        return 0;
    const int period = 2 * (n - 1);
    i %= period;
    if (i < 0)
        i += period;
    return i < n ? i : period - i;
}
