/* Reads an input: at offsets, through a buffer, as a stream whose bytes are kept, and as a
 * descriptor lent to another process. */
#include "codec/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/io/open_files.h"
#include "codec/io/output.h"

static void warn_once(void *context, const char *text)
{
    struct gf_said *const said = context;
    const uint64_t line = gf_hash(GF_HASH_START, text, strlen(text));
    bool again = false;
    pthread_mutex_lock(&said->lock);
    for (unsigned i = 0; i < said->count && i < GF_SAID_MOST; i++)
        again |= said->line[i] == line;
    again |= said->count > GF_SAID_MOST;
    if (!again && said->count < GF_SAID_MOST)
        said->line[said->count] = line;
    said->count += !again;
    const bool last = said->count > GF_SAID_MOST;
    pthread_mutex_unlock(&said->lock);
    if (again)
        return;
    char more[300];
    snprintf(more, sizeof more, "%.250s: further warnings are left out", said->name);
    said->warn(said->context, last ? more : text);
}

const struct gf_options *gf_said_begin(struct gf_said *said, const char *name,
                                       const struct gf_options *options)
{
    *said = (struct gf_said){.options = *options,
                             .name = name,
                             .warn = options->warn,
                             .context = options->warn_context,
                             .lock = PTHREAD_MUTEX_INITIALIZER};
    if (options->warn) {
        said->options.warn = warn_once;
        said->options.warn_context = said;
    }
    return &said->options;
}

/* ---- reading bytes: a regular file or the caller's memory at offsets (pread), anything else as a
 * stream. A stream's bytes that must be kept go to an unnamed file, so that memory does not grow
 * with the stream ---- */

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

void gf_input_set_coefficients(struct gf_input *input, bool wanted)
{
    input->coefficients = wanted;
}

bool gf_input_coefficients(const struct gf_input *input)
{
    return input->coefficients;
}

void gf_input_set_windowed(struct gf_input *input)
{
    input->windowed = true;
}

bool gf_input_windowed(const struct gf_input *input)
{
    return input->windowed;
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
    /* The stream can still be read on; only gf_input_rewind() fails from now on. */
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
                                  : gf_crew_read(&input->crew, input->fd, data, got,
                                                 input->base + at, input->threads);
    memcpy(data, input->memory + input->base + at, got);
    return (ssize_t)got;
}

/* Reads the input's next bytes with one call, as read() does: 0 at the end, -1 with errno for an
 * error. */
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

/* Gets the next bytes from the caller's function (struct gf_reader). */
static enum gf_status read_from_caller(struct gf_input *input, void *data, size_t size, size_t *got,
                                       struct gf_error *error)
{
    enum gf_status status = gf_time_check(error);
    GF_THEN(status, input->reader->read(input->reader->context, data, size, got, error));
    if (status) {
        *got = 0;
        return status;
    }
    input->at_end = !*got;
    input->position += (int64_t)*got;
    gf_input_keep(input, data, *got);
    return GF_OK;
}

/* Waits until a stream has bytes to read. Fails if the picture's time limit passes before. */
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

/* Fails because a stream's bytes could not be kept. */
static enum gf_status input_fail_kept(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_READ, "%s: cannot be held back in %s: %s", input->name,
                   gf_spool_folder(), strerror(input->spool_errno));
}

