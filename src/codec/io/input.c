/* A regular file is read by pread and memory of the caller's likewise, anything else as a stream.
 * Where the bytes of a stream are to be kept they go to an unnamed file, so that memory does not
 * grow with them. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/io/input.h"
#include "codec/io/spool.h"
#include "codec/io/transfer.h"

enum { BUFFER_BYTES = 256 << 10, GIVEN_BACK_MOST = 64 << 10 };

struct gf_input {
    char *name;
    int fd;
    int page;
    int threads;                 /* that may read side by side; 0 is one */
    const unsigned char *memory; /* NULL: the bytes are those of fd */
    bool regular, opened;        /* regular: a file or memory; opened: fd is not standard input */
    bool at_end;
    int64_t base; /* where a regular file's bytes begin: standard input may have been read from */
    int64_t size; /* of a regular file, else -1 */
    int64_t position;   /* of the next byte that is not in the buffer yet */
    int spool;          /* an unnamed file of the stream's bytes so far; -1: none are kept */
    int64_t spool_base; /* where the stream's bytes begin in that file */
    int64_t spooled;
    int spool_errno;   /* why the bytes are no longer kept */
    bool given_back;   /* the buffer begins with bytes of gf_input_give_back */
    size_t first, end; /* the part of the buffer that is still to be read */
    unsigned char buffer[BUFFER_BYTES + GIVEN_BACK_MOST];
};

static enum gf_status fail_errno(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: %s", input->name, strerror(errno));
}

static void spool_append(struct gf_input *input, const void *data, size_t size)
{
    if (input->spool < 0)
        return;
    if (gf_write_fully(input->spool, data, size)) {
        input->spooled += (int64_t)size;
        return;
    }
    /* The input is read on; only gf_input_rewind fails from now on. */
    input->spool_errno = errno;
    input->spooled = 0;
    close(input->spool);
    input->spool = -1;
}

/* Reads bytes of a regular input from `at` on, as pread does. */
static ssize_t read_at(const struct gf_input *input, void *data, size_t size, int64_t at)
{
    if (!input->memory)
        return input->threads < 2
                   ? pread(input->fd, data, size, input->base + at)
                   : gf_transfer_read(input->fd, data, size, input->base + at, input->threads);
    const int64_t left = at < input->size ? input->size - at : 0;
    const size_t got = left < (int64_t)size ? (size_t)left : size;
    memcpy(data, input->memory + input->base + at, got);
    return (ssize_t)got;
}

/* Reads once: 0 at the end, -1 for an error. */
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
        spool_append(input, data, (size_t)got);
    return got;
}

static enum gf_status read_retrying(struct gf_input *input, void *data, size_t size, size_t *got,
                                    struct gf_error *error)
{
    *got = 0;
    while (!input->at_end) {
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
            (void)poll(&ready, 1, -1); /* the next read() reports errors */
        } else if (errno != EINTR) {
            return fail_errno(input, error);
        }
    }
    return GF_OK;
}

/* offset: where a regular file's bytes begin. */
static enum gf_status identify(struct gf_input *input, int64_t offset, struct gf_error *error)
{
    struct stat file;
    if (fstat(input->fd, &file))
        return fail_errno(input, error);
    if (S_ISDIR(file.st_mode))
        return gf_fail(error, GF_ERROR_INPUT, "%s: is a directory", input->name);
    input->regular = S_ISREG(file.st_mode);
    if (!input->regular)
        return GF_OK;
    input->base = offset > 0 ? offset : 0;
    /* A file of /proc has bytes but a size of 0. */
    if (file.st_size > input->base)
        input->size = file.st_size - input->base;
    (void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    size_t got;
    const enum gf_status status = read_retrying(input, input->buffer, BUFFER_BYTES, &got, error);
    input->end = got;
    if (!status && !got)
        return gf_fail(error, GF_ERROR_INPUT, "%s: empty file", input->name);
    return status;
}

size_t gf_input_split_page(const char *name, int *page)
{
    enum { DIGITS_MAX = 6 };
    struct stat file;
    const size_t length = strlen(name);
    size_t digits = 0;
    if (length < 4 || name[length - 1] != ']')
        return 0;
    while (digits < length - 2 && name[length - 2 - digits] >= '0' &&
           name[length - 2 - digits] <= '9')
        digits++;
    const size_t open = length - 2 - digits;
    if (!digits || digits > DIGITS_MAX || !open || name[open] != '[' || !lstat(name, &file))
        return 0;
    *page = (int)strtol(name + open + 1, NULL, 10);
    return open;
}

/* Opens a path, or "path[3]". -1 with errno. */
static int open_path(struct gf_input *input, const char *path)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY };
    const size_t length = gf_input_split_page(path, &input->page);
    char *const plain = length ? strndup(path, length) : NULL;
    int fd;
    do
        fd = open(plain ? plain : path, FLAGS);
    while (fd < 0 && errno == EINTR);
    free(plain);
    return fd;
}

