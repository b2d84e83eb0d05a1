/* The median filter's parameters, for both backends. */
#ifndef GF_MEDIAN_H
#define GF_MEDIAN_H

enum { GF_MEDIAN_RADIUS_MAX = 15 };

struct gf_median {
    int radius, border;
};

#endif
