/* Repeated runs: how many to make, and their median and range. */
#ifndef GF_BENCH_TIMING_H
#define GF_BENCH_TIMING_H

struct gf_timing {
    int runs; /* 0: not measured */
    double median_s, least_s, most_s;
};

enum { GF_TIMING_RUNS_MAX = 15 };

/* The number of runs of about one_s seconds each that fit into the budget: 3 to GF_TIMING_RUNS_MAX,
 * or one if not even one fits. */
int gf_timing_runs(double one_s, double budget_s);
/* Sorts the seconds. */
struct gf_timing gf_timing_of(double *seconds, int runs);

#endif
