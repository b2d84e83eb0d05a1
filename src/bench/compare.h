/* --profile=compare: what each technique is worth, on this machine and this picture. A group of
 * rows for each stage of the plan and each histogram that one wants, a row for each variant: how
 * long it takes, what it uses of a multiprocessor, and how far its picture is from the CPU
 * backend's. Then the whole chain from memory to memory under each setting of the pipeline. Without
 * a GPU the rows are what the CPU backend has. */
#ifndef GF_BENCH_COMPARE_H
#define GF_BENCH_COMPARE_H

#include <stdio.h>

#include "bench/timing.h"
#include "chain/plan.h"
#include "engine/backend.h"

enum { GF_COMPARE_KERNELS = 8 };

/* NaN: not known, or there is no such thing. */
struct gf_compare_row {
    char name[40];       /* "tiled"; of the CPU "vector, 2 threads" */
    const char *summary; /* the technique; may be NULL */
    char refused[160];   /* why it did not run; empty: it did */
    bool chosen;         /* what the chain runs */
    struct gf_timing warm, cold;
    double rate;         /* bytes a second, of the least that must be moved, by the warm median */
    double copy_percent; /* of the measured rate of a copy */
    double over_naive, over_cpu; /* speed-ups */
    double difference;           /* the largest, in steps of a sample or in counts */
    int kernels;                 /* launched; the first GF_COMPARE_KERNELS of them: */
    struct gf_variant_info kernel[GF_COMPARE_KERNELS];
};

struct gf_compare_group {
    char name[112]; /* "blur", "equalize histogram" */
    int segment;
    bool statistic;
    int tolerance; /* differences that the filter declares, in the unit of `difference` */
    struct gf_format in, out;
    double bytes;         /* least that must be moved: the input once, the output once */
    struct gf_timing cpu; /* the CPU backend, all threads */
    struct gf_compare_row *row;
    int rows;
    int naive; /* the row that over_naive is of; -1: none */
};

/* The whole chain, from memory to memory. */
struct gf_compare_run {
    char name[40]; /* the setting that differs from the first row's: "lanes=1" */
    char refused[160];
    int lanes, band_rows; /* as they were chosen */
    struct gf_options options;
    struct gf_timing total;  /* from call to return; host memory stays pinned from run to run */
    struct gf_timing window; /* from the first copy's or stage's beginning to the last one's end */
    double overlap;          /* as the profile's */
    double kernels_s, transfers_s; /* on one lane, where nothing overlaps */
    double estimate_s;             /* the guide's, of the window */
};

struct gf_compare {
    char device[96], reason[160];
    bool on_cuda;
    int threads; /* of the CPU backend */
    struct gf_format in, out;
    double copy_peak, upload_peak, download_peak; /* bytes/s; 0: not measured */
    struct gf_compare_group *group;
    int groups;
    struct gf_compare_run *run;
    int runs;
    double wall_s; /* that all of this took */
};

/* input: a file, or "-". Under options->device=auto without a GPU that starts: the CPU's. */
enum gf_status gf_compare_file(const char *input, const char *chain,
                               const struct gf_options *options, struct gf_compare *compare,
                               struct gf_error *error) GF_CHECKED;
/* An error where a variant's result differs from the CPU's by more than its filter declares: the
 * first such row. */
enum gf_status gf_compare_judge(const struct gf_compare *compare,
                                struct gf_error *error) GF_CHECKED;
void gf_compare_free(struct gf_compare *compare);

/* ---- its parts, for tests ---- */

/* What measures the stages. */
struct gf_bench {
    struct gf_backend *backend;
    struct gf_lane *lane; /* NULL on the CPU */
    int threads;          /* of the CPU backend */
    double budget_s;      /* of a row's warm runs, and of its cold ones */
    double copy_peak;     /* 0: not measured */
};

/* The groups of the plan's stages on a picture of its format, added to *compare. */
enum gf_status gf_compare_stages(struct gf_bench *bench, struct gf_plan *plan,
                                 const struct gf_image *picture, struct gf_compare *compare,
                                 struct gf_error *error) GF_CHECKED;

/* The rows of the pipeline, added to *compare. */
enum gf_status gf_compare_runs(const char *chain, const struct gf_options *options,
                               const struct gf_image *picture, struct gf_compare *compare,
                               struct gf_error *error) GF_CHECKED;

/* Best Practices Guide 9.1.2, with n streams: the longer of kernels and transfers, and the n-th
 * part of the shorter, which is all that does not overlap. */
double gf_compare_estimate(double kernels_s, double transfers_s, int streams);

/* ---- compare_picture.c, compare_device.c and compare_cpu.c, to compare.c ---- */

/* The whole picture in a file, or "-", upright if options->autorotate. */
enum gf_status gf_compare_read(const char *path, const struct gf_options *options,
                               struct gf_image *picture, struct gf_error *error) GF_CHECKED;

/* One stage, or the histogram that it wants, on whole pictures in host memory. */
struct gf_compare_case {
    const struct gf_stage *stage; /* prepared for the CPU, unless `counts` */
    bool counts;
    const struct gf_image *in, *out;      /* of the CPU; out: not where it counts */
    const struct gf_histogram *histogram; /* of the CPU, where it counts */
};

/* On `threads` threads, `plain` without vector instructions; into `out` or `histogram`. */
enum gf_status gf_compare_cpu_time(const struct gf_compare_case *what, bool plain, int threads,
                                   double budget_s, const struct gf_image *out,
                                   struct gf_histogram *histogram, struct gf_timing *times,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_compare_cpu_rows(const struct gf_bench *bench, const struct gf_compare_case *what,
                                   struct gf_compare_group *group,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_compare_device_rows(const struct gf_bench *bench,
                                      const struct gf_compare_case *what,
                                      struct gf_compare_group *group,
                                      struct gf_error *error) GF_CHECKED;
/* The largest difference of two pictures of the same format, and of two histograms. */
int gf_compare_images(const struct gf_image *a, const struct gf_image *b);
double gf_compare_histograms(const struct gf_histogram *a, const struct gf_histogram *b,
                             bool extremes_only);
struct gf_compare_row *gf_compare_add_row(struct gf_compare_group *group, const char *name);

#endif
