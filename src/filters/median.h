/* The median filter's parameters, for both backends. */
#ifndef GF_FILTERS_MEDIAN_H
#define GF_FILTERS_MEDIAN_H

enum {
    GF_MEDIAN_RADIUS_MAX = 15,
    GF_MEDIAN_NETWORK_MAX = 2, /* up to this radius there is a network */
    GF_MEDIAN_LOCAL_MAX = 5,   /* up to this radius a variant sorts the window in local memory */
};

struct gf_median {
    int radius, border;
};

#endif
