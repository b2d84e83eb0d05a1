/* Reads saved reports: the JSON of profiles, comparisons and labs, and the logs of batches, into
 * the structs from which they were written. */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "gpufilter/image.h"
#include "report/batch/batch_report.h"
#include "report/profile/profile_report.h"
#include "study/compare/compare.h"
#include "study/labs/lab.h"
#include "study/report/study_report.h"

enum gf_saved_kind {
    GF_SAVED_RUN,
    GF_SAVED_COMPARISON,
    GF_SAVED_LABS,
    GF_SAVED_LOG,
    GF_SAVED_COUNTERS
};

/* The counts of a kernel of Nsight Compute: all variants whose kernels have this name, grid and
 * block. */
struct gf_counted_kernel {
    char name[72];
    int grid[3], block[3];
    double instructions; /* instructions of all warps */
};

struct gf_counters {
    struct gf_counted_kernel *kernel;
    int kernels;
    double issue_peak; /* warp instructions per second that the device can issue; 0: not known */
};

struct gf_saved {
    enum gf_saved_kind kind;
    const char *name;          /* the file's name */
    char version[16];          /* the version of the program that wrote the file; "" if the file
                                * does not say */
    struct gf_json_tree tree;  /* the texts to which the structs point */
    struct gf_profile profile; /* the profile of a run; it has the report's rows instead of
                                * stages */
    struct gf_span *span;      /* its spans */
    struct gf_profile_report report;
    struct gf_comparison comparison;
    struct gf_lab_found *lab;
    int labs;
    struct gf_batch_report batch;
    char job[24];   /* the job to which the lines of a log's batch belong; "" in logs of older
                     * versions */
    char *own_name; /* the name of one of several jobs, which is freed; or NULL */
    struct gf_saved *other_job; /* the other jobs of a log, until the caller takes them */
    int other_jobs;
    struct gf_counters counters;
};

/* Reads a file and recognises its kind by its contents. An error names the file and the reason: it
 * is of another program, damaged, or of a newer version. */
enum gf_status gf_saved_read(const char *path, struct gf_saved *saved,
                             struct gf_error *error) GF_CHECKED;
void gf_saved_free(struct gf_saved *saved);

/* ---- reading each kind; the root is known to be of that kind ---- */

enum gf_status gf_saved_read_run(const struct gf_json_value *root, struct gf_saved *saved,
                                 struct gf_error *error) GF_CHECKED;
enum gf_status gf_saved_read_comparison(const struct gf_json_value *root, struct gf_saved *saved,
                                        struct gf_error *error) GF_CHECKED;
/* Reads labs. `root` is a lab, or a list of labs. */
enum gf_status gf_saved_read_labs(const struct gf_json_value *root, struct gf_saved *saved,
                                  struct gf_error *error) GF_CHECKED;
void gf_saved_free_labs(struct gf_saved *saved);

/* Whether the text is a log, by its first line. A log has a JSON object a line. */
bool gf_saved_is_log(const char *text, size_t size);
enum gf_status gf_saved_read_log(const char *text, size_t size, struct gf_saved *saved,
                                 struct gf_error *error) GF_CHECKED;

/* Whether the text is CSV with the counters of Nsight Compute. */
bool gf_saved_is_counters(const char *text, size_t size);
enum gf_status gf_saved_read_counters(const char *text, size_t size, struct gf_saved *saved,
                                      struct gf_error *error) GF_CHECKED;
/* Adds the instructions of the kernels to the rows of a comparison. A row gets a number only if all
 * of its kernels were counted. */
void gf_saved_count(const struct gf_counters *counters, struct gf_comparison *comparison);

/* Writes the whole page: reports of one kind side by side, and then each report. */
enum gf_status gf_saved_html(FILE *file, const struct gf_saved *saved, int count,
                             struct gf_error *error) GF_CHECKED;

/* Copies a text into an array of that size. */
void gf_saved_text(const struct gf_json_value *value, const char *key, char *text, size_t size);

/* ---- reports of one kind side by side: the same time in each, and whether it changed ---- */

enum gf_change { GF_CHANGE_UNKNOWN, GF_CHANGE_NONE, GF_CHANGE_FASTER, GF_CHANGE_SLOWER };

/* Returns whether b is faster or slower than a: only if no run of one lies within the range of the
 * other's runs, from the least to the most. The answer is unknown if either has fewer than two
 * runs. */
enum gf_change gf_change_of(const struct gf_timing *a, const struct gf_timing *b);

/* A time that several reports contain, under the same names. */
struct gf_side_row {
    char group[112], name[112];
    struct gf_timing *side; /* a time for each report; runs is 0 if the report lacks it */
};

struct gf_sides {
    struct gf_side_row *row;
    int rows;
};

/* Collects the rows, in the order of the first report that has them. All reports are of one kind:
 * runs or comparisons. */
enum gf_status gf_sides_make(const struct gf_saved *const *saved, int count, struct gf_sides *sides,
                             struct gf_error *error) GF_CHECKED;
void gf_sides_free(struct gf_sides *sides);
