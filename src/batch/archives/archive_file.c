/* Loads libarchive, handles the members of archives, and writes an archive member by member. */
#include "batch/archives/archive_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/names/names.h"
#include "codec/codec.h"
#include "codec/io/output.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_calls.h"

struct gf_archive_calls gf_archive_calls;
static struct gf_library library =
    GF_LIBRARY(gf_archive_calls, GF_ARCHIVE_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_archive));

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_library_load(&library, subject, GF_ERROR_UNAVAILABLE, error);
}

locale_t gf_archive_begin_utf8(void)
{
    static locale_t utf8;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    pthread_mutex_unlock(&lock);
    return uselocale(utf8);
}

bool gf_archive_member_of_file(struct gf_archive_member *member, const struct stat *file)
{
    *member =
        (struct gf_archive_member){.header = gf_archive_calls.archive_entry_new(), .is_file = true};
    if (member->header)
        gf_archive_calls.archive_entry_copy_stat(member->header, file);
    return member->header;
}

void gf_archive_member_free(struct gf_archive_member *member)
{
    if (member->header)
        gf_archive_calls.archive_entry_free(member->header);
    free(member->name);
    free(member->fault);
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
    const locale_t before = gf_archive_begin_utf8();
    gf_archive_calls.archive_entry_copy_pathname(member->header, copy);
    uselocale(before);
    gf_archive_calls.archive_entry_set_size(member->header, (int64_t)size);
    return true;
}

const char *gf_archive_member_target(const struct gf_archive_member *member)
{
    const locale_t before = gf_archive_begin_utf8();
    const char *target = gf_archive_calls.archive_entry_hardlink(member->header);
    if (!target)
        target = gf_archive_calls.archive_entry_symlink(member->header);
    uselocale(before);
    return target;
}

bool gf_archive_member_is_hard_link(const struct gf_archive_member *member)
{
    return gf_archive_calls.archive_entry_hardlink(member->header) != NULL;
}

const char *gf_archive_member_strange(const struct gf_archive_member *member)
{
    const char *const name = member->name;
    const size_t length = strlen(name);
    if (!member->is_file && gf_archive_calls.archive_entry_filetype(member->header) != AE_IFDIR)
        return "it is no plain file (--untrusted)";
    if (!length || *name == '/' || !strcmp(name, "..") || !strncmp(name, "../", 3) ||
        strstr(name, "/../") || (length > 2 && !strcmp(name + length - 3, "/..")))
        return "its name leads out of the archive's folder (--untrusted)";
    return NULL;
}

bool gf_archive_member_is_picture(const struct gf_archive_member *member)
{
    const char *const slash = strrchr(member->name, '/');
    const bool hidden = (slash ? slash[1] : *member->name) == '.' ||
                        !strncmp(member->name, "__MACOSX/", 9) ||
                        strstr(member->name, "/__MACOSX/");
    return member->is_file && !hidden && gf_file_format_named(member->name) != GF_FILE_AUTO;
}

struct timespec gf_archive_member_time(const struct gf_archive_member *member)
{
    return (struct timespec){gf_archive_calls.archive_entry_mtime(member->header),
                             gf_archive_calls.archive_entry_mtime_nsec(member->header)};
}

void gf_archive_member_set_target(struct gf_archive_member *member, const char *target)
{
    const locale_t before = gf_archive_begin_utf8();
    if (gf_archive_member_is_hard_link(member))
        gf_archive_calls.archive_entry_copy_hardlink(member->header, target);
    else
        gf_archive_calls.archive_entry_copy_symlink(member->header, target);
    uselocale(before);
}

struct gf_archive_writer {
    struct archive *archive;
    struct gf_output *output; /* the file to which the archive goes; NULL: standard output */
    struct gf_error error;    /* why writing to the output failed */
    enum gf_status status;
    uint64_t bytes, max_bytes; /* bytes of the members so far, and their limit; 0: none */
    bool is_zip;
    bool abandoned; /* drops what libarchive still writes, above all the end marker */
};

static const char *name_of(const struct gf_archive_writer *writer)
{
    return writer->output ? gf_output_name(writer->output) : "stdout";
}

/* Writes a block for libarchive. A failure is kept in writer->error and not returned: libarchive
 * would leak memory after an error. */
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
    const char *const why = gf_archive_calls.archive_error_string(writer->archive);
    if (!writer->status)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot write the archive: %s", name_of(writer),
                       why ? why : "unknown");
    *error = writer->error;
    return writer->status;
}

/* Begins an archive. libarchive must not collect blocks, so that standard output gets each member
 * at once. */
