#include "codec/cell/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#ifdef SANITIZED
const bool gf_cell_lock_is_real = false;
#else
const bool gf_cell_lock_is_real = true;
#endif

/* The errors in `lacking` mean that cells never work here: EPERM and EACCES come from a container,
 * the others from a system that lacks the call, the program or /proc. */
enum gf_status gf_cell_fail_errno(int why, const char *what, struct gf_error *error)
{
    static const int lacking[] = {ENOSYS,  EPERM, EACCES,     EINVAL,       ENOENT, ENOTDIR,
                                  ENOEXEC, ELOOP, EOPNOTSUPP, ENAMETOOLONG, EFBIG};
    struct rlimit addresses;
    /* A limit of memory for each process that the user has set leaves no room for a cell at any
     * time. */
    const bool limited =
        why == ENOMEM && !getrlimit(RLIMIT_AS, &addresses) && addresses.rlim_cur != RLIM_INFINITY;
    enum gf_status status = limited ? GF_ERROR_UNAVAILABLE : GF_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        status = why == lacking[i] ? GF_ERROR_UNAVAILABLE : status;
    return gf_fail(error, status, "%s: %s", what, strerror(why));
}

#ifdef GF_LIBRARY_seccomp
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>

#include "base/process/library.h"

/* ---- Landlock: the kernel takes files and network from the process ---- */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* The struct of the kernel's linux/landlock.h, whose older versions lack some members. */
struct ruleset {
    uint64_t files, network, scopes;
};

struct __attribute__((packed)) rule {
    uint64_t accesses;
    int32_t descriptor;
};

static long landlock_version(void)
{
    enum { VERSION = 1 };
    return syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
}

/* Allows reading the file, or the folder's files and names. Does nothing if it does not exist. */
static bool allow_reading(long rules, const char *path)
{
    enum { BENEATH = 1, READ_FILE = 1 << 2, READ_NAMES = 1 << 3 };
    struct stat file;
    struct rule rule = {.descriptor = *path ? open(path, O_PATH | O_CLOEXEC) : -1};
    if (rule.descriptor < 0)
        return true;
    const bool known = !fstat(rule.descriptor, &file);
    rule.accesses = READ_FILE | (known && S_ISDIR(file.st_mode) ? READ_NAMES : 0);
    const bool added = known && !syscall(SYS_landlock_add_rule, rules, BENEATH, &rule, 0);
    close(rule.descriptor);
    return added;
}

/* Forbids every access to files and network that the kernel's version of Landlock can forbid, but
 * for reading `names`, a file and a folder, if that is not NULL. *landlock gets the version, 0
 * where there is no Landlock. */
static enum gf_status forbid_files(const char *const names[2], uint32_t *landlock,
                                   struct gf_error *error)
{
    static const unsigned file_bits[] = {0, 13, 14, 15, 15, 16};
    enum { TCP = 3, SOCKETS_AND_SIGNALS = 3, NEWEST = 5 };
    const long version = landlock_version();
    *landlock = 0;
    if (version < 1)
        return GF_OK;
    const struct ruleset all = {
        .files = ((uint64_t)1 << file_bits[version < NEWEST ? version : NEWEST]) - 1,
        .network = version >= 4 ? TCP : 0,
        .scopes = version >= 6 ? SOCKETS_AND_SIGNALS : 0};
    const size_t size = sizeof(uint64_t) * (version >= 6 ? 3 : version >= 4 ? 2 : 1);
    const long rules = syscall(SYS_landlock_create_ruleset, &all, size, 0);
    const bool allowed =
        rules >= 0 &&
        (!names || (allow_reading(rules, names[0]) && allow_reading(rules, names[1])));
    const int why = allowed && !syscall(SYS_landlock_restrict_self, rules, 0) ? 0
                    : errno                                                   ? errno
                                                                              : EPERM;
    if (rules >= 0)
        close((int)rules);
    if (!why)
        *landlock = (uint32_t)version;
    else if (gf_cell_fail_errno(why, "Landlock", error) != GF_ERROR_UNAVAILABLE)
        return error->status;
    return GF_OK;
}

/* ---- the list of system calls (seccomp) ---- */

