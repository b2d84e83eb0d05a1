/* What was read from files is kept, so that all chains of a batch share it. */
#ifndef GF_PIXEL_FILES_KEPT_FILES_H
#define GF_PIXEL_FILES_KEPT_FILES_H

#include <pthread.h>

#include "gpufilter/status.h"

struct gf_kept_entry;

/* Files of one kind. What `read` makes of one, `free` gives back. Both are called with the lock
 * held. */
struct gf_kept_files {
    int unused; /* how many values without users are kept, the latest */
    /* An open regular file; `how`: what else the value depends on. path is for messages. */
    enum gf_status (*read)(int fd, const char *path, const char *how, void **value,
                           struct gf_error *error);
    void (*free)(void *value);
    pthread_mutex_t lock;
    struct gf_kept_entry *first; /* the latest */
};

/* The value of a file, or where the path is empty what `read` makes without a file (fd is -1). A
 * file is read once, however many ask for it, unless it has changed. To be given back by
 * gf_kept_files_release(). May be called from several threads. */
enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error) GF_CHECKED;
void gf_kept_files_release(struct gf_kept_files *files, const void *value);

#endif
