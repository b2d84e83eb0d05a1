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

enum { DEPTH = 3 }; /* of the folders in a folder of tiles: those of IIIF */

/* What a folder of tiles has, and what it can have that is no tile. */
struct contents {
    bool any;       /* it has files */
    bool marked;    /* it has what each folder of that layout has */
    char other[80]; /* the path of an entry that is no tile; "": there is none */
};

static bool is_one_of(const char *name, const char *const *words)
{
    while (*words && strcmp(name, *words))
        words++;
    return *words != NULL;
}

/* Whether tiles can lie in a folder of that name. */
static bool is_part(const char *name)
{
    static const char *const parts[] = {"full", "max", NULL};
    const bool is_group = !strncmp(name, "TileGroup", 9);
    return !name[strspn(name, "0123456789,")] || is_one_of(name, parts) ||
           (is_group && !name[9 + strspn(name + 9, "0123456789")]);
}

/* Whether a tile can have that name. */
static bool is_tile(const char *name)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png", ".webp", NULL};
    const char *const dot = strrchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : 0;
    return length && is_one_of(dot, ends) &&
           (strspn(name, "0123456789_-") == length || !strncmp(name, "default.", 8) ||
            !strncmp(name, "native.", 7));
}

/* Notes what a file in the folder of tiles says of it. `within` is the file's folder. */
static void look_at_file(struct contents *contents, const char *within, const char *name)
{
    static const char *const marks[] = {"ImageProperties.xml", "info.json", "blank.png", NULL};
    const bool is_first = !strcmp(within, "0/") && !strncmp(name, "0_0.", 4); /* of Deep Zoom */
    contents->any = true;
    contents->marked |= is_first || (!*within && is_one_of(name, marks));
    if (*within ? !is_tile(name) : !is_one_of(name, marks) && strcmp(name, "vips-properties.xml"))
        snprintf(contents->other, sizeof contents->other, "%.40s%.39s", within, name);
}

/* Returns what an entry is; not all file systems say it in the folder. */
static mode_t kind_of(int folder, const struct dirent *entry)
{
    struct stat file;
    if (entry->d_type != DT_UNKNOWN)
        return DTTOIF(entry->d_type);
    return fstatat(folder, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) ? 0 : file.st_mode;
}

/* Looks into the folder `within`, "" or a path that ends in /, of the folder of tiles. Stops at
 * what is no tile. Closes fd. */
static void look_into(int fd, const char *within, int depth, struct contents *contents)
{
    DIR *const entries = fd < 0 ? NULL : fdopendir(fd);
    char path[200];
    if (!entries) {
        snprintf(contents->other, sizeof contents->other, "%.79s", *within ? within : ".");
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *entry; !*contents->other && (entry = readdir(entries));) {
        const char *const name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        snprintf(path, sizeof path, "%.100s%.90s/", within, name);
        const mode_t kind = kind_of(fd, entry);
        if (S_ISREG(kind))
            look_at_file(contents, within, name);
        else if (S_ISDIR(kind) && is_part(name) && depth)
            look_into(openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path,
                      depth - 1, contents);
        else
            snprintf(contents->other, sizeof contents->other, "%.40s%.39s", within, name);
    }
    closedir(entries);
}

/* Fails if what has the folder's name cannot be replaced: a file, or a folder with anything that is
 * no tile, which may be dear to the user. Folders of photographs have names as tiles have, such as
 * 2024/1.jpg: what no tool has marked as tiles is not replaced either. */
static enum gf_status check_replaced(const struct gf_output *output, bool *exists,
                                     struct gf_error *error)
{
    const char *const target = output->folder->target;
    struct stat file;
    struct contents contents = {.other = ""};
    *exists = !lstat(target, &file);
    if (!*exists)
        return GF_OK;
    if (output->options.no_clobber)
        return gf_output_fail_exists(output, error);
    const int fd =
        S_ISDIR(file.st_mode) ? open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be replaced by a folder of tiles",
                       target);
    look_into(fd, "", DEPTH, &contents);
    if (*contents.other)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: is a folder with '%s', and only a folder of tiles is replaced", target,
                       contents.other);
    return contents.marked || !contents.any
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNFIT,
                         "%s: is a folder without what marks one of tiles, which alone is replaced",
                         target);
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

enum gf_status gf_output_add_folder(struct gf_output *output, const char *target,
                                    struct gf_error *error)
{
    bool exists;
    GF_NEW(struct gf_folder, folder, error);
    gf_folder_close(output);
    output->folder = folder;
    folder->fd = -1;
    folder->target = strdup(target);
    GF_ALLOCATED(folder->target, error);
    GF_TRY(check_replaced(output, &exists, error));
    folder->fd = gf_temporary_open(&folder->temporary, target, S_IFDIR | 0777);
    return folder->fd >= 0 ? GF_OK : gf_output_fail_folder(output, error);
}

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
    gf_temporary_hold(&folder->temporary);
    int fd = openat(folder->fd, name, flags, 0666);
    if (fd < 0 && errno == ENOENT) {
        make_folders(folder->fd, name);
        fd = openat(folder->fd, name, flags, 0666);
    }
    gf_temporary_release(&folder->temporary);
    folder->bytes += size;
    const bool written = fd >= 0 && gf_write_fully(fd, data, size) &&
                         !(output->is_timed && futimens(fd, output->times));
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
    if (output->is_timed && futimens(folder->fd, output->times))
        return gf_output_fail(output, error);
    if (output->options.sync && syncfs(folder->fd))
        return gf_output_fail(output, error);
    gf_temporary_hold(&folder->temporary);
    if (exists ? !replace(output) : rename(folder->temporary.path, folder->target)) {
        gf_temporary_release(&folder->temporary);
        return gf_output_fail_folder(output, error);
    }
    gf_temporary_end(&folder->temporary, exists);
    return GF_OK;
}
