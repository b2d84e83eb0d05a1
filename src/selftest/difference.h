/* How far apart two results are. */
#ifndef GF_SELFTEST_DIFFERENCE_H
#define GF_SELFTEST_DIFFERENCE_H

#include "stage/histogram.h"
#include "stage/view.h"

/* The largest difference of a sample between the rows of `a` and the same rows of `b`. */
int gf_view_difference(const struct gf_view *a, const struct gf_view *b);

/* The largest difference of a counter. extremes_only: of the lowest and the highest level that
 * occur, which is all that some variants count. */
double gf_histogram_difference(const struct gf_histogram *a, const struct gf_histogram *b,
                               bool extremes_only);

#endif
