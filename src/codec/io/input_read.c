/* Reads an input's bytes. A regular file and the caller's memory are read at offsets (pread),
 * anything else as a stream. A stream's bytes that must be kept go to an unnamed file, so that
 * memory does not grow with the stream. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/time_limit.h"
#include "codec/io/input_state.h"
#include "codec/io/spool.h"
#include "codec/io/transfer.h"

enum gf_status gf_input_fail(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, gf_status_of_name(GF_ERROR_INPUT, GF_ERROR_READ), "%s: %s", input->name,
                   strerror(errno));
}

void gf_input_set_headers_only(struct gf_input *input)
{
    input->headers_only = true;
}

bool gf_input_headers_only(const struct gf_input *input)
{
    return input->headers_only;
}

bool gf_input_borrow(struct gf_input *input, unsigned char **data, size_t *size)
{
    if (!input->memory)
        return false;
    *data = (unsigned char *)input->memory + input->base;
    *size = (size_t)input->size;
    return true;
}

void gf_input_keep(struct gf_input *input, const void *data, size_t size)
{
    if (input->spool < 0)
        return;
    if (gf_write_fully(input->spool, data, size)) {
        input->spooled += (int64_t)size;
        return;
    }
    /* What is being read can still be read; only gf_input_rewind() fails from now on. */
    input->spool_errno = errno;
    input->spooled = 0;
    close(input->spool);
    input->spool = -1;
}

/* Reads bytes of a regular input from offset `at`, as pread does. */
static ssize_t read_at(struct gf_input *input, void *data, size_t size, int64_t at)
{
    const int64_t left = at < input->size ? input->size - at : 0;
    const size_t got =
        (input->memory || input->narrowed) && left < (int64_t)size ? (size_t)left : size;
    if (!input->memory)
        return input->threads < 2 ? pread(input->fd, data, got, input->base + at)
                                  : gf_transfer_read(&input->crew, input->fd, data, got,
                                                     input->base + at, input->threads);
    memcpy(data, input->memory + input->base + at, got);
    return (ssize_t)got;
}

/* Reads once, as read() does: 0 at the end, -1 with errno for an error. */
static ssize_t read_once(struct gf_input *input, void *data, size_t size)
{
    if (input->regular)
        return read_at(input, data, size, input->position);
    if (input->position < input->spooled) {
        const int64_t left = input->spooled - input->position;
        return pread(input->spool, data, left < (int64_t)size ? (size_t)left : size,
                     input->spool_base + input->position);
    }
    const ssize_t got = read(input->fd, data, size);
    if (got > 0)
        gf_input_keep(input, data, (size_t)got);
    return got;
}

/* Calls the function that gives the input's next bytes. */
static enum gf_status read_from_caller(struct gf_input *input, void *data, size_t size, size_t *got,
                                       struct gf_error *error)
{
    enum gf_status status = gf_time_check(error);
    if (!status)
        status = input->reader->read(input->reader->context, data, size, got, error);
    if (status) {
        *got = 0;
        return status;
    }
    input->at_end = !*got;
    input->position += (int64_t)*got;
    gf_input_keep(input, data, *got);
    return GF_OK;
}

/* Waits for a stream's next bytes until the picture's time is up. */
static enum gf_status wait_in_time(const struct gf_input *input, struct gf_error *error)
{
    enum { LOOK_MS = 100 };
    struct pollfd ready = {.fd = input->fd, .events = POLLIN};
    if (gf_time_limit() <= 0 || input->regular || input->position < input->spooled)
        return GF_OK;
    while (!gf_time_is_up()) {
        if (poll(&ready, 1, LOOK_MS) > 0)
            return GF_OK;
    }
    return gf_time_check(error);
}

enum gf_status gf_input_fail_kept(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_READ, "%s: cannot be held back in %s: %s", input->name,
                   gf_spool_folder(), strerror(input->spool_errno));
}

enum gf_status gf_input_read_next(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error)
{
    *got = 0;
    if (input->lost)
        return gf_input_fail_kept(input, error);
    if (input->reader && !input->at_end && input->position >= input->spooled)
        return read_from_caller(input, data, size, got, error);
    while (!input->at_end) {
        GF_TRY(wait_in_time(input, error));
        const ssize_t n = read_once(input, data, size);
        if (n > 0) {
            input->position += n;
            *got = (size_t)n;
            return GF_OK;
        }
        if (!n) {
            input->at_end = true;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = {.fd = input->fd, .events = POLLIN};
            (void)poll(&ready, 1, -1); /* an error of poll() appears in the next read() */
        } else if (errno != EINTR) {
            return gf_input_fail(input, error);
        }
    }
    return GF_OK;
}

enum gf_status gf_input_read_at(struct gf_input *input, int64_t offset, void *data, size_t size,
                                size_t *got, struct gf_error *error)
{
    *got = 0;
    while (*got < size) {
        const ssize_t n = read_at(input, (char *)data + *got, size - *got, offset + (int64_t)*got);
        if (n < 0 && errno != EINTR)
            return gf_input_fail(input, error);
        if (!n)
            break;
        *got += n > 0 ? (size_t)n : 0;
    }
    return GF_OK;
}
