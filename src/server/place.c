/* Hashes of what client and server must have in common; the folder and the socket of a server, and
 * checks of who may use them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/process/program.h"
#include "server/protocol.h"
#include "server/server.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return gf_hash(hash, text, strlen(text) + 1);
}

static uint64_t build_of_this(void)
{
    char id[GF_BUILD_ID_SIZE];
    return hash_text(GF_HASH_START + GF_SERVER_VERSION, gf_build_id(id));
}

static uint64_t hash_gpu(uint64_t hash, const char *bus)
{
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%.200s/information", bus);
    hash = hash_text(hash, bus);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strstr(line, "UUID") || strstr(line, "Minor"))
            hash = hash_text(hash, line);
    }
    if (file)
        fclose(file);
    return hash;
}

/* Returns a hash of the GPUs that CUDA sees. CUDA numbers the devices that these variables leave
 * visible, always in the same way. */
static uint64_t gpus(void)
{
    static const char *const names[] = {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
                                        "CUDA_MPS_PIPE_DIRECTORY"};
    const char *const visible = gf_visible_variable();
    uint64_t hash = hash_text(GF_HASH_START, visible ? visible : "\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        /* "\n" stands for an unset variable, since "" hides all devices. */
        hash = hash_text(hash, value ? value : "\n");
    }
    struct dirent **entry = NULL;
    const int count = scandir("/proc/driver/nvidia/gpus", &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entry[i]->d_name[0] != '.')
            hash = hash_gpu(hash, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return hash;
}

void gf_server_shorten_cgroup(char *line, unsigned user)
{
    char name[40];
    const int length = snprintf(name, sizeof name, "/user-%u.slice", user);
    char *const found = strstr(line, name);
    if (found && (found[length] == '/' || found[length] == '\n' || !found[length]))
        found[length] = '\0';
}

static uint64_t cgroups(uint64_t hash)
{
    char line[4096];
    const ssize_t length = readlink("/proc/self/ns/cgroup", line, sizeof line - 1);
    line[length > 0 ? length : 0] = '\0';
    hash = hash_text(hash, line);
    FILE *const file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        gf_server_shorten_cgroup(line, getuid());
        hash = hash_text(hash, line);
    }
    if (file)
        fclose(file);
    return hash;
}

static uint64_t limits(uint64_t hash)
{
    static const int kinds[] = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit limit = {0};
        if (!getrlimit((__rlimit_resource_t)kinds[i], &limit))
            hash = gf_hash(hash, &limit.rlim_cur, sizeof limit.rlim_cur);
    }
    return hash;
}

static uint64_t processors(uint64_t hash)
{
    enum { MOST = 8192 };
    unsigned char set[MOST / 8] = {0};
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)set))
        return hash;
    return gf_hash(hash, set, sizeof set);
}

void gf_server_identify(struct gf_server_identity *identity)
{
    *identity = (struct gf_server_identity){.build = build_of_this(),
                                            .gpu = gpus(),
                                            .place = processors(limits(cgroups(GF_HASH_START)))};
}

/* The name of the socket that systemd makes (samples/systemd). */
static const char activated_name[] = "server";

enum { BACKLOG = 1024, FIRST_HANDED_OVER = 3 };

void gf_server_folder_path(char *path, size_t size)
{
    const char *const runtime = getenv("XDG_RUNTIME_DIR");
    struct stat folder;
    if (runtime && *runtime == '/' && !lstat(runtime, &folder) && S_ISDIR(folder.st_mode) &&
        folder.st_uid == geteuid() && !(folder.st_mode & 022))
        snprintf(path, size, "%s/gpufilter", runtime);
    else
        snprintf(path, size, "/tmp/gpufilter-%u", (unsigned)geteuid());
}

int gf_server_folder_open(const char *path, bool make)
{
    struct stat folder;
    if (make && mkdir(path, 0700) && errno != EEXIST)
        return -1;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            errno = EPERM;
        return -1;
    }
    if (!fstat(fd, &folder) && folder.st_uid == geteuid() && !(folder.st_mode & 077))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static int own_folder(bool make)
{
    char path[4096];
    gf_server_folder_path(path, sizeof path);
    return gf_server_folder_open(path, make);
}

/* Returns the address of a socket in the open folder, by a path under /proc/self/fd: it is short
 * enough for an address, and nobody can put another folder in the folder's place. */
static struct sockaddr_un address_of(int folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.40s", folder, name);
    return address;
}

