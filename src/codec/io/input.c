/* Reads an input through a buffer, and moves back in it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/input_state.h"
#include "codec/io/transfer.h"

/* Copies bytes in memory into a file that is in memory, too. */
static enum gf_status put_in_file(struct gf_input *input, struct gf_error *error)
{
    input->fd = memfd_create("input", MFD_CLOEXEC);
    input->opened = input->fd >= 0;
    const int64_t end = input->base + input->size;
    for (int64_t done = input->base; input->opened && done < end;) {
        const ssize_t n = pwrite(input->fd, input->memory + done, (size_t)(end - done), done);
        if (n <= 0 && errno != EINTR)
            return gf_fail(error, GF_ERROR_READ, "%s: a copy: %s", input->name, strerror(errno));
        done += n > 0 ? n : 0;
    }
    return GF_OK;
}

enum gf_status gf_input_descriptor(struct gf_input *input, int *descriptor, int64_t *offset,
                                   struct gf_error *error)
{
    *descriptor = -1;
    if (!input->regular && input->spool >= 0)
        GF_TRY(gf_input_become_regular(input, UINT64_MAX, error));
    if (input->memory && input->fd < 0)
        GF_TRY(put_in_file(input, error));
    if (input->regular && input->size >= 0) {
        *descriptor = input->fd;
        *offset = input->base;
    }
    return GF_OK;
}

void gf_input_go_to(struct gf_input *input, int64_t position)
{
    input->position = position;
    input->first = input->end = 0;
    input->at_end = input->given_back = false;
}

void gf_input_narrow(struct gf_input *input, int64_t position, int64_t size)
{
    gf_input_go_to(input, position);
    gf_input_start_here(input);
    input->size = size;
    input->narrowed = true;
    input->pages = (struct gf_pages){-1, -1};
}

void gf_input_close(struct gf_input *input)
{
    if (!input)
        return;
    if (input->opened && input->fd >= 0)
        close(input->fd);
    if (input->spool >= 0)
        close(input->spool);
    gf_crew_free(input->crew);
    free(input->name);
    free(input);
}

struct gf_said *gf_input_said(struct gf_input *input)
{
    return &input->said;
}

const char *gf_input_name(const struct gf_input *input)
{
    return input->name;
}

void gf_input_choose_pages(struct gf_input *input, struct gf_pages pages)
{
    input->pages = pages;
}

struct gf_pages gf_input_pages(const struct gf_input *input)
{
    return input->pages;
}

int gf_input_page(const struct gf_input *input)
{
    return input->pages.first;
}

bool gf_input_is_part(const struct gf_input *input)
{
    return input->narrowed;
}

int64_t gf_input_size(const struct gf_input *input)
{
    return input->size;
}

void gf_input_set_threads(struct gf_input *input, int threads)
{
    input->threads = threads;
}

enum gf_status gf_input_read(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error)
{
    unsigned char *to = data;
    enum gf_status status = GF_OK;
    *got = 0;
    while (!status && *got < size) {
        size_t n = input->end - input->first;
        if (n) {
            n = n < size - *got ? n : size - *got;
            memcpy(to + *got, input->buffer + input->first, n);
            input->first += n;
        } else if (size - *got >= GF_INPUT_BUFFER_BYTES) {
            status = gf_input_read_next(input, to + *got, size - *got, &n, error);
        } else {
            status =
                gf_input_read_next(input, input->buffer, GF_INPUT_BUFFER_BYTES, &input->end, error);
            input->first = 0;
            if (input->end)
                continue;
        }
        if (!n)
            break;
        *got += n;
    }
    return status;
}

enum gf_status gf_input_read_some(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error)
{
    if (input->first == input->end) {
        const enum gf_status status =
            gf_input_read_next(input, input->buffer, GF_INPUT_BUFFER_BYTES, &input->end, error);
        input->first = 0;
        if (status)
            return status;
    }
    *got = input->end - input->first < size ? input->end - input->first : size;
    memcpy(data, input->buffer + input->first, *got);
    input->first += *got;
    return GF_OK;
}

