#include "batch/archive_file.h"

#include <errno.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/archive.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/io/spool.h"

#ifdef GF_LIBRARY_archive
#include "batch/archive_calls.h"

static struct gf_archive_calls calls;
static const char *const names[] = {GF_ARCHIVE_CALLS(GF_LIBRARY_NAME) NULL};
static struct gf_library library = {.file = {GF_LIBRARY_TEXT(GF_LIBRARY_archive)},
                                    .names = names,
                                    .calls = (void **)&calls,
                                    .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_library_load(&library, subject, GF_ERROR_UNAVAILABLE, error);
}

/* libarchive converts names by the locale of the calling thread, and tar's are UTF-8. */
static locale_t begin_utf8(void)
{
    static locale_t utf8;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    pthread_mutex_unlock(&lock);
    return uselocale(utf8);
}

/* ---- members ---- */

bool gf_archive_member_of_file(struct gf_archive_member *member, const struct stat *file)
{
    *member = (struct gf_archive_member){.header = calls.archive_entry_new(), .is_file = true};
    if (member->header)
        calls.archive_entry_copy_stat(member->header, file);
    return member->header;
}

void gf_archive_member_free(struct gf_archive_member *member)
{
    if (member->header)
        calls.archive_entry_free(member->header);
    free(member->name);
    *member = (struct gf_archive_member){0};
}

bool gf_archive_member_change(struct gf_archive_member *member, const char *name, uint64_t size)
{
    char *const copy = strdup(name);
    if (!copy)
        return false;
    free(member->name);
    member->name = copy;
    member->size = size;
    const locale_t before = begin_utf8();
    calls.archive_entry_copy_pathname(member->header, copy);
    uselocale(before);
    calls.archive_entry_set_size(member->header, (int64_t)size);
    return true;
}

const char *gf_archive_member_target(const struct gf_archive_member *member)
{
    const locale_t before = begin_utf8();
    const char *target = calls.archive_entry_hardlink(member->header);
    if (!target)
        target = calls.archive_entry_symlink(member->header);
    uselocale(before);
    return target;
}

void gf_archive_member_set_target(struct gf_archive_member *member, const char *target)
{
    const locale_t before = begin_utf8();
    if (calls.archive_entry_hardlink(member->header))
        calls.archive_entry_copy_hardlink(member->header, target);
    else
        calls.archive_entry_copy_symlink(member->header, target);
    uselocale(before);
}

/* ---- reading ---- */

struct gf_archive_reader {
    struct archive *archive;
    struct gf_input *input;
    struct gf_error error; /* of the input */
    enum gf_status status;
    atomic_bool cancelled;
    bool packed;
    char block[64 << 10];
};

void gf_archive_reader_cancel(struct gf_archive_reader *reader)
{
    reader->cancelled = true;
}

int64_t gf_archive_reader_size(const struct gf_archive_reader *reader)
{
    return reader->packed ? -1 : gf_input_size(reader->input);
}

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
    if (!reader->status)
        return (ssize_t)got;
    calls.archive_set_error(archive, EIO, "%s", reader->error.text);
    return -1;
}

/* What libarchive says, or what the input said before. */
static enum gf_status fail_reading(const struct gf_archive_reader *reader, struct gf_error *error)
{
    const char *const why = calls.archive_error_string(reader->archive);
    if (!reader->status)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged archive: %s",
                       gf_input_name(reader->input), why ? why : "no tar");
    *error = reader->error;
    return reader->status;
}

enum gf_status gf_archive_reader_open(const char *argument, struct gf_archive_reader **reader,
                                      struct gf_error *error)
{
    enum gf_status status = gf_archive_load(argument, error);
    *reader = NULL;
    if (status)
        return status;
    struct gf_archive_reader *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->packed = gf_archive_packer(argument) != NULL;
    status = gf_input_open(gf_archive_path(argument), false, &opened->input, error);
    opened->archive = status ? NULL : calls.archive_read_new();
    if (!status && !opened->archive)
        status = gf_fail_memory(error);
    if (!status) {
        /* A program for a filter that libarchive lacks is no error. */
        (void)calls.archive_read_support_filter_all(opened->archive);
        (void)calls.archive_read_support_format_tar(opened->archive);
        if (calls.archive_read_open2(opened->archive, opened, NULL, read_block, NULL, NULL))
            status = fail_reading(opened, error);
    }
    if (status) {
        gf_archive_reader_close(opened);
        return status;
    }
    *reader = opened;
    return GF_OK;
}

void gf_archive_reader_close(struct gf_archive_reader *reader)
{
    if (!reader)
        return;
    if (reader->archive)
        calls.archive_read_free(reader->archive);
    if (reader->input)
        gf_input_close(reader->input);
    free(reader);
}

enum gf_status gf_archive_next(struct gf_archive_reader *reader, struct gf_archive_member *member,
                               bool *found, struct gf_error *error)
{
    *member = (struct gf_archive_member){.header = calls.archive_entry_new()};
    *found = false;
    if (!member->header)
        return gf_fail_memory(error);
    const locale_t before = begin_utf8();
    const int code = calls.archive_read_next_header2(reader->archive, member->header);
    const char *const name =
        code == ARCHIVE_EOF ? "" : calls.archive_entry_pathname(member->header);
    member->name = name ? strdup(name) : NULL;
    uselocale(before);
    if (code == ARCHIVE_EOF) {
        gf_archive_member_free(member);
        return GF_OK;
    }
    if (code < ARCHIVE_WARN || !member->name) {
        const enum gf_status status = fail_reading(reader, error);
        gf_archive_member_free(member);
        return status;
    }
    member->is_file = calls.archive_entry_filetype(member->header) == AE_IFREG &&
                      !calls.archive_entry_hardlink(member->header);
    const int64_t size = calls.archive_entry_size(member->header);
    member->size = member->is_file && size > 0 ? (uint64_t)size : 0;
    calls.archive_entry_sparse_clear(member->header); /* holes are read as zeros */
    *found = true;
    return GF_OK;
}

