/* Writes an output and closes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/output_state.h"
#include "codec/io/spool.h"

enum { LARGE_BYTES = 128 << 10, RESERVED_FROM_BYTES = 16 << 20 };

int gf_output_descriptor(struct gf_output *output)
{
    if (output->in_memory && output->fd < 0)
        output->fd = memfd_create("output", MFD_CLOEXEC);
    return output->fd;
}

static void drop_memory(struct gf_output *output)
{
    if (!output->borrowed)
        free(output->memory);
    output->borrowed = false;
}

/* Reads what another process has written for an output in memory. */
static enum gf_status take_from_file(struct gf_output *output, size_t size, struct gf_error *error)
{
    drop_memory(output);
    output->memory = malloc(size);
    output->capacity = output->memory ? size : 0;
    if (!output->memory)
        return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory", output->name);
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(output->fd, output->memory + done, size - done, (off_t)done);
        if (n <= 0 && (!n || errno != EINTR))
            return gf_output_fail(output, error);
        done += n > 0 ? (size_t)n : 0;
    }
    return GF_OK;
}

enum gf_status gf_output_adopt(struct gf_output *output, int64_t size, struct gf_error *error)
{
    struct stat file;
    if (fstat(output->fd, &file))
        return gf_output_fail(output, error);
    if (size < 1 || file.st_size != size)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: has %lld bytes of %lld", output->name,
                       (long long)file.st_size, (long long)size);
    output->written = size;
    output->held = 0;
    return output->in_memory ? take_from_file(output, (size_t)size, error) : GF_OK;
}

void gf_output_set_options(struct gf_output *output, struct gf_output_options options)
{
    output->options = options;
}

int64_t gf_output_size(const struct gf_output *output)
{
    return output->written + (int64_t)output->held;
}

const char *gf_output_name(const struct gf_output *output)
{
    return output->name;
}

/* Makes room for so many bytes behind those that are written. */
static bool grow(struct gf_output *output, size_t size)
{
    const size_t needed = (size_t)output->written + size;
    if (needed <= output->capacity)
        return true;
    const size_t capacity = needed > 2 * output->capacity ? needed : 2 * output->capacity;
    unsigned char *const grown = realloc(output->borrowed ? NULL : output->memory, capacity);
    if (!grown)
        return false;
    if (output->borrowed && output->written)
        memcpy(grown, output->memory, (size_t)output->written);
    output->borrowed = false;
    output->memory = grown;
    output->capacity = capacity;
    return true;
}

static enum gf_status put_in_memory(struct gf_output *output, const void *data, size_t size,
                                    struct gf_error *error)
{
    if (!size)
        return GF_OK;
    if (!grow(output, size)) {
        output->failed = true;
        return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory", output->name);
    }
    unsigned char *const to = output->memory + output->written;
    if (data != to)
        memcpy(to, data, size);
    output->written += (int64_t)size;
    return GF_OK;
}

static enum gf_status put(struct gf_output *output, const void *data, size_t size,
                          struct gf_error *error)
{
    if (output->in_memory)
        return put_in_memory(output, data, size, error);
    if (gf_reservation_write(output->reservation, data, size, output->written, output->threads) ||
        gf_write_fully(output->fd, data, size)) {
        output->written += (int64_t)size;
        return GF_OK;
    }
    output->failed = true;
    if (output->target || output->foreign)
        return gf_output_fail(output, error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot be held back in %s: %s", output->name,
                   gf_spool_folder(), strerror(errno));
}

static enum gf_status flush(struct gf_output *output, struct gf_error *error)
{
    const size_t held = output->held;
    output->held = 0;
    return put(output, output->buffer, held, error);
}

void gf_output_borrow(struct gf_output *output, void *memory, size_t size)
{
    drop_memory(output);
    output->memory = memory;
    output->capacity = size;
    output->borrowed = true;
}

unsigned char *gf_output_lend(struct gf_output *output, size_t size)
{
    if (!output->in_memory || size < LARGE_BYTES || flush(output, NULL) || !grow(output, size))
        return NULL;
    return output->memory + output->written;
}

