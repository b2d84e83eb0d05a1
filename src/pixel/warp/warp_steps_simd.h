/* Positions of a run of pixels by steps: along a row a map is nearly a polynomial of third degree,
 * whose differences need additions only. */
#ifndef GF_PIXEL_WARP_WARP_STEPS_SIMD_H
#define GF_PIXEL_WARP_WARP_STEPS_SIMD_H

#include "base/cpu.h"
#include "pixel/warp/warp.h"

/* The positions of pixels (x, y) .. (x + count - 1, y), with one sample each: those of
 * gf_warp_at(), to the bit; where the kernel is the nearest pixel, f and g may be left out. Up to
 * GF_WARP_RUN positions are overwritten. Returns false, with nothing promised of them, where the
 * map is not close enough to such a polynomial. GF_CPU_AVX512. */
GF_X86_ONLY bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                               struct gf_warp_run *run);

#endif
