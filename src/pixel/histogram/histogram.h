#pragma once

#include "base/c_linkage.h"
#include "stage/histogram.h"
#include "stage/variant.h"
#include "stage/view.h"

GF_C_BEGIN

/* Adds the histogram of the view's rows to histogram->count, on the CPU. */
void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram);
/* Marks only the lowest and the highest level of each channel in these rows, by a count of 1.
 * Returns false, and marks nothing, if this is not faster than counting: with alpha, or for a
 * statistic other than CHANNELS. */
bool gf_histogram_mark_extremes(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram);
/* The device's default counters: gf_histogram_cuda counts every level, gf_extremes_cuda only finds
 * the lowest and the highest. */
extern gf_counter gf_histogram_cuda, gf_extremes_cuda;
/* Copies the tables for the statistic LIGHTNESS with samples of `bits` bits. The caller frees the
 * copy. Returns NULL when out of memory. */
void *gf_lightness_tables(int bits, size_t *size);
int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format);
/* Makes an empty histogram for a picture of the format. The caller frees histogram->count. */
enum gf_status gf_histogram_alloc(struct gf_histogram *histogram, enum gf_statistic statistic,
                                  struct gf_format format, struct gf_error *error) GF_CHECKED;
static inline size_t gf_histogram_counters(const struct gf_histogram *histogram)
{
    return (size_t)histogram->channels * (size_t)histogram->bins;
}

GF_C_END