enum gf_status gf_archive_read(struct gf_archive_reader *reader, void *data, size_t size,
                               size_t *got, struct gf_error *error)
{
    *got = 0;
    while (*got < size) {
        const la_ssize_t count =
            calls.archive_read_data(reader->archive, (char *)data + *got, size - *got);
        if (count < 0)
            return fail_reading(reader, error);
        if (!count)
            break;
        *got += (size_t)count;
    }
    return GF_OK;
}

/* ---- writing ---- */

struct gf_archive_writer {
    struct archive *archive;
    struct gf_output *output; /* NULL: standard output */
    struct gf_error error;    /* of the output */
    enum gf_status status;
    bool abandoned; /* what libarchive still writes goes nowhere, the mark of the end above all */
};

static const char *name_of(const struct gf_archive_writer *writer)
{
    return writer->output ? gf_output_name(writer->output) : "stdout";
}

/* What fails here is told by `status`: libarchive would lose memory over an error. */
static la_ssize_t write_block(struct archive *archive, void *context, const void *data, size_t size)
{
    struct gf_archive_writer *const writer = context;
    (void)archive;
    if (writer->abandoned || writer->status)
        return (la_ssize_t)size;
    if (writer->output)
        writer->status = gf_output_write(writer->output, data, size, &writer->error);
    else if (!gf_write_fully(STDOUT_FILENO, data, size))
        writer->status =
            gf_fail(&writer->error, GF_ERROR_OUTPUT, "stdout: cannot write: %s", strerror(errno));
    return (la_ssize_t)size;
}

static enum gf_status fail_writing(const struct gf_archive_writer *writer, struct gf_error *error)
{
    const char *const why = calls.archive_error_string(writer->archive);
    if (!writer->status)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot write the archive: %s", name_of(writer),
                       why ? why : "unknown");
    *error = writer->error;
    return writer->status;
}

/* Blocks are not gathered: standard output flows member by member. */
static enum gf_status begin_archive(struct gf_archive_writer *writer, const char *path,
                                    struct gf_error *error)
{
    const char *const packer = gf_archive_packer(path);
    writer->archive = calls.archive_write_new();
    if (!writer->archive)
        return gf_fail_memory(error);
    if (calls.archive_write_set_format_pax_restricted(writer->archive) < ARCHIVE_WARN ||
        (packer &&
         calls.archive_write_add_filter_by_name(writer->archive, packer) < ARCHIVE_WARN) ||
        /* the same members make the same bytes: gzip leaves out when */
        (packer && calls.archive_write_set_filter_option(writer->archive, "gzip", "timestamp",
                                                         NULL) < ARCHIVE_FAILED) ||
        calls.archive_write_set_bytes_per_block(writer->archive, 0) < ARCHIVE_WARN ||
        calls.archive_write_open(writer->archive, writer, NULL, write_block, NULL) < ARCHIVE_WARN)
        return fail_writing(writer, error);
    return GF_OK;
}

enum gf_status gf_archive_writer_open(const char *argument, bool no_clobber, bool sync,
                                      struct gf_archive_writer **writer, struct gf_error *error)
{
    const char *const path = gf_archive_path(argument);
    enum gf_status status = gf_archive_load(argument, error);
    *writer = NULL;
    if (status)
        return status;
    struct gf_archive_writer *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    if (strcmp(path, "-"))
        status = gf_output_open(path, &opened->output, error);
    if (opened->output)
        gf_output_set_options(opened->output, (struct gf_output_options){no_clobber, sync});
    if (!status)
        status = begin_archive(opened, path, error);
    if (status) {
        gf_archive_writer_close(opened);
        return status;
    }
    *writer = opened;
    return GF_OK;
}

enum gf_status gf_archive_put(struct gf_archive_writer *writer,
                              const struct gf_archive_member *member, struct gf_error *error)
{
    const locale_t before = begin_utf8();
    const int code = calls.archive_write_header(writer->archive, member->header);
    uselocale(before);
    return code < ARCHIVE_WARN || writer->status ? fail_writing(writer, error) : GF_OK;
}

enum gf_status gf_archive_write(struct gf_archive_writer *writer, const void *data, size_t size,
                                struct gf_error *error)
{
    for (size_t done = 0; done < size;) {
        const la_ssize_t count =
            calls.archive_write_data(writer->archive, (const char *)data + done, size - done);
        if (count <= 0 || writer->status)
            return fail_writing(writer, error);
        done += (size_t)count;
    }
    return GF_OK;
}

enum gf_status gf_archive_commit(struct gf_archive_writer *writer, struct gf_error *error)
{
    if (calls.archive_write_close(writer->archive) < ARCHIVE_WARN || writer->status)
        return fail_writing(writer, error);
    return writer->output ? gf_output_commit(writer->output, error) : GF_OK;
}

void gf_archive_writer_close(struct gf_archive_writer *writer)
{
    if (!writer)
        return;
    writer->abandoned = true;
    if (writer->archive)
        calls.archive_write_free(writer->archive);
    if (writer->output)
        gf_output_close(writer->output);
    free(writer);
}

#endif
