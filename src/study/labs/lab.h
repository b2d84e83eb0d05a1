/* The labs: microbenchmarks of single techniques of the CUDA guides (gpufilter --lab). A lab is one
 * file, cuda/study/labs/STEM.cu, which declares its parameters, columns and texts, and one word in
 * GF_LABS() below; src/study/README.md tells how to add one. */
#pragma once

#include <stdio.h>

#include "base/host_device.h"
#include "engine/backend.h"
#include "gpufilter/filter.h"

GF_C_BEGIN

struct gf_lab_result;

struct gf_lab_run {
    struct gf_device_info device; /* the current device */
    int runs;                     /* number of timings whose median is each result */
    const int *param;             /* the values of the lab's own parameters, in their order */
    const struct gf_lab *lab;
    struct gf_lab_result *result; /* what it finds */
    struct gf_error *error;       /* why it failed */
};

/* The axes of a lab's plot, all NULL if it has none. Each column whose unit is y_unit is a curve.
 * Rows without an x, such as a bound, are not plotted. */
struct gf_lab_axes {
    const char *x, *x_unit; /* "offset", "floats"; x_unit may be "" */
    const char *y, *y_unit; /* "bandwidth", "GB/s" */
    int form;               /* GF_LAB_LINEAR, or flags */
};
/* GF_LAB_BARS: each row is a group of bars with its label, instead of a point of a curve. */
enum { GF_LAB_LINEAR = 0, GF_LAB_LOG_X = 1, GF_LAB_LOG_Y = 2, GF_LAB_BARS = 4 };

/* A number from the guide, which the plot shows next to the measured values. */
struct gf_lab_mark {
    const char *name;   /* the hardware of the guide's measurement: "V100" */
    const char *column; /* the column of the result, which has the same unit */
    const char *row;    /* the label of the row; NULL: a line across the curve */
    double value;
};

struct gf_lab_column {
    const char *name, *unit; /* "padded", "GB/s" */
    int decimals;
};

/* The first columns of a lab that compares kernels; the speed-up is over the first of them. */
#define GF_LAB_COMPARED \
    {"time", "ms", 3}, {"bandwidth", "GB/s", 0}, {"spread", "%", 1}, \
    { \
        "speed-up", "times", 2 \
    }

enum { GF_LAB_COLUMNS_MAX = 12, GF_LAB_OWN_PARAMS_MAX = 4, GF_LAB_MARKS_MAX = 6 };

/* A parameter of a lab, which is a whole number or the index of a choice. */
#define GF_LAB_INT(name_, value_, least_, greatest_, help_) \
    { \
        .name = name_, .type = GF_TYPE_INT, .value = value_, .least = least_, \
        .greatest = greatest_, .help = help_ \
    }
#define GF_LAB_CHOICE(name_, choices_, help_) \
    { \
        .name = name_, .type = GF_TYPE_CHOICE, .choices = choices_, .help = help_ \
    }

struct gf_lab {
    const char *name;    /* "async-copy": the stem with '-' instead of '_' */
    const char *summary; /* the technique that it measures, in one line */
    const char *guide;   /* the number of the guide and the section: "4, 9.2.3.4" */
    const char *figure;  /* the guide's measurement and hardware: "V100: 790 GB/s"; or NULL */
    /* The lists below end with a NULL name. */
    struct gf_lab_mark marks[GF_LAB_MARKS_MAX + 1]; /* the guide's numbers */
    struct gf_param params[GF_LAB_OWN_PARAMS_MAX + 1];
    const char *rows; /* the heading over the labels of the rows: "offset (floats)" */
    struct gf_lab_column columns[GF_LAB_COLUMNS_MAX + 1];
    /* What is right if gf_lab_count() counted nothing, with %llu for what it counted: "all copies
     * equal their input (%llu bytes differ)"; or NULL. */
    const char *right;
    struct gf_lab_axes axes;
    /* Checks parameters against each other; may be NULL. Messages begin with the parameter, such as
     * "most=1 is less than least=2"; the caller adds the lab's name. */
    enum gf_status (*check)(const int *param, struct gf_error *error);
    enum gf_status (*run)(const struct gf_lab_run *run);
};

/* Labs exist only in a program with machine code for a GPU, because code that the driver compiles
 * from PTX would be other code. Their functions are void function(const struct gf_lab_run *);
 * lab_run() of lab.cuh calls them. */
#ifdef GF_WITH_LABS
#define GF_LAB_RUN(function) lab_run<function>
#else
#define GF_LAB_RUN(function) NULL
#endif

/* The labs in the order of --lab. LAB(STEM) is gf_lab_STEM, which cuda/study/labs/STEM.cu declares;
 * offset and stride are in coalescing.cu, matmul_at in matmul.cu, peer in transfer.cu. */
/* clang-format off */
#define GF_LABS(LAB) \
    LAB(offset) LAB(stride) LAB(layout) LAB(transpose) LAB(matmul) LAB(matmul_at) LAB(banks) \
    LAB(async_copy) LAB(constant) LAB(texture) LAB(l2_window) LAB(transfer) LAB(peer) LAB(alloc) \
    LAB(histogram) LAB(reduce) LAB(occupancy) LAB(concurrent) LAB(integer) LAB(intrinsics) \
    LAB(powers) LAB(flags) LAB(precision) LAB(divergence) LAB(work_per_thread) LAB(latency) \
    LAB(dynamic_parallelism) LAB(spill) LAB(jpeg)
