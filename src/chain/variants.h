/* Which CUDA kernels a filter has, and which of them a stage runs. */
#ifndef GF_CHAIN_VARIANTS_H
#define GF_CHAIN_VARIANTS_H

#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The variant that variant=naive names: behind the default a list begins with the simplest one.
 * NULL: there is only the default. */
const struct gf_variant *gf_filter_naive(const struct gf_filter *filter);
/* The variants of a filter, first the default; NULL past the last one. */
const struct gf_variant *gf_filter_variant_at(const struct gf_filter *filter, int index);
/* The kernels that the stage runs: its variant's, or the default's where the variant has none. */
/* The filter whose variants the stage can run: its own, or that of the only one in a run of point
 * filters. */
const struct gf_filter *gf_stage_variants(const struct gf_stage *stage);
gf_launcher *gf_stage_launcher(const struct gf_stage *stage);
gf_counter *gf_stage_counter(const struct gf_stage *stage);
/* The variant that has that counter: the stage's own, or one with count_first, which runs on every
 * architecture. NULL: the counter is gf_histogram_cuda. */
const struct gf_variant *gf_stage_counting(const struct gf_stage *stage);
/* Whether of a histogram only the lowest and the highest level are looked at. */
bool gf_stage_needs_extremes(const struct gf_stage *stage);
size_t gf_stage_cuda_scratch(const struct gf_stage *stage, int rows);

#ifdef __cplusplus
}
#endif
#endif
