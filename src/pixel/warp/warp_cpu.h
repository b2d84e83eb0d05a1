/* The parts of a warp on the CPU. They compute stretches of 8-bit pixels with vectors, stretches
 * outside of the picture, neighbouring pixels that are close together in the input, and positions
 * by steps. */
#pragma once

#include "base/cpu.h"
#include "pixel/warp/warp.h"

struct gf_warp_sampler {
    const struct gf_warp *warp;
    const struct gf_view *in;
    const int16_t *weights;
    size_t pixel_bytes;
};

/* Computes pixels first .. end - 1 of the stretch at any positions. A pixel is stored at its place
 * in `out`, or added to the sums if a pixel has several samples. */
typedef void gf_warp_maker(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                           int first, int end, unsigned char *out, int64_t *sums);

/* Computes `count` pixels of a stretch with one sample each, of one or three channels of 8 bits.
 * `maker` computes the pixels for which there is no faster way. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_stretch *stretch, int count, unsigned char *out);

/* Sixteen neighbouring pixels of a warp of 8 bits that are close together in the input
 * (GF_CPU_VBMI). */

enum { GF_WARP_NEAR = 16 };

/* Compute pixels first .. first + count - 1 of the stretch to `out`; their windows are inside the
 * picture. There are functions for linear interpolation of one channel, and for the nearest pixel
 * of one and of three channels. They return the number of pixels that were computed, a multiple of
 * GF_WARP_NEAR: they stop where the next pixels are too far apart, or too close to the last
 * available row. */
GF_X86_ONLY int gf_warp_near_linear_gray8(const struct gf_view *in,
                                          const struct gf_warp_stretch *stretch, int first,
                                          int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                   int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                  int first, int count, uint8_t *out);

/* Computes the positions of a stretch of pixels by steps: along a row a map is almost a polynomial
 * of third degree, whose differences need only additions. */

/* Computes the positions of pixels (x, y) .. (x + count - 1, y) with one sample each, equal to the
 * positions of gf_warp_at(). For the nearest kernel it may leave out f and g. Up to GF_WARP_STRETCH
 * positions are overwritten. Returns false, with the positions undefined, if the map is not close
 * enough to a polynomial of third degree. Needs GF_CPU_AVX2. */
GF_X86_ONLY bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                               struct gf_warp_stretch *stretch);
