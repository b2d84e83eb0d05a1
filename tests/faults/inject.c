/* A library for LD_PRELOAD that lets the n-th call of a kind fail. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/inject.h"

#define EXPORT __attribute__((visibility("default")))
#define KIND_ENUM(name) KIND_##name,
#define KIND_NAME(name) #name,

enum kind { FAULT_KINDS(KIND_ENUM) KINDS };

static struct fault_state *state; /* NULL before main() */
static enum kind wanted;
static int number, error_number;
static bool also_later, only_named;
static __thread bool suspended; /* what this thread calls is not the program's doing */

/* A place for a debugger's breakpoint: the caller's caller is what fails. */
__attribute__((noinline)) static void fault_happens(void)
{
    __asm__ volatile("");
}

static bool fails(enum kind kind)
{
    if (!state || suspended || kind != wanted)
        return false;
    const int call = atomic_fetch_add(&state->calls, 1) + 1;
    if (!number || (also_later ? call < number : call != number))
        return false;
    atomic_fetch_add(&state->injected, 1);
    fault_happens();
    errno = error_number;
    return true;
}

/* The function of this name that would be called without this library. */
#define FIND_REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* Defines a function that fails in its turn by returning the value given, with errno set. */
#define HOOK(kind, type, name, parameters, arguments, failure) \
    EXPORT type name parameters; \
    type name parameters \
    { \
        FIND_REAL(name); \
        return fails(KIND_##kind) ? (failure) : real arguments; \
    }

/* ---- memory and threads ---- */

HOOK(memory, void *, malloc, (size_t size), (size), NULL)
HOOK(memory, void *, calloc, (size_t count, size_t size), (count, size), NULL)
HOOK(memory, void *, realloc, (void *old, size_t size), (old, size), NULL)
HOOK(memory, void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size), NULL)
HOOK(memory, void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL)
HOOK(memory, int, posix_memalign, (void **out, size_t alignment, size_t size),
     (out, alignment, size), errno)
HOOK(map, void *, mmap, (void *at, size_t size, int access, int flags, int fd, off_t offset),
     (at, size, access, flags, fd, offset), MAP_FAILED)
HOOK(thread, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     (thread, attributes, start, argument), errno)

/* Only sanitizers ask for it, and they do without memory worse than the program. */
EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    FIND_REAL(pthread_getattr_np);
    suspended = true;
    const int status = real(thread, attributes);
    suspended = false;
    return status;
}

/* ---- files ---- */

static mode_t mode_argument(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

static bool open_fails(int flags)
{
    if (fails(KIND_open))
        return true;
    const bool unnamed = state && only_named && (flags & O_TMPFILE) == O_TMPFILE;
    if (unnamed)
        errno = EOPNOTSUPP;
    return unnamed;
}

#define HOOK_OPEN(name) \
    EXPORT int name(const char *path, int flags, ...) \
    { \
        va_list arguments; \
        va_start(arguments, flags); \
        const mode_t mode = mode_argument(flags, arguments); \
        va_end(arguments); \
        FIND_REAL(name); \
        return open_fails(flags) ? -1 : real(path, flags, mode); \
    }
HOOK_OPEN(open)
HOOK_OPEN(open64)

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    FIND_REAL(openat);
    return open_fails(flags) ? -1 : real(folder, path, flags, mode);
}

HOOK(open, int, mkostemp, (char *path, int flags), (path, flags), -1)
HOOK(open, DIR *, opendir, (const char *path), (path), NULL)
HOOK(open, FILE *, tmpfile, (void), (), NULL)

/* A transfer that fails with the number 0 is a short one. */
#define HOOK_TRANSFER(kind, name, parameters, before, after) \
    EXPORT ssize_t name parameters \
    { \
        FIND_REAL(name); \
        if (fails(KIND_##kind)) { \
            if (error_number) \
                return -1; \
            size = (size + 1) / 2; \
        } \
        return real(before, size after); \
    }
#define WITH(...) , __VA_ARGS__
HOOK_TRANSFER(read, read, (int fd, void *data, size_t size), fd WITH(data), )
HOOK_TRANSFER(read, pread, (int fd, void *data, size_t size, off_t at), fd WITH(data), WITH(at))
HOOK_TRANSFER(read, pread64, (int fd, void *data, size_t size, off_t at), fd WITH(data), WITH(at))
HOOK_TRANSFER(write, write, (int fd, const void *data, size_t size), fd WITH(data), )
HOOK_TRANSFER(write, pwrite, (int fd, const void *data, size_t size, off_t at), fd WITH(data),
              WITH(at))

/* The descriptor is gone whatever close() returns. */
EXPORT int close(int fd)
{
    FIND_REAL(close);
    const int status = real(fd);
    return fails(KIND_close) ? -1 : status;
}

HOOK(stat, struct dirent *, readdir, (DIR * folder), (folder), NULL)
HOOK(rename, int, rename, (const char *from, const char *to), (from, to), -1)
HOOK(rename, int, renameat2,
     (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, flags), -1)
HOOK(rename, int, linkat,
     (int from_folder, const char *from, int to_folder, const char *to, int flags),
     (from_folder, from, to_folder, to, flags), -1)
HOOK(sync, int, fsync, (int fd), (fd), -1)
HOOK(sync, int, fdatasync, (int fd), (fd), -1)
HOOK(stat, int, stat, (const char *path, struct stat *found), (path, found), -1)
HOOK(stat, int, lstat, (const char *path, struct stat *found), (path, found), -1)
HOOK(stat, int, fstat, (int fd, struct stat *found), (fd, found), -1)
HOOK(stat, int, access, (const char *path, int mode), (path, mode), -1)
HOOK(stat, int, faccessat, (int folder, const char *path, int mode, int flags),
     (folder, path, mode, flags), -1)
HOOK(stat, ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size),
     -1)