static void name_of(uint64_t build, char *name, size_t size)
{
    snprintf(name, size, "server-%016" PRIx64, build);
}

static enum gf_status fail_errno(const char *what, struct gf_error *error)
{
    char path[300];
    const int number = errno;
    gf_server_folder_path(path, sizeof path);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s: %s", path, what,
                   number == EPERM ? "it is not a folder of this user alone (mode 0700)"
                                   : strerror(number));
}

bool gf_server_is_helper(void)
{
    const char *const parent = getenv(GF_HELPER_VARIABLE);
    if (!parent)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (atol(parent) != (long)getppid())
        _exit(0); /* the parent has already ended */
    return true;
}

/* Whether a service manager hands over a listening socket, as sd_listen_fds(3) describes. */
static bool is_activated(void)
{
    const char *const process = getenv("LISTEN_PID"), *const count = getenv("LISTEN_FDS");
    return process && count && atol(process) == (long)getpid() && atoi(count) == 1;
}

/* Returns the listening socket of a service manager, or of the process that a helper works for; -1:
 * there is none. */
static int handed_over(void)
{
    int type = 0, listens = 0;
    socklen_t size = sizeof type;
    if (!is_activated() && !gf_server_is_helper())
        return -1;
    if (getsockopt(FIRST_HANDED_OVER, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
        return -1;
    size = sizeof listens;
    if (getsockopt(FIRST_HANDED_OVER, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
        return -1;
    fcntl(FIRST_HANDED_OVER, F_SETFD, FD_CLOEXEC);
    fcntl(FIRST_HANDED_OVER, F_SETFL, fcntl(FIRST_HANDED_OVER, F_GETFL) | O_NONBLOCK);
    return FIRST_HANDED_OVER;
}

enum gf_status gf_server_place_take(uint64_t build, struct gf_server_place *place,
                                    struct gf_error *error)
{
    char lock[sizeof place->name + 8];
    *place = (struct gf_server_place){.folder = -1, .lock = -1, .listener = handed_over()};
    if (place->listener >= 0)
        return GF_OK;
    place->folder = own_folder(true);
    if (place->folder < 0)
        return fail_errno("the server's folder", error);
    name_of(build, place->name, sizeof place->name);
    snprintf(lock, sizeof lock, "%s.lock", place->name);
    place->lock = openat(place->folder, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (place->lock < 0)
        return fail_errno(lock, error);
    if (!flock(place->lock, LOCK_EX | LOCK_NB))
        return GF_OK;
    place->name[0] = '\0'; /* the socket belongs to the other server */
    return errno == EWOULDBLOCK ? gf_fail(error, GF_ERROR_USAGE, "a server runs already")
                                : fail_errno(lock, error);
}

enum gf_status gf_server_place_listen(struct gf_server_place *place, struct gf_error *error)
{
    if (place->listener >= 0)
        return GF_OK;
    const struct sockaddr_un address = address_of(place->folder, place->name);
    /* Removes a socket that was left behind: the process that made it has ended, since this process
     * has the lock. */
    (void)unlinkat(place->folder, place->name, 0);
    place->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (place->listener < 0 ||
        bind(place->listener, (const struct sockaddr *)&address, sizeof address) ||
        listen(place->listener, BACKLOG))
        return fail_errno(place->name, error);
    return GF_OK;
}

void gf_server_place_close_listener(struct gf_server_place *place)
{
    if (place->listener >= 0)
        close(place->listener);
    place->listener = -1;
    if (place->folder >= 0 && place->name[0])
        (void)unlinkat(place->folder, place->name, 0);
    place->name[0] = '\0';
}

void gf_server_place_leave(struct gf_server_place *place)
{
    gf_server_place_close_listener(place);
    if (place->lock >= 0)
        close(place->lock);
    if (place->folder >= 0)
        close(place->folder);
    place->lock = place->folder = -1;
}

bool gf_server_is_own(int socket)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

static int connect_to(int folder, const char *name)
{
    const struct sockaddr_un address = address_of(folder, name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (!connect(fd, (const struct sockaddr *)&address, sizeof address)) {
        if (gf_server_is_own(fd))
            return fd;
        errno = EPERM;
    }
    const int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int gf_server_place_connect(void)
{
    char name[40];
    const int folder = own_folder(false);
    if (folder < 0)
        return -1;
    name_of(build_of_this(), name, sizeof name);
    int fd = connect_to(folder, name);
    if (fd < 0)
        fd = connect_to(folder, activated_name);
    const int number = errno;
    close(folder);
    errno = number;
    return fd;
}