/* clang-format on */
#define GF_LAB_DECLARE(stem) extern const struct gf_lab gf_lab_##stem;
GF_LABS(GF_LAB_DECLARE)

/* ---- The result of a lab ---- */

enum {
    GF_LAB_ROWS_MAX = 96,
    GF_LAB_REMARKS_MAX = 24,
    GF_LAB_NAME_SIZE = 48,
    GF_LAB_TEXT_SIZE = 240
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
    char rows_name[GF_LAB_NAME_SIZE]; /* the heading over the labels */
    int rows, remarks;
    struct gf_lab_row row[GF_LAB_ROWS_MAX];
    struct gf_lab_remark remark[GF_LAB_REMARKS_MAX]; /* checks, then claims, then notes */
    bool counted;                                    /* whether gf_lab_count() was called */
    uint64_t wrong;                                  /* what it counted */
    bool full; /* there is more than fits, which is an error of the lab */
    /* gf_lab_run() sets the members below. */
    char device[128], settings[GF_LAB_TEXT_SIZE]; /* "size=256 runs=15" */
    double elapsed_s;
};

int gf_lab_columns(const struct gf_lab *lab);
bool gf_lab_has_values(const struct gf_lab *lab, const struct gf_lab_row *row);

/* Begins a row and returns its values, one for each column, which are NaN until they are set; x is
 * its position on the axis, or NAN. */
double *gf_lab_row(const struct gf_lab_run *run, double x, const char *label, ...) GF_PRINTF(3, 4);
/* Adds a remark to the last row: the reason why it has no values, or the name of a kernel. */
void gf_lab_reason(const struct gf_lab_run *run, const char *format, ...) GF_PRINTF(2, 3);

/* Counts computed results that are wrong; 0 says that some were checked and right. If any is wrong,
 * the program fails. The lab's text `right` tells the sum. */
void gf_lab_count(const struct gf_lab_run *run, uint64_t wrong);
/* Notes whether a computed result was right, as gf_lab_count() does, with a text of its own: "all
 * 33 copies equal their input". */
void gf_lab_check(const struct gf_lab_run *run, bool right, const char *format, ...)
    GF_PRINTF(3, 4);
/* Note whether a claim of the guide is true here, with the measured numbers: "padded takes 0.31 of
 * unpadded's time". It is true if the first number of the text, a double, is above `least` or
 * below `most`, or if `agrees` says so. */
void gf_lab_above(const struct gf_lab_run *run, double least, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_lab_below(const struct gf_lab_run *run, double most, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_lab_claim(const struct gf_lab_run *run, bool agrees, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_lab_note(const struct gf_lab_run *run, const char *format, ...) GF_PRINTF(2, 3);

/* ---- Requests and runs ---- */

enum gf_lab_form { GF_LAB_TABLE, GF_LAB_JSON };

/* The values of a lab's own parameters, and of those that every lab has. */
struct gf_lab_values {
    int param[GF_LAB_OWN_PARAMS_MAX], runs;
    int form;                     /* enum gf_lab_form */
    char html[GF_FILE_NAME_SIZE]; /* the name of a page; or "" */
    char plot[GF_FILE_NAME_SIZE]; /* a name that ends with .png or .svg; or "" */
};

struct gf_lab_request {
    const struct gf_lab *lab;    /* NULL: all labs, which then run with their defaults */
    bool help;                   /* NAME:help was given */
    struct gf_lab_values values; /* if `lab` is NULL, `param` is not used */
};

/* Returns the labs in the order of GF_LABS(); NULL after the last one. */
const struct gf_lab *gf_lab_at(int index);
const struct gf_lab *gf_lab_find(const char *name);
/* Lists the lab's own parameters and the common ones, for help. The last has a NULL name. For a
 * `lab` of NULL it lists the parameters that --lab=all accepts. */
enum { GF_LAB_PARAMS_MAX = GF_LAB_OWN_PARAMS_MAX + 5 };
void gf_lab_params(const struct gf_lab *lab, struct gf_param params[GF_LAB_PARAMS_MAX]);
/* Returns the common parameters alone. Only labs with a plot accept the last of them, plot. */
const struct gf_param *gf_lab_common_params(void);

/* Parses "NAME", "NAME:key=value:...", or "all:runs=3". Every error is GF_ERROR_USAGE. */
enum gf_status gf_lab_parse(const char *text, struct gf_lab_request *request,
                            struct gf_error *error) GF_CHECKED;

/* Makes the device current. Returns GF_ERROR_UNAVAILABLE, with the reason, if there is none. */
enum gf_status gf_lab_open(int device, struct gf_device_info *info,
                           struct gf_error *error) GF_CHECKED;
/* Returns an error if a computed result was wrong. The error names the first one. */
enum gf_status gf_lab_judge(const struct gf_lab *lab, const struct gf_lab_result *result,
                            struct gf_error *error) GF_CHECKED;
/* Runs a lab on the device. A wrong result is an error, and so are more rows than fit, and values
 * of which none was checked; *result holds the findings until then. `param` may be NULL, for the
 * defaults. */
enum gf_status gf_lab_run(const struct gf_lab *lab, const struct gf_device_info *info, int runs,
                          const int *param, struct gf_lab_result *result,
                          struct gf_error *error) GF_CHECKED;

GF_C_END
