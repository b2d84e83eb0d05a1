/* Temporary files: unnamed ones, and the names that outputs have until they are complete. */
#include "codec/io/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpufilter/pipeline.h"

const char *gf_spool_folder(void)
{
    const char *const folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int gf_spool_open(void)
{
    const char *const folder = gf_spool_folder();
    int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.gpufilter.XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

bool gf_write_fully(int fd, const void *data, size_t size)
{
    const char *from = data;
    while (size) {
        const ssize_t written = write(fd, from, size);
        if (written > 0) {
            from += written;
            size -= (size_t)written;
        } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            (void)poll(&ready, 1, -1); /* an error of poll() appears in the next write() */
        } else if (written == 0 || errno != EINTR) {
            if (!written)
                errno = ENOSPC;
            return false;
        }
    }
    return true;
}

/* ---- the files that a signal handler has to remove ---- */

enum slot_state { SLOT_FREE, SLOT_BEING_SET, SLOT_SET };

/* The registered files. A slot is never freed or taken out of the list, because the signal handler
 * may run at any time in any thread. */
static struct gf_temporary_slot {
    struct gf_temporary_slot *next;
    atomic_int state;
    char path[PATH_MAX];
} * _Atomic slots;

static atomic_bool abandoning;

/* Adds a slot in state SLOT_BEING_SET to the list. Returns NULL when out of memory. */
static struct gf_temporary_slot *slot_add(void)
{
    struct gf_temporary_slot *const slot = malloc(sizeof *slot);
    if (!slot)
        return NULL;
    atomic_init(&slot->state, SLOT_BEING_SET);
    slot->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
        continue;
    return slot;
}

/* Takes a slot for the path. Returns NULL when out of memory: a signal handler then leaves this
 * file, and a later run removes it. */
static struct gf_temporary_slot *slot_take(const char *path)
{
    struct gf_temporary_slot *slot = atomic_load(&slots);
    int state = SLOT_FREE;
    if (strlen(path) >= sizeof slot->path)
        return NULL;
    while (slot && !atomic_compare_exchange_strong(&slot->state, &state, SLOT_BEING_SET)) {
        slot = slot->next;
        state = SLOT_FREE;
    }
    if (!slot && !(slot = slot_add()))
        return NULL;
    strcpy(slot->path, path);
    atomic_store(&slot->state, SLOT_SET);
    return slot;
}

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/* Removes the entries of a folder. Returns whether there were any that could be removed. */
static bool empty_folder(int fd)
{
    _Alignas(struct dirent64) char entries[2048];
    bool removed = false;
    if (lseek(fd, 0, SEEK_SET))
        return false;
    for (ssize_t got; (got = getdents64(fd, entries, sizeof entries)) > 0;) {
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *const entry = (const void *)(entries + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
                removed |= gf_remove_tree(fd, entry->d_name);
        }
    }
    return removed;
}

/* Only calls of the system are used, since a signal handler calls the function. Entries that a file
 * system leaves out while others vanish are found by another round. */
bool gf_remove_tree(int folder, const char *name)
{
    if (!unlinkat(folder, name, 0))
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (empty_folder(fd))
        continue;
    close(fd);
    return !unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_names(void)
{
    for (struct gf_temporary_slot *slot = atomic_load(&slots); slot; slot = slot->next) {
        if (atomic_load(&slot->state) == SLOT_SET)
            gf_remove_tree(AT_FDCWD, slot->path);
    }
}

/* Removes the registered files. Other threads may run at the same time. A thread that is about to
 * create a file waits in gf_temporary_begin(); a file of a thread that had already left that
 * function is found by the second round. */
void gf_abandon_outputs(void)
{
    atomic_store(&abandoning, true);
    remove_names();
    sleep_ms(3);
    remove_names();
    atomic_store(&abandoning, false);
}

/* ---- which process made a file ---- */

enum { BOOT_LETTERS = 32, RANDOM_LETTERS = 8, NAME_BYTES = 50 };

static const char mark[] = ".gpufilter-";

struct maker {
    char boot[BOOT_LETTERS + 1]; /* identifies the boot of the machine; "" where it is unknown */
    int pid;
    unsigned long long start; /* when the process started, in clock ticks since the boot */
};

static size_t read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

/* Reads when a process started: field 22 of /proc/PID/stat. Field 2, the program's name, may
 * contain blanks and brackets. */
static bool start_of(int pid, unsigned long long *start)
{
    char path[32], text[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!read_text(path, text, sizeof text))
        return false;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", start) == 1;
}

static struct maker this_process(void)
{
    struct maker maker = {.pid = getpid()};
    char id[64];
    size_t letters = 0;
    read_text("/proc/sys/kernel/random/boot_id", id, sizeof id);
    for (const char *at = id; *at && letters < BOOT_LETTERS; at++)
        if (strchr("0123456789abcdef", *at))
            maker.boot[letters++] = *at;
    if (letters < BOOT_LETTERS || !start_of(maker.pid, &maker.start))
        maker.boot[0] = 0;
    return maker;
}

size_t gf_folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *gf_folder_of(const char *path)
{
    const size_t length = gf_folder_length(path);
    return length ? strndup(path, length) : strdup(".");
}

/* Returns the path "folder/.NAME.gpufilter-BOOT-PID-START-RANDOM", which the caller frees; NULL
 * with errno. */
static char *make_name(const char *target, const struct maker *maker)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char random[RANDOM_LETTERS];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return NULL;
    char suffix[RANDOM_LETTERS + 1] = {0};
    for (size_t i = 0; i < sizeof random; i++)
        suffix[i] = letters[random[i] % (sizeof letters - 1)];
    const int folder = (int)gf_folder_length(target);
    char *name = NULL;
    const int length =
        asprintf(&name, "%.*s.%.*s%s%s-%d-%llu-%s", folder, target, (int)NAME_BYTES,
                 target + folder, mark, maker->boot, maker->pid, maker->start, suffix);
    return length < 0 ? NULL : name;
}

static bool parse_name(const char *name, struct maker *maker)
{
    const char *at = NULL;
    for (const char *next = name; (next = strstr(next, mark)); next++)
        at = next;
    char random[RANDOM_LETTERS + 1];
    int end = 0;
    return name[0] == '.' && at &&
           sscanf(at + sizeof mark - 1, "%32[0-9a-f]-%d-%llu-%8[A-Za-z0-9]%n", maker->boot,
                  &maker->pid, &maker->start, random, &end) == 4 &&
           strlen(maker->boot) == BOOT_LETTERS && strlen(random) == RANDOM_LETTERS &&
           !at[sizeof mark - 1 + (size_t)end];
}

/* Whether the process that made a file has ended. If the file is of this boot, the process is
 * looked up. A file of another boot may belong to another machine, whose locks may be invisible
 * here: it counts as dead if nothing was written to it for a day. */
static bool is_dead(const struct maker *maker, const struct maker *self, const struct stat *file)
{
    enum { DAY_S = 24 * 60 * 60 };
    unsigned long long start;
    if (!*self->boot)
        return false;
    if (strcmp(maker->boot, self->boot) != 0)
        return time(NULL) - file->st_mtime > DAY_S;
    if (maker->pid <= 0 || (kill(maker->pid, 0) && errno == ESRCH))
        return true;
    return start_of(maker->pid, &start) && start != maker->start;
}

/* Removes a file or a folder unless it is locked. A process in another container has a number that
 * is unknown here, but its lock is visible. */
static void remove_if_unlocked(int folder, const char *name, const struct stat *seen)
{
    struct stat file;
    const int access = S_ISDIR(seen->st_mode) ? O_RDONLY | O_DIRECTORY : O_RDWR;
    const int fd = openat(folder, name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!fstat(fd, &file) && file.st_ino == seen->st_ino && file.st_dev == seen->st_dev &&
        !flock(fd, LOCK_EX | LOCK_NB))
        gf_remove_tree(folder, name);
    close(fd);
}

static void remove_dead_files(DIR *entries, const struct maker *self)
{
    for (const struct dirent *entry; (entry = readdir(entries));) {
        struct maker maker;
        struct stat file;
        if (parse_name(entry->d_name, &maker) &&
            !fstatat(dirfd(entries), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) &&
            (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode)) && is_dead(&maker, self, &file))
            remove_if_unlocked(dirfd(entries), entry->d_name, &file);
    }
}

