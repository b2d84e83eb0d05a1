/* The constants of bilateral, for both backends. A weight is a power of two, 2^(space[|dx|] +
 * space[|dy|] + colour d), where d is the squared distance of two colours in samples. */
#pragma once

#include "base/host_device.h"

GF_C_BEGIN

enum {
    GF_BILATERAL_RADIUS_MAX = 100,
    /* Largest radius of the 8-bit kernel with first sums near the CPU's. */
    GF_BILATERAL_NEAR_MAX = 6,
};

struct gf_bilateral_weights {
    int radius, border;
    float colour;                             /* -log2(e) / 2 sigma_r^2 M^2 */
    float space[GF_BILATERAL_RADIUS_MAX + 1]; /* -log2(e) i^2 / 2 sigma_s^2 */
    /* For 8-bit pictures with a radius up to GF_BILATERAL_NEAR_MAX: the powers 2^space, and a bound
     * for the difference between the mean of the kernel's first sums and the CPU's mean. */
    float factor[GF_BILATERAL_NEAR_MAX + 1], margin;
};

struct gf_stage;
/* Returns the reason why the kernel of near sums does not accept the stage, or NULL. */
const char *gf_bilateral_near_refuses(const struct gf_stage *stage);

GF_C_END
