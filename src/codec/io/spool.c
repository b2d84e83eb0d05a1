#include "codec/io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
