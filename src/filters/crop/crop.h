/* The parameters and constants of crop. The filter resize sets the parameters, too. */
#pragma once

#include "gpufilter/filter.h"

struct gf_crop_params {
    struct gf_length w, h, x, y;
    int gravity;
    double aspect; /* width / height; 0 or NaN: not given */
};

/* The position of the rectangle in the picture. */
struct gf_crop_origin {
    int x, y;
};

static inline struct gf_length gf_in_pixels(double value)
{
    return (struct gf_length){.value = value, .unit = GF_PIXELS};
}
