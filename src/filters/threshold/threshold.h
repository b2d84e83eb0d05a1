/* The parameters of threshold, for other filters that contain it. */
#ifndef GF_FILTERS_THRESHOLD_THRESHOLD_H
#define GF_FILTERS_THRESHOLD_THRESHOLD_H

struct gf_threshold {
    double value; /* NaN: found by Otsu's method */
};

#endif
