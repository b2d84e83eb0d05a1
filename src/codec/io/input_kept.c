/* Keeps the bytes of a stream in an unnamed file, so that memory does not grow with them. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/spans.h"
#include "codec/io/input_state.h"
#include "codec/io/spool.h"

/* Whether a part of the stream arrives within that many milliseconds, and before a time of
 * gf_now(). */
static bool is_due(const struct gf_input *input, int milliseconds, double end_s)
{
    struct pollfd stream = {.fd = input->fd, .events = POLLIN};
    return milliseconds < 0 || input->reader ||
           (gf_now() < end_s && poll(&stream, 1, milliseconds) > 0);
}

/* Keeps the bytes that are not read yet: up to `most` bytes in all, and as long as each part
 * arrives within that many milliseconds, and all of them within eight times that; -1: any time. */
static enum gf_status keep_rest(struct gf_input *input, int64_t most, int milliseconds,
                                struct gf_error *error)
{
    const int64_t position = input->position;
    const bool kept = input->spool >= 0;
    const double end_s = gf_now() + 8e-3 * milliseconds;
    unsigned char *const rest = malloc(GF_INPUT_BUFFER_BYTES);
    enum gf_status status = rest ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    size_t got;
    input->position = input->spooled; /* bytes in the spool file are not read again */
    while (!status && !input->at_end && input->spool >= 0 && input->spooled < most &&
           is_due(input, milliseconds, end_s))
        status = gf_input_read_next(input, rest, GF_INPUT_BUFFER_BYTES, &got, error);
    input->position = position;
    input->lost |= kept && input->spool < 0;
    free(rest);
    return status;
}

bool gf_input_ends_within(struct gf_input *input, int64_t most, int milliseconds)
{
    if (input->spool < 0)
        return false;
    const bool ends = !keep_rest(input, most, milliseconds, NULL) && input->at_end;
    input->at_end = false;
    return ends;
}

enum gf_status gf_input_become_regular(struct gf_input *input, uint64_t most,
                                       struct gf_error *error)
{
    const int64_t limit = most < INT64_MAX ? (int64_t)most : INT64_MAX;
    GF_TRY(keep_rest(input, limit, -1, error));
    if (input->spool >= 0 && !input->at_end)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: must be in memory as a whole, and is over the %llu MiB of "
                       "options.memory_bytes",
                       input->name, (unsigned long long)(most >> 20));
    if (input->spool < 0)
        return gf_input_fail_kept(input, error);
    if (input->opened)
        close(input->fd);
    input->reader = NULL;
    input->fd = input->spool;
    input->base = input->spool_base;
    input->size = input->spooled;
    input->spool = -1;
    input->spooled = input->spool_base = 0;
    input->opened = input->regular = true;
    input->at_end = false;
    return GF_OK;
}

void gf_input_keep_from_here(struct gf_input *input, int64_t taken, size_t left)
{
    if (input->position < input->spooled) { /* the spool file is being read at the moment */
        input->spool_base += taken;
        input->spooled -= taken;
        return;
    }
    input->spool_base = input->spooled = 0;
    if (ftruncate(input->spool, 0) || lseek(input->spool, 0, SEEK_SET))
        input->spool_errno = errno;
    gf_input_keep(input, input->buffer, left);
}