bool gf_input_wait(const struct gf_input *input, int milliseconds)
{
    struct pollfd stream = {.fd = input->fd, .events = POLLIN};
    return input->regular || input->reader || input->first != input->end ||
           poll(&stream, 1, milliseconds) > 0;
}

enum gf_status gf_input_peek(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error)
{
    enum gf_status status = GF_OK;
    size_t n = 1;
    if (input->end - input->first < size) {
        memmove(input->buffer, input->buffer + input->first, input->end - input->first);
        input->end -= input->first;
        input->first = 0;
    }
    while (!status && n && input->end - input->first < size && input->end < GF_INPUT_BUFFER_BYTES) {
        status = gf_input_read_next(input, input->buffer + input->end,
                                    GF_INPUT_BUFFER_BYTES - input->end, &n, error);
        input->end += n;
    }
    *got = input->end - input->first < size ? input->end - input->first : size;
    memcpy(data, input->buffer + input->first, *got);
    return status;
}

enum gf_status gf_input_rewind(struct gf_input *input, struct gf_error *error)
{
    const bool all_buffered = !input->given_back && input->position == (int64_t)input->end;
    if (all_buffered) {
        input->first = 0;
        return GF_OK;
    }
    if (!input->regular && input->spool < 0)
        return gf_fail(error, GF_ERROR_READ, "%s: cannot be read a second time: %s", input->name,
                       input->spool_errno ? strerror(input->spool_errno) : "it was not kept");
    gf_input_go_to(input, 0);
    return GF_OK;
}

enum gf_status gf_input_give_back(struct gf_input *input, const void *data, size_t size,
                                  struct gf_error *error)
{
    const size_t left = input->end - input->first;
    if (size <= input->first) {
        input->first -= size;
        return GF_OK;
    }
    if (left + size > sizeof input->buffer)
        return gf_fail(error, GF_ERROR_READ, "%s: too much was read ahead", input->name);
    memmove(input->buffer + size, input->buffer + input->first, left);
    memcpy(input->buffer, data, size);
    input->first = 0;
    input->end = size + left;
    input->given_back = true;
    return GF_OK;
}

void gf_input_start_here(struct gf_input *input)
{
    const size_t left = input->end - input->first;
    const int64_t taken = input->position - (int64_t)left;
    memmove(input->buffer, input->buffer + input->first, left);
    if (input->regular) {
        input->base += taken;
        input->size -= input->size < 0 ? 0 : taken;
    } else if (input->spool >= 0) {
        gf_input_keep_from_here(input, taken, left);
    }
    input->position = (int64_t)left;
    input->first = 0;
    input->end = left;
    input->given_back = false;
}

bool gf_input_is_stream(const struct gf_input *input)
{
    return !input->regular;
}

int64_t gf_input_position(const struct gf_input *input)
{
    return input->position - (int64_t)(input->end - input->first);
}

static enum gf_status fail_shorter(const struct gf_input *input, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_READ, "%s: became shorter while it was read", input->name);
}

enum gf_status gf_input_check_size(const struct gf_input *input, struct gf_error *error)
{
    struct stat file;
    return input->regular && !input->memory && !fstat(input->fd, &file) &&
                   file.st_size < input->base + input->size
               ? fail_shorter(input, error)
               : GF_OK;
}

enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error)
{
    size_t got;
    const size_t size = (size_t)input->size;
    /* The buffer may still hold the beginning of the file, which is then not read again. If the
     * file has grown since it was opened, there may be more than its size. */
    const bool is_there = !input->given_back && input->position == (int64_t)input->end;
    const size_t held = !is_there ? 0 : input->end < size ? input->end : size;
    memcpy(data, input->buffer, held);
    GF_TRY(gf_input_read_at(input, (int64_t)held, (char *)data + held, size - held, &got, error));
    return (int64_t)(held + got) < input->size ? fail_shorter(input, error) : GF_OK;
}
