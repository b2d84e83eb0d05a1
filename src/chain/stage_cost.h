/* Estimates what stages cost from the declarations of their filters. */
#pragma once

#include "chain/plan.h"

/* Returns the ratio of a filter's measured time to its declared time. */
typedef double gf_filter_times(const void *context, const struct gf_filter *filter);

/* Returns the nanoseconds that one thread takes for all pixels of a stage. If `times` is NULL, each
 * filter takes the time that it declares. With look_ups_are_free, only the stencil of a fused stage
 * counts. */
double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free);

/* Returns the number of threads, at most `most`, that save more time than their start takes for
 * pictures in memory: one for each millisecond that the plan's stages cost. */
int gf_plan_useful_threads(const struct gf_plan *plan, int most);
