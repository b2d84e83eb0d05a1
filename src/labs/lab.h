/* The labs: microbenchmarks of single techniques of the guides (gpufilter --lab). A lab is one
 * file, cuda/labs/<stem>.cu, and one line of src/labs/labs.def. The file holds
 *
 *   #include "labs/lab.h"
 *   struct with the parameters, and their declarations          plain C: a build without CUDA
 *   #ifdef __CUDACC__                                           compiles the file as C, for the
 *   #include "cuda/labs/lab.cuh", kernels, static run()                   list, the help and the
 * checks of #endif                                                      parameters const struct
 * gf_lab gf_lab_<stem> = {...};
 *
 * run() leaves everything that it found in a struct gf_lab_result; table, JSON, plot and data file
 * are made of that (lab_report.c, lab_plot.c), and a lab prints nothing. What a lab must do:
 *   - time on random data, never on zeros; poison what a kernel is to write, and check all of it
 * against a reference (gf_lab_check): a wrong result is an error of the program;
 *   - state what the guide says as a claim (gf_lab_claim) with the measured number: where this GPU
 * says otherwise, that is a finding and no error;
 *   - be right and finish on any GPU from sm_75 with 8 GB on, and end within about 2 s on a large
 * one. Labs are compiled with contraction of a * b + c, as the guides' examples are (filters are
 * not). */
#ifndef GF_LABS_LAB_H
#define GF_LABS_LAB_H

#include <stdio.h>

#include "engine/backend.h"
#include "gpufilter/filter.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What run() is called with. */
struct gf_lab_run {
    struct gf_device_info device; /* the current device */
    int runs;           /* timings that a figure is the median of: give it to lab_time() */
    const void *params; /* the lab's own struct */
};

struct gf_lab_result;

/* Where the curve has its axes. The curves are the columns whose unit is y_unit. Rows without an x
 * (a bound, a copy) are left out. Labs without a curve leave all of it NULL. */
struct gf_lab_axes {
    const char *x, *x_unit; /* "offset", "floats"; x_unit may be "" */
    const char *y, *y_unit; /* "bandwidth", "GB/s" */
    bool log_x, log_y;
    bool bars; /* a group of bars for each row, named by its label, instead of lines along x */
};

struct gf_lab {
    const char *name;    /* "async-copy"; the stem with '-' for '_' */
    const char *summary; /* what it teaches, in a line */
    const char *guide;   /* techniques.md: "4, 9.2.3.4" (guide and section) */
    const char *figure;  /* the guide's figure with its hardware: "V100: 790 GB/s"; or NULL */
    const struct gf_param *params; /* or NULL; GF_PARAM_INT and the like (stage.h) */
    size_t params_size;
    struct gf_lab_axes axes;
    /* What cannot be said of one parameter alone; may be NULL. "most=1 is ..." without the lab's
     * name. */
    enum gf_status (*check)(const void *params, struct gf_error *error);
    enum gf_status (*run)(const struct gf_lab_run *run, struct gf_lab_result *result,
                          struct gf_error *error);
};

#ifdef GF_WITH_CUDA
#define GF_LAB_RUN(function) function
#else
#define GF_LAB_RUN(function) NULL
#endif

#define GF_LAB(stem) extern const struct gf_lab gf_lab_##stem;
#include "labs/labs.def"
#undef GF_LAB

/* ---- What a lab found (lab_result.c) ---- */

enum {
    GF_LAB_COLUMNS_MAX = 12,
    GF_LAB_ROWS_MAX = 96,
    GF_LAB_REMARKS_MAX = 24,
    GF_LAB_NAME_SIZE = 48,
    GF_LAB_TEXT_SIZE = 240
};

struct gf_lab_column {
    char name[GF_LAB_NAME_SIZE], unit[16]; /* "padded", "GB/s" */
    int decimals;
};

struct gf_lab_row {
    char label[GF_LAB_NAME_SIZE];
    char reason[GF_LAB_TEXT_SIZE]; /* what there is to say beside the values, or instead of them */
    double x;                      /* along the axis; NaN: none */
    double value[GF_LAB_COLUMNS_MAX]; /* NaN: none */
};

