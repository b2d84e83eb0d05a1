/* What histograms of tiles and of whole pictures share on the CPU. */
#ifndef GF_PIXEL_HISTOGRAM_HISTOGRAM_TILES_H
#define GF_PIXEL_HISTOGRAM_HISTOGRAM_TILES_H

#include "pixel/histogram/histogram.h"

/* Computes the luma of n pixels; M + 1 for a pixel with zero alpha. */
void gf_histogram_luma(const void *in, int n, struct gf_format format, uint32_t *bin);
/* gf_histogram_add() of all statistics but TILES. */
void gf_histogram_add_whole(const struct gf_view *view, enum gf_statistic statistic,
                            struct gf_histogram *histogram);

#endif
