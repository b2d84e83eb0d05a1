/* nlmeans: what the CPU and the device share. Distances, weights and sums are integers, so that the
 * order of additions does not change a result. */
#pragma once

#include <stdint.h>

#include "base/elementary.h"

/* With these limits, 255 times the sum of all weights is below 2^32, and so is every distance. The
 * largest distance occurs for a patch of 7x7 pixels with four 12-bit samples. */
enum { GF_NLMEANS_SEARCH_MAX = 10, GF_NLMEANS_PATCH_MAX = 3 };

struct gf_nlmeans {
    /* search, patch: radii in pixels of the search window and of a patch. */
    int search, patch, border;
    float factor;  /* 16 bits and floats: the weight of a patch with the squared difference d is
                    * 2^(factor d / 2) */
    int step_bits; /* 8 bits: distances are counted in steps of 2^step_bits, see below */
    float slope;
};

/* ---- 8 bits ---- */

/* The squared differences of a patch are added up in each of its columns, and the sums of columns
 * are rounded to multiples of a step of 2^step_bits. A distance is a number of steps; from
 * GF_NLMEANS_DISTANCES on the weight is 0. A weight is the square of its root, which is an integer.
 * The root is computed in operations of half precision (IEEE 754), two of them at once on a device:
 *   u = largest of 0 and GF_NLMEANS_TOP - distance 2^-24 slope, rounded once
 *   p = u u + GF_NLMEANS_BEND, rounded once, is squared three times
 *   root = 2^24 p^8
 * This is GF_NLMEANS_ROOT exp(-x / 2), where x = distance GF_NLMEANS_ZERO / GF_NLMEANS_DISTANCES
 * or up to twice that: the weights' means over a quarter of x are within 0.8 % of exp(-x) + 0.02. A
 * multiple of 2^-24 up to 2^-13 has the bits of that integer, so that the device's sums of columns
 * and roots are integers in denormal halves. */
enum { GF_NLMEANS_DISTANCES = 2048, GF_NLMEANS_ROOT = 180 };
#define GF_NLMEANS_ZERO 12.4   /* weights are 0 from this x on */
#define GF_NLMEANS_REACH 19.75 /* u is 0 from this x on */
#define GF_NLMEANS_TOP 0x1.864p-2f
#define GF_NLMEANS_BEND 0x1.808p-4f

/* ---- 16 bits ---- */

/* The number of low bits that samples lose before patches are compared, and the number of bits of a
 * weight. */
enum { GF_NLMEANS_SHORTER = 4, GF_NLMEANS_WEIGHT_BITS = 15 };

/* Returns the weight of a patch, 0..2^15. */
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
