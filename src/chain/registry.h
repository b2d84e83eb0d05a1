/* Finds the CUDA kernels of a filter in the list of its variants, and the kernel that a stage runs.
 */
#pragma once

#include "base/host_device.h"
#include "chain/chain.h"
#include "stage/stage.h"

GF_C_BEGIN

/* Returns the variant that variant=naive chooses: the second and simplest of the list; NULL if the
 * filter has only its default. */
const struct gf_variant *gf_filter_naive(const struct gf_filter *filter);
/* Returns variant `index` of the filter. Index 0 is the default; NULL after the last one. */
const struct gf_variant *gf_filter_variant_at(const struct gf_filter *filter, int index);
/* Returns the filter whose variants the stage can run: its own filter or, in a list of point
 * filters, the only filter of the list. */
const struct gf_filter *gf_stage_variants(const struct gf_stage *stage);
/* Returns the launcher of the stage's variant, or of the default if the variant has none. The
 * stage's filter must have a kernel. */
gf_launcher *gf_stage_launcher(const struct gf_stage *stage);
/* Fails with GF_ERROR_UNAVAILABLE if the filter makes pixels and has no CUDA kernel. */
enum gf_status gf_filter_check_kernels(const struct gf_filter *filter,
                                       struct gf_error *error) GF_CHECKED;
/* Fails with GF_ERROR_UNAVAILABLE if a filter of the chain has no CUDA kernel. */
enum gf_status gf_chain_check_kernels(const struct gf_chain *chain,
                                      struct gf_error *error) GF_CHECKED;
/* Whether the stage needs only the lowest and the highest level of its histogram. */
bool gf_stage_needs_extremes(const struct gf_stage *stage);
/* gf_stage_counter() returns the counter of the stage's variant, or of the default if the variant
 * has none. gf_stage_marks_extremes() tells whether the counter marks only the lowest and the
 * highest level. */
gf_counter *gf_stage_counter(const struct gf_stage *stage);
bool gf_stage_marks_extremes(const struct gf_stage *stage);

GF_C_END
