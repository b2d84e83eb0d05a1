/* Positions of a run of pixels by steps: along a row a map is almost a polynomial of third degree,
 * whose differences need only additions. */
#ifndef GF_PIXEL_WARP_WARP_STEPS_SIMD_H
#define GF_PIXEL_WARP_WARP_STEPS_SIMD_H

#include "base/cpu.h"
#include "pixel/warp/warp.h"

/* Computes the positions of pixels (x, y) .. (x + count - 1, y), with one sample each, bit for bit
 * those of gf_warp_at(). For the nearest kernel f and g may be left out. Up to GF_WARP_RUN
 * positions are overwritten. Returns false, with the positions undefined, where the map is not
 * close enough to a polynomial of third degree. Needs GF_CPU_AVX512. */
GF_X86_ONLY bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                               struct gf_warp_run *run);

#endif
