/* What a run's spans say: rows of the profile, as a table, as JSON, and as a timeline. */
#ifndef GF_REPORT_REPORT_H
#define GF_REPORT_REPORT_H

#include <stdio.h>

#include "gpufilter/profile.h"

/* Busy time is the union of a row's intervals over all lanes: two lanes in the same stage at the
 * same time count once. */
struct gf_report_row {
    char name[112]; /* "decode", "blur", "equalize histogram" */
    enum gf_span_kind kind;
    int segment; /* of a stage, else -1 */
    int calls;
    double busy_s;
    double bytes;
    double rate;    /* bytes / busy_s; 0 where nothing was moved or no time passed */
    double percent; /* of the measured peak of what the row uses; NaN: none, or not measured */
};

struct gf_report {
    struct gf_report_row
        *row; /* in the order of the data: decode, upload, stages, download, encode */
    int count;
    double start_begin_s, start_end_s; /* of the CUDA start-up; equal where there was none */
    double sum_s;                      /* of the rows' busy times */
    double union_s;                    /* during which at least one row was busy */
    double overlap;                    /* 1 - union_s / sum_s */
    int bound;                         /* the row with the largest busy time; -1: no rows */
};

enum gf_status gf_report_make(const struct gf_profile *profile, struct gf_report *report,
                              struct gf_error *error) GF_CHECKED;
void gf_report_free(struct gf_report *report);

void gf_report_table(const struct gf_report *report, const struct gf_profile *profile, FILE *file);
void gf_report_json(const struct gf_report *report, const struct gf_profile *profile, FILE *file);

/* What the manual says of the JSON: key path and meaning; NULL past the last one. */
struct gf_report_key {
    const char *path, *help;
};
const struct gf_report_key *gf_report_key_at(int index);

/* Chrome's trace-event format, which Perfetto reads: a track each for reader, lanes and writer. */
enum gf_status gf_trace_write(const struct gf_profile *profile, FILE *file,
                              struct gf_error *error) GF_CHECKED;

/* "decode", "blur", "equalize histogram": what a span of that kind and stage is called. */
void gf_report_name(const struct gf_profile *profile, enum gf_span_kind kind, int stage, char *name,
                    size_t size);

/* Three or four significant digits and a decimal unit: "99.5 MB". */
void gf_report_bytes(double bytes, char *text, size_t size);

/* "gray", "gray and alpha", "RGB", "RGBA". */
const char *gf_channels_name(int channels);

#endif
