/* What the log of a batch says: pictures a second, the stage that takes most, pictures that took
 * far longer than the others, and failures by their message. */
#ifndef GF_REPORT_BATCH_BATCH_REPORT_H
#define GF_REPORT_BATCH_BATCH_REPORT_H

#include "batch/log/batch_log.h"
#include "bench/timing.h"

enum { GF_BATCH_STAGES = 5, GF_BATCH_SLICES = 48, GF_BATCH_OUTLIERS_MAX = 20 };

/* A picture of the log. */
struct gf_batch_picture {
    char *input;
    int message; /* index into the messages of a failure; else -1 */
    int way;     /* index into the ways; -1: the picture was not filtered */
    enum gf_outcome outcome;
    int width, height;
    double finished_s; /* since the epoch; NaN in logs of older versions */
    double left_s;     /* the work that followed, as part of the report's work_s */
    struct gf_stage_times ms;
};

/* A text, and how many pictures have it. */
struct gf_batch_count {
    char *text;
    size_t pictures;
};

struct gf_batch_report {
    struct gf_batch_picture *picture; /* in the log's order, until gf_batch_report_finish() */
    size_t pictures;
    size_t damaged;                 /* lines of the log that are torn */
    struct gf_batch_count *message; /* messages of failures, without the name of the picture */
    int messages;
    struct gf_batch_count *way; /* device, decoder and encoder: "cpu, 1 thread; decoder cpu ..." */
    int ways;
    /* Filled by gf_batch_report_finish(), which sorts the pictures by their end. */
    size_t done, failed, skipped;
    double begin_s, end_s; /* the first and the last end of a picture; NaN if not known */
    double work_s; /* of that time the part in which a picture was in work: not what lies between
                      the runs of one log */
    double rate;   /* pictures done a second of it; NaN */
    size_t slice[GF_BATCH_SLICES];                  /* pictures done in each part of it */
    double stage_ms[GF_BATCH_STAGES];               /* the sums, by gf_batch_stage_name() */
    double work_ms;                                 /* of all stages */
    int most;                                       /* the stage with the largest sum; -1: none */
    struct gf_timing total, stage[GF_BATCH_STAGES]; /* of a picture: the median, and the middle
                                                       half's ends as least and most */
    double fence_ms; /* a picture that takes longer than this is far from the others */
    size_t outlier[GF_BATCH_OUTLIERS_MAX]; /* the slowest first */
    int outliers;
    size_t beyond; /* pictures past the fence, which may be more */
};

/* "decode", "upload", "filter", "download", "encode". */
const char *gf_batch_stage_name(int stage);

/* Adds a picture; finished_s: when it was done, since the epoch, or NaN. */
enum gf_status gf_batch_report_add(struct gf_batch_report *report,
                                   const struct gf_batch_log_entry *entry, double finished_s,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_batch_report_finish(struct gf_batch_report *report,
                                      struct gf_error *error) GF_CHECKED;
void gf_batch_report_free(struct gf_batch_report *report);

/* Writes the part of the page. `id` is made of letters and digits. */
void gf_batch_html(FILE *file, const struct gf_batch_report *report, const char *id,
                   const char *heading);

#endif
