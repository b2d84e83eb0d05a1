#include "pixel/gauss/gauss.h"

#include <math.h>

#include "base/elementary.h"

int gf_gauss_radius(double sigma)
{
    const int radius = (int)ceil(3 * sigma);
    return radius > GF_GAUSS_RADIUS_MAX ? GF_GAUSS_RADIUS_MAX : radius;
}

/* Rounds running sums of the taps, from the outermost tap inwards, and takes their differences. Any
 * group of neighbouring taps then has an error of at most one unit, and wide kernels do not change
 * the brightness. Returns false if a tap needs more than 15 bits. */
static int scale_taps(struct gf_gauss *gauss, const double *tap, int shift)
{
    const double scale = (double)(1 << shift);
    double sum = 0;
    int before = 0;
    for (int k = gauss->radius; k > 0; k--) {
        sum += tap[k] * scale;
        const int rounded = (int)floor(sum + 0.5);
        if (rounded - before > INT16_MAX)
            return 0;
        gauss->fixed[k] = (uint16_t)(rounded - before);
        before = rounded;
    }
    const int centre = (1 << shift) - 2 * before;
    gauss->fixed[0] = (uint16_t)centre;
    gauss->shift = shift;
    return centre <= INT16_MAX;
}

void gf_gauss_init(struct gf_gauss *gauss, double sigma)
{
    double tap[GF_GAUSS_RADIUS_MAX + 1];
    double sum = 0;
    gauss->radius = gf_gauss_radius(sigma);
    for (int k = gauss->radius; k >= 0; k--) {
        tap[k] = gf_exp_double(-0.5 * k * k / (sigma * sigma));
        sum += k ? 2 * tap[k] : tap[k];
    }
    for (int k = 0; k <= gauss->radius; k++) {
        tap[k] /= sum;
        gauss->real[k] = (float)tap[k];
    }
    for (int shift = GF_GAUSS_SHIFT_MAX; !scale_taps(gauss, tap, shift); shift--)
        ;
}

size_t gf_gauss_mid_pitch(struct gf_format format)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * (format.bits == 8 ? sizeof(uint16_t) : sizeof(float)) + 255) / 256 * 256;
}
