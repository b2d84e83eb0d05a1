/* Buffers of the self-test, and comparison of what they hold. Each buffer lies between guard bytes
 * and each row is followed by padding: what a kernel writes outside its rows is found here. */
#ifndef GF_SELFTEST_SELFTEST_BUFFERS_H
#define GF_SELFTEST_SELFTEST_BUFFERS_H

#include "engine/backend.h"

/* Bytes before a buffer, and as many behind it. */
enum { GF_SELFTEST_GUARD = 256 };

/* A buffer in the backend's memory with its image in host memory. */
struct gf_selftest_guarded {
    unsigned char *host, *device;
    size_t bytes; /* guards included */
};

void gf_selftest_guarded_free(struct gf_lane *lane, struct gf_selftest_guarded *buffer);
/* What is there is freed by the caller, also after a failure. */
enum gf_status gf_selftest_guarded_alloc(struct gf_lane *lane, size_t bytes,
                                         struct gf_selftest_guarded *buffer,
                                         struct gf_error *error) GF_CHECKED;
enum gf_status gf_selftest_to_device(struct gf_lane *lane, struct gf_selftest_guarded *buffer,
                                     struct gf_error *error) GF_CHECKED;
enum gf_status gf_selftest_from_device(struct gf_lane *lane, struct gf_selftest_guarded *buffer,
                                       struct gf_error *error) GF_CHECKED;

size_t gf_selftest_padded_pitch(struct gf_format format);
/* Rows y0..y1-1 of a picture, behind the guard at the start of a buffer. */
struct gf_view gf_selftest_view_in(unsigned char *base, struct gf_format format, int y0, int y1);

/* Guards and the padding behind every row are as they were. */
bool gf_selftest_guards_hold(const struct gf_selftest_guarded *buffer, const struct gf_view *view);
/* The largest difference between rows of two views. */
int gf_selftest_difference(const struct gf_view *a, const struct gf_view *b);
bool gf_selftest_same_histogram(const struct gf_histogram *a, const struct gf_histogram *b,
                                bool extremes_only);

#endif
