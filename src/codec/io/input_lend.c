/* Lends an input's bytes to another process, as a descriptor that can only be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/input_state.h"

/* A descriptor of the same file that can only be read. */
static int read_only(int fd)
{
    char path[40];
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return fcntl(fd, F_DUPFD_CLOEXEC, 3);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Keeps a stream from its first byte on in memory, and reads it to its end. */
static enum gf_status hold(struct gf_input *input, uint64_t most, struct gf_error *error)
{
    if (input->regular && lseek(input->fd, input->base + input->position, SEEK_SET) < 0)
        return gf_input_fail(input, error);
    input->regular = false; /* a file of /proc, whose size is not known before */
    if (input->spool < 0 && !input->spool_errno &&
        input->position == (int64_t)input->end) { /* the buffer has all bytes so far */
        input->spool = memfd_create("input", MFD_CLOEXEC);
        input->spool_errno = input->spool < 0 ? errno : 0;
        gf_input_keep(input, input->buffer, input->end);
    }
    return gf_input_become_regular(input, most, error);
}

enum gf_status gf_input_lend(struct gf_input *input, uint64_t most, struct gf_input_loan *loan,
                             struct gf_error *error)
{
    int fd = -1;
    *loan = (struct gf_input_loan){.descriptor = -1};
    if (!input->regular || input->size < 0)
        GF_TRY(hold(input, most, error));
    GF_TRY(gf_input_descriptor(input, &fd, &loan->offset, error));
    loan->descriptor = fd < 0 ? -1 : read_only(fd);
    loan->size = input->size;
    loan->copied = input->memory ? (uint64_t)input->size : 0;
    return loan->descriptor < 0 ? gf_input_fail(input, error) : GF_OK;
}