/* Whether this process has not searched the folder for old files yet. The first FOLDERS folders are
 * remembered; others are not searched. */
static bool is_new_folder(const struct stat *folder)
{
    enum { FOLDERS = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        dev_t device;
        ino_t inode;
    } known[FOLDERS];
    static int count;
    pthread_mutex_lock(&lock);
    bool is_new = count < FOLDERS;
    for (int i = 0; i < count; i++)
        is_new &= known[i].device != folder->st_dev || known[i].inode != folder->st_ino;
    if (is_new) {
        known[count].device = folder->st_dev;
        known[count++].inode = folder->st_ino;
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

static void clean_folder(const char *target, const struct maker *self)
{
    char *const path = gf_folder_of(target);
    struct stat folder;
    if (path && !stat(path, &folder) && is_new_folder(&folder)) {
        DIR *const entries = opendir(path);
        if (entries) {
            remove_dead_files(entries, self);
            closedir(entries);
        }
    }
    free(path);
}

/* ---- creating and locking a file ---- */

bool gf_temporary_begin(struct gf_temporary *temporary, const char *target)
{
    const struct maker self = this_process();
    clean_folder(target, &self);
    temporary->path = make_name(target, &self);
    if (!temporary->path)
        return false;
    temporary->slot = slot_take(temporary->path);
    gf_temporary_wait();
    return true;
}

void gf_temporary_wait(void)
{
    while (atomic_load(&abandoning))
        sleep_ms(100);
}

bool gf_temporary_lock(int fd)
{
    struct stat file;
    if (flock(fd, LOCK_EX | LOCK_NB))
        /* A file system without locks, in which no process removes files. */
        return errno != EWOULDBLOCK;
    return fstat(fd, &file) || file.st_nlink > 0;
}

void gf_temporary_end(struct gf_temporary *temporary, bool remove)
{
    const int before = errno;
    if (remove && temporary->path)
        gf_remove_tree(AT_FDCWD, temporary->path);
    if (temporary->slot)
        atomic_store(&temporary->slot->state, SLOT_FREE);
    free(temporary->path);
    *temporary = (struct gf_temporary){0};
    errno = before;
}
