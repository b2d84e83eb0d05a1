#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_steps.h"

#include <errno.h>

#include "base/fail.h"

static void pass(struct passage *passage, const void *block, size_t size)
{
    const char *const bytes = block;
    size_t end = size;
    while (end && !bytes[end - 1])
        end--;
    if (end)
        passage->zeros_from = passage->bytes + (int64_t)end;
    passage->bytes += (int64_t)size;
}

/* Sets the error of a step to the input's. */
static ssize_t fail_step(const struct gf_archive_reader *reader, struct archive *archive)
{
    gf_archive_calls.archive_set_error(archive, EIO, "%s", reader->error.text);
    return -1;
}

/* Gives the next bytes of the input to the first step. */
static ssize_t read_block(struct archive *archive, void *context, const void **block)
{
    struct gf_archive_reader *const reader = context;
    enum { LOOK_MS = 100 };
    size_t got = 0;
    while (!reader->cancelled && !gf_input_wait(reader->input, LOOK_MS))
        continue;
    if (reader->cancelled)
        return ARCHIVE_FATAL;
    reader->status = gf_input_read_some(reader->input, reader->block, sizeof reader->block, &got,
                                        &reader->error);
    *block = reader->block;
    reader->ended = !reader->status && !got;
    pass(&reader->into, reader->block, got);
    return reader->status ? fail_step(reader, archive) : (ssize_t)got;
}

/* Gives the next unpacked bytes to the second step. */
static ssize_t read_unpacked(struct archive *archive, void *context, const void **block)
{
    struct gf_archive_reader *const reader = context;
    size_t size = 0;
    la_int64_t offset;
    int code = ARCHIVE_OK;
    while (code == ARCHIVE_OK && !size)
        code = gf_archive_calls.archive_read_data_block(reader->unpacked, block, &size, &offset);
    if (code == ARCHIVE_EOF)
        return 0;
    if (code < ARCHIVE_WARN) {
        const char *const why = gf_archive_calls.archive_error_string(reader->unpacked);
        gf_archive_calls.archive_set_error(archive, EIO, "%s", why ? why : "cannot be unpacked");
        return -1;
    }
    pass(&reader->out, *block, size);
    return (ssize_t)size;
}

/* Gives the next bytes of a file that is not packed to the second step. A large member is passed
 * over, so that few bytes are read at a time. */
static ssize_t read_direct(struct archive *archive, void *context, const void **block)
{
    enum { BYTES = 16 << 10 };
    struct gf_archive_reader *const reader = context;
    size_t got = 0;
    if (reader->cancelled)
        return ARCHIVE_FATAL;
    reader->status = gf_input_read_at(reader->input, reader->into.bytes, reader->block, BYTES, &got,
                                      &reader->error);
    if (reader->status)
        return fail_step(reader, archive);
    *block = reader->block;
    reader->ended = !got;
    pass(&reader->into, reader->block, got);
    reader->out = reader->into;
    return (ssize_t)got;
}

/* Passes over bytes of a member in a file that is not packed. */
static la_int64_t skip_direct(struct archive *archive, void *context, la_int64_t request)
{
    struct gf_archive_reader *const reader = context;
    const int64_t left = gf_input_size(reader->input) - reader->into.bytes;
    const int64_t skipped = request < left ? request : left;
    (void)archive;
    if (skipped <= 0)
        return 0;
    reader->into.bytes += skipped;
    reader->into.zeros_from = reader->into.bytes;
    reader->out = reader->into;
    return skipped;
}

/* The status of damage: bad input, unless another try may bring what follows the end of what is
 * known to be an archive. */
static enum gf_status status_of_damage(const struct gf_archive_reader *reader)
{
    return reader->ended && !reader->uncut && *reader->member ? GF_ERROR_READ : GF_ERROR_INPUT;
}

