/* The parameters and constants of blur, for both backends. */
#pragma once

#include "pixel/gauss/gauss.h"

struct gf_blur_params {
    double sigma;
    int border;
    int window; /* the radius of a window with OpenCV's taps, from which also sigma follows; 0:
                   sigma decides */
};

struct gf_blur {
    struct gf_gauss gauss;
    int border;
};
