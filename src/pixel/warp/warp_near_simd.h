/* Sixteen neighbouring pixels of a warp of 8 bits that are close together in the input
 * (GF_CPU_VBMI). */
#ifndef GF_PIXEL_WARP_WARP_NEAR_SIMD_H
#define GF_PIXEL_WARP_WARP_NEAR_SIMD_H

#include "base/cpu.h"
#include "pixel/warp/warp.h"

enum { GF_WARP_NEAR = 16 };

/* Compute pixels first .. first + count - 1 of the run to `out`; their windows are inside the
 * picture. There are functions for linear interpolation of one channel, and for the nearest pixel
 * of one and of three channels. They return how many were computed, a multiple of GF_WARP_NEAR:
 * they stop where the next pixels are too far apart, or too close to the last available row. */
GF_X86_ONLY int gf_warp_near_linear_gray8(const struct gf_view *in, const struct gf_warp_run *run,
                                          int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_run *run,
                                   int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_run *run,
                                  int first, int count, uint8_t *out);

#endif
