/* Saved reports: the JSON of profiles, comparisons and labs, and the logs of batches, read back
 * into the structs that they were written from. */
#ifndef GF_STUDY_SAVED_SAVED_H
#define GF_STUDY_SAVED_SAVED_H

#include "base/json_read.h"
#include "study/compare/comparison.h"
#include "study/labs/lab.h"
#include "report/batch/batch_report.h"
#include "study/report/lab_html.h"
#include "report/profile/profile_report.h"

enum gf_saved_kind {
    GF_SAVED_RUN,
    GF_SAVED_COMPARISON,
    GF_SAVED_LABS,
    GF_SAVED_LOG,
    GF_SAVED_COUNTERS
};

/* A kernel that was counted: of a variant whose kernels have the same names, grids and blocks. */
struct gf_counted_kernel {
    char name[72];
    int grid[3], block[3];
    double instructions; /* of all warps */
};

struct gf_counters {
    struct gf_counted_kernel *kernel;
    int kernels;
    double issue_peak; /* instructions of warps a second that the device can issue; 0: not said */
};

struct gf_saved {
    enum gf_saved_kind kind;
    const char *name;          /* of the file */
    char version[16];          /* of the program that wrote it; "" where the file does not say */
    struct gf_json_tree tree;  /* whose texts the structs point to */
    struct gf_profile profile; /* of a run; it has no stages, but the report's rows */
    struct gf_span *span;      /* its spans */
    struct gf_profile_report report;
    struct gf_comparison comparison;
    struct gf_lab_found *lab;
    int labs;
    struct gf_batch_report batch;
    char job[24];   /* of a log: whose lines the batch has; "" in logs of older versions */
    char *own_name; /* of one of several jobs: its name, which is freed; or NULL */
    struct gf_saved *other_job; /* of a log: its further jobs, until the caller takes them */
    int other_jobs;
    struct gf_counters counters;
};

/* Reads a file and finds out by its content what it is. An error names the file, and what is wrong:
 * it is of another program, damaged, or of a newer version. */
enum gf_status gf_saved_read(const char *path, struct gf_saved *saved,
                             struct gf_error *error) GF_CHECKED;
void gf_saved_free(struct gf_saved *saved);

/* ---- one file for each kind; the root is known to be of that kind ---- */

enum gf_status gf_saved_read_run(const struct gf_json_value *root, struct gf_saved *saved,
                                 struct gf_error *error) GF_CHECKED;
enum gf_status gf_saved_read_comparison(const struct gf_json_value *root, struct gf_saved *saved,
                                        struct gf_error *error) GF_CHECKED;
/* root: a lab, or a list of them. */
enum gf_status gf_saved_read_labs(const struct gf_json_value *root, struct gf_saved *saved,
                                  struct gf_error *error) GF_CHECKED;
void gf_saved_free_labs(struct gf_saved *saved);

/* A log has a JSON object a line; whether the first one is of a log. */
bool gf_saved_is_log(const char *text, size_t size);
enum gf_status gf_saved_read_log(const char *text, size_t size, struct gf_saved *saved,
                                 struct gf_error *error) GF_CHECKED;

/* What Nsight Compute counted, as CSV; whether the text is that. */
bool gf_saved_is_counters(const char *text, size_t size);
enum gf_status gf_saved_read_counters(const char *text, size_t size, struct gf_saved *saved,
                                      struct gf_error *error) GF_CHECKED;
/* Gives the rows of a comparison the instructions of their kernels, where all are counted. */
void gf_saved_count(const struct gf_counters *counters, struct gf_comparison *comparison);

#endif
