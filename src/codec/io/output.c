/* Writes an output, and puts it in its place: renames its file to its target, or copies it to
 * its destination. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/open_files.h"
#include "codec/io/output.h"

static bool link_as(void *context, const char *name)
{
    const struct gf_output *const output = context;
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return !linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static enum gf_status name_unnamed(struct gf_output *output, struct gf_error *error)
{
    /* This cannot fail, because no other process can open a file without a name. */
    (void)gf_temporary_lock(output->fd);
    return gf_temporary_make(&output->temporary, output->target, link_as, output)
               ? GF_OK
               : gf_output_fail_folder(output, error);
}

enum { NOT_WANTED = -2, NONE = -1 };
static atomic_int kept = NOT_WANTED; /* descriptor of the kept file, or a value of the enum above */

void gf_output_keep_replaced(void)
{
    int expected = NOT_WANTED;
    atomic_compare_exchange_strong(&kept, &expected, NONE);
}

bool gf_output_keeps_replaced(void)
{
    return atomic_load(&kept) >= 0;
}

/* Opens the file that will be replaced if gf_output_keep_replaced() applies to it. Returns its
 * descriptor, or NONE. */
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
            return gf_output_fail_exists(output, error);
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
    GF_ALLOCATED(folder, error);
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
            return gf_output_fail_exists(output, error);
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
    if (output->is_timed && futimens(output->fd, output->times))
        return gf_output_fail(output, error);
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

/* ---- writing bytes ---- */

enum { LARGE_BYTES = 128 << 10, RESERVED_FROM_BYTES = 16 << 20 };

int gf_output_descriptor(struct gf_output *output)
{
    if (output->in_memory && output->fd < 0)
        output->fd = memfd_create("output", MFD_CLOEXEC);
    return output->fd;
}

static void drop_memory(struct gf_output *output)
{
    if (!output->borrowed)
        free(output->memory);
    output->borrowed = false;
}

/* Takes the `size` bytes that another process has written to the output's file into memory. */
static enum gf_status take_from_file(struct gf_output *output, size_t size, struct gf_error *error)
{
    drop_memory(output);
    output->memory = malloc(size);
    output->capacity = output->memory ? size : 0;
    if (!output->memory)
        return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory", output->name);
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(output->fd, output->memory + done, size - done, (off_t)done);
        if (n <= 0 && (!n || errno != EINTR))
            return gf_output_fail(output, error);
        done += n > 0 ? (size_t)n : 0;
    }
    return GF_OK;
}

enum gf_status gf_output_adopt(struct gf_output *output, int64_t size, struct gf_error *error)
{
    struct stat file;
    if (fstat(output->fd, &file))
        return gf_output_fail(output, error);
    if (size < 1 || file.st_size != size)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: has %lld bytes of %lld", output->name,
                       (long long)file.st_size, (long long)size);
    output->written = size;
    output->held = 0;
    return output->in_memory ? take_from_file(output, (size_t)size, error) : GF_OK;
}

void gf_output_set_options(struct gf_output *output, struct gf_output_options options)
{
    output->options = options;
}

void gf_output_set_times(struct gf_output *output, const struct timespec times[2])
{
    output->is_timed = true;
    memcpy(output->times, times, sizeof output->times);
}

int64_t gf_output_size(const struct gf_output *output)
{
    return gf_output_bytes(output);
}

const char *gf_output_name(const struct gf_output *output)
{
    return output->name;
}

/* Makes room for `size` more bytes in memory. Returns false when out of memory. */
static bool grow(struct gf_output *output, size_t size)
{
    const size_t needed = (size_t)output->written + size;
    if (needed <= output->capacity)
        return true;
    const size_t capacity = needed > 2 * output->capacity ? needed : 2 * output->capacity;
    unsigned char *const grown = realloc(output->borrowed ? NULL : output->memory, capacity);
    if (!grown)
        return false;
    if (output->borrowed && output->written)
        memcpy(grown, output->memory, (size_t)output->written);
    output->borrowed = false;
    output->memory = grown;
    output->capacity = capacity;
    return true;
}

static enum gf_status put_in_memory(struct gf_output *output, const void *data, size_t size,
                                    struct gf_error *error)
{
    if (!size)
        return GF_OK;
    if (!grow(output, size)) {
        output->failed = true;
        return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory", output->name);
    }
    unsigned char *const to = output->memory + output->written;
    if (data != to)
        memcpy(to, data, size);
    output->written += (int64_t)size;
    return GF_OK;
}

