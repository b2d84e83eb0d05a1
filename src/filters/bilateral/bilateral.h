/* What bilateral's prepare() leaves in stage->constants for both backends. Weights are powers of
 * two: 2^(space[|dx|] + space[|dy|] + colour d), d the squared distance of the colours in samples.
 */
#ifndef GF_FILTERS_BILATERAL_BILATERAL_H
#define GF_FILTERS_BILATERAL_BILATERAL_H

#include "base/c_linkage.h"

GF_C_BEGIN

enum {
    GF_BILATERAL_RADIUS_MAX = 100,
    GF_BILATERAL_TILE_MAX = 16, /* the largest radius of the variant that holds a whole tile in
                                 * shared memory */
    GF_BILATERAL_NEAR_MAX = 6,  /* the largest radius of the kernel for 8 bits whose first sums are
                                 * only near the CPU's */
};

struct gf_bilateral_weights {
    int radius, border;
    float colour;                             /* -log2(e) / 2 sigma_r^2 M^2 */
    float space[GF_BILATERAL_RADIUS_MAX + 1]; /* -log2(e) i^2 / 2 sigma_s^2 */
    /* For pictures of 8 bits and radii up to GF_BILATERAL_NEAR_MAX: 2^space, and how far the mean
     * of the kernel's first sums can be from that of the CPU's. */
    float factor[GF_BILATERAL_NEAR_MAX + 1], margin;
};

struct gf_stage;
/* Why the kernel whose first sums are near the CPU's does not take the stage; NULL where it takes
 * it. */
const char *gf_bilateral_near_refuses(const struct gf_stage *stage);

GF_C_END

#endif
