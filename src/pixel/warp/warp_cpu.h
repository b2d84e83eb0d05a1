/* The parts of a warp on the CPU: stretches of 8-bit pixels by vectors, stretches outside of the
 * picture, neighbouring pixels that are close together in the input, and positions by steps. */
#pragma once

#include "base/cpu.h"
#include "pixel/warp/warp.h"

struct gf_warp_sampler {
    const struct gf_warp *warp;
    const struct gf_view *in;
    const int16_t *weights;
    size_t pixel_bytes;
};

/* Computes pixels first .. end - 1 of the stretch, wherever they lie in the input. A pixel is
 * stored at its place in `out` or, if a pixel has several samples, added to the sums. */
typedef void gf_warp_maker(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                           int first, int end, unsigned char *out, int64_t *sums);

/* Computes `count` pixels of a stretch of gray or RGB with 8 bits and one sample a pixel. Calls
 * `maker` for the pixels for which there is no faster way. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_stretch *stretch, int count, unsigned char *out);

enum { GF_WARP_NEAR = 16 };

/* Compute pixels first .. first + count - 1 of the stretch, if 16 neighbours are close together in
 * the input (GF_CPU_VBMI), and store them at `out`; their windows must be inside the picture. The
 * functions are for linear interpolation of gray, and for the nearest pixel of gray and of RGB,
 * with 8 bits. They return the number of computed pixels, a multiple of GF_WARP_NEAR: they stop
 * where the next ones are too far apart, or too close to the last available row. */
GF_X86_ONLY int gf_warp_near_linear_gray8(const struct gf_view *in,
                                          const struct gf_warp_stretch *stretch, int first,
                                          int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                   int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                  int first, int count, uint8_t *out);

/* Computes the positions of pixels (x, y) .. (x + count - 1, y) with one sample each, equal to
 * those of gf_warp_at(), by additions: along a row a map is almost a polynomial of third degree.
 * For the nearest kernel it may leave out f and g. Up to GF_WARP_STRETCH positions are overwritten.
 * Returns false, with the positions undefined, if the map is too far from such a polynomial. Needs
 * GF_CPU_AVX2. */
GF_X86_ONLY bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                               struct gf_warp_stretch *stretch);
