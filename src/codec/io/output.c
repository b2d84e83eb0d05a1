
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "codec/io/output.h"
#include "codec/io/spool.h"
#include "gpufilter/pipeline.h"

enum { BUFFER_BYTES = 1 << 20, LINKS_MAX = 40, NAME_TRIES = 100 };

/* ---- the names that a signal handler has to remove ---- */

enum { TEMPORARY_MAX = 256 }; /* a batch has one for each of its workers */
enum slot_state { SLOT_FREE, SLOT_BEING_SET, SLOT_SET };

/* They are static and never freed, since the handler may run at any time in any thread. */
static struct slot {
    atomic_int state;
    char path[PATH_MAX];
} slots[TEMPORARY_MAX];

/* NULL where all are in use: a signal then leaves that file behind. */
static struct slot *slot_take(const char *path)
{
    if (strlen(path) >= sizeof slots->path)
        return NULL;
    for (int i = 0; i < TEMPORARY_MAX; i++) {
        int state = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &state, SLOT_BEING_SET))
            continue;
        strcpy(slots[i].path, path);
        atomic_store(&slots[i].state, SLOT_SET);
        return &slots[i];
    }
    return NULL;
}

static atomic_bool abandoning;

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&time, NULL);
}

static void remove_names(void)
{
    for (int i = 0; i < TEMPORARY_MAX; i++) {
        if (atomic_load(&slots[i].state) == SLOT_SET)
            unlink(slots[i].path);
    }
}

/* Other threads run on meanwhile. One that is about to make a name waits in remember(); one that
 * had passed it is caught by the second round. */
void gf_abandon_outputs(void)
{
    atomic_store(&abandoning, true);
    remove_names();
    sleep_ms(3);
    remove_names();
    atomic_store(&abandoning, false);
}

/* ---- the output ---- */

struct gf_output {
    char *name;      /* as given, for messages */
    char *target;    /* the file that is replaced, links resolved; NULL: copied out by commit, or
                      * memory */
    char *temporary; /* the name of what is being written, NULL where it has none */
    struct slot *slot;
    int fd;
    bool to_stdout, exists;
    bool in_memory;
    unsigned char *memory; /* what was written: `written` bytes */
    size_t capacity;
    bool failed; /* a write failed, so that nothing may be committed */
    struct gf_output_options options;
    int64_t written; /* bytes, without those in the buffer */
    size_t held;
    unsigned char buffer[BUFFER_BYTES];
};

static enum gf_status fail_errno(const struct gf_output *output, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", output->name, strerror(errno));
}

static enum gf_status fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* The folder's part of a path, with its slash: "" for a bare name. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follows symbolic links by hand, since the last one may lead to a file that does not exist yet. */
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
        if (asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : (int)folder_length(at), at, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* "folder/.name.XXXXXX", hidden, unlike any other. */
static char *make_name(const char *target)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char random[8];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return NULL;
    char suffix[sizeof random + 1] = {0};
    for (size_t i = 0; i < sizeof random; i++)
        suffix[i] = letters[random[i] % (sizeof letters - 1)];
    const int folder = (int)folder_length(target);
    char *name = NULL;
    /* 200 bytes of the name leave room below every file system's limit. */
    return asprintf(&name, "%.*s.%.200s.%s", folder, target, target + folder, suffix) < 0 ? NULL
                                                                                          : name;
}

static void remember(struct gf_output *output, char *temporary)
{
    output->temporary = temporary;
    output->slot = slot_take(temporary);
    while (atomic_load(&abandoning))
        sleep_ms(100);
}

/* The temporary name no longer exists, or is to be removed here. */
static void forget(struct gf_output *output, bool remove)
{
    if (remove && output->temporary)
        unlink(output->temporary);
    if (output->slot)
        atomic_store(&output->slot->state, SLOT_FREE);
    free(output->temporary);
    output->temporary = NULL;
    output->slot = NULL;
}

static void open_unnamed(struct gf_output *output)
{
    if (access("/proc/self/fd", X_OK)) /* linkat() needs it to name the file in the end */
        return;
    char *const folder = strndup(output->target, folder_length(output->target));
    if (folder)
        output->fd = open(*folder ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
}

static enum gf_status open_named(struct gf_output *output, struct gf_error *error)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        char *const name = make_name(output->target);
        if (!name)
            return fail_memory(error);
        remember(output, name); /* before it exists, since a signal may come in between */
        output->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0)
            return GF_OK;
        const int why = errno;
        forget(output, false);
        errno = why;
        if (why != EEXIST && why != EINTR)
            break;
    }
    return fail_errno(output, error);
}

