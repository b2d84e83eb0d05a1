/* The taps of a Gaussian, computed once for both backends: exp(-i^2 / (2 sigma^2)), i = -r..r with
 * r = ceil(3 sigma), normalised.
 *
 * Pictures of 8 bits are blurred in fixed point, so that every machine makes the same picture bit
 * for bit. The taps are scaled by 2^shift and sum to exactly that. The vertical pass comes first,
 * since a band then shares only input rows with its neighbours and computes nothing twice; its
 * result has GF_GAUSS_FRACTION fraction bits (<= 255 * 128, so that it fits a signed 16-bit
 * multiplier). The horizontal sum is below 2^32 even with the half that rounds it; sums are exact
 * modulo 2^32, so their order does not matter.
 *
 * Pictures of 16 bits are blurred in float, and the intermediate stays float. Both passes begin
 * with tap[0] * s(0) and add tap[k] * (s(-k) + s(k)) for k = 1..r in that order, on either
 * backend. */
#ifndef GF_PIXEL_GAUSS_GAUSS_H
#define GF_PIXEL_GAUSS_GAUSS_H

#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/image.h"

GF_C_BEGIN

enum {
    GF_GAUSS_RADIUS_MAX = 750, /* sigma 250 */
    GF_GAUSS_FRACTION = 7,
    GF_GAUSS_SHIFT_MAX = 17,
};

struct gf_gauss {
    int radius;
    int shift;                               /* 14..17 */
    uint16_t fixed[GF_GAUSS_RADIUS_MAX + 1]; /* by distance from the centre; at most 32767 */
    float real[GF_GAUSS_RADIUS_MAX + 1];
};

static inline int gf_gauss_tap(const struct gf_gauss *gauss, int distance)
{
    distance = distance < 0 ? -distance : distance;
    return distance <= gauss->radius ? gauss->fixed[distance] : 0;
}

int gf_gauss_radius(double sigma);
void gf_gauss_init(struct gf_gauss *gauss, double sigma);

/* Up to this radius one kernel blurs on the device, without scratch memory. */
enum { GF_GAUSS_FUSED_MAX = 16 };
/* With larger radii one kernel passes the vertical pass's result to another in scratch memory.
 * Returns the bytes from one of its rows to the next. */
size_t gf_gauss_mid_pitch(struct gf_format format);

/* Up to this radius a kernel for pictures of 16 bits needs no scratch memory. */
enum { GF_GAUSS_STRIP_MAX = 6 };

/* The tensor-core kernel accepts pictures of 8 bits without alpha, radii up to this one, and sigmas
 * that change the picture: with shift 14 the centre's tap is 1 for smaller sigmas. */
enum { GF_GAUSS_TENSOR_MAX = 64 };
#define GF_GAUSS_TENSOR_SIGMA_MIN 0.22

GF_C_END
#endif