enum gf_lab_remark_kind {
    GF_LAB_RIGHT,   /* a computed result was checked, and is right */
    GF_LAB_WRONG,   /* and is wrong */
    GF_LAB_AGREES,  /* the guide's claim holds here */
    GF_LAB_DIFFERS, /* it does not */
    GF_LAB_NOTE
};

struct gf_lab_remark {
    enum gf_lab_remark_kind kind;
    char text[GF_LAB_TEXT_SIZE];
};

struct gf_lab_result {
    char rows_name[GF_LAB_NAME_SIZE]; /* the heading over the labels: "offset (floats)" */
    int columns, rows, remarks;
    struct gf_lab_column column[GF_LAB_COLUMNS_MAX];
    struct gf_lab_row row[GF_LAB_ROWS_MAX];
    struct gf_lab_remark remark[GF_LAB_REMARKS_MAX];
    bool full; /* something found no room: an error */
    /* Filled by gf_lab_run(). */
    char device[128], settings[GF_LAB_TEXT_SIZE]; /* "size=256 runs=15" */
    double elapsed_s;
};

/* Columns first, then rows. Returns the column's index. */
int gf_lab_column(struct gf_lab_result *result, const char *name, const char *unit, int decimals);
/* Begins a row; x is its place on the axis, or NAN. Returns the row's index. */
int gf_lab_row(struct gf_lab_result *result, double x, const char *label, ...) GF_PRINTF(3, 4);
/* A value of the row begun last. */
void gf_lab_value(struct gf_lab_result *result, int column, double value);
/* Says something beside the row begun last: why it has no values, which kernel it is. */
void gf_lab_reason(struct gf_lab_result *result, const char *format, ...) GF_PRINTF(2, 3);

/* Whether a computed result was right: "all 33 copies equal their input". Not right: exit status 1.
 */
void gf_lab_check(struct gf_lab_result *result, bool right, const char *format, ...)
    GF_PRINTF(3, 4);
/* What the guide says, with the number measured here: "padded takes 0.31 of unpadded's time". */
void gf_lab_claim(struct gf_lab_result *result, bool agrees, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_lab_note(struct gf_lab_result *result, const char *format, ...) GF_PRINTF(2, 3);

/* ---- What is asked for (lab.c) ---- */

enum gf_lab_form { GF_LAB_TABLE, GF_LAB_JSON };

/* What every lab takes besides its own parameters. */
struct gf_lab_common {
    int runs;
    int form;                     /* enum gf_lab_form */
    char plot[GF_FILE_NAME_SIZE]; /* ""; ends in .png or .svg */
};

struct gf_lab_request {
    const struct gf_lab *lab; /* NULL: all of them */
    bool help;                /* NAME:help */
    struct gf_lab_common common;
    void *params; /* the lab's own struct; malloc. NULL for all: the defaults */
};

/* The labs in the order of labs.def; NULL past the last one. */
const struct gf_lab *gf_lab_at(int index);
const struct gf_lab *gf_lab_find(const char *name);
/* The lab's parameters and those of every lab, for help; ends with a NULL name. lab NULL: of all.
 */
enum { GF_LAB_PARAMS_MAX = 12 };
void gf_lab_params(const struct gf_lab *lab, struct gf_param params[GF_LAB_PARAMS_MAX]);
/* Those of every lab alone; the last, plot, is taken only by labs with a curve. */
const struct gf_param *gf_lab_common_params(void);

/* "NAME", "NAME:key=value:...", "all:runs=3". Every error is one of usage. */
enum gf_status gf_lab_parse(const char *text, struct gf_lab_request *request,
                            struct gf_error *error) GF_CHECKED;
void gf_lab_request_free(struct gf_lab_request *request);

/* Makes the device current; GF_ERROR_UNAVAILABLE says why there is none. */
enum gf_status gf_lab_open(int device, struct gf_device_info *info,
                           struct gf_error *error) GF_CHECKED;
/* GF_OK, or the first result that was wrong as the program's one line. */
enum gf_status gf_lab_judge(const struct gf_lab *lab, const struct gf_lab_result *result,
                            struct gf_error *error) GF_CHECKED;
/* Runs a lab on it. A wrong result or too many rows are errors too; what was found till then is in
 * *result. params: NULL for the defaults. */
enum gf_status gf_lab_run(const struct gf_lab *lab, const struct gf_device_info *info, int runs,
                          const void *params, struct gf_lab_result *result,
                          struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
