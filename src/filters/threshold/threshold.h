/* The parameters of threshold, for other filters that contain it. */
#ifndef GF_FILTERS_THRESHOLD_THRESHOLD_H
#define GF_FILTERS_THRESHOLD_THRESHOLD_H

struct gf_threshold {
    double value; /* the threshold; NaN: Otsu's method finds it */
};

#endif
