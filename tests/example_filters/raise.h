/* The constants of raise and its arithmetic, for both backends. */
#pragma once

#include "base/host_device.h"

struct gf_raise {
    float strength;
    int border;
};

GF_HOST_DEVICE float gf_raise_of(float v, float above_left, float below_right, float strength)
{
    return v + strength * (below_right - above_left);
}
