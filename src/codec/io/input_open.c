/* Opens an input: a path, standard input, memory, a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/io/input_state.h"
#include "codec/io/spool.h"

/* offset: where a regular file's bytes begin. */
static enum gf_status identify(struct gf_input *input, int64_t offset, struct gf_error *error)
{
    struct stat file;
    if (fstat(input->fd, &file))
        return gf_input_fail(input, error);
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
    const enum gf_status status =
        gf_input_read_next(input, input->buffer, GF_INPUT_BUFFER_BYTES, &got, error);
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
            status = gf_input_fail(opened, error);
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
