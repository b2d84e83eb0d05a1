/* Opens and reads the files that a chain names, and reads lines of text. */
#include "base/process/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static _Thread_local const struct gf_handed_files *handed;

void gf_named_files_hand(const struct gf_handed_files *files)
{
    handed = files;
}

bool gf_named_files_handed(void)
{
    return handed;
}

/* Copies a descriptor. The copy and the original share one position in the file. */
static int copy_of(int descriptor)
{
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0)
        (void)lseek(copy, 0, SEEK_SET);
    return copy;
}

int gf_named_file_open(const char *path, int flags)
{
    if (!handed)
        return open(path, O_RDONLY | O_CLOEXEC | flags);
    for (int i = 0; i < handed->count; i++) {
        if (!strcmp(handed->path[i], path))
            return copy_of(handed->descriptor[i]);
    }
    errno = EACCES;
    return -1;
}

enum gf_status gf_named_file_read(int fd, size_t most, enum gf_status too_large,
                                  unsigned char **bytes, size_t *size, struct gf_error *error)
{
    struct stat file;
    if (fstat(fd, &file))
        return gf_fail(error, GF_ERROR_READ, "%s", strerror(errno));
    if ((uintmax_t)file.st_size > most)
        return gf_fail(error, too_large, "it is larger than %zu MiB", most >> 20);
    unsigned char *const data = malloc((size_t)file.st_size + 1);
    GF_ALLOCATED(data, error);
    ssize_t got = 1;
    *size = 0;
    while (got && *size < (size_t)file.st_size) {
        got = pread(fd, data + *size, (size_t)file.st_size - *size, (off_t)*size);
        if (got < 0 && errno != EINTR) {
            free(data);
            return gf_fail(error, GF_ERROR_READ, "%s", strerror(errno));
        }
        if (got > 0)
            *size += (size_t)got;
    }
    data[*size] = 0;
    *bytes = data;
    return GF_OK;
}

struct gf_file_identity gf_file_identify(const struct stat *file)
{
    return (struct gf_file_identity){file->st_dev, file->st_ino, file->st_size, file->st_ctim};
}

bool gf_file_is_same(const struct gf_file_identity *a, const struct gf_file_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

enum gf_status gf_text_mark(const char *text, size_t size, enum gf_status failure, size_t *bytes,
                            struct gf_error *error)
{
    *bytes = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return gf_fail(error, failure, "it is UTF-16; only UTF-8 is read");
    return GF_OK;
}

size_t gf_line_read(FILE *file, int end, char *line)
{
    size_t length = 0;
    int byte = EOF;
    while (length < GF_LINE_MOST && byte != end && (byte = getc_unlocked(file)) != EOF)
        line[length++] = (char)byte;
    line[length] = '\0';
    return length;
}
