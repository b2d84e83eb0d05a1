/* Files that a chain names, opened for reading: by their path, or, where another process has opened
 * them, by what it handed over. */
#ifndef GF_BASE_NAMED_FILE_H
#define GF_BASE_NAMED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "gpufilter/status.h"

/* What another process has opened, under the names that its chain has for them. */
struct gf_handed_files {
    int count;
    const char *const *path;
    const int *descriptor; /* of regular files */
};

/* From now on the calling thread opens these files and no others; NULL: any path again. They must
 * last as long. */
void gf_named_files_hand(const struct gf_handed_files *handed);

/* A descriptor of the file, at its beginning, which the caller closes; -1 with errno. flags: for
 * open(), beside O_RDONLY and O_CLOEXEC. */
int gf_named_file_open(const char *path, int flags);

/* Reads an open file from its beginning, with a zero behind it; the caller frees *bytes.
 * GF_ERROR_READ: it cannot be read. `too_large`: it has over `most` bytes. The error does not name
 * the file. */
enum gf_status gf_named_file_read(int fd, size_t most, enum gf_status too_large,
                                  unsigned char **bytes, size_t *size,
                                  struct gf_error *error) GF_CHECKED;

/* Tells a file from others, and from itself after a change. */
struct gf_file_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct gf_file_identity gf_file_identify(const struct stat *file);
bool gf_file_is_same(const struct gf_file_identity *a, const struct gf_file_identity *b);

#endif
