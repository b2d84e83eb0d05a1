/* The parameters and constants of blur, for both backends. */
#ifndef GF_FILTERS_BLUR_BLUR_H
#define GF_FILTERS_BLUR_BLUR_H

#include "pixel/gauss/gauss.h"

struct gf_blur_params {
    double sigma;
    int border;
};

struct gf_blur {
    struct gf_gauss gauss;
    int border;
};

#endif
