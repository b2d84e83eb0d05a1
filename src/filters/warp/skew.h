/* Finds by how much the lines of a scanned page are turned. */
#ifndef GF_FILTERS_WARP_SKEW_H
#define GF_FILTERS_WARP_SKEW_H

#include <stdbool.h>

#include "stage/view.h"

/* Finds the angle of the lines in hundredths of a degree, clockwise, -most .. most. threshold: the
 * part of the writing's contrast from which a pixel counts as ink. Returns false, and an angle of
 * 0, if the picture has no lines. All arithmetic is of integers, so that every machine finds the
 * same angle. */
bool gf_skew_find(const struct gf_view *picture, double threshold, int most, int *angle);

#endif
