/* The constants of emboss and its arithmetic, for both backends. */
#ifndef GF_FILTERS_EMBOSS_H
#define GF_FILTERS_EMBOSS_H

#include "base/host_device.h"

struct gf_emboss {
    float strength;
    int border;
};

GF_HOST_DEVICE float gf_emboss_of(float v, float above_left, float below_right, float strength)
{
    return v + strength * (below_right - above_left);
}

#endif
