#include "times.h"

#include <stdlib.h>

int gf_times_runs(double one_s, double budget_s)
{
    if (one_s >= budget_s)
        return 1;
    const double fit = one_s > 0 ? budget_s / one_s : GF_TIMES_MOST;
    return fit < 3 ? 3 : fit > GF_TIMES_MOST ? GF_TIMES_MOST : (int)fit;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct gf_times gf_times_of(double *seconds, int runs)
{
    if (runs < 1)
        return (struct gf_times){0};
    qsort(seconds, (size_t)runs, sizeof *seconds, by_value);
    const int upper = runs / 2, lower = (runs - 1) / 2;
    return (struct gf_times){.runs = runs,
                             .median_s = (seconds[lower] + seconds[upper]) / 2,
                             .least_s = seconds[0],
                             .most_s = seconds[runs - 1]};
}
