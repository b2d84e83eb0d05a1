#include <stdlib.h>
#include <string.h>

#include "selftest/selftest_case.h"

enum { GUARD_BYTE = 0xa5 };

void gf_selftest_guarded_free(struct gf_lane *lane, struct gf_selftest_guarded *buffer)
{
    free(buffer->host);
    if (buffer->device)
        lane->backend->calls->release(lane->backend, buffer->device, buffer->bytes);
    *buffer = (struct gf_selftest_guarded){0};
}

enum gf_status gf_selftest_guarded_alloc(struct gf_lane *lane, size_t bytes,
                                         struct gf_selftest_guarded *buffer, struct gf_error *error)
{
    buffer->bytes = bytes + 2 * GF_SELFTEST_GUARD;
    buffer->host = malloc(buffer->bytes);
    buffer->device = lane->backend->calls->alloc(lane->backend, buffer->bytes);
    if (!buffer->host || !buffer->device)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(buffer->host, GUARD_BYTE, buffer->bytes);
    return GF_OK;
}

/* Returns the bytes as a view of a picture of one row. */
static struct gf_view flat(unsigned char *data, size_t bytes)
{
    return (struct gf_view){.data = data,
                            .pitch = bytes,
                            .format = {.width = (int)bytes, .height = 1, .channels = 1, .bits = 8},
                            .rows = 1};
}

enum gf_status gf_selftest_copy(struct gf_lane *lane, struct gf_selftest_guarded *buffer,
                                bool to_device, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = lane->backend->calls;
    const struct gf_view device = flat(buffer->device, buffer->bytes);
    const struct gf_view host = flat(buffer->host, buffer->bytes);
    if (!calls->unified)
        return to_device ? calls->upload(lane, &device, &host, error)
                         : calls->download(lane, &host, &device, error);
    memcpy(to_device ? buffer->device : buffer->host, to_device ? buffer->host : buffer->device,
           buffer->bytes);
    return GF_OK;
}

size_t gf_selftest_padded_pitch(struct gf_format format)
{
    return (gf_row_bytes(format) + 15) / 16 * 16 + 32;
}

struct gf_view gf_selftest_view_in(unsigned char *base, struct gf_format format, int y0, int y1)
{
    return (struct gf_view){.data = base ? base + GF_SELFTEST_GUARD : NULL,
                            .pitch = gf_selftest_padded_pitch(format),
                            .format = format,
                            .y = y0,
                            .rows = y1 - y0};
}

static bool all_guard(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

bool gf_selftest_guards_hold(const struct gf_selftest_guarded *buffer, const struct gf_view *view)
{
    if (!all_guard(buffer->host, GF_SELFTEST_GUARD) ||
        !all_guard(buffer->host + buffer->bytes - GF_SELFTEST_GUARD, GF_SELFTEST_GUARD))
        return false;
    const size_t row_bytes = view ? gf_row_bytes(view->format) : 0;
    for (int row = 0; view && row < view->rows; row++) {
        if (!all_guard(buffer->host + GF_SELFTEST_GUARD + (size_t)row * view->pitch + row_bytes,
                       view->pitch - row_bytes))
            return false;
    }
    return true;
}