enum gf_status gf_archive_fail_reading(const struct gf_archive_reader *reader,
                                       struct gf_error *error)
{
    const char *why = gf_archive_calls.archive_error_string(reader->archive);
    if (!why && reader->unpacked)
        why = gf_archive_calls.archive_error_string(reader->unpacked);
    if (!reader->status)
        return gf_fail(error, status_of_damage(reader), "%s: damaged archive: %s%s%s%s",
                       gf_input_name(reader->input), why ? why : "it ends early",
                       *reader->member ? ", at or after '" : "", reader->member,
                       *reader->member ? "'" : "");
    *error = reader->error;
    return reader->status;
}

/* Lists the packers by name. The list "all" would include uuencoded files, for which libarchive 3.8
 * waits for 128 kB of a pipe. A library that was built without a packer runs a program instead,
 * which is no error. */
static void support_packers(struct archive *archive)
{
    (void)gf_archive_calls.archive_read_support_filter_bzip2(archive);
    (void)gf_archive_calls.archive_read_support_filter_gzip(archive);
    (void)gf_archive_calls.archive_read_support_filter_lz4(archive);
    (void)gf_archive_calls.archive_read_support_filter_xz(archive);
    (void)gf_archive_calls.archive_read_support_filter_zstd(archive);
}

/* Opens the second step. A file that is not packed is read again from its start, without the first
 * step. */
static enum gf_status open_second_step(struct gf_archive_reader *reader, struct gf_error *error)
{
    reader->packed = gf_archive_calls.archive_filter_count(reader->unpacked) > 1;
    if (reader->packed || gf_input_size(reader->input) < 0)
        return gf_archive_calls.archive_read_open2(reader->archive, reader, NULL, read_unpacked,
                                                   NULL, NULL)
                   ? gf_archive_fail_reading(reader, error)
                   : GF_OK;
    gf_archive_calls.archive_read_free(reader->unpacked);
    reader->unpacked = NULL;
    reader->into = (struct passage){0};
    return gf_archive_calls.archive_read_open2(reader->archive, reader, NULL, read_direct,
                                               skip_direct, NULL)
               ? gf_archive_fail_reading(reader, error)
               : GF_OK;
}

enum gf_status gf_archive_open_steps(struct gf_archive_reader *reader, struct gf_error *error)
{
    struct archive *const unpacked = reader->unpacked = gf_archive_calls.archive_read_new();
    struct archive *const archive = reader->archive = gf_archive_calls.archive_read_new();
    struct archive_entry *const whole = gf_archive_calls.archive_entry_new();
    enum gf_status status = unpacked && archive && whole ? GF_OK : gf_fail_memory(error);
    if (!status) {
        support_packers(unpacked);
        (void)gf_archive_calls.archive_read_support_format_raw(unpacked);
        (void)gf_archive_calls.archive_read_support_format_tar(archive);
        status =
            gf_archive_calls.archive_read_open2(unpacked, reader, NULL, read_block, NULL, NULL) ||
                    gf_archive_calls.archive_read_next_header2(unpacked, whole)
                ? gf_archive_fail_reading(reader, error)
                : open_second_step(reader, error);
    }
    if (whole)
        gf_archive_calls.archive_entry_free(whole);
    return status;
}

enum gf_status gf_archive_end(struct gf_archive_reader *reader, bool *more, struct gf_error *error)
{
    const int64_t end = gf_archive_calls.archive_read_header_position(reader->archive);
    const void *block;
    ssize_t got;
    *more = false;
    while ((got = reader->unpacked ? read_unpacked(reader->archive, reader, &block)
                                   : read_direct(reader->archive, reader, &block)) > 0)
        continue;
    if (!got && reader->unpacked) {
        while ((got = read_block(reader->unpacked, reader, &block)) > 0)
            continue;
    }
    if (got < 0)
        return gf_archive_fail_reading(reader, error);
    const int64_t packed =
        reader->unpacked ? gf_archive_calls.archive_filter_bytes(reader->unpacked, -1) : end;
    *more = reader->out.zeros_from > end || reader->into.zeros_from > packed;
    if (reader->out.bytes > end)
        return GF_OK;
    return gf_fail(error, status_of_damage(reader),
                   "%s: ends without a tar archive's end marker: it may have been cut",
                   gf_input_name(reader->input));
}
#endif
