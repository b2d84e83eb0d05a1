/* The constants of sobel, for both backends. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/host_device.h"

/* The kernels of sobel. A gradient is the weighted sum of three differences between pixels on
 * opposite sides of a 3 x 3 window. The middle difference has the weight gf_gradient_middle(), the
 * other two have the weight gf_gradient_side(). */
enum gf_gradient { GF_GRADIENT_SOBEL, GF_GRADIENT_SCHARR, GF_GRADIENT_PREWITT };

struct gf_sobel {
    float scale;
    int border;
    int kernel; /* enum gf_gradient */
};

GF_HOST_DEVICE int gf_gradient_side(int kernel)
{
    return kernel == GF_GRADIENT_SCHARR ? 3 : 1;
}

GF_HOST_DEVICE int gf_gradient_middle(int kernel)
{
    return kernel == GF_GRADIENT_SCHARR ? 10 : kernel == GF_GRADIENT_PREWITT ? 1 : 2;
}

/* Whether, with Sobel's weights, a square root with a relative error of 2^-21 gives the right 8-bit
 * magnitudes. The squares are integers: near each value n - 1/2, where the result changes, only the
 * two neighbouring integers have to be tested. The error of both backends together is below
 * 1.5e-4. */
static inline bool gf_sobel_estimate_suffices(float scale)
{
    for (int n = 1; n <= 255; n++) {
        const double edge = (n - 0.5) / scale, below = floor(edge * edge);
        if (!(below < 2080800)) /* the largest square is 2 * 1020^2 */
            break;
        if (n - 0.5 - sqrt(below) * scale < 2.5e-4 || sqrt(below + 1) * scale - (n - 0.5) < 2.5e-4)
            return false;
    }
    return true;
}
