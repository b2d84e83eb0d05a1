#include "faults/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *path)
{
    perror(path);
    exit(1);
}

struct file_copy file_read(const char *path)
{
    struct file_copy copy = {.data = NULL};
    struct stat found;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return copy;
    if (fstat(fd, &found) || !(copy.data = malloc((size_t)found.st_size + 1)) ||
        read(fd, copy.data, (size_t)found.st_size) != found.st_size)
        give_up(path);
    copy.size = (size_t)found.st_size;
    copy.data[copy.size] = '\0';
    close(fd);
    return copy;
}

static bool is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

void snapshot_take(const char *folder, struct snapshot *snapshot)
{
    DIR *const entries = opendir(folder);
    char path[400];
    snapshot->count = 0;
    if (!entries)
        give_up(folder);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        if (!is_entry(entry) || snapshot->count == SNAPSHOT_FILES_MAX)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct file_copy *const copy = &snapshot->file[snapshot->count++];
        *copy = file_read(path);
        snprintf(copy->name, sizeof copy->name, "%.99s", entry->d_name);
    }
    closedir(entries);
}

void snapshot_free(struct snapshot *snapshot)
{
    for (int i = 0; i < snapshot->count; i++)
        free(snapshot->file[i].data);
    snapshot->count = 0;
}

void snapshot_restore(const char *folder, const struct snapshot *snapshot)
{
    DIR *const entries = opendir(folder);
    char path[400];
    if (!entries)
        give_up(folder);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        if (is_entry(entry))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
    for (int i = 0; i < snapshot->count; i++) {
        const struct file_copy *const copy = &snapshot->file[i];
        snprintf(path, sizeof path, "%s/%s", folder, copy->name);
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, copy->data, copy->size) != (ssize_t)copy->size || close(fd))
            give_up(path);
    }
}

const struct file_copy *snapshot_find(const struct snapshot *snapshot, const char *name)
{
    for (int i = 0; i < snapshot->count; i++) {
        if (!strcmp(snapshot->file[i].name, name))
            return &snapshot->file[i];
    }
    return NULL;
}

bool same_bytes(const struct file_copy *a, const struct file_copy *b)
{
    return a && b && a->size == b->size && !memcmp(a->data, b->data, a->size);
}
