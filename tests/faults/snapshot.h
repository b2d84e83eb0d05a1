/* The files of a folder, in memory: to compare with, and to put back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SNAPSHOT_FILES_MAX = 32 };

struct file_copy {
    char name[100];
    char *data; /* with a NUL behind it */
    size_t size;
};

struct snapshot {
    struct file_copy file[SNAPSHOT_FILES_MAX];
    int count;
};

/* An absent file has no data. */
struct file_copy file_read(const char *path);
void snapshot_take(const char *folder, struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);
/* The folder holds these files then, and no others. */
void snapshot_restore(const char *folder, const struct snapshot *snapshot);
const struct file_copy *snapshot_find(const struct snapshot *snapshot, const char *name);
bool same_bytes(const struct file_copy *a, const struct file_copy *b);
