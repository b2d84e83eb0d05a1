/* Times of repeated runs: how many to make, and what is said of them. */
#ifndef GF_TIMES_H
#define GF_TIMES_H

struct gf_times {
    int runs; /* 0: not measured */
    double median_s, least_s, most_s;
};

enum { GF_TIMES_MOST = 15 };

/* How many runs of about one_s seconds each fit into the budget: 3 to GF_TIMES_MOST, or one where
 * already one does not fit. */
int gf_times_runs(double one_s, double budget_s);
/* Sorts the seconds. */
struct gf_times gf_times_of(double *seconds, int runs);

#endif
