/* The parts of icc and tonemap that other filters use. */
#pragma once

#include "stage/filter.h"

/* The filter `icc=srgb` without parameters (params is NULL), as a part of another filter. In a
 * build without Little CMS it changes nothing. */
extern const struct gf_filter gf_icc_to_srgb;
/* The filter icc, and its parameters for a conversion to linear sRGB. */
extern const struct gf_filter gf_icc_filter;
extern const void *const gf_icc_to_light;

/* The parameters of `tonemap`, which the planner puts before other conversions of HDR colours. */
struct gf_tonemap {
    int curve;
    double white, peak;
    int to, from, find;
};
extern const struct gf_filter gf_tonemap_filter;
extern const struct gf_tonemap gf_tonemap_to_srgb, gf_tonemap_to_display_p3;