enum gf_status gf_input_open(const char *path, bool keep_bytes, struct gf_input **input,
                             struct gf_error *error)
{
    struct gf_input *const opened = malloc(sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(opened, 0, offsetof(struct gf_input, buffer));
    opened->opened = strcmp(path, "-") != 0;
    opened->size = -1;
    opened->spool = -1;
    opened->fd = STDIN_FILENO;
    opened->page = -1;
    opened->name = strdup(opened->opened ? path : "stdin");
    enum gf_status status = GF_OK;
    if (!opened->name) {
        opened->opened = false;
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    } else if (opened->opened) {
        opened->fd = open_path(opened, path);
        if (opened->fd < 0)
            status = fail_errno(opened, error);
    }
    if (!status)
        status = identify(opened, opened->opened ? 0 : lseek(opened->fd, 0, SEEK_CUR), error);
    if (status) {
        gf_input_close(opened);
        return status;
    }
    if (keep_bytes && !opened->regular) {
        opened->spool = gf_spool_open();
        opened->spool_errno = errno;
    }
    *input = opened;
    return GF_OK;
}

enum gf_status gf_input_open_memory(const void *data, size_t size, const char *name,
                                    struct gf_input **input, struct gf_error *error)
{
    if (!size)
        return gf_fail(error, GF_ERROR_INPUT, "%s: no bytes", name);
    struct gf_input *const opened = malloc(sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(opened, 0, offsetof(struct gf_input, buffer));
    opened->fd = opened->spool = opened->page = -1;
    opened->regular = true;
    opened->memory = data;
    opened->size = (int64_t)size;
    opened->name = strdup(name);
    if (!opened->name) {
        gf_input_close(opened);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    *input = opened;
    return GF_OK;
}

enum gf_status gf_input_open_descriptor(int descriptor, int64_t offset, int page, const char *name,
                                        struct gf_input **input, struct gf_error *error)
{
    struct gf_input *const opened = malloc(sizeof *opened);
    if (!opened) {
        close(descriptor);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    memset(opened, 0, offsetof(struct gf_input, buffer));
    opened->fd = descriptor;
    opened->page = page;
    opened->opened = true;
    opened->size = opened->spool = -1;
    opened->name = strdup(name);
    enum gf_status status = GF_OK;
    if (!opened->name)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status)
        status = identify(opened, offset, error);
    if (!status && !opened->regular)
        status = gf_fail(error, GF_ERROR_INPUT, "%s: is not a regular file", name);
    if (status)
        gf_input_close(opened);
    else
        *input = opened;
    return status;
}

/* Reads the rest of a kept stream, whose bytes then are those of its unnamed file. */
static enum gf_status become_regular(struct gf_input *input, struct gf_error *error)
{
    const int64_t position = input->position;
    unsigned char *const rest = malloc(BUFFER_BYTES);
    enum gf_status status = rest ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    size_t got;
    input->position = input->spooled; /* what was kept before need not be read again */
    while (!status && !input->at_end && input->spool >= 0)
        status = read_retrying(input, rest, BUFFER_BYTES, &got, error);
    input->position = position;
    free(rest);
    if (!status && input->spool < 0)
        status = gf_fail(error, GF_ERROR_INPUT, "%s: cannot be held back in %s: %s", input->name,
                         gf_spool_folder(), strerror(input->spool_errno));
    if (status)
        return status;
    if (input->opened)
        close(input->fd);
    input->fd = input->spool;
    input->base = input->spool_base;
    input->size = input->spooled;
    input->spool = -1;
    input->spooled = input->spool_base = 0;
    input->opened = input->regular = true;
    input->at_end = false;
    return GF_OK;
}

enum gf_status gf_input_descriptor(struct gf_input *input, int *descriptor, int64_t *offset,
                                   struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *descriptor = -1;
    if (!input->regular && input->spool >= 0)
        status = become_regular(input, error);
    if (!status && input->regular && !input->memory && input->size >= 0) {
        *descriptor = input->fd;
        *offset = input->base;
    }
    return status;
}

void gf_input_go_to(struct gf_input *input, int64_t position)
{
    input->position = position;
    input->first = input->end = 0;
    input->at_end = input->given_back = false;
}

void gf_input_close(struct gf_input *input)
{
    if (!input)
        return;
    if (input->opened && input->fd >= 0)
        close(input->fd);
    if (input->spool >= 0)
        close(input->spool);
    free(input->name);
    free(input);
}

const char *gf_input_name(const struct gf_input *input)
{
    return input->name;
}

int gf_input_page(const struct gf_input *input)
{
    return input->page;
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
        } else if (size - *got >= BUFFER_BYTES) {
            status = read_retrying(input, to + *got, size - *got, &n, error);
        } else {
            status = read_retrying(input, input->buffer, BUFFER_BYTES, &input->end, error);
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
            read_retrying(input, input->buffer, BUFFER_BYTES, &input->end, error);
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
    return input->regular || input->first != input->end || poll(&stream, 1, milliseconds) > 0;
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
    while (!status && n && input->end - input->first < size && input->end < BUFFER_BYTES) {
        status =
            read_retrying(input, input->buffer + input->end, BUFFER_BYTES - input->end, &n, error);
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
        return gf_fail(error, GF_ERROR_INPUT, "%s: cannot be read a second time: %s", input->name,
                       input->spool_errno ? strerror(input->spool_errno) : "it was not kept");
    input->position = 0;
    input->first = input->end = 0;
    input->at_end = input->given_back = false;
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
        return gf_fail(error, GF_ERROR_INPUT, "%s: too much was read ahead", input->name);
    memmove(input->buffer + size, input->buffer + input->first, left);
    memcpy(input->buffer, data, size);
    input->first = 0;
    input->end = size + left;
    input->given_back = true;
    return GF_OK;
}

/* Lets the spool begin with the bytes that are still to be read. */
static void restart_spool(struct gf_input *input, int64_t taken, size_t left)
{
    if (input->position < input->spooled) { /* the spool itself is being read */
        input->spool_base += taken;
        input->spooled -= taken;
        return;
    }
    input->spool_base = input->spooled = 0;
    if (ftruncate(input->spool, 0) || lseek(input->spool, 0, SEEK_SET))
        input->spool_errno = errno;
    spool_append(input, input->buffer, left);
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
        restart_spool(input, taken, left);
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

enum gf_status gf_input_read_at(struct gf_input *input, int64_t offset, void *data, size_t size,
                                size_t *got, struct gf_error *error)
{
    *got = 0;
    while (*got < size) {
        const ssize_t n = read_at(input, (char *)data + *got, size - *got, offset + (int64_t)*got);
        if (n < 0 && errno != EINTR)
            return fail_errno(input, error);
        if (!n)
            break;
        *got += n > 0 ? (size_t)n : 0;
    }
    return GF_OK;
}

enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error)
{
    size_t got;
    /* The buffer may still hold how the file begins. */
    const size_t held =
        !input->given_back && input->position == (int64_t)input->end ? input->end : 0;
    memcpy(data, input->buffer, held);
    const enum gf_status status = gf_input_read_at(input, (int64_t)held, (char *)data + held,
                                                   (size_t)input->size - held, &got, error);
    if (!status && (int64_t)(held + got) < input->size)
        return gf_fail(error, GF_ERROR_INPUT, "%s: became shorter while it was read", input->name);
    return status;
}
