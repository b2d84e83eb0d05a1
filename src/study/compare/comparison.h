/* --profile=compare: how fast every variant of a chain's stages is, on this machine and this
 * picture. Each stage of the plan, and each histogram that a stage wants, makes a group; each of
 * its variants makes a row: its times, the resources of its kernels, and the difference of its
 * result from the CPU backend's. Then the whole chain runs from memory to memory under each setting
 * of the pipeline. Without a GPU the rows are the CPU backend's, by number of threads. */
#ifndef GF_STUDY_COMPARE_COMPARISON_H
#define GF_STUDY_COMPARE_COMPARISON_H

#include "bench/compare_spot.h"
#include "bench/timing.h"
#include "engine/backend.h"

enum { GF_COMPARE_KERNELS = 8 };

/* A number that is not known, or that does not exist, is NaN. */
struct gf_compare_row {
    char name[40];       /* "tiled"; on the CPU "2 threads" */
    const char *summary; /* the technique; may be NULL */
    char refused[160];   /* why the variant did not run; empty: it ran */
    bool chosen;         /* the chain runs this one */
    struct gf_timing warm, cold;
    double rate;                  /* bytes a second: the group's bytes by the warm median */
    double copy_percent;          /* of the measured rate of a copy */
    double over_naive, over_cpu;  /* speed-ups */
    double difference;            /* the largest, in steps of a sample or in counts */
    int tolerance;                /* the largest difference that the variant declares */
    struct gf_compare_spot *spot; /* where it differs most; NULL if it does not */
    double instructions;          /* of all its warps, by --report from counters */
    int kernels;                  /* launched; the first GF_COMPARE_KERNELS of them: */
    struct gf_kernel_info kernel[GF_COMPARE_KERNELS];
};

struct gf_compare_group {
    char name[112]; /* "blur", "equalize histogram" */
    int segment;
    bool statistic; /* the group counts a histogram */
    struct gf_format in, out;
    double bytes;         /* the least that must be moved: the input once and the output once */
    struct gf_timing cpu; /* of the CPU backend on all threads */
    struct gf_compare_row *row;
    int rows;
    int naive; /* the row that over_naive refers to; -1: none */
};

/* The whole chain, from memory to memory, under one setting. */
struct gf_compare_run {
    char name[40]; /* the setting that differs from the first row's: "lanes=1" */
    char refused[160];
    int lanes, band_rows; /* as they were chosen */
    struct gf_options options;
    struct gf_timing total;  /* from call to return; host memory stays pinned from run to run */
    struct gf_timing window; /* from the first copy's or stage's beginning to the last one's end */
    double overlap;          /* as in the profile */
    double kernels_s, transfers_s; /* on one lane, where nothing overlaps */
    double estimate_s;             /* of the window, by gf_compare_estimate() */
};

struct gf_comparison {
    char device[96], reason[160];
    bool on_cuda;
    int threads; /* of the CPU backend */
    struct gf_format in, out;
    double copy_peak, upload_peak, download_peak; /* bytes/s; 0: not measured */
    double issue_peak; /* instructions of warps/s, by --report from counters; 0: not known */
    struct gf_compare_group *group;
    int groups;
    struct gf_compare_run *run;
    int runs;
    double wall_s; /* of the whole comparison */
};

/* Appends an empty row; NULL when out of memory. */
struct gf_compare_row *gf_compare_add_row(struct gf_compare_group *group, const char *name);
/* An error if a result differs from the CPU's by more than its filter declares; it names the first
 * such row. */
enum gf_status gf_compare_judge(const struct gf_comparison *comparison,
                                struct gf_error *error) GF_CHECKED;
void gf_comparison_free(struct gf_comparison *comparison);

#endif
