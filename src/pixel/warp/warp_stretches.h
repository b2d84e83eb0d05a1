/* Runs of warps of RGB or gray of 8 bits: where vectors make them, where there is no picture, and
 * the rest. */
#ifndef GF_PIXEL_WARP_WARP_STRETCHES_H
#define GF_PIXEL_WARP_WARP_STRETCHES_H

#include "pixel/warp/warp.h"

struct gf_warp_sampler {
    const struct gf_warp *warp;
    const struct gf_view *in;
    const int16_t *weights;
    size_t pixel_bytes;
};

/* Makes pixels first .. end - 1 of the run, wherever they lie: to `out`, where pixel 0 of the run
 * has its place, or, where there are several samples a pixel, to their sums. */
typedef void gf_warp_maker(const struct gf_warp_sampler *s, const struct gf_warp_run *run,
                           int first, int end, unsigned char *out, int64_t *sums);

/* Makes `count` pixels of a run, of one sample each and one or three channels of 8 bits; `maker`
 * those for which there is nothing faster. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_run *run, int count, unsigned char *out);

#endif
