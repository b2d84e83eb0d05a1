/* Tests one chain on one picture: compares a device's results with the CPU backend's. */
#pragma once

#include "base/threads/times.h"
#include "chain/chain.h"
#include "engine/backend.h"
#include "gpufilter/device.h"
#include "stage/histogram.h"
#include "stage/picture.h"

struct gf_selftester {
    void (*line)(void *context, const char *text);
    void *context;
    struct gf_selftest_counts *counts;
    struct gf_backend *backend;
    struct gf_lane *lane;
    struct gf_spans spans;
    char device[96];
    bool small_only;
    int architecture;    /* the compute capability of the GPU, 90 for 9.0 */
    const char *filters; /* names of the filters to test, separated by commas; "": all */
    /* The variant that is tested; NULL: the default kernels, or the CPU's code. */
    const struct gf_variant *variant;
    /* Counts for the line that is printed next, which is about one filter at one depth and number
     * of channels; `worst` is the largest difference. */
    int cases, failures, worst;
    char first_failure[300];
};

static inline bool gf_selftest_on_cpu(const struct gf_selftester *test)
{
    return test->backend->calls->unified;
}

/* Runs a chain on a picture of the format, and counts the case and its failures. The input of each
 * stage is the CPU's result of the stage before. */
enum gf_status gf_selftest_case(struct gf_selftester *test, const struct gf_chain *chain,
                                struct gf_format format, struct gf_error *error) GF_CHECKED;

/* Buffers of the self-test have guard bytes before and after them, and padding after each row, so
 * that a kernel that writes outside its rows is found. */

enum { GF_SELFTEST_GUARD = 256 };

/* A buffer in the backend's memory, with its copy in host memory. */
struct gf_selftest_guarded {
    unsigned char *host, *device;
    size_t bytes; /* guards included */
};

enum { GF_SELFTEST_TEXT = 16384 }; /* bytes of a chain's text */

enum gf_selftest_set {
    GF_SELFTEST_DEFAULT,
    GF_SELFTEST_LEAST,
    GF_SELFTEST_GREATEST,
    GF_SELFTEST_CHOICES
};

/* Returns the largest difference of a sample between the rows of `a` and the same rows of `b`. */
int gf_view_difference(const struct gf_view *a, const struct gf_view *b);

/* Returns the largest difference of a level's count. With extremes_only, it compares only the
 * lowest and the highest level that occur, which is all that some variants count. */
double gf_histogram_difference(const struct gf_histogram *a, const struct gf_histogram *b,
                               bool extremes_only);
