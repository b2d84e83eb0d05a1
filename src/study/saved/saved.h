/* Saved reports on one page: the JSON of profiles, comparisons and labs, which is checked and put
 * on the page as it is; the logs of batches, which are summed up; and what Nsight Compute counted.
 */
#pragma once

#include <stdio.h>

#include "report/batch/batch_report.h"

enum gf_saved_kind {
    GF_SAVED_RUN,
    GF_SAVED_COMPARISON,
    GF_SAVED_LABS,
    GF_SAVED_LOG,
    GF_SAVED_COUNTERS
};

enum { GF_COUNTED_NAME_SIZE = 512 };

/* A kernel that Nsight Compute counted. */
struct gf_counted_kernel {
    char name[GF_COUNTED_NAME_SIZE];
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
    const char *name; /* the file's name */
    char *text;       /* the JSON of a run, a comparison or labs */
    size_t size;
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

/* Writes the whole page of the reports. */
enum gf_status gf_saved_page(FILE *file, const struct gf_saved *saved, int count,
                             struct gf_error *error) GF_CHECKED;
