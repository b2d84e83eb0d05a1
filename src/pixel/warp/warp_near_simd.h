/* Sixteen neighbouring pixels of a warp of 8 bits, where they lie near each other in the input
 * (GF_CPU_VBMI). */
#ifndef GF_PIXEL_WARP_WARP_NEAR_SIMD_H
#define GF_PIXEL_WARP_WARP_NEAR_SIMD_H

#include "base/cpu.h"
#include "pixel/warp/warp.h"

enum { GF_WARP_NEAR = 16 };

/* Pixels first .. first + count - 1 of the run, whose windows lie in the picture, to `out`: linear
 * of one channel, and nearest of one and of three. Return how many are done, a multiple of
 * GF_WARP_NEAR: they stop where the next ones lie too far apart, or too near the end of the rows
 * that there are. */
GF_X86_ONLY int gf_warp_near_linear_gray8(const struct gf_view *in, const struct gf_warp_run *run,
                                          int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_run *run,
                                   int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_run *run,
                                  int first, int count, uint8_t *out);

#endif
