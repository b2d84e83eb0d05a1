/* .cube files that were read are kept, so that all chains of a batch share them. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"
#include "pixel/cube.h"

enum { KEPT = 4 }; /* unused tables */

struct entry {
    struct gf_cube cube; /* first: what gf_cube_load() hands out */
    struct entry *next;
    int users;
    bool is_file;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries; /* the latest first */

static bool is_of(const struct entry *entry, const struct stat *file)
{
    if (!file)
        return !entry->is_file;
    return entry->is_file && entry->device == file->st_dev && entry->inode == file->st_ino &&
           entry->size == file->st_size && entry->changed.tv_sec == file->st_mtim.tv_sec &&
           entry->changed.tv_nsec == file->st_mtim.tv_nsec;
}

static enum gf_status read_whole(int fd, const char *path, char *text, size_t size, size_t *length,
                                 struct gf_error *error)
{
    for (*length = 0; *length < size;) {
        const ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gf_fail(error, GF_ERROR_USAGE, "%.200s: %s", path, strerror(errno));
        if (!got)
            break;
        *length += (size_t)got;
    }
    text[*length] = '\0';
    return GF_OK;
}

static enum gf_status read_file(int fd, const char *path, const struct stat *file,
                                struct gf_cube *cube, struct gf_error *error)
{
    if (file->st_size > GF_CUBE_BYTES_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: it is larger than %d MiB", path,
                       GF_CUBE_BYTES_MAX >> 20);
    const size_t size = (size_t)file->st_size;
    size_t length;
    char *const text = malloc(size + 1);
    if (!text)
        return gf_fail_memory(error);
    struct gf_error detail = {0};
    enum gf_status status = read_whole(fd, path, text, size, &length, error);
    if (!status && (status = gf_cube_parse(text, length, cube, &detail)))
        status = gf_fail(error, status, "%.200s: %s", path, detail.text);
    free(text);
    return status;
}

/* Frees what has no users, but for the latest. */
static void forget(void)
{
    int kept = 0;
    for (struct entry **at = &entries; *at;) {
        struct entry *const entry = *at;
        if (entry->users || kept++ < KEPT) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        gf_cube_free(&entry->cube);
        free(entry);
    }
}

/* file: NULL stands for the look. */
static enum gf_status find(int fd, const char *path, const struct stat *file,
                           const struct gf_cube **cube, struct gf_error *error)
{
    struct entry *entry = entries;
    while (entry && !is_of(entry, file))
        entry = entry->next;
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        if (!entry)
            return gf_fail_memory(error);
        const enum gf_status status = file ? read_file(fd, path, file, &entry->cube, error)
                                           : gf_cube_make_look(&entry->cube, error);
        if (status) {
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
        entry->next = entries;
        entries = entry;
    }
    entry->users++;
    forget();
    *cube = &entry->cube;
    return GF_OK;
}

enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube, struct gf_error *error)
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
        pthread_mutex_lock(&lock);
        status = find(fd, path, *path ? &file : NULL, cube, error);
        pthread_mutex_unlock(&lock);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

void gf_cube_release(const struct gf_cube *cube)
{
    pthread_mutex_lock(&lock);
    for (struct entry *entry = entries; cube && entry; entry = entry->next)
        entry->users -= &entry->cube == cube;
    forget();
    pthread_mutex_unlock(&lock);
}
