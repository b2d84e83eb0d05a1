/* Opens an input: a path, standard input, memory, a caller's function or a descriptor. A path may
 * end with the choice of a picture, such as "[3]" or "[depth]". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "codec/io/input.h"
#include "codec/io/open_files.h"
#include "codec/io/output.h"

const char *gf_picture_kind_name(enum gf_picture_kind kind)
{
    static const char *const names[] = {
#define KIND(end, name) name,
        GF_PICTURES_ALL(KIND)
#undef KIND
    };
    return names[kind];
}

/* Returns the kind of picture with that name; GF_PICTURE_KINDS if there is none. */
static enum gf_picture_kind picture_kind_named(const char *name, size_t length)
{
    enum gf_picture_kind kind = 0;
    while (kind < GF_PICTURE_KINDS && (strlen(gf_picture_kind_name(kind)) != length ||
                                       memcmp(gf_picture_kind_name(kind), name, length) != 0))
        kind++;
    return kind;
}

enum gf_picture_kind gf_page_kind(int page)
{
    return page < GF_PAGE_OF_KIND || page - GF_PAGE_OF_KIND >= GF_PICTURE_KINDS
               ? GF_PICTURE_KINDS
               : (enum gf_picture_kind)(page - GF_PAGE_OF_KIND);
}

/* Notes the identity of the input's file. `offset` is where the picture's bytes begin in a regular
 * file. */
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
    input->is_timed = true;
    input->times[0] = file.st_atim;
    input->times[1] = file.st_mtim;
    input->base = offset > 0 ? offset : 0;
    /* A file of /proc claims size 0 and still has bytes; it is read as a stream. */
    if (file.st_size > input->base)
        input->size = file.st_size - input->base;
    (void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    size_t got;
    const enum gf_status status =
        gf_input_read_next(input, input->buffer, GF_INPUT_FIRST_BYTES, &got, error);
    input->end = got;
    if (!status && !got)
        return gf_fail(error, GF_ERROR_INPUT, "%s: empty file", input->name);
    return status;
}

/* Reads a text of at most 6 digits as a number; -1 if it is none. */
static int read_number(const char *text, size_t length)
{
    enum { DIGITS_MAX = 6 };
    const bool number = length && length <= DIGITS_MAX && strspn(text, "0123456789") >= length;
    return number ? (int)strtol(text, NULL, 10) : -1;
}

static int page_of_layer(const char *name, size_t length)
{
    return GF_PAGE_OF_LAYER + (int)(gf_hash(GF_HASH_START, name, length) % GF_PAGE_OF_LAYER);
}

bool gf_page_is_layer(int page, const char *name, size_t length)
{
    return page >= GF_PAGE_OF_LAYER ? page == page_of_layer(name, length)
                                    : gf_page_kind(page) < GF_PICTURE_KINDS &&
                                          gf_page_kind(page) == picture_kind_named(name, length);
}

/* Whether a text can be a layer's name here: it begins with a letter, and has no signs but dots,
 * underscores and hyphens. */
static bool can_be_layer(const char *text, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                      others[] = "0123456789._-";
    size_t at = 0;
    while (at < length && (strchr(letters, text[at]) || (at && strchr(others, text[at]))))
        at++;
    return length && at == length;
}

/* Reads the text between the brackets of a path: "3", "2..5", the name of a kind, "all", or the
 * name of a layer. Returns false if it is none of these. */
static bool read_pages(const char *text, size_t length, struct gf_pages *pages)
{
    const enum gf_picture_kind kind = picture_kind_named(text, length);
    const char *const dots = memmem(text, length, "..", 2);
    *pages = (struct gf_pages){read_number(text, length), -1};
    if (kind < GF_PICTURE_KINDS)
        pages->first = GF_PAGE_OF_KIND + (int)kind;
    else if (!dots && can_be_layer(text, length))
        pages->first = page_of_layer(text, length);
    if (length == 3 && !memcmp(text, "all", 3))
        *pages = (struct gf_pages){0, GF_PAGES_ALL};
    if (dots)
        *pages = (struct gf_pages){read_number(text, (size_t)(dots - text)),
                                   read_number(dots + 2, length - 2 - (size_t)(dots - text))};
    return pages->first >= 0 && (!dots || pages->last >= pages->first);
}

size_t gf_input_split_pages(const char *name, struct gf_pages *pages)
{
    struct gf_pages found;
    struct stat file;
    const size_t length = strlen(name);
    const char *const open = length ? memrchr(name, '[', length) : NULL;
    if (!open || open == name || name[length - 1] != ']')
        return 0;
    if (!read_pages(open + 1, (size_t)(name + length - 1 - (open + 1)), &found) ||
        !lstat(name, &file))
        return 0;
    *pages = found;
    return (size_t)(open - name);
}

