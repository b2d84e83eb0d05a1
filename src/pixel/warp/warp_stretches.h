/* Runs of warps of RGB or gray of 8 bits: stretches that are computed with vectors, stretches
 * outside of the picture, and the rest. */
#ifndef GF_PIXEL_WARP_WARP_STRETCHES_H
#define GF_PIXEL_WARP_WARP_STRETCHES_H

#include "pixel/warp/warp.h"

struct gf_warp_sampler {
    const struct gf_warp *warp;
    const struct gf_view *in;
    const int16_t *weights;
    size_t pixel_bytes;
};

/* Computes pixels first .. end - 1 of the run at any positions. Pixel k is stored at its place in
 * `out`, or added to the sums where a pixel has several samples. */
typedef void gf_warp_maker(const struct gf_warp_sampler *s, const struct gf_warp_run *run,
                           int first, int end, unsigned char *out, int64_t *sums);

/* Computes `count` pixels of a run, with one sample each, of one or three channels of 8 bits.
 * `maker` computes the pixels for which there is nothing faster. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_run *run, int count, unsigned char *out);

#endif
