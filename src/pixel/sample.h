/* One sample or pixel: rounding and luma, for both compilers. */
#ifndef GF_PIXEL_SAMPLE_H
#define GF_PIXEL_SAMPLE_H

#include "base/host_device.h"

/* v rounded half up and clamped to 0..max; max is 255 or 65535. NaN gives 0. */
GF_HOST_DEVICE int gf_round_sample(float v, float max)
{
    if (!(v > 0.0f))
        return 0;
    return v >= max ? (int)max : (int)(v + 0.5f);
}

/* Luma of ITU-R BT.601 in 8-bit weights: exact for 8 and 16 bits. */
GF_HOST_DEVICE int gf_luma601(int r, int g, int b)
{
    return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

#endif
