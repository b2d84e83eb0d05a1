/* The median filter's parameters, for both backends. */
#ifndef GF_FILTERS_MEDIAN_H
#define GF_FILTERS_MEDIAN_H

enum {
    GF_MEDIAN_RADIUS_MAX = 15,
    GF_MEDIAN_NETWORK_MAX = 2, /* there is a network for */
    GF_MEDIAN_LOCAL_MAX = 5,   /* the variant that sorts windows in local memory has room for */
};

struct gf_median {
    int radius, border;
};

#endif
