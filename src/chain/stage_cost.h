/* Estimates what stages cost from the declarations of their filters. */
#ifndef GF_CHAIN_STAGE_COST_H
#define GF_CHAIN_STAGE_COST_H

#include "chain/plan.h"

/* Returns the factor by which a filter takes longer than it declares. */
typedef double gf_filter_times(const void *context, const struct gf_filter *filter);

/* Returns the nanoseconds that one thread takes for all pixels of a stage. `times` NULL: each
 * filter takes as long as it declares. look_ups_are_free: where tables are fused with a stencil,
 * only the stencil counts. */
double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free);

/* The number of threads, at most `most`, that are worth their start for pictures in memory: one for
 * each millisecond that the plan's stages cost. */
int gf_plan_useful_threads(const struct gf_plan *plan, int most);

#endif
