/* The part of distance that works along rows: its parameters and arithmetic, for both backends. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "gpufilter/image.h"

/* The distance to the background along a column, where there is none within 65534 pixels. */
enum { GF_DISTANCE_NONE = 65535 };

/* The parameters of the part that works along rows. */
struct gf_distance_across {
    float scale;
    int bits; /* bits of the result */
};

/* Returns a squared distance, limited to the largest that the result can show. is_none: the picture
 * has no background. */
GF_HOST_DEVICE float gf_distance_squared(uint64_t squared, int is_none)
{
    const uint64_t most = (uint64_t)GF_DISTANCE_NONE * GF_DISTANCE_NONE;
    return is_none ? 1e30f : (float)(uint32_t)(squared < most ? squared : most);
}

/* On the device the nearest column is stored for every GF_DISTANCE_STEP-th pixel of a row. */
enum { GF_DISTANCE_STEP = 8 };

static inline size_t gf_distance_pitch(struct gf_format format)
{
    return (size_t)format.width / GF_DISTANCE_STEP + 2;
}
