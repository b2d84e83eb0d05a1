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
#include <unistd.h>

#include "gpufilter/pipeline.h"

const char *gf_spool_folder(void)
{
    const char *const folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
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
    atomic_int holder; /* the thread that holds it (gf_temporary_hold); 0: none */
    char path[PATH_MAX];
} * _Atomic slots;

static atomic_int abandoning; /* the calls of gf_outputs_end() that have not been undone */

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&time, NULL);
}

void gf_temporary_wait(void)
{
    while (atomic_load(&abandoning))
        sleep_ms(100);
}

/* Each side first writes what the other one then reads: the handler waits for a thread that has
 * not seen it, and a thread that it has not seen waits for the handler. */
static void hold(struct gf_temporary_slot *slot)
{
    for (;;) {
        if (slot)
            atomic_store(&slot->holder, gettid());
        if (!atomic_load(&abandoning))
            return;
        if (slot)
            atomic_store(&slot->holder, 0);
        gf_temporary_wait();
    }
}

void gf_temporary_hold(struct gf_temporary *temporary)
{
    hold(temporary->slot);
}

void gf_temporary_release(struct gf_temporary *temporary)
{
    if (temporary->slot)
        atomic_store(&temporary->slot->holder, 0);
}

/* Adds a slot in state SLOT_BEING_SET to the list. Returns NULL when out of memory. */
static struct gf_temporary_slot *slot_add(void)
{
    struct gf_temporary_slot *const slot = malloc(sizeof *slot);
    if (!slot)
        return NULL;
    atomic_init(&slot->state, SLOT_BEING_SET);
    atomic_init(&slot->holder, 0);
    slot->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
        continue;
    return slot;
}

/* Takes a slot for the path, and holds it. Returns NULL when out of memory: a signal handler then
 * leaves this file, and a later run removes it. */
static struct gf_temporary_slot *slot_take(const char *path)
{
    struct gf_temporary_slot *slot = atomic_load(&slots);
    int state = SLOT_FREE;
    const bool fits = strlen(path) < sizeof slot->path;
    while (fits && slot && !atomic_compare_exchange_strong(&slot->state, &state, SLOT_BEING_SET)) {
        slot = slot->next;
        state = SLOT_FREE;
    }
    if (!slot && fits)
        slot = slot_add();
    hold(fits ? slot : NULL);
    if (!fits || !slot)
        return NULL;
    strcpy(slot->path, path);
    atomic_store(&slot->state, SLOT_SET);
    return slot;
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
 * system leaves out while others vanish are found by another round; so are those that other threads
 * and processes add meanwhile. */
bool gf_remove_tree(int folder, const char *name)
{
    enum { TRIES = 5 };
    if (!unlinkat(folder, name, 0))
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool removed = false;
    for (int i = 0; i < TRIES && !removed; i++) {
        while (empty_folder(fd))
            continue;
        removed = !unlinkat(folder, name, AT_REMOVEDIR);
    }
    close(fd);
    return removed;
}

/* Removes the registered files, while other threads wait in hold(). The threads that hold their
 * files are waited for; for 2 s at most, since a file system may hang. The handler may interrupt a
 * thread that holds one. */
void gf_outputs_end(void)
{
    const int self = gettid();
    int tries = 2000, holder;
    atomic_fetch_add(&abandoning, 1);
    for (struct gf_temporary_slot *slot = atomic_load(&slots); slot; slot = slot->next) {
        while ((holder = atomic_load(&slot->holder)) && holder != self && tries-- > 0)
            sleep_ms(1);
        if (atomic_load(&slot->state) == SLOT_SET)
            gf_remove_tree(AT_FDCWD, slot->path);
    }
}

void gf_abandon_outputs(void)
{
    gf_outputs_end();
    atomic_fetch_sub(&abandoning, 1);
}

/* ---- which process made a file ---- */

enum { BOOT_LETTERS = 32, RANDOM_LETTERS = 8, NAME_BYTES = 50, NAME_TRIES = 100 };

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

/* Spares the files of other users in a folder such as /tmp. */
static void remove_dead_files(DIR *entries, bool is_shared, const struct maker *self)
{
    for (const struct dirent *entry; (entry = readdir(entries));) {
        struct maker maker;
        struct stat file;
        if (parse_name(entry->d_name, &maker) &&
            !fstatat(dirfd(entries), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) &&
            (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode)) &&
            (!is_shared || file.st_uid == geteuid()) && is_dead(&maker, self, &file))
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
            remove_dead_files(entries, folder.st_mode & S_ISVTX, self);
            closedir(entries);
        }
    }
    free(path);
}

/* ---- creating and locking a file ---- */

bool gf_temporary_lock(int fd)
{
    struct stat file;
    if (flock(fd, LOCK_EX | LOCK_NB) ? errno != EWOULDBLOCK : fstat(fd, &file) || file.st_nlink)
        return true; /* also on a file system without locks, where no process removes files */
    errno = EEXIST;
    return false;
}

bool gf_temporary_make(struct gf_temporary *temporary, const char *target,
                       bool (*make)(void *context, const char *path), void *context)
{
    const struct maker self = this_process();
    clean_folder(target, &self);
    for (int i = 0; i < NAME_TRIES; i++) {
        temporary->path = make_name(target, &self);
        if (!temporary->path)
            return false;
        temporary->slot = slot_take(temporary->path);
        if (make(context, temporary->path)) {
            gf_temporary_release(temporary);
            return true;
        }
        gf_temporary_end(temporary, false);
        if (errno != EEXIST && errno != EINTR)
            return false;
    }
    return false;
}

void gf_temporary_end(struct gf_temporary *temporary, bool remove)
{
    const int before = errno;
    if (temporary->path)
        gf_temporary_hold(temporary);
    if (remove && temporary->path)
        gf_remove_tree(AT_FDCWD, temporary->path);
    gf_temporary_release(temporary); /* before another thread may hold the slot */
    if (temporary->slot)
        atomic_store(&temporary->slot->state, SLOT_FREE);
    free(temporary->path);
    *temporary = (struct gf_temporary){0};
    errno = before;
}

/* What gf_temporary_open() makes. */
struct entry {
    mode_t mode;
    int fd;
};

static bool make_entry(void *context, const char *path)
{
    struct entry *const entry = context;
    const bool is_folder = S_ISDIR(entry->mode);
    const mode_t mode = entry->mode & 07777;
    if (is_folder && mkdir(path, mode))
        return false;
    entry->fd = open(path,
                     is_folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                               : O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                     mode);
    if (entry->fd >= 0 && gf_temporary_lock(entry->fd))
        return true;
    const int why = errno;
    if (is_folder || entry->fd >= 0)
        (void)remove(path);
    if (entry->fd >= 0)
        close(entry->fd);
    errno = why;
    return false;
}

int gf_temporary_open(struct gf_temporary *temporary, const char *target, mode_t mode)
{
    struct entry entry = {.mode = mode};
    return gf_temporary_make(temporary, target, make_entry, &entry) ? entry.fd : -1;
}

int gf_temporary_spool(struct gf_temporary *temporary, const char *name, mode_t mode)
{
    char *path;
    if (asprintf(&path, "%s/%s", gf_spool_folder(), name) < 0)
        return -1;
    const int fd = gf_temporary_open(temporary, path, mode), why = errno;
    free(path);
    errno = why;
    return fd;
}

int gf_spool_open(void)
{
    struct gf_temporary temporary = {0};
    int fd = open(gf_spool_folder(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        fd = gf_temporary_spool(&temporary, "spool", 0600);
    gf_temporary_end(&temporary, true);
    return fd;
}