static enum gf_status begin_archive(struct gf_archive_writer *writer, const char *argument,
                                    struct gf_error *error)
{
    const char *packer = gf_archive_packer(argument);
    writer->is_zip = packer && !strcmp(packer, GF_ARCHIVE_ZIP);
    packer = writer->is_zip ? NULL : packer;
    writer->archive = gf_archive_calls.archive_write_new();
    GF_ALLOCATED(writer->archive, error);
    if ((writer->is_zip ? gf_archive_calls.archive_write_set_format_zip(writer->archive)
                        : gf_archive_calls.archive_write_set_format_pax_restricted(
                              writer->archive)) < ARCHIVE_WARN ||
        (packer && gf_archive_calls.archive_write_add_filter_by_name(writer->archive, packer) <
                       ARCHIVE_WARN) ||
        /* gzip's header gets no time, so that the same members always give the same bytes. */
        (packer && gf_archive_calls.archive_write_set_filter_option(
                       writer->archive, "gzip", "timestamp", NULL) < ARCHIVE_FAILED) ||
        gf_archive_calls.archive_write_set_bytes_per_block(writer->archive, 0) < ARCHIVE_WARN ||
        gf_archive_calls.archive_write_open(writer->archive, writer, NULL, write_block, NULL) <
            ARCHIVE_WARN)
        return fail_writing(writer, error);
    return GF_OK;
}

/* Opens the new file `file` for an output; messages call the output `path`. */
static enum gf_status open_file(const char *file, const char *path, struct gf_output **output,
                                struct gf_error *error)
{
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? gf_fail(error, gf_status_of_name(GF_ERROR_UNFIT, GF_ERROR_OUTPUT), "%s: %s: %s",
                            path, file, strerror(errno))
                  : gf_output_open_descriptor(fd, path, output, error);
}

enum gf_status gf_archive_writer_open(const char *argument, const char *file,
                                      const struct gf_options *options,
                                      struct gf_archive_writer **writer, struct gf_error *error)
{
    const char *const path = gf_archive_path(argument);
    enum gf_status status = gf_archive_load(argument, error);
    *writer = NULL;
    if (status)
        return status;
    GF_NEW(struct gf_archive_writer, opened, error);
    if (file)
        status = open_file(file, path, &opened->output, error);
    else if (strcmp(path, "-"))
        status = gf_output_open(path, &opened->output, error);
    if (opened->output)
        gf_output_set_options(opened->output,
                              (struct gf_output_options){options->no_clobber, options->sync, 0, 0});
    opened->max_bytes = options->max_output_bytes;
    GF_THEN(status, begin_archive(opened, argument, error));
    GF_OPENED(status, gf_archive_writer_close, opened, writer);
}

/* Prepares a member for a zip archive: it is packed, unless it is a picture of a packed format or
 * was not packed before. A file's time of the last access would make the bytes differ each time. */
static enum gf_status begin_zipped(const struct gf_archive_writer *writer,
                                   const struct gf_archive_member *member, struct gf_error *error)
{
    const enum gf_file_format format = gf_file_format_named(member->name);
    const bool plain = format == GF_FILE_AUTO || format == GF_FILE_PNM || format == GF_FILE_PAM ||
                       format == GF_FILE_BMP || format == GF_FILE_Y4M;
    if (gf_archive_member_is_hard_link(member))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: zip has no hard links such as '%s'",
                       name_of(writer), member->name);
    gf_archive_calls.archive_entry_unset_atime(member->header);
    gf_archive_calls.archive_entry_unset_ctime(member->header);
    (void)(member->stored || !plain
               ? gf_archive_calls.archive_write_zip_set_compression_store(writer->archive)
               : gf_archive_calls.archive_write_zip_set_compression_deflate(writer->archive));
    return GF_OK;
}

enum gf_status gf_archive_put(struct gf_archive_writer *writer,
                              const struct gf_archive_member *member, struct gf_error *error)
{
    if (writer->is_zip)
        GF_TRY(begin_zipped(writer, member, error));
    const locale_t before = gf_archive_begin_utf8();
    const int code = gf_archive_calls.archive_write_header(writer->archive, member->header);
    uselocale(before);
    return code < ARCHIVE_WARN || writer->status ? fail_writing(writer, error) : GF_OK;
}

enum gf_status gf_archive_write(struct gf_archive_writer *writer, const void *data, size_t size,
                                struct gf_error *error)
{
    writer->bytes += size;
    if (writer->max_bytes && writer->bytes > writer->max_bytes)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: holds more than options.max_output_bytes=%llu",
                       name_of(writer), (unsigned long long)writer->max_bytes);
    for (size_t done = 0; done < size;) {
        const la_ssize_t count = gf_archive_calls.archive_write_data(
            writer->archive, (const char *)data + done, size - done);
        if (count <= 0 || writer->status)
            return fail_writing(writer, error);
        done += (size_t)count;
    }
    return GF_OK;
}

bool gf_archive_writer_goes_to(const struct gf_archive_writer *writer, const struct stat *file)
{
    struct stat own;
    return !(writer->output ? stat(gf_output_name(writer->output), &own)
                            : fstat(STDOUT_FILENO, &own)) &&
           own.st_dev == file->st_dev && own.st_ino == file->st_ino;
}

enum gf_status gf_archive_commit(struct gf_archive_writer *writer, struct gf_error *error)
{
    if (gf_archive_calls.archive_write_close(writer->archive) < ARCHIVE_WARN || writer->status)
        return fail_writing(writer, error);
    return writer->output ? gf_output_commit(writer->output, error) : GF_OK;
}

void gf_archive_writer_close(struct gf_archive_writer *writer)
{
    if (!writer)
        return;
    writer->abandoned = true;
    if (writer->archive)
        gf_archive_calls.archive_write_free(writer->archive);
    gf_output_close(writer->output);
    free(writer);
}

#else

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "%s: built without libarchive-dev", subject);
}

#endif