static enum gf_status put(struct gf_output *output, const void *data, size_t size,
                          struct gf_error *error)
{
    if (output->in_memory)
        return put_in_memory(output, data, size, error);
    if (gf_reservation_write(output->reservation, data, size, output->written, output->threads) ||
        gf_write_fully(output->fd, data, size)) {
        output->written += (int64_t)size;
        return GF_OK;
    }
    output->failed = true;
    if (output->target || output->foreign)
        return gf_output_fail(output, error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be held back in %s: %s", output->name,
                   gf_spool_folder(), strerror(errno));
}

static enum gf_status flush(struct gf_output *output, struct gf_error *error)
{
    const size_t held = output->held;
    output->held = 0;
    return put(output, output->buffer, held, error);
}

void gf_output_borrow(struct gf_output *output, void *memory, size_t size)
{
    drop_memory(output);
    output->memory = memory;
    output->capacity = size;
    output->borrowed = true;
}

unsigned char *gf_output_lend(struct gf_output *output, size_t size)
{
    if (!output->in_memory || size < LARGE_BYTES || flush(output, NULL) || !grow(output, size))
        return NULL;
    return output->memory + output->written;
}

void gf_output_expect(struct gf_output *output, int64_t size, int threads)
{
    if (output->in_memory && !gf_output_is_full(output, (uint64_t)size))
        /* A failure shows when the bytes are written. */
        (void)grow(output, output->held + (size_t)size);
    if (output->fd < 0 || output->reservation || gf_output_is_full(output, (uint64_t)size) ||
        size < RESERVED_FROM_BYTES || threads == 1)
        return;
    output->threads = threads;
    output->reservation = gf_reservation_begin(output->fd, gf_output_size(output), size, threads);
}

static void end_reservation(struct gf_output *output)
{
    gf_reservation_end(output->reservation, output->written);
    output->reservation = NULL;
}

enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error)
{
    GF_TRY(gf_output_check_room(output, size, error));
    if (size >= LARGE_BYTES || output->held + size > output->buffer_bytes) {
        GF_TRY(flush(output, error));
    }
    /* A large piece is written without being copied to the buffer first. */
    if (size >= LARGE_BYTES || size > output->buffer_bytes)
        return put(output, data, size, error);
    memcpy(output->buffer + output->held, data, size);
    output->held += size;
    return GF_OK;
}

/* Replaces bytes that were written before by those of `from`, or, if `from` is NULL, reads them to
 * `to`. */
static enum gf_status access_at(struct gf_output *output, int64_t offset, const char *from,
                                char *to, size_t size, struct gf_error *error)
{
    GF_TRY(flush(output, error));
    if (!size)
        return GF_OK;
    if (offset < 0 || offset + (int64_t)size > output->written)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: bytes beyond its end", output->name);
    if (output->in_memory) {
        memcpy(from ? (char *)output->memory + offset : to,
               from ? from : (char *)output->memory + offset, size);
        return GF_OK;
    }
    for (size_t done = 0; done < size;) {
        const int64_t at = offset + (int64_t)done;
        const ssize_t n = from ? pwrite(output->fd, from + done, size - done, at)
                               : pread(output->fd, to + done, size - done, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output->failed |= from != NULL;
            return gf_output_fail(output, error);
        }
        done += (size_t)n;
    }
    return GF_OK;
}

enum gf_status gf_output_write_at(struct gf_output *output, int64_t offset, const void *data,
                                  size_t size, struct gf_error *error)
{
    return access_at(output, offset, data, NULL, size, error);
}

enum gf_status gf_output_read_at(struct gf_output *output, int64_t offset, void *data, size_t size,
                                 struct gf_error *error)
{
    return access_at(output, offset, NULL, data, size, error);
}

enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error)
{
    end_reservation(output);
    output->held = 0;
    output->written = 0;
    output->failed = false;
    gf_folder_close(output);
    if (output->in_memory)
        return GF_OK;
    if (ftruncate(output->fd, 0) || lseek(output->fd, 0, SEEK_SET) < 0)
        return gf_output_fail(output, error);
    return GF_OK;
}

enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error)
{
    if (output->failed)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: was not written completely", output->name);
    const enum gf_status status = flush(output, error);
    end_reservation(output);
    if (status)
        return status;
    if (output->folder)
        GF_TRY(gf_folder_commit(output, error));
    if (output->in_memory || output->foreign)
        return GF_OK;
    return output->target ? commit_beside(output, error) : commit_spooled(output, error);
}

void *gf_output_take(struct gf_output *output, size_t *size)
{
    void *const memory = output->memory;
    *size = (size_t)output->written;
    output->memory = NULL;
    output->written = 0;
    output->capacity = 0;
    return memory;
}

void gf_output_close(struct gf_output *output)
{
    if (!output)
        return;
    end_reservation(output);
    gf_folder_close(output);
    gf_temporary_end(&output->temporary, true);
    if (output->fd >= 0)
        close(output->fd);
    drop_memory(output);
    free(output->target);
    free(output->name);
    free(output);
}
