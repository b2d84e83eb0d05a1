/* Buffers of the self-test. Guard bytes are before and after each buffer, and padding is after each
 * row, so that the self-test finds a kernel that writes outside its rows. */
#ifndef GF_SELFTEST_SELFTEST_BUFFERS_H
#define GF_SELFTEST_SELFTEST_BUFFERS_H

#include "engine/backend.h"

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

#endif
