#include "base/socket.h"

#include <errno.h>
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

/* False if more descriptors came than there are places; those beyond are closed. */
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
