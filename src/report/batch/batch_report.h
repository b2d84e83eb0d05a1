/* A summary of a batch's log: pictures per second, the stage that takes most time, pictures that
 * took far longer than the others, and failures by their message. */
#pragma once

#include "batch/log/batch_log.h"
#include "bench/timing.h"
#include "report/page/page.h"

enum { GF_BATCH_STAGES = 5, GF_BATCH_SLICES = 48, GF_BATCH_OUTLIERS_MAX = 20 };

struct gf_batch_picture {
    char *input;
    int message; /* index of a failure's message; otherwise -1 */
    int way;     /* index in the report's `way`; -1: the picture was not filtered */
    enum gf_outcome outcome;
    int width, height;
    double finished_s; /* seconds since 1970; NaN in logs of older versions */
    double left_s;     /* seconds of the report's work_s after the end of this picture */
    struct gf_stage_times ms;
};

/* A text, and the number of pictures with that text. */
struct gf_batch_count {
    char *text;
    size_t pictures;
};

struct gf_batch_report {
    struct gf_batch_picture *picture; /* the pictures, in the log's order until
                                       * gf_batch_report_finish() */
    size_t pictures;
    size_t damaged;                 /* number of incomplete lines of the log */
    struct gf_batch_count *message; /* messages of failures, without the name of the picture */
    int messages;
    /* On what pictures were processed: "cpu, 1 thread; decoder cpu ...". */
    struct gf_batch_count *way;
    int ways;
    /* gf_batch_report_finish() sets the members below, and sorts the pictures by their end. */
    size_t done, failed, skipped;
    /* When the first picture began and the last one ended, in seconds since 1970; NaN: unknown. */
    double begin_s, end_s;
    /* Seconds of that time in which a picture was being processed, without pauses between runs. */
    double work_s;
    double rate; /* pictures per second of work_s; or NaN */
    /* How many pictures ended in each of GF_BATCH_SLICES equal parts of work_s. */
    size_t slice[GF_BATCH_SLICES];
    double stage_ms[GF_BATCH_STAGES]; /* sums: decode, upload, filter, download, encode */
    double work_ms;                   /* the sum of stage_ms over all stages */
    int most;                         /* index of the stage with the largest sum; -1: none */
    struct gf_timing total, stage[GF_BATCH_STAGES]; /* the times of a picture: the median, and the
                                                     * ends of the middle half as least and most */
    double fence_ms;                                /* pictures that take longer are outliers */
    size_t outlier[GF_BATCH_OUTLIERS_MAX]; /* indices of the slowest pictures, the slowest first */
    int outliers;
    size_t beyond; /* number of pictures beyond the fence, which may be larger */
};

/* Adds a picture. `finished_s` is when it was finished, in seconds since 1970, or NaN. */
enum gf_status gf_batch_report_add(struct gf_batch_report *report,
                                   const struct gf_batch_log_entry *entry, double finished_s,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_batch_report_finish(struct gf_batch_report *report,
                                      struct gf_error *error) GF_CHECKED;
void gf_batch_report_free(struct gf_batch_report *report);

/* Puts the batch on the page. `name` is its heading, or "". */
void gf_batch_page(struct gf_page *page, const struct gf_batch_report *report, const char *name);
