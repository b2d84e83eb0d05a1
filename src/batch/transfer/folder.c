#include "batch/transfer/transfer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "codec/io/output.h"

#define PREFIX "gpufilter-transfers-"

static char folder[4096];
/* The open folder, locked while the process runs if the file system has locks. */
static int folder_fd = -1;

/* Removes all files in a folder. It allocates nothing, since a signal handler calls it. */
static void empty(int fd)
{
    _Alignas(struct dirent64) char entries[2048];
    for (ssize_t got; (got = getdents64(fd, entries, sizeof entries)) > 0;) {
        const struct dirent64 *entry;
        for (ssize_t at = 0; at < got; at += entry->d_reclen) {
            entry = (const struct dirent64 *)(const void *)(entries + at);
            const char *const name = entry->d_name;
            if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(fd, name, 0))
                continue;
            const int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0)
                continue;
            empty(inner);
            close(inner);
            (void)unlinkat(fd, name, AT_REMOVEDIR);
        }
    }
}

/* Removes a folder. Tries several times, since a file may appear in it meanwhile. */
static void remove_folder(const char *path, int fd)
{
    enum { TRIES = 5 };
    for (int i = 0; i < TRIES && rmdir(path) && errno != ENOENT; i++) {
        lseek(fd, 0, SEEK_SET);
        empty(fd);
    }
}

/* Removes the folder of a process that has ended, and so does not hold its lock. Spares young
 * folders, which may not be locked yet, or may have a lock of another machine that is invisible
 * here. */
static void remove_stale(const char *path)
{
    enum { YOUNG_S = 3600 };
    struct stat file;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!fstat(fd, &file) && file.st_uid == geteuid() &&
        time(NULL) - file.st_mtim.tv_sec > YOUNG_S && !flock(fd, LOCK_EX | LOCK_NB))
        remove_folder(path, fd);
    close(fd);
}

static void remove_stale_folders(void)
{
    DIR *const listing = opendir(gf_spool_folder());
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        char *path;
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) ||
            asprintf(&path, "%s/%s", gf_spool_folder(), entry->d_name) < 0)
            continue;
        remove_stale(path);
        free(path);
    }
    if (listing)
        closedir(listing);
}

enum gf_status gf_transfer_folder_make(struct gf_error *error)
{
    char path[sizeof folder];
    if (snprintf(path, sizeof path, "%s/" PREFIX "XXXXXX", gf_spool_folder()) >= (int)sizeof path)
        return gf_fail(error, GF_ERROR_OUTPUT, "$TMPDIR: its name is too long");
    remove_stale_folders();
    if (!mkdtemp(path))
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", gf_spool_folder(), strerror(errno));
    strcpy(folder, path);
    folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) {
        const int why = errno;
        gf_transfer_folder_remove();
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", path, strerror(why));
    }
    (void)flock(folder_fd, LOCK_EX | LOCK_NB); /* some file systems have no locks */
    return GF_OK;
}

char *gf_transfer_folder_file(size_t number, const char *kind, const char *extension)
{
    char *path;
    return asprintf(&path, "%s/%zu-%s%s", folder, number, kind, extension) < 0 ? NULL : path;
}

uint64_t gf_transfer_folder_free(void)
{
    struct statvfs file_system;
    return fstatvfs(folder_fd, &file_system)
               ? 0
               : (uint64_t)file_system.f_bavail * (uint64_t)file_system.f_frsize;
}

void gf_transfer_folder_remove(void)
{
    if (!*folder)
        return;
    remove_folder(folder, folder_fd);
    if (folder_fd >= 0)
        close(folder_fd);
    folder_fd = -1;
    *folder = '\0';
}
