/* Measures how much two results differ. */
#pragma once

#include "stage/histogram.h"
#include "stage/picture.h"

/* Returns the largest difference of a sample between the rows of `a` and the same rows of `b`. */
int gf_view_difference(const struct gf_view *a, const struct gf_view *b);

/* Returns the largest difference of a counter. With extremes_only, it compares only the lowest and
 * the highest level that occur, which is all that some variants count. */
double gf_histogram_difference(const struct gf_histogram *a, const struct gf_histogram *b,
                               bool extremes_only);
