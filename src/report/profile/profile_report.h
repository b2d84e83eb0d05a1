/* The report of a run's profile: its spans added up in rows, which are written as a table and as
 * JSON; and the spans themselves as a timeline. */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "gpufilter/profile.h"
#include "gpufilter/status.h"
#include "report/page/page.h"

/* Advice on the stage that limits the run, and the section of NVIDIA's guide on it. */
struct gf_bound_advice {
    const char *why;
    const char *guide; /* a section of the Best Practices Guide, with its title; NULL for a stage on
                        * the CPU */
};

/* All spans of one kind and stage. The busy time is the union of their intervals: two lanes in the
 * same stage at the same time count once. */
struct gf_profile_report_row {
    char name[112]; /* kind or stage: "decode", "blur", "equalize histogram" */
    enum gf_span_kind kind;
    int stage;   /* index of the profile's stage; -1: the row belongs to no stage */
    int segment; /* segment of the stage; -1: the row belongs to no stage */
    int calls;
    double busy_s, bytes;
    double rate;    /* bytes / busy_s; 0 if nothing was moved or no time passed */
    double percent; /* `rate` in per cent of the measured peak; NaN: there is no such peak */
};

/* The most spans that are saved with a profile. A profile with more is saved without them. */
enum { GF_PROFILE_SPANS_SAVED = 4096 };

struct gf_profile_report {
    struct gf_profile_report_row *row; /* in order: decode, upload, stages, download, encode */
    int count;
    /* Seconds at which the start of CUDA began and ended; equal: there was none. */
    double start_begin_s, start_end_s;
    double sum_s;     /* the sum of the rows' busy times */
    double union_s;   /* time during which at least one row was busy */
    double overlap;   /* 1 - union_s / sum_s: the part of busy time that
                       * overlaps */
    size_t pictures;  /* number of pictures of the profile */
    double elapsed_s; /* the time from the start of the first picture to the end of
                       * the last */
    /* For a film: seconds in which frames were read and written, waiting for pipes included; else
     * 0. */
    double read_s, write_s;
    int bound;            /* index of the row with the largest busy time; -1: no rows */
    double bound_percent; /* per cent of the wall time in which that row is busy; NaN: no rows */
    const struct gf_bound_advice
        *advice; /* advice for the stage that limits the run; NULL if the report has no rows */
};

enum gf_status gf_profile_report_make(const struct gf_profile *profile,
                                      struct gf_profile_report *report,
                                      struct gf_error *error) GF_CHECKED;
/* Returns the row of a span; -1 if the span has no row, because it is the CUDA start. */
int gf_profile_report_row_of(const struct gf_profile_report *report, const struct gf_span *span);
void gf_profile_report_free(struct gf_profile_report *report);

void gf_profile_report_table(const struct gf_profile_report *report,
                             const struct gf_profile *profile, FILE *file);
void gf_profile_report_json(const struct gf_profile_report *report,
                            const struct gf_profile *profile, FILE *file);
/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_profile_report_keys[];

/* Writes the spans in Chrome's trace-event format, which Perfetto reads. The reader, every lane and
 * the writer have a track each. */
enum gf_status gf_trace_write(const struct gf_profile *profile, FILE *file,
                              struct gf_error *error) GF_CHECKED;

/* Writes the name of a span of that kind and stage: "decode", "blur", "equalize histogram". */
void gf_profile_span_name(const struct gf_profile *profile, enum gf_span_kind kind, int stage,
                          char *name, size_t size);

/* Puts the run on the page. `name` is its heading, or "". */
enum gf_status gf_profile_page(struct gf_page *page, const struct gf_profile_report *report,
                               const struct gf_profile *profile, const char *name,
                               struct gf_error *error) GF_CHECKED;
