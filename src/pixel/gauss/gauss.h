/* The taps of a Gaussian, computed once for both backends: exp(-i^2 / (2 sigma^2)), i = -r..r with
 * r = ceil(3 sigma), normalised. Pictures of 8 bits are blurred in fixed point, so that every
 * machine makes the same picture bit for bit. The taps are scaled by 2^shift, and their sum is
 * exactly 2^shift. The vertical pass comes first, since a band then shares only input rows with its
 * neighbours and computes nothing twice; its result has GF_GAUSS_FRACTION fraction bits (<= 255 *
 * 128, so that it fits a signed 16-bit multiplier). The horizontal sum, including the half for
 * rounding, is below 2^32; sums are exact modulo 2^32, so that their order does not matter.
 * Pictures of 16 bits are blurred in float, and the vertical pass's result stays float. On both
 * backends, both passes begin with tap[0] * s(0) and add tap[k] * (s(-k) + s(k)) for k = 1..r in
 * that order. */
#pragma once

#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/image.h"

GF_C_BEGIN

enum {
    GF_GAUSS_RADIUS_MAX = 750, /* the radius for a sigma of 250 */
    GF_GAUSS_FRACTION = 7,
    GF_GAUSS_SHIFT_MAX = 17,
};

struct gf_gauss {
    int radius;
    int shift;                               /* 14..17 */
    uint16_t fixed[GF_GAUSS_RADIUS_MAX + 1]; /* indexed by the distance from the centre; at most
                                              * 32767 */
    float real[GF_GAUSS_RADIUS_MAX + 1];
};

static inline int gf_gauss_tap(const struct gf_gauss *gauss, int distance)
{
    distance = distance < 0 ? -distance : distance;
    return distance <= gauss->radius ? gauss->fixed[distance] : 0;
}

int gf_gauss_radius(double sigma);
void gf_gauss_init(struct gf_gauss *gauss, double sigma);
/* The sigma that OpenCV's getGaussianKernel chooses for 2 radius + 1 taps, and its taps for them.
 */
double gf_gauss_window_sigma(int radius);
void gf_gauss_init_window(struct gf_gauss *gauss, int radius);

/* Up to this radius one kernel blurs on the device, without scratch memory. */
enum { GF_GAUSS_FUSED_MAX = 16 };
/* For larger radii a kernel does the vertical pass into scratch memory, and another kernel the
 * horizontal pass. Returns the bytes from one row of scratch memory to the next. */
size_t gf_gauss_mid_pitch(struct gf_format format);

/* Up to this radius a kernel blurs 16-bit pictures without scratch memory. */
enum { GF_GAUSS_STRIP_MAX = 6 };

/* The tensor-core kernel accepts 8-bit pictures without alpha, with a radius up to
 * GF_GAUSS_TENSOR_MAX and a sigma from GF_GAUSS_TENSOR_SIGMA_MIN on. With a smaller sigma and shift
 * 14 the centre's tap is 1, and the picture does not change. */
enum { GF_GAUSS_TENSOR_MAX = 64 };
#define GF_GAUSS_TENSOR_SIGMA_MIN 0.22

GF_C_END
