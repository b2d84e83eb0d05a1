/* The results of --profile=compare: the time of every variant of a chain's stages on this machine
 * and this picture. Each stage of the plan, and each histogram that a stage needs, is a group. Each
 * of its variants is a row with its times, the resources of its kernels, and the difference of its
 * result from the CPU backend's. Then the whole chain runs from memory to memory with each setting
 * of the pipeline. Without a GPU the rows are numbers of threads of the CPU backend. */
#pragma once

#include "bench/likeness.h"
#include "bench/timing.h"
#include "chain/plan.h"
#include "engine/backend.h"

enum { GF_COMPARE_KERNELS = 8 };

/* A row: one variant. A number that is not known, or that does not exist, is NaN. */
struct gf_compare_row {
    char name[40];       /* "tiled"; on the CPU "2 threads" */
    const char *summary; /* the technique; may be NULL */
    char refused[160];   /* why the variant did not run; empty: it ran */
    bool chosen;         /* the chain runs this variant */
    struct gf_timing warm, cold;
    double rate;                  /* bytes per second: the group's bytes divided by the warm
                                   * median */
    double copy_percent;          /* `rate` in per cent of the measured rate of a copy */
    double over_naive, over_cpu;  /* speed-ups */
    double difference;            /* the largest difference, in steps of a sample or in counts */
    int tolerance;                /* the largest difference that the variant declares */
    struct gf_compare_spot *spot; /* the place of the largest difference; NULL if there is none */
    int kernels;                  /* number of kernels that are launched; the first
                                   * GF_COMPARE_KERNELS of them: */
    struct gf_kernel_info kernel[GF_COMPARE_KERNELS];
};

struct gf_compare_group {
    char name[112]; /* "blur", "equalize histogram" */
    int segment;
    bool statistic; /* the group counts a histogram */
    struct gf_format in, out;
    double bytes;         /* the input and the output, each counted once */
    struct gf_timing cpu; /* the CPU backend with all threads */
    struct gf_compare_row *row;
    int rows;
    int naive; /* the row to which over_naive refers; -1: none */
};

/* The whole chain, from memory to memory, with one setting. */
struct gf_compare_run {
    char name[40]; /* the setting that differs from the first row's: "lanes=1" */
    char refused[160];
    int lanes, band_rows; /* the values that the layout chose */
    struct gf_options options;
    struct gf_timing total; /* the time from call to return; host memory stays pinned between
                             * runs */
    /* The time from the beginning of the first copy or stage to the end of the last. */
    struct gf_timing window;
    double overlap;             /* the part of the spans' busy time, 0..1, that overlaps */
    double kernels_s, copies_s; /* the times with one lane, so that nothing overlaps */
    double estimate_s;          /* the window that gf_compare_estimate() estimates */
};

struct gf_comparison {
    char device[96], reason[160];
    bool on_cuda;
    int threads; /* threads of the CPU backend */
    struct gf_format in, out;
    double copy_peak, upload_peak, download_peak; /* bytes/s; 0: not measured */
    struct gf_compare_group *group;
    int groups;
    struct gf_compare_run *run;
    int runs;
    double wall_s; /* seconds of the whole comparison */
};

/* Returns an error if a result differs from the CPU's by more than its filter declares. The error
 * names the first such row. */
enum gf_status gf_compare_judge(const struct gf_comparison *comparison,
                                struct gf_error *error) GF_CHECKED;
void gf_comparison_free(struct gf_comparison *comparison);

/* ---- making a comparison ---- */

/* Compares the variants of a chain's stages on a picture. `input` is a file, or "-". With
 * options->device=auto it uses the CPU if no GPU starts. It turns gf_cpu_allow_intrinsics() off and
 * on, so that nothing else should filter pictures in this process at that time. */
enum gf_status gf_compare_file(const char *input, const char *chain,
                               const struct gf_options *options, struct gf_comparison *comparison,
                               struct gf_error *error) GF_CHECKED;
/* ---- parts of a comparison, for the folder's files and for tests ---- */

/* The device and the time for measuring stages. */
struct gf_compare_setup {
    struct gf_backend *backend;
    struct gf_lane *lane; /* NULL on the CPU */
    int threads;          /* threads of the CPU backend */
    double budget_s;      /* the time for a row's warm runs, and again for its cold runs */
    double copy_peak;     /* bytes/s of a copy; 0: not measured */
};

/* What is measured: a stage, or counting the histogram that it needs, with whole pictures in host
 * memory. */
struct gf_compare_subject {
    const struct gf_stage *stage; /* prepared for the CPU, unless `counts` */
    bool counts;                  /* the counting of the histogram is measured */
    const struct gf_image *in;
    const struct gf_image *out;           /* the CPU's result; NULL if `counts` */
    const struct gf_histogram *histogram; /* the CPU's result, if `counts` */
};

/* Adds the groups of the plan's stages. The picture has the plan's format. */
enum gf_status gf_compare_stages(struct gf_compare_setup *setup, struct gf_plan *plan,
                                 const struct gf_image *picture, struct gf_comparison *comparison,
                                 struct gf_error *error) GF_CHECKED;
/* Adds the rows of the whole pipeline. */
enum gf_status gf_compare_runs(const char *chain, const struct gf_options *options,
                               const struct gf_image *picture, struct gf_comparison *comparison,
                               struct gf_error *error) GF_CHECKED;

enum gf_status gf_compare_cpu_rows(const struct gf_compare_setup *setup,
                                   const struct gf_compare_subject *subject,
                                   struct gf_compare_group *group,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_compare_device_rows(const struct gf_compare_setup *setup,
                                      const struct gf_compare_subject *subject,
                                      struct gf_compare_group *group,
                                      struct gf_error *error) GF_CHECKED;
/* Times the subject on the CPU. Its result is stored in `out`, or added to `histogram`. */
enum gf_status gf_compare_cpu_time(const struct gf_compare_subject *subject, int threads,
                                   double budget_s, const struct gf_image *out,
                                   struct gf_histogram *histogram, struct gf_timing *timing,
                                   struct gf_error *error) GF_CHECKED;

/* Estimates a time by Best Practices Guide 9.1.2: kernels and copies on n streams take as long
 * as the longer of both, plus the n-th part of the shorter. */
double gf_compare_estimate(double kernels_s, double copies_s, int streams);
