/* What the spans of a picture say of the figures. */
#ifndef GF_BENCH_CALIBRATE_SPANS_H
#define GF_BENCH_CALIBRATE_SPANS_H

#include "batch/devices/figures.h"
#include "gpufilter/pipeline.h"

/* The figures as seen in the spans of one picture, while which no other picture was in work: the
 * seconds that were measured, and the seconds that a figure of 1 would make. */
struct gf_seen {
    struct gf_seen_figure {
        double measured_s, unit_s;
    } figure[GF_FIGURES_MAX];
};
/* Adds to *seen, which is zeroed before, what the profile of the chain's run says. */
void gf_calibrate_see(const char *chain, const struct gf_options *options,
                      const struct gf_profile *profile, struct gf_seen *seen);

#endif
