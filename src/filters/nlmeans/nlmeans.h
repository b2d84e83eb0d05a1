/* nlmeans: what the CPU and the device share. Distances, weights and sums are integers, so that the
 * order of additions does not change a result. */
#pragma once

#include <stdint.h>

#include "base/elementary.h"

/* With these limits, 255 times the sum of all weights is below 2^32, and so is every distance. The
 * largest distance occurs for a patch of 7x7 pixels with four 12-bit samples. */
enum { GF_NLMEANS_SEARCH_MAX = 10, GF_NLMEANS_PATCH_MAX = 3, GF_NLMEANS_WEIGHT_BITS = 15 };

/* Number of bits that 16-bit samples lose before patches are compared. */
enum { GF_NLMEANS_SHORTER = 4 };

/* The constants of nlmeans. */
struct gf_nlmeans {
    int search, patch, border; /* radii */
    float factor; /* weight of a patch with the squared difference d: 2^(factor d / 2) */
};

/* The weight of a patch, 0..2^15. */
GF_HOST_DEVICE uint32_t gf_nlmeans_weight(uint32_t distance, float factor)
{
    const float power = gf_exp2_coarse((float)(int32_t)(distance >> 1) * factor);
    const float shifted = power * (float)(1 << GF_NLMEANS_WEIGHT_BITS) + GF_ROUNDING_SHIFT;
    return gf_bits_of_float(shifted) & 65535u;
}

/* Returns the mean from the sum of weighted samples and the sum of weights. The latter is positive,
 * since a patch equals itself. */
GF_HOST_DEVICE int gf_nlmeans_mean(float sum, float weights)
{
    return (int)(sum / weights + 0.5f);
}
