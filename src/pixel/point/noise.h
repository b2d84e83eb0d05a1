/* Random numbers for pixels, which depend only on the pixel's position and a seed, so that all
 * backends and bands make the same picture. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/elementary.h"
#include "base/host_device.h"

GF_C_BEGIN

struct gf_noise {
    uint32_t word[3];
};

/* Returns three words of 32 random bits, by pcg3d of M. Jarzynski and M. Olano, "Hash Functions for
 * GPU Rendering", Journal of Computer Graphics Techniques 9(3), 2020. */
GF_HOST_DEVICE struct gf_noise gf_noise_at(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t a = x * 1664525u + 1013904223u;
    uint32_t b = y * 1664525u + 1013904223u;
    uint32_t c = seed * 1664525u + 1013904223u;
    a += b * c;
    b += c * a;
    c += a * b;
    a ^= a >> 16;
    b ^= b >> 16;
    c ^= c >> 16;
    a += b * c;
    b += c * a;
    c += a * b;
    const struct gf_noise noise = {{a, b, c}};
    return noise;
}

/* Returns a uniformly distributed number in -1..1. It is an odd multiple of 2^-24, so that it is
 * never 0, -1 or 1. */
GF_HOST_DEVICE float gf_noise_even(uint32_t word)
{
    return (float)((int)(word >> 7 | 1) - (1 << 24)) * 5.9604645e-8f;
}

/* Returns the number z below which the part (1 + x) / 2 of a normal distribution lies, with a
 * relative error of 4e-6. z / x is a smooth function of -log2(1 - x^2), which is 0..23 here, as in
 * M. Giles' inverse of the error function (GPU Computing Gems, 2011). Both polynomials minimise the
 * relative error. */
GF_HOST_DEVICE float gf_noise_normal(float x)
{
    const float rest = fmaf(-x, x, 1.0f);
    const uint32_t bits = gf_bits_of_float(rest);
    const int k = (int)(bits - 0x3f3504f3u) >> 23; /* rest = 2^k (1 + f) */
    const float f = gf_float_of_bits(bits - ((uint32_t)k << 23)) - 1.0f;
    float log = fmaf(-0.20659174f, f, 0.32215479f);
    log = fmaf(log, f, -0.367489994f);
    log = fmaf(log, f, 0.479348004f);
    log = fmaf(log, f, -0.721131861f);
    log = fmaf(log, f, 1.4427135f);
    log = fmaf(-log, f, -(float)k);
    float p = fmaf(-7.68815025e-13f, log, 9.84258022e-11f);
    p = fmaf(p, log, -5.40829648e-09f);
    p = fmaf(p, log, 1.65047368e-07f);
    p = fmaf(p, log, -2.98628902e-06f);
    p = fmaf(p, log, 3.03344168e-05f);
    p = fmaf(p, log, -0.000108137967f);
    p = fmaf(p, log, -0.000980257988f);
    p = fmaf(p, log, 0.00774982572f);
    p = fmaf(p, log, 0.227453634f);
    p = fmaf(p, log, 1.25331688f);
    return p * x;
}

/* A table for adding normal noise to 8-bit samples. The rounded noise is a step function of the
 * random word. Only where noise and sample together are very close to the middle between two
 * samples does rounding to float matter; such sums are called uncertain. */

enum {
    GF_NOISE_BUCKET_BITS = 13, /* the upper bits of a word, which are the index of its bucket */
    GF_NOISE_BUCKETS = 1 << GF_NOISE_BUCKET_BITS,
    GF_NOISE_REST_BITS = 32 - GF_NOISE_BUCKET_BITS, /* the other bits, its position in the bucket */
    /* A bucket plus a word's upper bits is a sum, whose upper half is the noise to add and whose
     * lower half is the word's distance from the step. A distance has one bit more than a word's
     * position in its bucket, so that a bucket can have no step. */
    GF_NOISE_FRACTION_BITS = 16,
    GF_NOISE_SKIPPED_BITS = GF_NOISE_REST_BITS + 1 - GF_NOISE_FRACTION_BITS,
    /* The noise in the sums of buckets that cannot be used, less than any other. */
    GF_NOISE_UNKNOWN = -2048,
};

/* Fills buckets[GF_NOISE_BUCKETS] for noise with a standard deviation of `scale` samples. Returns a
 * limit: a sum is uncertain if its lower half is below the limit, or if its noise is
 * GF_NOISE_UNKNOWN. Returns 0 if `scale` is too small or too large for buckets. */
uint32_t gf_noise_buckets(float scale, uint32_t *buckets);

/* Returns the sum of a word and its bucket, for gf_noise_step() and gf_noise_doubtful(). */
GF_HOST_DEVICE uint32_t gf_noise_sum(const uint32_t *buckets, uint32_t word)
{
    return buckets[word >> GF_NOISE_REST_BITS] + (word >> GF_NOISE_SKIPPED_BITS);
}

/* Returns the noise to add to a sample, by a sum that is not uncertain. */
GF_HOST_DEVICE int gf_noise_step(uint32_t sum)
{
    return (int32_t)sum >> GF_NOISE_FRACTION_BITS;
}

GF_HOST_DEVICE bool gf_noise_doubtful(uint32_t sum, uint32_t limit)
{
    return (sum & ((1u << GF_NOISE_FRACTION_BITS) - 1)) < limit ||
           gf_noise_step(sum) == GF_NOISE_UNKNOWN;
}

GF_C_END
