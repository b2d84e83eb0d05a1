#include "bench/timing.h"

#include <stdlib.h>

int gf_timing_runs(double one_s, double budget_s)
{
    if (one_s >= budget_s)
        return 1;
    const double fit = one_s > 0 ? budget_s / one_s : GF_TIMING_RUNS_MAX;
    return fit < 3 ? 3 : fit > GF_TIMING_RUNS_MAX ? GF_TIMING_RUNS_MAX : (int)fit;
}

int gf_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct gf_timing gf_timing_of(double *seconds, int runs)
{
    if (runs < 1)
        return (struct gf_timing){0};
    qsort(seconds, (size_t)runs, sizeof *seconds, gf_compare_doubles);
    const int upper = runs / 2, lower = (runs - 1) / 2;
    return (struct gf_timing){.runs = runs,
                              .median_s = (seconds[lower] + seconds[upper]) / 2,
                              .least_s = seconds[0],
                              .most_s = seconds[runs - 1]};
}
