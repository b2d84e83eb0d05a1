/* The parameters of gamma and posterize, which others set or read, too. */
#pragma once

#include "stage/filter.h"

/* The parameter of gamma, which variants of its kernels compute with, whereas the default reads a
 * table. */
struct gf_gamma {
    double value;
};

/* The parameters of posterize, which the planner puts last where samples lose bits with a dither.
 */

enum gf_dither { GF_DITHER_NONE, GF_DITHER_BAYER2, GF_DITHER_BAYER4, GF_DITHER_BAYER8 };

struct gf_posterize {
    int levels, dither; /* dither: enum gf_dither */
};
extern const struct gf_filter gf_posterize_filter;
