/* Opens an output: a temporary file next to its target, memory, or a spool file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/open_files.h"
#include "codec/io/output.h"

enum { LINKS_MAX = 40 };

/* Follows symbolic links one by one, since the last one may lead to a file that does not exist
 * yet. */
char *gf_output_resolve(const char *path)
{
    char *at = strdup(path);
    for (int i = 0; at && i < LINKS_MAX; i++) {
        char link[PATH_MAX];
        const ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0)
            return at;
        link[length] = 0;
        char *next = NULL;
        if (asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : (int)gf_folder_length(at), at, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    const int why = at ? ELOOP : ENOMEM;
    free(at);
    errno = why;
    return NULL;
}

/* Returns the first mode of a new file, to which the umask applies. A file that will replace
 * another one is private until it has the other file's permissions. */
static mode_t first_mode(const struct gf_output *output)
{
    return output->exists ? 0600 : 0666;
}

static void open_unnamed(struct gf_output *output)
{
    if (access("/proc/self/fd", X_OK)) /* linkat() later names the file by its path there */
        return;
    char *const folder = gf_folder_of(output->target);
    if (folder)
        output->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, first_mode(output));
    free(folder);
}

static enum gf_status fail_keep(const struct gf_output *output, const char *what,
                                struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: its %s cannot be kept: %s", output->name, what,
                   strerror(errno));
}

static bool is_acl(const char *attribute)
{
    return !strcmp(attribute, "system.posix_acl_access") || !strcmp(attribute, "system.nfs4_acl");
}

/* Gives the new file an extended attribute of the existing target. Returns false with errno. */
static bool copy_attribute(const struct gf_output *output, const char *attribute)
{
    char value[XATTR_SIZE_MAX];
    const ssize_t size = getxattr(output->target, attribute, value, sizeof value);
    if (size < 0)
        return errno == ENODATA;
    return !fsetxattr(output->fd, attribute, value, (size_t)size, 0);
}

/* Gives the new file the existing target's access control list and its user's attributes. Removes a
 * list that the new file inherited from its folder if the target has none. */
static enum gf_status keep_attributes(struct gf_output *output, bool same_group,
                                      struct gf_error *error)
{
    char names[XATTR_LIST_MAX];
    ssize_t length = listxattr(output->target, names, sizeof names);
    if (length < 0 && errno != ENOTSUP)
        return fail_keep(output, "attributes", error);
    length = length < 0 ? 0 : length;
    bool has_acl = false;
    for (const char *name = names; name < names + length; name += strlen(name) + 1) {
        const bool acl = is_acl(name);
        errno = EPERM; /* the list would give the rights of the target's group to another group */
        if ((!strcmp(name, "system.posix_acl_access") && !same_group) ||
            ((acl || !strncmp(name, "user.", 5)) && !copy_attribute(output, name)))
            return fail_keep(output, acl ? "access control list" : name, error);
        has_acl |= acl;
    }
    if (!has_acl)
        /* Usually the new file has none. */
        (void)fremovexattr(output->fd, "system.posix_acl_access");
    return GF_OK;
}

/* Gives the new file what the existing target has: its owner and group if that is allowed, its
 * access control list, its user's attributes and its permissions. The list must be set before the
 * permissions: only with a list do the group's bits mean the most that the list may grant, and not
 * the rights of the group. */
static enum gf_status keep_permissions(struct gf_output *output, const struct stat *target,
                                       struct gf_error *error)
{
    struct stat made;
    if (fstat(output->fd, &made))
        return gf_output_fail(output, error);
    /* Where the owner cannot be kept, the file belongs to the user who runs the program. */
    const bool same_group = (made.st_uid == target->st_uid && made.st_gid == target->st_gid) ||
                            !fchown(output->fd, target->st_uid, target->st_gid) ||
                            made.st_gid == target->st_gid ||
                            !fchown(output->fd, (uid_t)-1, target->st_gid);
    GF_TRY(keep_attributes(output, same_group, error));
    mode_t mode = target->st_mode & 07777;
    if (!same_group) /* a foreign group gets the rights of everybody */
        mode = (mode & ~(mode_t)02070) | (mode & 07) << 3;
    return fchmod(output->fd, mode) ? fail_keep(output, "permissions", error) : GF_OK;
}

