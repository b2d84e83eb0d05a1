/* The parameters, constants and arithmetic of unsharp, for both backends. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "base/host_device.h"
#include "pixel/gauss/gauss.h"

struct gf_unsharp_params {
    double sigma, amount, threshold;
    int border, onset;
};
enum gf_unsharp_onset { GF_UNSHARP_HARD, GF_UNSHARP_SOFT };

struct gf_unsharp {
    struct gf_gauss gauss;
    int border, onset;
    float amount;
    float limit; /* the threshold, in samples */
};

GF_HOST_DEVICE float gf_unsharp_sample(float v, float blurred, float amount, float limit)
{
    const float difference = v - blurred;
    return fabsf(difference) > limit ? v + amount * difference : v;
}

/* The same with a soft onset: only what exceeds the limit is added. */
GF_HOST_DEVICE float gf_unsharp_soft(float v, float blurred, float amount, float limit)
{
    const float difference = v - blurred, over = fabsf(difference) - limit;
    return over > 0.0f ? v + amount * copysignf(over, difference) : v;
}

/* Returns the blurred sample from its fixed-point sum with 24 fraction bits. The lowest 9 bits are
 * dropped, so that a float holds the sum exactly. */
enum { GF_UNSHARP_DROP = 9 };
GF_HOST_DEVICE float gf_unsharp_blurred(uint32_t sum)
{
    return (float)(int)(sum >> GF_UNSHARP_DROP) * (1.0f / 32768.0f);
}
