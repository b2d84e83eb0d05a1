/* Reads an archive member by member. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/names/archive_name.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_steps.h"

void gf_archive_reader_cancel(struct gf_archive_reader *reader)
{
    reader->cancelled = true;
}

bool gf_archive_reader_file(const struct gf_archive_reader *reader, struct stat *file)
{
    int descriptor;
    int64_t offset;
    return !gf_input_descriptor(reader->input, &descriptor, &offset, &(struct gf_error){0}) &&
           descriptor >= 0 && !fstat(descriptor, file);
}

int64_t gf_archive_reader_size(const struct gf_archive_reader *reader)
{
    return reader->packed ? -1 : gf_input_size(reader->input);
}

/* Opens a reader. The reader owns the input from then on, even after a failure. */
static enum gf_status open_reader(struct gf_input *input, int64_t start, bool uncut,
                                  struct gf_archive_reader **reader, struct gf_error *error)
{
    struct gf_archive_reader *const opened = calloc(1, sizeof *opened);
    if (!opened) {
        gf_input_close(input);
        return gf_fail_memory(error);
    }
    opened->input = input;
    opened->start = start;
    opened->uncut = uncut;
    const enum gf_status status = gf_archive_open_steps(opened, error);
    if (status) {
        gf_archive_reader_close(opened);
        return status;
    }
    *reader = opened;
    return GF_OK;
}

enum gf_status gf_archive_reader_open(const char *argument, struct gf_archive_reader **reader,
                                      struct gf_error *error)
{
    struct gf_input *input;
    enum gf_status status = gf_archive_load(argument, error);
    *reader = NULL;
    if (!status)
        status = gf_input_open(gf_archive_path(argument), false, &input, error);
    return status ? status : open_reader(input, 0, gf_input_size(input) >= 0, reader, error);
}

enum gf_status gf_archive_reader_open_descriptor(int descriptor, const char *name, bool whole,
                                                 struct gf_archive_reader **reader,
                                                 struct gf_error *error)
{
    struct gf_input *input;
    enum gf_status status = gf_archive_load(name, error);
    *reader = NULL;
    if (status) {
        close(descriptor);
        return status;
    }
    status =
        gf_input_open_descriptor(descriptor, 0, (struct gf_pages){-1, -1}, name, &input, error);
    return status ? status : open_reader(input, 0, whole, reader, error);
}

enum gf_status gf_archive_reader_again(const struct gf_archive_reader *reader, int64_t position,
                                       struct gf_archive_reader **again, struct gf_error *error)
{
    struct gf_input *input;
    int descriptor;
    int64_t offset;
    const int64_t start = reader->packed ? 0 : position;
    *again = NULL;
    enum gf_status status = gf_input_descriptor(reader->input, &descriptor, &offset, error);
    const int own = status ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (!status && own < 0)
        status =
            gf_fail(error, GF_ERROR_READ, "%s: %s", gf_input_name(reader->input), strerror(errno));
    if (!status)
        status = gf_input_open_descriptor(own, offset + start, (struct gf_pages){-1, -1},
                                          gf_input_name(reader->input), &input, error);
    return status ? status : open_reader(input, start, reader->uncut, again, error);
}

int64_t gf_archive_position(const struct gf_archive_reader *reader)
{
    return reader->start + gf_archive_calls.archive_read_header_position(reader->archive);
}

void gf_archive_reader_close(struct gf_archive_reader *reader)
{
    if (!reader)
        return;
    if (reader->archive)
        gf_archive_calls.archive_read_free(reader->archive);
    if (reader->unpacked)
        gf_archive_calls.archive_read_free(reader->unpacked);
    if (reader->input)
        gf_input_close(reader->input);
    free(reader);
}

/* Makes a file whose name ends with a slash the folder that it stands for. libarchive itself does
 * so if the name is UTF-8. An archive that was written with such a file could not be read again. */
static void make_folder(const struct gf_archive_member *member)
{
    const size_t length = strlen(member->name);
    if (!length || member->name[length - 1] != '/' ||
        gf_archive_calls.archive_entry_filetype(member->header) != AE_IFREG)
        return;
    gf_archive_calls.archive_entry_set_filetype(member->header, AE_IFDIR);
    gf_archive_calls.archive_entry_set_size(member->header, 0);
}

/* Gives a member whose owner or group has a negative number to nobody. libarchive would write such
 * a number in a form that no program reads. */
