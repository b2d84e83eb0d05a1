/* Renames the file of an output to its target, or copies it to its destination. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/output_state.h"
#include "codec/io/spool.h"

static bool link_as(const struct gf_output *output, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return !linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static enum gf_status name_unnamed(struct gf_output *output, struct gf_error *error)
{
    /* This cannot fail, because no other process can open a file without a name. */
    (void)gf_temporary_lock(output->fd);
    for (int i = 0; i < GF_OUTPUT_NAME_TRIES; i++) {
        if (!gf_temporary_begin(&output->temporary, output->target))
            return gf_fail_memory(error);
        if (link_as(output, output->temporary.path))
            return GF_OK;
        gf_temporary_end(&output->temporary, false);
        if (errno != EEXIST)
            break;
    }
    return gf_output_fail_folder(output, error);
}

static enum gf_status fail_exists(const struct gf_output *output, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: is there already (options.no_clobber)",
                   output->name);
}

enum { NOT_WANTED = -2, NONE = -1 };
static atomic_int kept = NOT_WANTED; /* the descriptor of the replaced file */

void gf_output_keep_replaced(void)
{
    int expected = NOT_WANTED;
    atomic_compare_exchange_strong(&kept, &expected, NONE);
}

bool gf_output_keeps_replaced(void)
{
    return atomic_load(&kept) >= 0;
}

/* Opens the file that will be replaced, if it is to be kept open; -1: it is not. */
static int open_replaced(const struct gf_output *output)
{
    enum { KEPT_FROM_BLOCKS = (16 << 20) / 512 };
    struct stat file;
    if (!output->exists || atomic_load(&kept) != NONE)
        return NONE;
    const int fd = open(output->target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_nlink == 1 &&
                   file.st_blocks >= KEPT_FROM_BLOCKS))
        return fd;
    close(fd);
    return NONE;
}

static void keep(int replaced)
{
    int expected = NONE;
    if (replaced >= 0 && !atomic_compare_exchange_strong(&kept, &expected, replaced))
        close(replaced);
}

static enum gf_status rename_to_target(struct gf_output *output, struct gf_error *error)
{
    const unsigned flags = output->options.no_clobber ? RENAME_NOREPLACE : 0;
    if (renameat2(AT_FDCWD, output->temporary.path, AT_FDCWD, output->target, flags)) {
        /* Some file systems support no flags of renameat2(). It is then enough that the target did
         * not exist when the output was opened. */
        const bool unknown = flags && (errno == EINVAL || errno == ENOSYS);
        if (errno == EEXIST)
            return fail_exists(output, error);
        if (!unknown || rename(output->temporary.path, output->target))
            return gf_output_fail_folder(output, error);
    }
    gf_temporary_end(&output->temporary, false);
    return GF_OK;
}

static enum gf_status rename_over(struct gf_output *output, struct gf_error *error)
{
    const int replaced = open_replaced(output);
    const enum gf_status status = rename_to_target(output, error);
    if (!status)
        keep(replaced);
    else if (replaced >= 0)
        close(replaced);
    return status;
}

static enum gf_status sync_folder(const struct gf_output *output, struct gf_error *error)
{
    char *const folder = gf_folder_of(output->target);
    if (!folder)
        return gf_fail_memory(error);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return gf_output_fail(output, error);
    const enum gf_status status =
        fsync(fd) && errno != EINVAL ? gf_output_fail(output, error) : GF_OK;
    close(fd);
    return status;
}

static enum gf_status name_target(struct gf_output *output, struct gf_error *error)
{
    if (!output->temporary.path && !output->exists) {
        if (link_as(output, output->target))
            return GF_OK;
        if (errno == EEXIST && output->options.no_clobber)
            return fail_exists(output, error);
    }
    if (!output->temporary.path)
        GF_TRY(name_unnamed(output, error));
    return rename_over(output, error);
}

/* Checks for failed writes, which a network file system may report only when the file is closed.
 * Closing a copy of the descriptor shows the failure, while the descriptor itself keeps the lock
 * until the file has its name. */
static enum gf_status check_close(struct gf_output *output, struct gf_error *error)
{
    const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 0), closing = output->fd;
    if (copy < 0) /* too many descriptors: close() itself then reports the failure */
        return fsync(output->fd) ? gf_output_fail(output, error) : GF_OK;
    output->fd = copy;
    return close(closing) && errno != EINTR ? gf_output_fail(output, error) : GF_OK;
}

static enum gf_status commit_beside(struct gf_output *output, struct gf_error *error)
{
    if (output->options.sync && fsync(output->fd))
        return gf_output_fail(output, error);
    GF_TRY(check_close(output, error));
    GF_TRY(name_target(output, error));
    return output->options.sync ? sync_folder(output, error) : GF_OK;
}

static bool copy_out(struct gf_output *output, int to)
{
    off_t at = 0;
    for (;;) {
        const ssize_t got = pread(output->fd, output->buffer, output->buffer_bytes, at);
        if (!got)
            return true;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || !gf_write_fully(to, output->buffer, (size_t)got))
            return false;
        at += got;
    }
}

static enum gf_status commit_spooled(struct gf_output *output, struct gf_error *error)
{
    int to = STDOUT_FILENO;
    if (!output->to_stdout) {
        to = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (to < 0)
            return gf_output_fail(output, error);
    }
    enum gf_status status = GF_OK;
    if (!copy_out(output, to))
        status = gf_output_fail(output, error);
    if (!output->to_stdout && close(to) && errno != EINTR && !status)
        status = gf_output_fail(output, error);
    return status;
}

enum gf_status gf_output_put_in_place(struct gf_output *output, struct gf_error *error)
{
    return output->target ? commit_beside(output, error) : commit_spooled(output, error);
}
