/* Keeps values that were made from files, so that all chains of a batch share them. */
#pragma once

#include <pthread.h>

#include "gpufilter/status.h"

struct gf_kept_entry;

/* Files of one kind. `read` makes a value of a file, and `free` frees it. Both are called with the
 * lock held. */
struct gf_kept_files {
    int unused; /* largest number of unused values that are kept */
    /* Makes the value from an open regular file. `how` describes what else the value depends on;
     * `path` is for messages. */
    enum gf_status (*read)(int fd, const char *path, const char *how, void **value,
                           struct gf_error *error);
    void (*free)(void *value);
    pthread_mutex_t lock;
    struct gf_kept_entry *first; /* the latest entry */
};

/* Finds the value of a file. If the path is empty, `read` makes the value without a file (fd is
 * -1). A file is read once and shared; it is read again only if it has changed. The caller returns
 * the value by gf_kept_files_release(). Any thread may call this function. */
enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error) GF_CHECKED;
void gf_kept_files_release(struct gf_kept_files *files, const void *value);
