/* Files that this program has not written: opens and reads those that a chain names, and reads
 * lines of text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "gpufilter/status.h"

/* Files that a chain names, opened for this process by another one, which hands their descriptors
 * over: path[i] is the name in the chain, descriptor[i] the open file. */
struct gf_handed_files {
    int count;
    const char *const *path;
    const int *descriptor; /* descriptor[i] is that of path[i], a regular file */
};

/* From now on the calling thread opens these files alone, by copying their descriptors; NULL: it
 * opens files by path again. *handed must live until then. */
void gf_named_files_hand(const struct gf_handed_files *handed);

/* Whether the calling thread opens handed files only. */
bool gf_named_files_handed(void);

/* Returns a descriptor of the file, at its beginning, which the caller closes; -1 with errno after
 * a failure. `flags` are passed to open() in addition to O_RDONLY and O_CLOEXEC. */
int gf_named_file_open(const char *path, int flags);

/* Reads an open file from its beginning and appends a zero byte; the caller frees *bytes. Returns
 * GF_ERROR_READ if the file cannot be read, or the status too_large if the file has more than
 * `most` bytes. The error does not name the file. */
enum gf_status gf_named_file_read(int fd, size_t most, enum gf_status too_large,
                                  unsigned char **bytes, size_t *size,
                                  struct gf_error *error) GF_CHECKED;

/* Identifies the contents of a file: different files, and a file before and after a change, have
 * different identities. */
struct gf_file_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct gf_file_identity gf_file_identify(const struct stat *file);
bool gf_file_is_same(const struct gf_file_identity *a, const struct gf_file_identity *b);

enum { GF_LINE_MOST = 1 << 20 };

/* Sets *bytes to the length of the byte order mark at the beginning of a text: 3 or 0. For text in
 * UTF-16 it returns `failure`, with an error that does not name the file. */
enum gf_status gf_text_mark(const char *text, size_t size, enum gf_status failure, size_t *bytes,
                            struct gf_error *error) GF_CHECKED;

/* Reads up to and including the byte `end`, or to the end of the file, and appends a zero. `line`
 * has GF_LINE_MOST + 1 bytes. Returns the number of bytes read: 0 at the end of the file or after
 * an error; GF_LINE_MOST if the line is too long. */
size_t gf_line_read(FILE *file, int end, char *line);
