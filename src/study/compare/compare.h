/* Makes a comparison. */
#pragma once

#include "chain/plan.h"
#include "engine/backend.h"
#include "study/compare/comparison.h"

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

/* Estimates a time by Best Practices Guide 9.1.2: kernels and transfers on n streams take as long
 * as the longer of both, plus the n-th part of the shorter. */
double gf_compare_estimate(double kernels_s, double transfers_s, int streams);
