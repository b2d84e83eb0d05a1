/* Tests one chain on one picture: compares a device's results with the CPU backend's. */
#pragma once

#include "base/threads/times.h"
#include "chain/chain.h"
#include "chain/registry.h"
#include "engine/backend.h"
#include "gpufilter/device.h"
#include "stage/stage.h"

struct gf_selftester {
    void (*line)(void *context, const char *text);
    void *context;
    struct gf_selftest_counts *counts;
    struct gf_backend *backend;
    struct gf_lane *lane;
    struct gf_spans spans;
    char device[96];
    bool small_only;
    int architecture;                 /* compute capability of the GPU, 90 for 9.0 */
    const char *filters;              /* names of the filters to test, separated by commas; empty:
                                       * all */
    const struct gf_variant *variant; /* the variant that is tested; NULL: the default, or the CPU's
                                       * code */
    /* The counts of the current line, which is about a filter at one depth and number of
     * channels. */
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

/* Buffers of the self-test. Guard bytes are before and after each buffer, and padding is after each
 * row, so that the self-test finds a kernel that writes outside its rows. */

/* The number of guard bytes before each buffer, and after it. */
enum { GF_SELFTEST_GUARD = 256 };

/* A buffer in the backend's memory, with its copy in host memory. */
struct gf_selftest_guarded {
    unsigned char *host, *device;
    size_t bytes; /* guards included */
};

void gf_selftest_guarded_free(struct gf_lane *lane, struct gf_selftest_guarded *buffer);
/* Allocates a buffer. The caller frees it, even after a failure. */
enum gf_status gf_selftest_guarded_alloc(struct gf_lane *lane, size_t bytes,
                                         struct gf_selftest_guarded *buffer,
                                         struct gf_error *error) GF_CHECKED;
/* Copies the whole buffer to the device, or back. */
enum gf_status gf_selftest_copy(struct gf_lane *lane, struct gf_selftest_guarded *buffer,
                                bool to_device, struct gf_error *error) GF_CHECKED;

size_t gf_selftest_padded_pitch(struct gf_format format);
/* Returns a view of rows y0 .. y1 - 1 of a picture, which begin after the guard bytes of the buffer
 * at `base`. */
struct gf_view gf_selftest_view_in(unsigned char *base, struct gf_format format, int y0, int y1);

/* Whether the guard bytes, and the padding after every row of the view, are unchanged. `view` is
 * NULL if there are no rows. */
bool gf_selftest_guards_hold(const struct gf_selftest_guarded *buffer, const struct gf_view *view);

enum { GF_SELFTEST_TEXT = 16384 }; /* bytes of a chain's text */

enum gf_selftest_set {
    GF_SELFTEST_DEFAULT,
    GF_SELFTEST_LEAST,
    GF_SELFTEST_GREATEST,
    GF_SELFTEST_CHOICES
};

/* Writes a chain such as "blur=sigma=0.1:border=edge" with a set of values: the defaults, all
 * parameters at their least or at their greatest, and from GF_SELFTEST_CHOICES on each choice in
 * turn. text has room for GF_SELFTEST_TEXT bytes. Returns false if there is no such set, nor a
 * later one. */
bool gf_selftest_chain(const struct gf_filter *filter, int set, char *text);
/* Likewise with the defaults, within a region that has shapes of both kinds and soft edges. Returns
 * false if the filter takes no region. */
bool gf_selftest_region(const struct gf_filter *filter, char *text);