#define CALLS(CALL) \
    CALL(seccomp_init) \
    CALL(seccomp_attr_set) \
    CALL(seccomp_rule_add_exact_array) \
    CALL(seccomp_load) \
    CALL(seccomp_release) \
    CALL(seccomp_syscall_resolve_name)
static struct {
    CALLS(GF_LIBRARY_CALL)
} calls;
static struct gf_library library = GF_LIBRARY(calls, CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_seccomp));

/* The system calls that a cell may make: for memory, threads, time and its socket. */
static const char allowed[] =
    "brk munmap mremap madvise futex set_robust_list rseq exit exit_group rt_sigaction "
    "rt_sigprocmask rt_sigreturn sigaltstack restart_syscall sched_yield sched_getaffinity "
    "getpid gettid getcpu membarrier clock_gettime clock_getres clock_nanosleep nanosleep "
    "gettimeofday time getrandom sysinfo uname close poll ppoll sendmsg recvmsg";

/* These calls fail with EACCES instead of ending the process: libraries make them, but can do
 * without. */
static const char refused[] =
    "openat2 statfs fstatfs getcwd ioctl getuid geteuid getgid getegid sched_setaffinity "
    "sched_getparam sched_setparam sched_getscheduler sched_setscheduler sched_get_priority_max "
    "sched_get_priority_min setpriority getpriority mlock munlock mbind set_mempolicy "
    "get_mempolicy getrusage getrlimit setrlimit";

/* So do these, unless the cell's library opens files by their names, which Landlock limits. */
static const char reading[] =
    "open openat access faccessat faccessat2 stat lstat fstat newfstatat statx readlink "
    "readlinkat getdents64 lseek read pread64";

/* The list of system calls, which a zygote makes once for all cells that it forks. */
static scmp_filter_ctx filter;
static bool with_names; /* the list has the calls for files with names */

/* Adds a call to the list with what happens at it. Does nothing if this architecture lacks the
 * call. Returns an errno, 0 for success. */
static int add(uint32_t action, const char *name, unsigned count,
               const struct scmp_arg_cmp *argument)
{
    const int number = calls.seccomp_syscall_resolve_name(name);
    return number < 0
               ? 0
               : -calls.seccomp_rule_add_exact_array(filter, action, number, count, argument);
}

/* Adds the calls whose names are separated by blanks. */
static int add_all(uint32_t action, const char *names)
{
    int why = 0;
    for (size_t length; !why && *names; names += length + (names[length] == ' ')) {
        char name[32];
        length = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        why = add(action, name, 0, NULL);
    }
    return why;
}

/* Adds calls that are allowed with some arguments only: writing to standard error, which is
 * /dev/null; mapping memory that is not executable and that RLIMIT_DATA counts (not shared, no
 * growing stack); starting threads, but no processes; naming threads; asking for limits. */
static int add_conditions(bool threads)
{
    enum { THREAD = CLONE_VM | CLONE_THREAD, UNCOUNTED = 0xf /* MAP_TYPE */ | MAP_GROWSDOWN };
    const uint32_t allow = SCMP_ACT_ALLOW, fail = SCMP_ACT_ERRNO(EACCES);
    const struct {
        const char *name;
        uint32_t action;
        struct scmp_arg_cmp argument[2];
        unsigned count;
    } rules[] = {
        {"write", allow, {{0, SCMP_CMP_EQ, STDERR_FILENO, 0}}, 1},
        {"writev", allow, {{0, SCMP_CMP_EQ, STDERR_FILENO, 0}}, 1},
        {"mmap",
         allow,
         {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}, {3, SCMP_CMP_MASKED_EQ, UNCOUNTED, MAP_PRIVATE}},
         2},
        {"mprotect", allow, {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}}, 1},
        {"clone",
         threads ? allow : SCMP_ACT_ERRNO(EAGAIN),
         {{0, SCMP_CMP_MASKED_EQ, THREAD, THREAD}},
         1},
        {"prctl", allow, {{0, SCMP_CMP_EQ, PR_SET_NAME, 0}}, 1},
        {"prctl", fail, {{0, SCMP_CMP_NE, PR_SET_NAME, 0}}, 1},
        {"prlimit64", allow, {{2, SCMP_CMP_EQ, 0, 0}}, 1},
        {"prlimit64", fail, {{2, SCMP_CMP_NE, 0, 0}}, 1},
        /* SQLite locks what it reads; the commands behind F_SETLKW send signals. */
        {"fcntl", with_names ? allow : fail, {{1, SCMP_CMP_LE, F_SETLKW, 0}}, 1},
        {"fcntl", fail, {{1, SCMP_CMP_GT, F_SETLKW, 0}}, 1},
    };
    int why = 0;
    for (size_t i = 0; !why && i < sizeof rules / sizeof *rules; i++)
        why = add(rules[i].action, rules[i].name, rules[i].count, rules[i].argument);
    return why;
}