enum gf_status gf_input_read_next(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error)
{
    *got = 0;
    if (input->lost)
        return input_fail_kept(input, error);
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

/* ---- keeping the bytes of a stream in an unnamed file, the spool file ---- */

/* Whether the stream has bytes within that many milliseconds (negative: counts as true) and before
 * the time end_s of gf_now(), in seconds. */
static bool is_due(const struct gf_input *input, int milliseconds, double end_s)
{
    struct pollfd stream = {.fd = input->fd, .events = POLLIN};
    return milliseconds < 0 || input->reader ||
           (gf_now() < end_s && poll(&stream, 1, milliseconds) > 0);
}

/* Reads on and keeps the bytes, up to `most` bytes in all. Stops when nothing arrives for that many
 * milliseconds, or after eight times that in all; -1: waits for the stream's end. */
static enum gf_status keep_rest(struct gf_input *input, int64_t most, int milliseconds,
                                struct gf_error *error)
{
    const int64_t position = input->position;
    const bool kept = input->spool >= 0;
    const double end_s = gf_now() + 8e-3 * milliseconds;
    unsigned char *const rest = malloc(GF_INPUT_BUFFER_BYTES);
    enum gf_status status = rest ? GF_OK : gf_fail_memory(error);
    size_t got;
    /* Continues behind the bytes that the spool file already has. */
    input->position = input->spooled;
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

/* Reads the rest of a kept stream, up to about `most` bytes; from then on the input reads its spool
 * file as a regular file. */
static GF_CHECKED enum gf_status input_become_regular(struct gf_input *input, uint64_t most,
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
        return input_fail_kept(input, error);
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

/* Makes the spool file begin at the input's position: `taken` bytes of the stream lie before it,
 * and the last `left` bytes of the buffer are still unread. */
static void input_keep_from_here(struct gf_input *input, int64_t taken, size_t left)
{
    if (input->position < input->spooled) { /* after a rewind the bytes come from the spool file */
        input->spool_base += taken;
        input->spooled -= taken;
        return;
    }
    input->spool_base = input->spooled = 0;
    if (ftruncate(input->spool, 0) || lseek(input->spool, 0, SEEK_SET))
        input->spool_errno = errno;
    gf_input_keep(input, input->buffer, left);
}

/* ---- reading through a buffer, and moving back in the input ---- */

/* Copies the caller's bytes into an unnamed file in memory (memfd), for another process to read. */
static enum gf_status put_in_file(struct gf_input *input, struct gf_error *error)
{
    input->fd = memfd_create("input", MFD_CLOEXEC);
    input->opened = input->fd >= 0;
    const int64_t end = input->base + input->size;
    for (int64_t done = input->base; input->opened && done < end;) {
        const ssize_t n = pwrite(input->fd, input->memory + done, (size_t)(end - done), done);
        if (n <= 0 && errno != EINTR)
            return gf_fail(error, GF_ERROR_READ, "%s: a copy: %s", input->name, strerror(errno));
        done += n > 0 ? n : 0;
    }
    return GF_OK;
}

enum gf_status gf_input_descriptor(struct gf_input *input, int *descriptor, int64_t *offset,
                                   struct gf_error *error)
{
    *descriptor = -1;
    if (!input->regular && input->spool >= 0)
        GF_TRY(input_become_regular(input, UINT64_MAX, error));
    if (input->memory && input->fd < 0)
        GF_TRY(put_in_file(input, error));
    if (input->regular && input->size >= 0) {
        *descriptor = input->fd;
        *offset = input->base;
    }
    return GF_OK;
}

void gf_input_go_to(struct gf_input *input, int64_t position)
{
    input->position = position;
    input->first = input->end = 0;
    input->at_end = input->given_back = false;
}

void gf_input_narrow(struct gf_input *input, int64_t position, int64_t size)
{
    gf_input_go_to(input, position);
    gf_input_start_here(input);
    input->size = size;
    input->narrowed = true;
    input->pages = (struct gf_pages){-1, -1};
}

void gf_input_close(struct gf_input *input)
{
    if (!input)
        return;
    if (input->opened && input->fd >= 0)
        close(input->fd);
    if (input->spool >= 0)
        close(input->spool);
    gf_crew_free(input->crew);
    free(input->name);
    free(input);
}

struct gf_said *gf_input_said(struct gf_input *input)
{
    return &input->said;
}

const char *gf_input_name(const struct gf_input *input)
{
    return input->name;
}

void gf_input_choose_pages(struct gf_input *input, struct gf_pages pages)
{
    input->pages = pages;
}

struct gf_pages gf_input_pages(const struct gf_input *input)
{
    return input->pages;
}

int gf_input_page(const struct gf_input *input)
{
    return input->pages.first;
}

bool gf_input_is_part(const struct gf_input *input)
{
    return input->narrowed;
}

int64_t gf_input_size(const struct gf_input *input)
{
    return input->size;
}

void gf_input_set_threads(struct gf_input *input, int threads)
{
    input->threads = threads;
}

enum gf_status gf_input_read(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error)
{
    unsigned char *to = data;
    enum gf_status status = GF_OK;
    *got = 0;
    while (!status && *got < size) {
        size_t n = input->end - input->first;
        if (n) {
            n = n < size - *got ? n : size - *got;
            memcpy(to + *got, input->buffer + input->first, n);
            input->first += n;
        } else if (size - *got >= GF_INPUT_BUFFER_BYTES) {
            status = gf_input_read_next(input, to + *got, size - *got, &n, error);
        } else {
            status =
                gf_input_read_next(input, input->buffer, GF_INPUT_BUFFER_BYTES, &input->end, error);
            input->first = 0;
            if (input->end)
                continue;
        }
        if (!n)
            break;
        *got += n;
    }
    return status;
}

enum gf_status gf_input_read_some(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error)
{
    if (input->first == input->end) {
        const enum gf_status status =
            gf_input_read_next(input, input->buffer, GF_INPUT_BUFFER_BYTES, &input->end, error);
        input->first = 0;
        if (status)
            return status;
    }
    *got = input->end - input->first < size ? input->end - input->first : size;
    memcpy(data, input->buffer + input->first, *got);
    input->first += *got;
    return GF_OK;
}

bool gf_input_wait(const struct gf_input *input, int milliseconds)
{
    struct pollfd stream = {.fd = input->fd, .events = POLLIN};
    return input->regular || input->reader || input->first != input->end ||
           poll(&stream, 1, milliseconds) > 0;
}

enum gf_status gf_input_peek(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error)
{
    enum gf_status status = GF_OK;
    size_t n = 1;
    if (input->end - input->first < size) {
        memmove(input->buffer, input->buffer + input->first, input->end - input->first);
        input->end -= input->first;
        input->first = 0;
    }
    while (!status && n && input->end - input->first < size && input->end < GF_INPUT_BUFFER_BYTES) {
        status = gf_input_read_next(input, input->buffer + input->end,
                                    GF_INPUT_BUFFER_BYTES - input->end, &n, error);
        input->end += n;
    }
    *got = input->end - input->first < size ? input->end - input->first : size;
    memcpy(data, input->buffer + input->first, *got);
    return status;
}

enum gf_status gf_input_rewind(struct gf_input *input, struct gf_error *error)
{
    const bool all_buffered = !input->given_back && input->position == (int64_t)input->end;
    if (all_buffered) {
        input->first = 0;
        return GF_OK;
    }
    if (!input->regular && input->spool < 0)
        return gf_fail(error, GF_ERROR_READ, "%s: cannot be read a second time: %s", input->name,
                       input->spool_errno ? strerror(input->spool_errno) : "it was not kept");
    gf_input_go_to(input, 0);
    return GF_OK;
}

enum gf_status gf_input_give_back(struct gf_input *input, const void *data, size_t size,
                                  struct gf_error *error)
{
    const size_t left = input->end - input->first;
    if (size <= input->first) {
        input->first -= size;
        return GF_OK;
    }
    if (left + size > sizeof input->buffer)
        return gf_fail(error, GF_ERROR_READ, "%s: too much was read ahead", input->name);
    memmove(input->buffer + size, input->buffer + input->first, left);
    memcpy(input->buffer, data, size);
    input->first = 0;
    input->end = size + left;
    input->given_back = true;
    return GF_OK;
}

void gf_input_start_here(struct gf_input *input)
{
    const size_t left = input->end - input->first;
    const int64_t taken = input->position - (int64_t)left;
    memmove(input->buffer, input->buffer + input->first, left);
    if (input->regular) {
        input->base += taken;
        input->size -= input->size < 0 ? 0 : taken;
    } else if (input->spool >= 0) {
        input_keep_from_here(input, taken, left);
    }
    input->position = (int64_t)left;
    input->first = 0;
    input->end = left;
    input->given_back = false;
}

bool gf_input_is_stream(const struct gf_input *input)
{
    return !input->regular;
}

int64_t gf_input_position(const struct gf_input *input)
{
    return input->position - (int64_t)(input->end - input->first);
}

static enum gf_status fail_shorter(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_READ, "%s: became shorter while it was read", input->name);
}

enum gf_status gf_input_check_size(const struct gf_input *input, struct gf_error *error)
{
    struct stat file;
    return input->regular && !input->memory && !fstat(input->fd, &file) &&
                   file.st_size < input->base + input->size
               ? fail_shorter(input, error)
               : GF_OK;
}

enum gf_status gf_input_read_part(struct gf_input *input, int64_t offset, struct gf_input_part part,
                                  unsigned char *to, struct gf_error *error)
{
    const bool whole = 2 * part.bytes >= part.row;
    const size_t step = part.row, size = whole ? step * (size_t)part.rows : part.bytes;
    size_t at = step * (size_t)part.y + (whole ? 0 : part.first), got;
    for (int i = 0; i < (whole ? 1 : part.rows); i++, at += step) {
        GF_TRY(gf_time_check(error));
        GF_TRY(gf_input_read_at(input, offset + (int64_t)at, to + at, size, &got, error));
        if (got < size)
            return fail_shorter(input, error);
    }
    return GF_OK;
}

enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error)
{
    size_t got;
    const size_t size = (size_t)input->size;
    /* The buffer may still hold the beginning of the file, which is then not read again. If the
     * file has grown since it was opened, there may be more than its size. */
    const bool is_there = !input->given_back && input->position == (int64_t)input->end;
    const size_t held = !is_there ? 0 : input->end < size ? input->end : size;
    memcpy(data, input->buffer, held);
    GF_TRY(gf_input_read_at(input, (int64_t)held, (char *)data + held, size - held, &got, error));
    return (int64_t)(held + got) < input->size ? fail_shorter(input, error) : GF_OK;
}

/* ---- lending an input's bytes to another process, as a descriptor that can only be read ---- */

/* Returns a new descriptor of the same file that can only be read; -1 with errno on failure. */
static int read_only(int fd)
{
    char path[40];
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return fcntl(fd, F_DUPFD_CLOEXEC, 3);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a stream to its end, at most `most` bytes, and keeps all its bytes in a file in memory. */
static enum gf_status hold(struct gf_input *input, uint64_t most, struct gf_error *error)
{
    if (input->regular && lseek(input->fd, input->base + input->position, SEEK_SET) < 0)
        return gf_input_fail(input, error);
    /* So that a file of /proc, whose size is unknown, is read as a stream. */
    input->regular = false;
    if (input->spool < 0 && !input->spool_errno &&
        input->position == (int64_t)input->end) { /* the buffer still has all bytes read so far */
        input->spool = memfd_create("input", MFD_CLOEXEC);
        input->spool_errno = input->spool < 0 ? errno : 0;
        gf_input_keep(input, input->buffer, input->end);
    }
    return input_become_regular(input, most, error);
}

enum gf_status gf_input_lend(struct gf_input *input, uint64_t most, struct gf_input_loan *loan,
                             struct gf_error *error)
{
    int fd = -1;
    *loan = (struct gf_input_loan){.descriptor = -1};
    if (!input->regular || input->size < 0)
        GF_TRY(hold(input, most, error));
    GF_TRY(gf_input_descriptor(input, &fd, &loan->offset, error));
    loan->descriptor = fd < 0 ? -1 : read_only(fd);
    loan->size = input->size;
    loan->copied = input->memory ? (uint64_t)input->size : 0;
    return loan->descriptor < 0 ? gf_input_fail(input, error) : GF_OK;
}
