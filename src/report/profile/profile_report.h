/* The profile of a run: its spans summed up as rows, and those as a table and as JSON; and the
 * spans themselves as a timeline. */
#ifndef GF_REPORT_PROFILE_PROFILE_REPORT_H
#define GF_REPORT_PROFILE_PROFILE_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "gpufilter/profile.h"

/* What it means that a stage bounds the run, and where NVIDIA's guide speaks of it. */
struct gf_bound_advice {
    const char *why;
    const char *guide; /* section of the Best Practices Guide, and its title; NULL: of the CPU */
};

/* All spans of one kind and stage. Busy time is the union of their intervals: two lanes in the same
 * stage at the same time count once. */
struct gf_profile_report_row {
    char name[112]; /* "decode", "blur", "equalize histogram" */
    enum gf_span_kind kind;
    int stage;   /* index into the profile's stages; -1: the row is of no stage */
    int segment; /* of the stage; -1: the row is of no stage */
    int calls;
    double busy_s;
    double bytes;
    double rate;    /* bytes / busy_s; 0 where nothing was moved or no time passed */
    double percent; /* of the measured peak of what the row uses; NaN: no such peak */
};

/* A profile with more spans is saved without them. */
enum { GF_PROFILE_SPANS_SAVED = 4096 };

struct gf_profile_report {
    struct gf_profile_report_row *row; /* decode, upload, the stages, download, encode */
    int count;
    double start_begin_s, start_end_s; /* of the CUDA start-up; equal where there was none */
    double sum_s;                      /* of the rows' busy times */
    double union_s;                    /* time during which at least one row was busy */
    double overlap;                    /* 1 - union_s / sum_s */
    size_t pictures;                   /* how many pictures the profile is about */
    double elapsed_s;                  /* from the first picture's start to the last one's end */
    int bound;                         /* the row with the largest busy time; -1: no rows */
    double bound_percent; /* how much of the wall time that row is busy; NaN: no rows */
    const struct gf_bound_advice *advice; /* for the stage that bounds the run; NULL: no rows */
};

enum gf_status gf_profile_report_make(const struct gf_profile *profile,
                                      struct gf_profile_report *report,
                                      struct gf_error *error) GF_CHECKED;
/* Finds what bounds the run, from the rows and the wall time. */
void gf_profile_report_judge(struct gf_profile_report *report, const struct gf_profile *profile);
/* The row that a span belongs to; -1: none, as that of the CUDA start-up. */
int gf_profile_report_row_of(const struct gf_profile_report *report, const struct gf_span *span);
void gf_profile_report_free(struct gf_profile_report *report);

void gf_profile_report_table(const struct gf_profile_report *report,
                             const struct gf_profile *profile, FILE *file);
void gf_profile_report_json(const struct gf_profile_report *report,
                            const struct gf_profile *profile, FILE *file);
/* The keys of the JSON, for the manual; NULL past the last one. */
const struct gf_key_help *gf_profile_report_key_at(int index);

/* Writes Chrome's trace-event format, which Perfetto reads, with a track each for the reader, every
 * lane and the writer. */
enum gf_status gf_trace_write(const struct gf_profile *profile, FILE *file,
                              struct gf_error *error) GF_CHECKED;

/* The name of a span of that kind and stage: "decode", "blur", "equalize histogram". */
void gf_profile_span_name(const struct gf_profile *profile, enum gf_span_kind kind, int stage,
                          char *name, size_t size);

#endif