/* Gives the file the existing target's owner, where that is allowed, and its permissions. */
static enum gf_status keep_mode(struct gf_output *output, const struct stat *target,
                                struct gf_error *error)
{
    struct stat made;
    if (fstat(output->fd, &made))
        return fail_errno(output, error);
    if ((made.st_uid != target->st_uid || made.st_gid != target->st_gid) &&
        fchown(output->fd, target->st_uid, target->st_gid))
        errno = 0; /* the file stays ours */
    if (fchmod(output->fd, target->st_mode & 07777))
        return fail_errno(output, error);
    return GF_OK;
}

static enum gf_status open_beside(struct gf_output *output, struct gf_error *error)
{
    struct stat target;
    output->exists = !stat(output->target, &target);
    if (!output->exists && errno != ENOENT)
        return fail_errno(output, error);
    if (output->exists && !(target.st_mode & 0222))
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: is read-only", output->name);
    if (output->exists && faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS))
        return fail_errno(output, error);
    const size_t folder = folder_length(output->target);
    if (!output->target[folder]) {
        errno = ENOENT;
        return fail_errno(output, error);
    }
    open_unnamed(output);
    enum gf_status status = GF_OK;
    if (output->fd < 0)
        status = open_named(output, error);
    if (!status && output->exists)
        status = keep_mode(output, &target, error);
    return status;
}

static enum gf_status open_spooled(struct gf_output *output, struct gf_error *error)
{
    const int usable = output->to_stdout ? fcntl(STDOUT_FILENO, F_GETFD)
                                         : faccessat(AT_FDCWD, output->name, W_OK, AT_EACCESS);
    if (usable < 0) /* were stdout closed, the spool file would get its number */
        return fail_errno(output, error);
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
    if (!output->to_stdout && !stat(path, &file) && S_ISDIR(file.st_mode))
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: is a directory", path);
    if (output->to_stdout || (!stat(path, &file) && !S_ISREG(file.st_mode)))
        return open_spooled(output, error);
    output->target = gf_output_resolve(path);
    if (!output->target)
        return fail_errno(output, error);
    return open_beside(output, error);
}

enum gf_status gf_output_open(const char *path, struct gf_output **output, struct gf_error *error)
{
    struct gf_output *const opened = malloc(sizeof *opened);
    if (!opened)
        return fail_memory(error);
    memset(opened, 0, offsetof(struct gf_output, buffer));
    opened->fd = -1;
    opened->to_stdout = !strcmp(path, "-");
    opened->name = strdup(opened->to_stdout ? "stdout" : path);
    const enum gf_status status =
        opened->name ? open_path(opened, path, error) : fail_memory(error);
    if (status) {
        gf_output_close(opened);
        return status;
    }
    *output = opened;
    return GF_OK;
}

enum gf_status gf_output_open_memory(const char *name, struct gf_output **output,
                                     struct gf_error *error)
{
    struct gf_output *const opened = malloc(sizeof *opened);
    if (!opened)
        return fail_memory(error);
    memset(opened, 0, offsetof(struct gf_output, buffer));
    opened->fd = -1;
    opened->in_memory = true;
    opened->name = strdup(name);
    if (!opened->name) {
        gf_output_close(opened);
        return fail_memory(error);
    }
    *output = opened;
    return GF_OK;
}

void gf_output_set_options(struct gf_output *output, struct gf_output_options options)
{
    output->options = options;
}

int64_t gf_output_size(const struct gf_output *output)
{
    return output->written + (int64_t)output->held;
}

const char *gf_output_name(const struct gf_output *output)
{
    return output->name;
}

static enum gf_status put_in_memory(struct gf_output *output, const void *data, size_t size,
                                    struct gf_error *error)
{
    const size_t before = (size_t)output->written, needed = before + size;
    if (needed > output->capacity) {
        const size_t capacity = needed > 2 * output->capacity ? needed : 2 * output->capacity;
        unsigned char *const grown = realloc(output->memory, capacity);
        if (!grown) {
            output->failed = true;
            return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory", output->name);
        }
        output->memory = grown;
        output->capacity = capacity;
    }
    if (size)
        memcpy(output->memory + before, data, size);
    output->written += (int64_t)size;
    return GF_OK;
}

static enum gf_status put(struct gf_output *output, const void *data, size_t size,
                          struct gf_error *error)
{
    if (output->in_memory)
        return put_in_memory(output, data, size, error);
    if (gf_write_fully(output->fd, data, size)) {
        output->written += (int64_t)size;
        return GF_OK;
    }
    output->failed = true;
    if (output->target)
        return fail_errno(output, error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be held back in %s: %s", output->name,
                   gf_spool_folder(), strerror(errno));
}