static void bound_owner(struct archive_entry *header)
{
    enum { NOBODY = 65534 };
    if (gf_archive_calls.archive_entry_uid(header) < 0)
        gf_archive_calls.archive_entry_set_uid(header, NOBODY);
    if (gf_archive_calls.archive_entry_gid(header) < 0)
        gf_archive_calls.archive_entry_set_gid(header, NOBODY);
}

enum gf_status gf_archive_next(struct gf_archive_reader *reader, struct gf_archive_member *member,
                               bool *found, struct gf_error *error)
{
    *member = (struct gf_archive_member){.header = gf_archive_calls.archive_entry_new()};
    *found = false;
    if (!member->header)
        return gf_fail_memory(error);
    const int code = gf_archive_calls.archive_read_next_header2(reader->archive, member->header);
    const char *const name =
        code == ARCHIVE_EOF ? "" : gf_archive_calls.archive_entry_pathname(member->header);
    member->name = name ? strdup(name) : NULL;
    if (code == ARCHIVE_EOF) {
        gf_archive_member_free(member);
        return GF_OK;
    }
    if (code < ARCHIVE_WARN || !member->name) {
        const enum gf_status status = gf_archive_fail_reading(reader, error);
        gf_archive_member_free(member);
        return status;
    }
    if (code == ARCHIVE_WARN) {
        /* In the locale C libarchive converts no name, and leaves its bytes as they are. In a
         * locale of UTF-8 it would compose letters that are written as a letter and its accent. */
        const char *const why = gf_archive_calls.archive_error_string(reader->archive);
        if (!why || !strstr(why, "can't be converted"))
            member->fault = strdup(why ? why : "its header is damaged");
    }
    make_folder(member);
    bound_owner(member->header);
    snprintf(reader->member, sizeof reader->member, "%s", member->name);
    member->is_file = gf_archive_calls.archive_entry_filetype(member->header) == AE_IFREG &&
                      !gf_archive_calls.archive_entry_hardlink(member->header);
    const int64_t size = gf_archive_calls.archive_entry_size(member->header);
    member->size = member->is_file && size > 0 ? (uint64_t)size : 0;
    gf_archive_calls.archive_entry_sparse_clear(member->header); /* holes are read as zeros */
    *found = true;
    return GF_OK;
}

void gf_archive_reader_allow_any_proportion(struct gf_archive_reader *reader)
{
    reader->any_proportion = true;
}

/* A few bytes that are packed, or a hole, can stand for any number of bytes. */
static enum gf_status check_proportion(const struct gf_archive_reader *reader,
                                       struct gf_error *error)
{
    const uint64_t most = gf_bytes_in_proportion((uint64_t)reader->into.bytes);
    if (reader->any_proportion || reader->given <= most)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s/%s: the members up to this one have over %llu MiB, which is more than %lld "
                   "bytes of an archive may become (to allow more: options.max_output_bytes)",
                   gf_input_name(reader->input), reader->member, (unsigned long long)(most >> 20),
                   (long long)reader->into.bytes);
}

enum gf_status gf_archive_read(struct gf_archive_reader *reader, void *data, size_t size,
                               struct gf_error *error)
{
    size_t got = 0;
    reader->given += size;
    GF_TRY(check_proportion(reader, error));
    for (la_ssize_t count = 1; count && got < size; got += (size_t)count) {
        count = gf_archive_calls.archive_read_data(reader->archive, (char *)data + got, size - got);
        if (count < 0)
            return gf_archive_fail_reading(reader, error);
    }
    memset((char *)data + got, 0, size - got); /* libarchive leaves out a hole that ends a file */
    return GF_OK;
}

int gf_archive_reader_members(const struct gf_archive_reader *reader)
{
    int descriptor;
    int64_t offset;
    if (reader->unpacked ||
        gf_input_descriptor(reader->input, &descriptor, &offset, &(struct gf_error){0}))
        return -1;
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int64_t gf_archive_member_place(const struct gf_archive_reader *reader,
                                const struct gf_archive_member *member)
{
    int descriptor;
    int64_t offset;
    const int64_t begin = gf_archive_calls.archive_filter_bytes(reader->archive, 0),
                  left = gf_input_size(reader->input) - begin;
    if (reader->unpacked || !member->size || left < 0 || member->size > (uint64_t)left ||
        gf_archive_calls.archive_entry_sparse_count(member->header) ||
        gf_input_descriptor(reader->input, &descriptor, &offset, &(struct gf_error){0}))
        return -1;
    return offset + begin;
}
#endif
