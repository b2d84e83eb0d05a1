/* The labs: microbenchmarks of single techniques of the CUDA guides (gpufilter --lab). A lab is one
 * file, cuda/study/labs/STEM.cu, and one line of src/study/labs/labs.def; src/study/README.md
 * tells how to add one. */
#pragma once

#include <stdio.h>

#include "base/host_device.h"
#include "engine/backend.h"
#include "gpufilter/filter.h"
#include "stage/stage.h"

GF_C_BEGIN

struct gf_lab_result;

/* One run of a lab. */
struct gf_lab_run {
    struct gf_device_info device; /* the current device */
    int runs;           /* number of timings whose median is each result; for lab_time() */
    const void *params; /* the lab's own struct */
    struct gf_lab_result *result; /* what it finds */
    struct gf_error *error;       /* why it failed */
};

/* The axes of a lab's plot, all NULL if it has none. Each column whose unit is y_unit is a curve.
 * Rows without an x, such as a bound, are not plotted. */
struct gf_lab_axes {
    const char *x, *x_unit; /* "offset", "floats"; x_unit may be "" */
    const char *y, *y_unit; /* "bandwidth", "GB/s" */
    bool log_x, log_y;
    bool bars; /* each row is a group of bars with its label, instead of a point of a curve */
};

/* A number from the guide, which the plot shows next to the measured values. */
struct gf_lab_mark {
    const char *name;   /* the hardware of the guide's measurement: "V100" */
    const char *column; /* the column of the result, which has the same unit */
    const char *row;    /* the label of the row; NULL: a line across the curve */
    double value;
};

struct gf_lab {
    const char *name;    /* "async-copy": the stem with '-' instead of '_' */
    const char *summary; /* the technique that it measures, in one line */
    const char *guide;   /* the number of the guide and the section: "4, 9.2.3.4" */
    const char *figure;  /* the guide's measurement and hardware: "V100: 790 GB/s"; or NULL */
    const struct gf_lab_mark *marks; /* the guide's numbers; ends with a NULL name; or NULL */
    const struct gf_param
        *params; /* declared by GF_PARAM_INT and the like (stage/filter.h); or NULL */
    size_t params_size;
    struct gf_lab_axes axes;
    /* Checks parameters against each other; may be NULL. Messages begin with the parameter, such as
     * "most=1 is less than least=2"; the caller adds the lab's name. */
    enum gf_status (*check)(const void *params, struct gf_error *error);
    enum gf_status (*run)(const struct gf_lab_run *run);
};

/* Labs exist only in a program with machine code for a GPU, because code that the driver compiles
 * from PTX would be other code. */
#ifdef GF_WITH_LABS
#define GF_LAB_RUN(function) function
#else
#define GF_LAB_RUN(function) NULL
#endif

#define GF_LAB(stem) extern const struct gf_lab gf_lab_##stem;
#include "study/labs/labs.def"
#undef GF_LAB

/* ---- The result of a lab ---- */

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
    char reason[GF_LAB_TEXT_SIZE];    /* a remark on the values, or the reason why there are none */
    double x;                         /* the position on the axis; NaN: none */
    double value[GF_LAB_COLUMNS_MAX]; /* NaN: none */
};

enum gf_lab_remark_kind {
    GF_LAB_RIGHT,   /* a computed result was checked and is right */
    GF_LAB_WRONG,   /* a computed result was checked and is wrong */
    GF_LAB_AGREES,  /* the guide's claim holds on this GPU */
    GF_LAB_DIFFERS, /* the guide's claim does not hold on this GPU */
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
    bool full; /* there are more columns or rows than fit, which is an error of the lab */
    /* gf_lab_run() sets the members below. */
    char device[128], settings[GF_LAB_TEXT_SIZE]; /* "size=256 runs=15" */
    double elapsed_s;
};

/* Sets the heading over the labels of the rows. */
void gf_lab_rows(const struct gf_lab_run *run, const char *format, ...) GF_PRINTF(2, 3);
/* Adds a column and returns its index. All columns must be added before the first row. */
int gf_lab_column(const struct gf_lab_run *run, const char *name, const char *unit, int decimals);
/* Begins a row and returns its index; x is its position on the axis, or NAN. */
int gf_lab_row(const struct gf_lab_run *run, double x, const char *label, ...) GF_PRINTF(3, 4);
/* Sets a value of the last row. */
void gf_lab_value(const struct gf_lab_run *run, int column, double value);
/* Adds a remark to the last row: the reason why it has no values, or the name of a kernel. */
void gf_lab_reason(const struct gf_lab_run *run, const char *format, ...) GF_PRINTF(2, 3);

/* Notes whether a computed result was right: "all 33 copies equal their input". If one is wrong,
 * the program fails. */
void gf_lab_check(const struct gf_lab_run *run, bool right, const char *format, ...)
    GF_PRINTF(3, 4);
/* Notes whether a claim of the guide is true here, with the measured number: "padded takes 0.31 of
 * unpadded's time". */
void gf_lab_claim(const struct gf_lab_run *run, bool agrees, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_lab_note(const struct gf_lab_run *run, const char *format, ...) GF_PRINTF(2, 3);

/* ---- Requests and runs ---- */

enum gf_lab_form { GF_LAB_TABLE, GF_LAB_JSON };

/* The parameters of every lab in addition to its own. */
struct gf_lab_common {
    int runs;
    int form;                     /* enum gf_lab_form */
    char html[GF_FILE_NAME_SIZE]; /* the name of a page; or "" */
    char plot[GF_FILE_NAME_SIZE]; /* a name that ends with .png or .svg; or "" */
};

struct gf_lab_request {
    const struct gf_lab *lab; /* NULL: all labs */
    bool help;                /* NAME:help was given */
    struct gf_lab_common common;
    void *params; /* the lab's own struct, from malloc(); NULL for all labs, which then run with
                   * their defaults */
};

/* Returns the labs in the order of labs.def; NULL after the last one. */
const struct gf_lab *gf_lab_at(int index);
const struct gf_lab *gf_lab_find(const char *name);
/* Lists the lab's own parameters and the common ones, for help. The last has a NULL name. For a
 * `lab` of NULL it lists the parameters that --lab=all accepts. */
enum { GF_LAB_PARAMS_MAX = 12 };
void gf_lab_params(const struct gf_lab *lab, struct gf_param params[GF_LAB_PARAMS_MAX]);
/* Returns the common parameters alone. Only labs with a plot accept the last of them, plot. */
const struct gf_param *gf_lab_common_params(void);

/* Parses "NAME", "NAME:key=value:...", or "all:runs=3". Every error is GF_ERROR_USAGE. */
enum gf_status gf_lab_parse(const char *text, struct gf_lab_request *request,
                            struct gf_error *error) GF_CHECKED;
void gf_lab_request_free(struct gf_lab_request *request);

/* Makes the device current. Returns GF_ERROR_UNAVAILABLE, with the reason, if there is none. */
enum gf_status gf_lab_open(int device, struct gf_device_info *info,
                           struct gf_error *error) GF_CHECKED;
/* Returns an error if a computed result was wrong. The error names the first one. */
enum gf_status gf_lab_judge(const struct gf_lab *lab, const struct gf_lab_result *result,
                            struct gf_error *error) GF_CHECKED;
/* Runs a lab on the device. A wrong result is an error, and so are more rows than fit; *result
 * holds the findings until then. `params` may be NULL, for the defaults. */
enum gf_status gf_lab_run(const struct gf_lab *lab, const struct gf_device_info *info, int runs,
                          const void *params, struct gf_lab_result *result,
                          struct gf_error *error) GF_CHECKED;

GF_C_END