static enum gf_status open_beside(struct gf_output *output, bool is_new, struct gf_error *error)
{
    struct stat target;
    output->exists = !is_new && !stat(output->target, &target);
    if (!output->exists && !is_new && errno != ENOENT)
        return gf_output_fail(output, error);
    if (output->exists && !(target.st_mode & 0222))
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: is read-only", output->name);
    if (output->exists && faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS))
        return gf_output_fail(output, error);
    const size_t folder = gf_folder_length(output->target);
    if (!output->target[folder]) {
        errno = ENOENT;
        return gf_output_fail(output, error);
    }
    open_unnamed(output);
    if (output->fd < 0)
        output->fd = gf_temporary_open(&output->temporary, output->target, first_mode(output));
    if (output->fd < 0)
        return gf_output_fail_folder(output, error);
    if (output->exists)
        GF_TRY(keep_permissions(output, &target, error));
    return GF_OK;
}

static enum gf_status open_spooled(struct gf_output *output, struct gf_error *error)
{
    const int usable = output->to_stdout ? fcntl(STDOUT_FILENO, F_GETFD)
                                         : faccessat(AT_FDCWD, output->name, W_OK, AT_EACCESS);
    if (usable < 0) /* if stdout were closed, the spool file would get its number */
        return gf_output_fail(output, error);
    output->fd = gf_spool_open();
    if (output->fd < 0)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be held back in %s: %s", output->name,
                       gf_spool_folder(), strerror(errno));
    return GF_OK;
}

static enum gf_status open_path(struct gf_output *output, const char *path, struct gf_error *error)
{
    struct stat file;
    if (!*path)
        return gf_fail(error, GF_ERROR_OUTPUT, "the output has no name");
    /* The target is examined once if nothing has its name, because each look delays every process
     * that creates files in the folder. */
    const bool is_new = !output->to_stdout && lstat(path, &file) && errno == ENOENT;
    const bool is_there = !output->to_stdout && !is_new && !stat(path, &file);
    if (is_there && S_ISDIR(file.st_mode))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: is a directory", path);
    if (output->to_stdout || (is_there && !S_ISREG(file.st_mode)))
        return open_spooled(output, error);
    output->target = is_new ? strdup(path) : gf_output_resolve(path);
    if (!output->target)
        return gf_output_fail(output, error);
    return open_beside(output, is_new, error);
}

/* Returns a new output that has no file or memory for its bytes yet; NULL when out of memory. */
static struct gf_output *new_output(const char *name, size_t buffer_bytes)
{
    struct gf_output *const output = malloc(sizeof *output + buffer_bytes);
    if (!output)
        return NULL;
    *output = (struct gf_output){.fd = -1, .buffer_bytes = buffer_bytes};
    output->name = strdup(name);
    if (output->name)
        return output;
    free(output);
    return NULL;
}

enum gf_status gf_output_open(const char *path, struct gf_output **output, struct gf_error *error)
{
    const bool to_stdout = !strcmp(path, "-");
    struct gf_output *const opened =
        new_output(to_stdout ? "stdout" : path, GF_OUTPUT_BUFFER_BYTES);
    GF_ALLOCATED(opened, error);
    opened->to_stdout = to_stdout;
    GF_OPENED(open_path(opened, path, error), gf_output_close, opened, output);
}

enum gf_status gf_output_open_memory(const char *name, struct gf_output **output,
                                     struct gf_error *error)
{
    struct gf_output *const opened = new_output(name, GF_OUTPUT_SMALL_BUFFER_BYTES);
    GF_ALLOCATED(opened, error);
    opened->in_memory = true;
    *output = opened;
    return GF_OK;
}

enum gf_status gf_output_open_descriptor(int descriptor, const char *name,
                                         struct gf_output **output, struct gf_error *error)
{
    struct gf_output *const opened = new_output(name, GF_OUTPUT_BUFFER_BYTES);
    if (!opened) {
        close(descriptor);
        return gf_fail_memory(error);
    }
    opened->foreign = true;
    opened->fd = descriptor;
    *output = opened;
    return GF_OK;
}
