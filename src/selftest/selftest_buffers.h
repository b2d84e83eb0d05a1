/* Buffers of the self-test. Each lies between guard bytes, and each row is followed by padding, so
 * that a kernel that writes outside its rows is found out. */
#ifndef GF_SELFTEST_SELFTEST_BUFFERS_H
#define GF_SELFTEST_SELFTEST_BUFFERS_H

#include "engine/backend.h"

/* Bytes before each buffer, and after it. */
enum { GF_SELFTEST_GUARD = 256 };

/* A buffer in the backend's memory, with its copy in host memory. */
struct gf_selftest_guarded {
    unsigned char *host, *device;
    size_t bytes; /* guards included */
};

void gf_selftest_guarded_free(struct gf_lane *lane, struct gf_selftest_guarded *buffer);
/* After a failure, too, the caller frees the buffer. */
enum gf_status gf_selftest_guarded_alloc(struct gf_lane *lane, size_t bytes,
                                         struct gf_selftest_guarded *buffer,
                                         struct gf_error *error) GF_CHECKED;
/* Copies the whole buffer to the device, or back. */
enum gf_status gf_selftest_copy(struct gf_lane *lane, struct gf_selftest_guarded *buffer,
                                bool to_device, struct gf_error *error) GF_CHECKED;

size_t gf_selftest_padded_pitch(struct gf_format format);
/* Rows y0..y1-1 of a picture, which begin behind the guard of the buffer at `base`. */
struct gf_view gf_selftest_view_in(unsigned char *base, struct gf_format format, int y0, int y1);

/* Whether the guards, and the padding behind every row of the view, are as they were. view: NULL
 * where there are no rows. */
bool gf_selftest_guards_hold(const struct gf_selftest_guarded *buffer, const struct gf_view *view);

#endif
