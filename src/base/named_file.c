#include "base/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static _Thread_local const struct gf_handed_files *handed;

void gf_named_files_hand(const struct gf_handed_files *files)
{
    handed = files;
}

/* The copy of a descriptor has its place in the file in common with the original. */
static int copy_of(int descriptor)
{
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0)
        (void)lseek(copy, 0, SEEK_SET);
    return copy;
}

int gf_named_file_open(const char *path, int flags)
{
    if (!handed)
        return open(path, O_RDONLY | O_CLOEXEC | flags);
    for (int i = 0; i < handed->count; i++) {
        if (!strcmp(handed->path[i], path))
            return copy_of(handed->descriptor[i]);
    }
    errno = EACCES;
    return -1;
}

struct gf_file_identity gf_file_identify(const struct stat *file)
{
    return (struct gf_file_identity){file->st_dev, file->st_ino, file->st_size, file->st_mtim};
}

bool gf_file_is_same(const struct gf_file_identity *a, const struct gf_file_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}
