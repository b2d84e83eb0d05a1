/* What stages cost by the declarations of their filters. */
#ifndef GF_CHAIN_STAGE_COST_H
#define GF_CHAIN_STAGE_COST_H

#include "chain/plan.h"

/* How many times its declared cost a filter takes. */
typedef double gf_filter_times(const void *context, const struct gf_filter *filter);

/* Nanoseconds of one thread for all pixels of a stage. times: NULL stands for 1. look_ups_are_free:
 * of a stencil and the tables beside it, only the stencil counts. */
double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free);

/* So many threads of at most `most` as are worth their start, for pictures in memory: one for each
 * millisecond that the stages of the plan cost. */
int gf_plan_useful_threads(const struct gf_plan *plan, int most);

#endif
