#include "pixel/gauss/gauss.h"

#include <math.h>
#include <string.h>

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

/* Normalises the taps. */
static void set_taps(struct gf_gauss *gauss, double *tap)
{
    double sum = 0;
    for (int k = gauss->radius; k >= 0; k--)
        sum += k ? 2 * tap[k] : tap[k];
    for (int k = 0; k <= gauss->radius; k++) {
        tap[k] /= sum;
        gauss->real[k] = (float)tap[k];
    }
    for (int shift = GF_GAUSS_SHIFT_MAX; !scale_taps(gauss, tap, shift); shift--)
        ;
}

static void init(struct gf_gauss *gauss, double sigma, int radius)
{
    double tap[GF_GAUSS_RADIUS_MAX + 1];
    gauss->radius = radius;
    for (int k = 0; k <= radius; k++)
        tap[k] = gf_exp_double(-0.5 * k * k / (sigma * sigma));
    set_taps(gauss, tap);
}

void gf_gauss_init(struct gf_gauss *gauss, double sigma)
{
    init(gauss, sigma, gf_gauss_radius(sigma));
}

double gf_gauss_window_sigma(int radius)
{
    return 0.3 * (radius - 1) + 0.8;
}

void gf_gauss_init_window(struct gf_gauss *gauss, int radius)
{
    enum { TABLES = 4 };
    /* Small windows have taps of their own, in 256ths, from the middle outwards. */
    static const double small[TABLES][TABLES + 1] = {
        {128, 64}, {96, 64, 16}, {72, 56, 28, 8}, {60, 51, 30, 13, 4}};
    double tap[TABLES + 1];
    if (radius > TABLES)
        return init(gauss, gf_gauss_window_sigma(radius), radius);
    gauss->radius = radius;
    memcpy(tap, small[radius - 1], sizeof tap);
    set_taps(gauss, tap);
}

size_t gf_gauss_mid_pitch(struct gf_format format)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * (format.bits == 8 ? sizeof(uint16_t) : sizeof(float)) + 255) / 256 * 256;
}