static enum gf_status flush(struct gf_output *output, struct gf_error *error)
{
    const size_t held = output->held;
    output->held = 0;
    return put(output, output->buffer, held, error);
}

enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error)
{
    if (size >= BUFFER_BYTES || output->held + size > BUFFER_BYTES) {
        const enum gf_status status = flush(output, error);
        if (status)
            return status;
    }
    if (size >= BUFFER_BYTES)
        return put(output, data, size, error);
    memcpy(output->buffer + output->held, data, size);
    output->held += size;
    return GF_OK;
}

enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error)
{
    output->held = 0;
    output->written = 0;
    output->failed = false;
    if (output->in_memory)
        return GF_OK;
    if (ftruncate(output->fd, 0) || lseek(output->fd, 0, SEEK_SET) < 0)
        return fail_errno(output, error);
    return GF_OK;
}

/* ---- commit ---- */

static enum gf_status name_unnamed(struct gf_output *output, struct gf_error *error)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    for (int i = 0; i < NAME_TRIES; i++) {
        char *const name = make_name(output->target);
        if (!name)
            return fail_memory(error);
        remember(output, name); /* before it exists: a signal may come in between */
        if (!linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW))
            return GF_OK;
        const int why = errno;
        forget(output, false);
        errno = why;
        if (why != EEXIST)
            break;
    }
    return fail_errno(output, error);
}

static enum gf_status fail_exists(const struct gf_output *output, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: is there already (options.no_clobber)",
                   output->name);
}

/* Names a file that is new. False with EEXIST where another process has made one meanwhile. */
static bool link_target(struct gf_output *output)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return !linkat(AT_FDCWD, self, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW);
}

static enum gf_status rename_over(struct gf_output *output, struct gf_error *error)
{
    const unsigned flags = output->options.no_clobber ? RENAME_NOREPLACE : 0;
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->target, flags)) {
        /* A file system may know no flags: it is then enough that there was no target when the
         * output was opened. */
        const bool unknown = flags && (errno == EINVAL || errno == ENOSYS);
        if (errno == EEXIST)
            return fail_exists(output, error);
        if (!unknown || rename(output->temporary, output->target))
            return fail_errno(output, error);
    }
    forget(output, false);
    return GF_OK;
}

static enum gf_status sync_folder(const struct gf_output *output, struct gf_error *error)
{
    char *const folder = strndup(output->target, folder_length(output->target));
    if (!folder)
        return fail_memory(error);
    const int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return fail_errno(output, error);
    const enum gf_status status = fsync(fd) && errno != EINVAL ? fail_errno(output, error) : GF_OK;
    close(fd);
    return status;
}

static enum gf_status name_target(struct gf_output *output, struct gf_error *error)
{
    if (!output->temporary && !output->exists) {
        if (link_target(output))
            return GF_OK;
        if (errno == EEXIST && output->options.no_clobber)
            return fail_exists(output, error);
    }
    if (!output->temporary) {
        const enum gf_status status = name_unnamed(output, error);
        if (status)
            return status;
    } else {
        /* A network file system may report a failed write only when the file is closed. */
        const int fd = output->fd;
        output->fd = -1;
        if (close(fd) && errno != EINTR)
            return fail_errno(output, error);
    }
    return rename_over(output, error);
}

static enum gf_status commit_beside(struct gf_output *output, struct gf_error *error)
{
    if (output->options.sync && fsync(output->fd))
        return fail_errno(output, error);
    const enum gf_status status = name_target(output, error);
    return status || !output->options.sync ? status : sync_folder(output, error);
}

static bool copy_out(struct gf_output *output, int to)
{
    off_t at = 0;
    for (;;) {
        const ssize_t got = pread(output->fd, output->buffer, BUFFER_BYTES, at);
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
            return fail_errno(output, error);
    }
    enum gf_status status = GF_OK;
    if (!copy_out(output, to))
        status = fail_errno(output, error);
    if (!output->to_stdout && close(to) && errno != EINTR && !status)
        status = fail_errno(output, error);
    return status;
}

enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error)
{
    if (output->failed)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: was not written completely", output->name);
    const enum gf_status status = flush(output, error);
    if (status || output->in_memory)
        return status;
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
    forget(output, true);
    if (output->fd >= 0)
        close(output->fd);
    free(output->memory);
    free(output->target);
    free(output->name);
    free(output);
}
