/* Derives figures from the spans of a picture. */
#ifndef GF_BENCH_CALIBRATE_SPANS_H
#define GF_BENCH_CALIBRATE_SPANS_H

#include "batch/devices/figures.h"
#include "gpufilter/pipeline.h"

/* The figures in the spans of one picture, which was alone in work: the measured seconds, and the
 * seconds for a figure of 1. */
struct gf_seen {
    struct gf_seen_figure {
        double measured_s, unit_s;
    } figure[GF_FIGURES_MAX];
};
/* Adds the profile of a chain's run to *seen, which must be zeroed first. */
void gf_calibrate_see(const char *chain, const struct gf_options *options,
                      const struct gf_profile *profile, struct gf_seen *seen);

#endif