static bool is_too_large(const struct gf_output *output, uint64_t more)
{
    const uint64_t most = output->options.max_bytes,
                   size = output->options.bytes_before + (uint64_t)gf_output_size(output);
    return most && (size > most || more > most - size);
}

void gf_output_expect(struct gf_output *output, int64_t size, int threads)
{
    if (output->in_memory && !is_too_large(output, (uint64_t)size))
        (void)grow(output, output->held + (size_t)size); /* without memory, writing will fail */
    if (output->fd < 0 || output->reservation || is_too_large(output, (uint64_t)size) ||
        size < RESERVED_FROM_BYTES || threads == 1)
        return;
    output->threads = threads;
    output->reservation = gf_reservation_begin(output->fd, gf_output_size(output), size, threads);
}

static void end_reservation(struct gf_output *output)
{
    gf_reservation_end(output->reservation, output->written);
    output->reservation = NULL;
}

enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error)
{
    if (is_too_large(output, size)) {
        output->failed = true;
        return gf_fail(error, GF_ERROR_UNFIT, "%s: is over options.max_output_bytes=%llu%s",
                       output->name, (unsigned long long)output->options.max_bytes,
                       output->options.bytes_before ? " with the input's pictures before it" : "");
    }
    if (size >= LARGE_BYTES || output->held + size > output->buffer_bytes) {
        GF_TRY(flush(output, error));
    }
    /* A large piece is written without being copied to the buffer first. */
    if (size >= LARGE_BYTES || size > output->buffer_bytes)
        return put(output, data, size, error);
    memcpy(output->buffer + output->held, data, size);
    output->held += size;
    return GF_OK;
}

/* Writes bytes that `from` has, or reads bytes `to`, of what was written before. */
static enum gf_status access_at(struct gf_output *output, int64_t offset, const char *from,
                                char *to, size_t size, struct gf_error *error)
{
    GF_TRY(flush(output, error));
    if (!size)
        return GF_OK;
    if (offset < 0 || offset + (int64_t)size > output->written)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: bytes beyond its end", output->name);
    if (output->in_memory) {
        memcpy(from ? (char *)output->memory + offset : to,
               from ? from : (char *)output->memory + offset, size);
        return GF_OK;
    }
    for (size_t done = 0; done < size;) {
        const int64_t at = offset + (int64_t)done;
        const ssize_t n = from ? pwrite(output->fd, from + done, size - done, at)
                               : pread(output->fd, to + done, size - done, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output->failed |= from != NULL;
            return gf_output_fail(output, error);
        }
        done += (size_t)n;
    }
    return GF_OK;
}

enum gf_status gf_output_write_at(struct gf_output *output, int64_t offset, const void *data,
                                  size_t size, struct gf_error *error)
{
    return access_at(output, offset, data, NULL, size, error);
}

enum gf_status gf_output_read_at(struct gf_output *output, int64_t offset, void *data, size_t size,
                                 struct gf_error *error)
{
    return access_at(output, offset, NULL, data, size, error);
}

enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error)
{
    end_reservation(output);
    output->held = 0;
    output->written = 0;
    output->failed = false;
    if (output->in_memory)
        return GF_OK;
    if (ftruncate(output->fd, 0) || lseek(output->fd, 0, SEEK_SET) < 0)
        return gf_output_fail(output, error);
    return GF_OK;
}

enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error)
{
    if (output->failed)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: was not written completely", output->name);
    const enum gf_status status = flush(output, error);
    end_reservation(output);
    if (status || output->in_memory || output->foreign)
        return status;
    return gf_output_put_in_place(output, error);
}

void *gf_output_take(struct gf_output *output, size_t *size)
{
    void *const memory = output->memory;
    *size = (size_t)output->written;
    output->memory = NULL;
    output->written = 0;
    output->capacity = 0;
    return memory;
}

void gf_output_close(struct gf_output *output)
{
    if (!output)
        return;
    end_reservation(output);
    gf_temporary_end(&output->temporary, true);
    if (output->fd >= 0)
        close(output->fd);
    drop_memory(output);
    free(output->target);
    free(output->name);
    free(output);
}
