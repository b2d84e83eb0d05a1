#include "batch/transfer/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "codec/io/output.h"

static struct gf_temporary folder;
static int folder_fd = -1;

enum gf_status gf_transfer_folder_make(struct gf_error *error)
{
    folder_fd = gf_temporary_spool(&folder, "transfers", S_IFDIR | 0700);
    return folder_fd < 0
               ? gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", gf_spool_folder(), strerror(errno))
               : GF_OK;
}

char *gf_transfer_folder_file(size_t number, const char *kind, const char *extension)
{
    char *path;
    return asprintf(&path, "%s/%zu-%s%s", folder.path, number, kind, extension) < 0 ? NULL : path;
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
    gf_temporary_end(&folder, true);
    if (folder_fd >= 0)
        close(folder_fd);
    folder_fd = -1;
}
