/* Bytes under a path, without a file: for what only reads by name. */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static int fuzz_fd = -1;

/* The path of a file in memory that holds these bytes, until the next call. */
FUZZ_UNUSED static const char *fuzz_path(const void *data, size_t size)
{
    static char path[40];
    if (fuzz_fd < 0) {
        fuzz_fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_fd);
    }
    FUZZ_CHECK(!ftruncate(fuzz_fd, 0) && pwrite(fuzz_fd, data, size, 0) == (ssize_t)size,
               "a file in memory");
    return path;
}
