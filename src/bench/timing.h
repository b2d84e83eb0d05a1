/* Chooses how many times a measurement is repeated, and computes the median and range of its
 * times. */
#pragma once

struct gf_timing {
    int runs; /* the number of runs measured; 0: none */
    double median_s, least_s, most_s;
};

enum { GF_TIMING_RUNS_MAX = 15 };

/* Returns how many runs of about one_s seconds to make. This is 1 if one_s is not below the budget.
 * Otherwise it is the number of runs that fit in the budget, but at least 3 and at most
 * GF_TIMING_RUNS_MAX. */
int gf_timing_runs(double one_s, double budget_s);
/* Compares two doubles for qsort(). */
int gf_compare_doubles(const void *a, const void *b);
/* Returns the median and the range of the seconds, which it sorts. */
struct gf_timing gf_timing_of(double *seconds, int runs);