/* Makes the list. A call that is in neither `allowed` nor `refused` ends the process. */
static int fill(bool threads)
{
    filter = calls.seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter)
        return ENOMEM;
    /* With this attribute seccomp_load() returns the kernel's own errno. */
    int why = -calls.seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
    why = why ? why : add_conditions(threads);
    why = why ? why : add_all(SCMP_ACT_ALLOW, allowed);
    why = why ? why : add_all(SCMP_ACT_ERRNO(EACCES), refused);
    why = why ? why : add_all(with_names ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EACCES), reading);
    why = why || !with_names ? why : add_all(SCMP_ACT_ALLOW, "dup fadvise64");
    for (int call = SYS_landlock_create_ruleset;
         !why && with_names && call <= SYS_landlock_restrict_self; call++)
        why = -calls.seccomp_rule_add_exact_array(filter, SCMP_ACT_ALLOW, call, 0, NULL);
    /* The list cannot see the flags of clone3, which lie in memory. If it fails with ENOSYS the C
     * library calls clone. */
    return why ? why : add(SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
}

enum gf_status gf_cell_lock_prepare(bool threads, bool names, struct gf_error *error)
{
    with_names = names;
    GF_TRY(gf_library_load(&library, "a cell for decoders", GF_ERROR_UNAVAILABLE, error));
    const int why = fill(threads);
    return why ? gf_cell_fail_errno(why, "a list of system calls", error) : GF_OK;
}

enum gf_status gf_cell_lock(uint32_t *landlock, struct gf_error *error)
{
    const struct rlimit none = {0, 0};
    /* Signals may be sent to this process only, as abort() does. */
    const struct scmp_arg_cmp own = {0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0};
    *landlock = 0;
    if (!gf_cell_lock_is_real)
        return GF_OK;
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)setrlimit(RLIMIT_FSIZE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return gf_cell_fail_errno(errno, "no_new_privs", error);
    if (with_names)
        *landlock = (uint32_t)(landlock_version() > 0 ? landlock_version() : 0);
    else
        GF_TRY(forbid_files(NULL, landlock, error));
    int why = add(SCMP_ACT_ALLOW, "tgkill", 1, &own);
    why = why ? why : -calls.seccomp_load(filter);
    return why ? gf_cell_fail_errno(why, "the kernel or a container allows no list of system calls",
                                    error)
               : GF_OK;
}

enum gf_status gf_cell_lock_names(const char *file, const char *folder, struct gf_error *error)
{
    uint32_t landlock = 0;
    if (!gf_cell_lock_is_real)
        return GF_OK;
    GF_TRY(forbid_files((const char *const[]){file, folder}, &landlock, error));
    return landlock ? GF_OK
                    : gf_fail(error, GF_ERROR_MEMORY, "Landlock does not confine the decoder");
}

#else

enum gf_status gf_cell_lock_prepare(bool threads, bool names, struct gf_error *error)
{
    (void)threads;
    (void)names;
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "a cell for decoders: the program was built without libseccomp-dev");
}

enum gf_status gf_cell_lock(uint32_t *landlock, struct gf_error *error)
{
    *landlock = 0;
    return gf_cell_lock_prepare(false, false, error);
}

enum gf_status gf_cell_lock_names(const char *file, const char *folder, struct gf_error *error)
{
    (void)file;
    (void)folder;
    return gf_cell_lock_prepare(false, false, error);
}

#endif