bool gf_input_stat(const char *path, struct stat *file)
{
    struct gf_pages pages;
    const size_t length = gf_input_split_pages(path, &pages);
    char *const plain = length ? strndup(path, length) : NULL;
    const bool found =
        !(strcmp(path, "-") ? stat(plain ? plain : path, file) : fstat(STDIN_FILENO, file));
    free(plain);
    return found;
}

bool gf_input_is_file(const char *input, const char *path)
{
    struct stat a, b;
    return gf_input_stat(input, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Opens a path, or "path[3]". Returns the descriptor, or -1 with errno. */
static int open_path(struct gf_input *input, const char *path)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY };
    const size_t length = gf_input_split_pages(path, &input->pages);
    char *const plain = length ? strndup(path, length) : NULL;
    int fd;
    if (length && !plain)
        return -1;
    do
        fd = open(plain ? plain : path, FLAGS);
    while (fd < 0 && errno == EINTR);
    free(plain);
    return fd;
}

/* Returns a new input that has no file or bytes yet; NULL when out of memory. */
static struct gf_input *new_input(const char *name)
{
    struct gf_input *const input = malloc(sizeof *input);
    if (!input)
        return NULL;
    memset(input, 0, offsetof(struct gf_input, buffer));
    input->fd = input->spool = -1;
    input->pages = (struct gf_pages){-1, -1};
    input->size = -1;
    input->name = strdup(name);
    if (input->name)
        return input;
    free(input);
    return NULL;
}

void gf_input_keep_all(struct gf_input *input)
{
    if (input->regular)
        return;
    input->spool = gf_spool_open();
    input->spool_errno = errno;
    gf_input_keep(input, input->buffer, input->end);
}

enum gf_status gf_input_open(const char *path, bool keep_bytes, struct gf_input **input,
                             struct gf_error *error)
{
    const bool is_stdin = !strcmp(path, "-");
    struct gf_input *const opened = new_input(is_stdin ? "stdin" : path);
    GF_ALLOCATED(opened, error);
    opened->opened = !is_stdin;
    opened->fd = is_stdin ? STDIN_FILENO : open_path(opened, path);
    const bool is_url = opened->fd < 0 && errno == ENOENT && strstr(path, "://");
    const enum gf_status status =
        is_url ? gf_fail(error, GF_ERROR_USAGE, "%s: is a URL, which --fetch=COMMAND reads%s",
                         opened->name,
                         strncmp(path, "http", 4)
                             ? ""
                             : ", or a pipe: curl -sL URL | gpufilter -i - -o out.png")
        : opened->fd < 0 ? gf_input_fail(opened, error)
                         : identify(opened, is_stdin ? lseek(opened->fd, 0, SEEK_CUR) : 0, error);
    if (status) {
        gf_input_close(opened);
        return status;
    }
    if (keep_bytes)
        gf_input_keep_all(opened);
    *input = opened;
    return GF_OK;
}

bool gf_input_path(const struct gf_input *input, char *path, size_t size)
{
    char link[40];
    struct stat named, opened;
    if (!input->regular || input->memory || input->fd < 0 || input->base || input->narrowed)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", input->fd);
    const ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = '\0';
    return length > 0 && !stat(path, &named) && !fstat(input->fd, &opened) &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

bool gf_input_times(const struct gf_input *input, struct timespec times[2])
{
    memcpy(times, input->times, sizeof input->times);
    return input->is_timed;
}

void gf_input_set_time(struct gf_input *input, struct timespec changed)
{
    input->is_timed = true;
    input->times[0].tv_nsec = UTIME_OMIT;
    input->times[1] = changed;
}

enum gf_status gf_input_open_memory(const void *data, size_t size, const char *name,
                                    struct gf_input **input, struct gf_error *error)
{
    if (!size)
        return gf_fail(error, GF_ERROR_INPUT, "%s: no bytes", name);
    struct gf_input *const opened = new_input(name);
    GF_ALLOCATED(opened, error);
    opened->regular = true;
    opened->memory = data;
    opened->size = (int64_t)size;
    *input = opened;
    return GF_OK;
}

enum gf_status gf_input_open_reader(const struct gf_reader *reader, struct gf_input **input,
                                    struct gf_error *error)
{
    struct gf_input *const opened = new_input(reader->name);
    GF_ALLOCATED(opened, error);
    opened->reader = reader;
    *input = opened;
    return GF_OK;
}

enum gf_status gf_input_open_descriptor(int descriptor, int64_t offset, struct gf_pages pages,
                                        const char *name, struct gf_input **input,
                                        struct gf_error *error)
{
    struct gf_input *const opened = new_input(name);
    if (!opened) {
        close(descriptor);
        return gf_fail_memory(error);
    }
    opened->fd = descriptor;
    opened->pages = pages;
    opened->opened = true;
    enum gf_status status = identify(opened, offset, error);
    if (!status && !opened->regular)
        status = gf_fail(error, GF_ERROR_READ, "%s: is not a regular file", name);
    GF_OPENED(status, gf_input_close, opened, input);
}
