/* An output that is a folder of files, or a file with such a folder beside it. The files go to a
 * temporary folder, which takes its place when it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/open_files.h"
#include "codec/io/output.h"

/* Whether a folder of tiles can have such an entry. */
static bool is_part(const char *name)
{
    static const char *const parts[] = {".",         "..",   "ImageProperties.xml",
                                        "info.json", "full", "vips-properties.xml"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(name, parts[i]))
            return true;
    return !name[strspn(name, "0123456789,")] || !strncmp(name, "TileGroup", 9) ||
           !strncmp(name, "blank.", 6);
}

/* Fails if what has the folder's name cannot be replaced: a file, or a folder with anything that is
 * no tile, which may be dear to the user. */
static enum gf_status check_replaced(const struct gf_output *output, bool *exists,
                                     struct gf_error *error)
{
    const char *const target = output->folder->target;
    struct stat file;
    char other[80] = "";
    *exists = !lstat(target, &file);
    if (!*exists)
        return GF_OK;
    if (output->options.no_clobber)
        return gf_output_fail_exists(output, error);
    DIR *const entries = S_ISDIR(file.st_mode) ? opendir(target) : NULL;
    if (!entries)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be replaced by a folder of tiles",
                       target);
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (!is_part(entry->d_name))
            snprintf(other, sizeof other, "%.79s", entry->d_name);
    closedir(entries);
    return *other ? gf_fail(error, GF_ERROR_UNFIT,
                            "%s: is a folder with '%s', and only a folder of tiles is replaced",
                            target, other)
                  : GF_OK;
}

void gf_folder_close(struct gf_output *output)
{
    struct gf_folder *const folder = output->folder;
    output->folder = NULL;
    if (!folder)
        return;
    gf_temporary_end(&folder->temporary, true);
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->target);
    free(folder);
}

static bool make_folder(struct gf_folder *folder)
{
    for (int i = 0; i < GF_OUTPUT_NAME_TRIES; i++) {
        if (!gf_temporary_begin(&folder->temporary, folder->target))
            return false;
        if (!mkdir(folder->temporary.path, 0777)) {
            folder->fd = open(folder->temporary.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            return folder->fd >= 0 && gf_temporary_lock(folder->fd);
        }
        gf_temporary_end(&folder->temporary, false);
        if (errno != EEXIST)
            return false;
    }
    return false;
}

enum gf_status gf_output_add_folder(struct gf_output *output, const char *target,
                                    struct gf_error *error)
{
    bool exists;
    struct gf_folder *const folder = calloc(1, sizeof *folder);
    if (!folder)
        return gf_fail_memory(error);
    gf_folder_close(output);
    output->folder = folder;
    folder->fd = -1;
    folder->target = strdup(target);
    if (!folder->target)
        return gf_fail_memory(error);
    GF_TRY(check_replaced(output, &exists, error));
    return make_folder(folder) ? GF_OK : gf_output_fail_folder(output, error);
}

/* Makes the folders on the way to a file within a folder. */
static void make_folders(int folder, const char *name)
{
    char path[200];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
        (void)mkdirat(folder, path, 0777); /* opening the file tells if that fails */
    }
}

enum gf_status gf_output_put_file(struct gf_output *output, const char *name, const void *data,
                                  size_t size, struct gf_error *error)
{
    struct gf_folder *const folder = output->folder;
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    GF_TRY(gf_output_check_room(output, size, error));
    int fd = openat(folder->fd, name, flags, 0666);
    if (fd < 0 && errno == ENOENT) {
        make_folders(folder->fd, name);
        fd = openat(folder->fd, name, flags, 0666);
    }
    folder->bytes += size;
    const bool written = fd >= 0 && gf_write_fully(fd, data, size);
    const enum gf_status status = written ? GF_OK : gf_output_fail(output, error);
    if (fd >= 0 && close(fd) && !status)
        return gf_output_fail(output, error);
    return status;
}

/* Puts the folder in the place of an older one. The older file beside it goes first, since it does
 * not describe the new tiles. */
static bool replace(struct gf_output *output)
{
    struct gf_folder *const folder = output->folder;
    if (output->target && unlink(output->target) && errno != ENOENT)
        return false;
    if (!renameat2(AT_FDCWD, folder->temporary.path, AT_FDCWD, folder->target, RENAME_EXCHANGE))
        return true; /* the older folder, which now has the temporary name, is removed */
    return (errno == EINVAL || errno == ENOSYS) && gf_remove_tree(AT_FDCWD, folder->target) &&
           !rename(folder->temporary.path, folder->target);
}

enum gf_status gf_folder_commit(struct gf_output *output, struct gf_error *error)
{
    struct gf_folder *const folder = output->folder;
    bool exists;
    GF_TRY(check_replaced(output, &exists, error));
    if (output->options.sync && syncfs(folder->fd))
        return gf_output_fail(output, error);
    if (exists ? !replace(output) : rename(folder->temporary.path, folder->target))
        return gf_output_fail_folder(output, error);
    gf_temporary_end(&folder->temporary, exists);
    return GF_OK;
}
