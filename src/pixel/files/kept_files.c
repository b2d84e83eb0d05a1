#include "pixel/files/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/named_file.h"

struct gf_kept_entry {
    void *value;
    struct gf_kept_entry *next;
    int users;
    char *how;
    bool is_file;
    struct gf_file_identity identity;
};

/* Whether the entry holds the value of the file. `file` is NULL for a value that was made without a
 * file. */
static bool is_of(const struct gf_kept_entry *entry, const struct gf_file_identity *file,
                  const char *how)
{
    return !strcmp(entry->how, how) && entry->is_file == (file != NULL) &&
           (!file || gf_file_is_same(&entry->identity, file));
}

/* Frees entries without users, except the latest ones. */
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

static enum gf_status add(struct gf_kept_files *files, int fd, const char *path,
                          const struct gf_file_identity *file, const char *how,
                          struct gf_error *error)
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
    entry->is_file = file != NULL;
    if (file)
        entry->identity = *file;
    entry->next = files->first;
    files->first = entry;
    return GF_OK;
}

static enum gf_status find(struct gf_kept_files *files, int fd, const char *path,
                           const struct gf_file_identity *file, const char *how, const void **value,
                           struct gf_error *error)
{
    struct gf_kept_entry *entry = files->first;
    while (entry && !is_of(entry, file, how))
        entry = entry->next;
    if (!entry)
        GF_TRY(add(files, fd, path, file, how, error));
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
    /* O_NONBLOCK is set because opening a pipe without a writer would wait. */
    if (*path && ((fd = gf_named_file_open(path, O_NONBLOCK)) < 0 || fstat(fd, &file))) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        errno = reason;
        return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%.200s: %s", path,
                       strerror(reason));
    }
    enum gf_status status;
    if (*path && !S_ISREG(file.st_mode)) {
        status = gf_fail(error, GF_ERROR_USAGE, "%.200s: it is not a regular file", path);
    } else {
        const struct gf_file_identity identity =
            *path ? gf_file_identify(&file) : (struct gf_file_identity){0};
        pthread_mutex_lock(&files->lock);
        status = find(files, fd, path, *path ? &identity : NULL, how, value, error);
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
