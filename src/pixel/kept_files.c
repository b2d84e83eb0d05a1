#include "pixel/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

struct gf_kept_entry {
    void *value;
    struct gf_kept_entry *next;
    int users;
    char *how;
    bool is_file;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

static bool is_of(const struct gf_kept_entry *entry, const struct stat *file, const char *how)
{
    if (strcmp(entry->how, how))
        return false;
    if (!file)
        return !entry->is_file;
    return entry->is_file && entry->device == file->st_dev && entry->inode == file->st_ino &&
           entry->size == file->st_size && entry->changed.tv_sec == file->st_mtim.tv_sec &&
           entry->changed.tv_nsec == file->st_mtim.tv_nsec;
}

/* Frees what has no users, but for the latest. */
static void forget(struct gf_kept_files *files)
{
    int kept = 0;
    for (struct gf_kept_entry **at = &files->first; *at;) {
        struct gf_kept_entry *const entry = *at;
        if (entry->users || kept++ < files->unused) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        files->free(entry->value);
        free(entry->how);
        free(entry);
    }
}

/* file: NULL where there is none. */
static enum gf_status add(struct gf_kept_files *files, int fd, const char *path,
                          const struct stat *file, const char *how, struct gf_error *error)
{
    struct gf_kept_entry *const entry = calloc(1, sizeof *entry);
    enum gf_status status = entry && (entry->how = strdup(how)) ? GF_OK : gf_fail_memory(error);
    if (!status)
        status = files->read(fd, path, how, &entry->value, error);
    if (status) {
        if (entry)
            free(entry->how);
        free(entry);
        return status;
    }
    if (file) {
        entry->is_file = true;
        entry->device = file->st_dev;
        entry->inode = file->st_ino;
        entry->size = file->st_size;
        entry->changed = file->st_mtim;
    }
    entry->next = files->first;
    files->first = entry;
    return GF_OK;
}

static enum gf_status find(struct gf_kept_files *files, int fd, const char *path,
                           const struct stat *file, const char *how, const void **value,
                           struct gf_error *error)
{
    struct gf_kept_entry *entry = files->first;
    while (entry && !is_of(entry, file, how))
        entry = entry->next;
    const enum gf_status status = entry ? GF_OK : add(files, fd, path, file, how, error);
    if (status)
        return status;
    entry = entry ? entry : files->first;
    entry->users++;
    *value = entry->value;
    forget(files);
    return GF_OK;
}

enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error)
{
    struct stat file;
    int fd = -1;
    /* O_NONBLOCK: a pipe without a writer would wait. */
    if (*path && ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0 || fstat(fd, &file))) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: %s", path, strerror(reason));
    }
    enum gf_status status;
    if (*path && !S_ISREG(file.st_mode)) {
        status = gf_fail(error, GF_ERROR_USAGE, "%.200s: it is not a regular file", path);
    } else {
        pthread_mutex_lock(&files->lock);
        status = find(files, fd, path, *path ? &file : NULL, how, value, error);
        pthread_mutex_unlock(&files->lock);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

void gf_kept_files_release(struct gf_kept_files *files, const void *value)
{
    pthread_mutex_lock(&files->lock);
    for (struct gf_kept_entry *entry = files->first; value && entry; entry = entry->next)
        entry->users -= entry->value == value;
    forget(files);
    pthread_mutex_unlock(&files->lock);
}
