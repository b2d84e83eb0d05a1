/* Chooses the number of repeated runs, and finds their median and range. */
#ifndef GF_BENCH_TIMING_H
#define GF_BENCH_TIMING_H

struct gf_timing {
    int runs; /* the number of runs; 0: not measured */
    double median_s, least_s, most_s;
};

enum { GF_TIMING_RUNS_MAX = 15 };

/* Returns the number of runs of about one_s seconds each that fit in the budget: 3 to
 * GF_TIMING_RUNS_MAX, or one if not even one fits. */
int gf_timing_runs(double one_s, double budget_s);
/* Returns the median and the range of the seconds, which it sorts. */
struct gf_timing gf_timing_of(double *seconds, int runs);

#endif
