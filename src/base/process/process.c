/* Starts other processes, and exchanges messages and descriptors with them. */
#include "base/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(GF_SOCKET_DESCRIPTORS_MAX * sizeof(int))];
    struct cmsghdr align;
};

bool gf_socket_send(int socket, const void *message, size_t size, const int *descriptor, int count,
                    int flags)
{
    union control control;
    struct iovec part = {.iov_base = (void *)message, .iov_len = size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(rights), descriptor, (size_t)count * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

/* Stores the descriptors that came with a message. Returns false, and closes those that do not fit,
 * if there are more than `places`. */
static bool take_descriptors(struct msghdr *header, int *descriptor, int places)
{
    int count = 0;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < (at->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++, count++) {
            int came;
            memcpy(&came, CMSG_DATA(at) + i * sizeof came, sizeof came);
            if (count < places)
                descriptor[count] = came;
            else
                close(came);
        }
    }
    return count <= places;
}

void gf_close_descriptors(int *descriptor, int count)
{
    for (int i = 0; i < count; i++) {
        if (descriptor[i] >= 0)
            close(descriptor[i]);
        descriptor[i] = -1;
    }
}

size_t gf_socket_receive(int socket, void *message, size_t size, int *descriptor, int places,
                         int flags)
{
    union control control;
    struct iovec part = {.iov_base = message, .iov_len = size};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control};
    ssize_t got;
    for (int i = 0; i < places; i++)
        descriptor[i] = -1;
    do
        got = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno == EWOULDBLOCK)
            errno = EAGAIN;
        return 0;
    }
    /* An empty message counts as a hang-up, and may come with descriptors, too. */
    if (take_descriptors(&header, descriptor, places) && got &&
        !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return (size_t)got;
    gf_close_descriptors(descriptor, places);
    errno = got ? EPROTO : 0;
    return 0;
}

enum { STREAMS = 3 };

static int set_files(posix_spawn_file_actions_t *files, const struct gf_spawn *spawn,
                     const int *handed)
{
    const int first = spawn->is_tool ? STDOUT_FILENO : STREAMS, end = first + spawn->count;
    int why = 0;
    for (int fd = 0; !why && fd < STREAMS; fd++)
        why = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
    for (int i = 0; !why && i < spawn->count; i++)
        why = posix_spawn_file_actions_adddup2(files, handed[i], first + i);
    why =
        why ? why : posix_spawn_file_actions_addclosefrom_np(files, end > STREAMS ? end : STREAMS);
    return why || spawn->is_tool ? why : posix_spawn_file_actions_addchdir_np(files, "/");
}

static void set_signals(posix_spawnattr_t *attributes, short apart)
{
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    posix_spawnattr_setflags(attributes,
                             (short)(apart | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
}

pid_t gf_spawn(const struct gf_spawn *spawn)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int handed[GF_SPAWN_HANDED_MAX] = {-1, -1}; /* copies with high numbers, which the descriptors 0
                                                 * to 4 of the new process do not overwrite */
    pid_t process = -1;
    int why = 0;
    for (int i = 0; !why && i < spawn->count; i++) {
        handed[i] = fcntl(spawn->handed[i], F_DUPFD_CLOEXEC, STREAMS + spawn->count);
        why = handed[i] < 0 ? errno : 0;
    }
    if (!why && !(why = posix_spawn_file_actions_init(&files))) {
        if (!(why = posix_spawnattr_init(&attributes))) {
            set_signals(&attributes, spawn->apart);
            why = set_files(&files, spawn, handed);
            if (!why)
                why = (spawn->is_tool ? posix_spawnp : posix_spawn)(
                    &process, spawn->program ? spawn->program : "/proc/self/exe", &files,
                    &attributes, spawn->arguments, spawn->environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&files);
    }
    gf_close_descriptors(handed, spawn->count);
    errno = why;
    return why ? -1 : process;
}