HOOK(stat, char *, realpath, (const char *path, char *resolved), (path, resolved), NULL)
HOOK(other, int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
HOOK(other, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1)
HOOK(other, int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
HOOK(other, int, dup, (int fd), (fd), -1)
HOOK(other, int, poll, (struct pollfd * one, nfds_t count, int timeout), (one, count, timeout), -1)
HOOK(other, ssize_t, getrandom, (void *data, size_t size, unsigned flags), (data, size, flags), -1)

EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    FIND_REAL(fcntl);
    return fails(KIND_other) ? -1 : real(fd, command, argument);
}

/* What a program built with _FORTIFY_SOURCE calls instead. */
EXPORT int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

EXPORT ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
    if (size > room)
        abort();
    return read(fd, data, size);
}

EXPORT ssize_t __pread_chk(int fd, void *data, size_t size, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t size, off_t at, size_t room)
{
    if (size > room)
        abort();
    return pread(fd, data, size, at);
}

EXPORT int __poll_chk(struct pollfd *one, nfds_t count, int timeout, size_t room);
int __poll_chk(struct pollfd *one, nfds_t count, int timeout, size_t room)
{
    if (count > room / sizeof *one)
        abort();
    return poll(one, count, timeout);
}

EXPORT ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room);
ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room)
{
    if (size > room)
        abort();
    return readlink(path, target, size);
}

EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room)
{
    if (room < 4096)
        abort();
    return realpath(path, resolved);
}

/* ---- streams: the C library's own calls cannot be replaced, so it is given other streams ---- */

static ssize_t stream_read(void *cookie, char *data, size_t size)
{
    ssize_t got;
    do
        got = read((int)(intptr_t)cookie, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Writes until all is written, since the C library takes less from such a stream for an error. */
static ssize_t stream_write(void *cookie, const char *data, size_t size)
{
    size_t written = 0;
    while (written < size) {
        const ssize_t some = write((int)(intptr_t)cookie, data + written, size - written);
        if (some < 0 && errno != EINTR)
            break;
        written += some > 0 ? (size_t)some : 0;
    }
    return (ssize_t)written;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *stream_of(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {
        .read = stream_read, .write = stream_write, .close = stream_close};
    return fopencookie((void *)(intptr_t)fd, mode, functions);
}

static FILE *open_stream(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    FILE *const stream = fd < 0 ? NULL : stream_of(fd, "r");
    if (fd >= 0 && !stream) {
        const int why = errno;
        (close)(fd);
        errno = why;
    }
    return stream;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    FIND_REAL(fopen);
    return *mode == 'r' ? open_stream(path) : fails(KIND_open) ? NULL : real(path, mode);
}

/* ---- the start ---- */

static void begin(void)
{
    static const char *const names[] = {FAULT_KINDS(KIND_NAME)};
    const char *const path = getenv("FAULT_STATE"), *const kind = getenv("FAULT_KIND");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct fault_state *const shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!kind || shared == MAP_FAILED)
        abort();
    close(fd);
    while (wanted < KINDS && strcmp(kind, names[wanted]))
        wanted++;
    number = atoi(getenv("FAULT_N"));
    error_number = atoi(getenv("FAULT_ERRNO"));
    also_later = getenv("FAULT_MORE");
    only_named = getenv("FAULT_NAMED");
    unsetenv("LD_PRELOAD"); /* for the program only, not for what it starts */
    stdin = stream_of(0, "r");
    stdout = stream_of(1, "w");
    state = shared;
}

static int (*real_main)(int count, char **words, char **environment);

static int counted_main(int count, char **words, char **environment)
{
    begin();
    return real_main(count, words, environment);
}

typedef int start_function(int (*start)(int, char **, char **), int count, char **words,
                           void (*first)(void), void (*last)(void), void (*linker_last)(void),
                           void *stack_end);

EXPORT start_function __libc_start_main;
int __libc_start_main(int (*start)(int, char **, char **), int count, char **words,
                      void (*first)(void), void (*last)(void), void (*linker_last)(void),
                      void *stack_end)
{
    start_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = start;
    return real(counted_main, count, words, first, last, linker_last, stack_end);
}
