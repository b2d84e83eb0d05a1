/* The parameters and constants of blur, for both backends. */
#pragma once

#include "pixel/gauss/gauss.h"

struct gf_blur_params {
    double sigma;
    int border;
};

struct gf_blur {
    struct gf_gauss gauss;
    int border;
};
