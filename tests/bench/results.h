/* What was measured, printed as it comes and kept for the JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

enum {
    BENCH_STEPS = 8,
    BENCH_ROWS = 256,
    BENCH_RUNS = 128,
    BENCH_BARS = 2 * BENCH_ROWS + BENCH_RUNS
};

struct bench_step {
    char name[64];
    double ms;
    size_t bytes;
};

/* A chain as kernels alone, whole picture at once; or a copy (no steps). */
struct bench_row {
    char name[64], note[24], format[16];
    double ms;    /* 0: there is no kernel */
    size_t bytes; /* the least that must move: input once, output once */
    int steps;
    struct bench_step step[BENCH_STEPS];
    double bar_ms; /* 0: there is none */
    char npp[64];  /* the fastest way in which NPP does the like, empty: none */
    double npp_ms;
    char npp_failed[160];
    char fault[160]; /* empty: it ran */
};

/* A chain from memory to memory through the pipeline. */
struct bench_run {
    char chain[64], note[32];
    int lanes, band_rows;
    double ms;      /* first upload to last download; without a profile the whole call */
    double wall_ms; /* the whole call */
    char fault[160];
};

struct bench_bar {
    char name[80], unit[8];
    double bar, measured; /* measured < 0: not measured */
};

struct bench_start {
    double first_ms, median_ms; /* of the whole process; < 0: it failed */
};

struct bench_report {
    struct bench_device device;
    char driver[48], date[24], commit[64], npp_version[24], frame[160];
    double copy_ms; /* of the frame on the device: the peak */
    size_t copy_bytes;
    double up_ms, down_ms, both_ms; /* the frame over the bus, pinned */
    struct bench_start start_cuda, start_cpu;
    struct bench_row row[BENCH_ROWS];
    struct bench_run run[BENCH_RUNS];
    struct bench_bar bar[BENCH_BARS];
    int rows, runs, bars;
};

void report_head(const struct bench_report *report);
void report_rows_head(const struct bench_report *report);
void report_row(const struct bench_report *report, const struct bench_row *row);
void report_runs_head(const struct bench_report *report);
void report_run(const struct bench_report *report, const struct bench_run *run);
/* The bars that rows carry become bars of the report; the others are added by whoever knows them.
 */
void report_add_bar(struct bench_report *report, const char *name, double bar, double measured,
                    const char *unit);
void report_collect_bars(struct bench_report *report);
void report_summary(const struct bench_report *report);
/* False: the file cannot be written, errno says why. */
bool report_json(const struct bench_report *report, const char *path);

/* ---- what measures ---- */

/* kernels.c: every chain of its list, on the frame in device memory. */
void bench_kernels(struct bench_report *report, const unsigned char *frame, int width, int height);
/* formats.c: the main chains in several formats, as a table; false without enough memory. */
bool bench_formats(struct bench_report *report, const unsigned char *frame, int width, int height);
/* memory.c: the copies over the bus and the pipeline, on the frame in device memory. */
void bench_memory(struct bench_report *report, const unsigned char *frame, int width, int height);
/* startup.c: the program's cold start on a small picture. Before this process starts the device. */
void bench_startup(struct bench_report *report, const char *program, const char *sample);
