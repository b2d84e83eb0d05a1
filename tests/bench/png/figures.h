/* What was measured: kept, printed row by row, judged by the bars, and written as JSON. */
#pragma once

#include "codecs.h"

enum { BENCH_RUNS = 5 };

struct bench_measured {
    double wall_ms[BENCH_RUNS], cpu_ms[BENCH_RUNS];
    int64_t bytes;
    int runs;
};

struct bench_results {
    const char *path, *commit, *system;
};

/* The digits of BENCH_LEVELS, in its order. */
const char *bench_levels(void);
/* Adds a run. */
void bench_keep(struct bench_measured *to, struct bench_time time);
/* Prints a row; `measured` is sorted. libpng's (threads 0) comes first, so that the others stand
 * beside it. */
void bench_record(const char *picture, const char *what, int level, int threads,
                  struct bench_measured *measured);
/* Writes the file anew; after each group of rows, so that it is there if the rest is cut off. */
void bench_write_results(const struct bench_results *results);
void bench_print_bars(void);
