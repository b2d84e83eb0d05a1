/* The parameters of threshold, for filters that begin with it. */
#ifndef GF_FILTERS_THRESHOLD_THRESHOLD_H
#define GF_FILTERS_THRESHOLD_THRESHOLD_H

struct gf_threshold {
    double value; /* NaN: otsu */
};

#endif
