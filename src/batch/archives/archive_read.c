/* The two steps in which libarchive reads an archive: one unpacks it, the other finds the members.
 * Two steps make it possible to check the bytes after the last member, which the second step does
 * not read. A file that is not packed needs no first step; the second step skips members whose
 * bytes workers read. A zip archive has its list of members at its end, so that it is read as a
 * file, to which a stream is copied first, by the second step alone. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/names/names.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_calls.h"

/* Counts the bytes that pass through a step. */
struct passage {
    /* the number of bytes so far, and the position from which all of them are zeros */
    int64_t bytes, zeros_from;
};

struct gf_archive_reader {
    struct archive *unpacked; /* the first step, which unpacks the archive; NULL: not needed */
    struct archive *archive;  /* the second step, which finds the members */
    struct passage into, out; /* the bytes into and out of the first step */
    uint64_t given;           /* bytes of members that were read, holes included */
    bool any_proportion;      /* members may have any number of bytes */
    char member[256];         /* the name of the member that was found last, for messages */
    struct gf_input *input;
    int64_t start;         /* position in the unpacked archive at which this reader began */
    struct gf_error error; /* why reading the input failed */
    enum gf_status status;
    atomic_bool cancelled;
    bool packed, is_zip;
    int64_t members; /* how many members were found */
    int64_t passed;  /* how many were passed again behind damaged ones */
    char fault[200]; /* why the last one cannot be read, although those behind it can; "": it can */
    uint64_t left;   /* bytes of the last one that were not read yet */
    bool ended;      /* the input was read to its end */
    bool
        /* The input is a file in its place, or has the size that it should have. */
        uncut;
    char block[64 << 10];
};

/* ---- the functions of the two steps, which libarchive calls ---- */

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

/* Makes a step fail with the error of the input. */
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

/* Moves to another place of a zip archive. */
static la_int64_t seek_direct(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    struct gf_archive_reader *const reader = context;
    const int64_t size = gf_input_size(reader->input), from = whence == SEEK_SET ? 0
                                                              : whence == SEEK_CUR
                                                                  ? reader->into.bytes
                                                                  : size;
    (void)archive;
    if (from + offset < 0 || from + offset > size)
        return ARCHIVE_FATAL;
    return reader->into.bytes = from + offset;
}

/* Returns the status of damage: GF_ERROR_READ if members were found and the input may have been
 * truncated on its way, so that another try may help; else GF_ERROR_INPUT. */
static enum gf_status status_of_damage(const struct gf_archive_reader *reader)
{
    return reader->ended && !reader->uncut && *reader->member ? GF_ERROR_READ : GF_ERROR_INPUT;
}

/* Fails with libarchive's message, or with an earlier message of the input. */
static enum gf_status archive_fail_reading(const struct gf_archive_reader *reader,
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

/* Enables the packers one by one. The list "all" would include uuencoded files, for which
 * libarchive 3.8 waits for 128 kB of a pipe. The results are ignored: a library built without a
 * packer runs its program, and says so by a warning. */
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
                   ? archive_fail_reading(reader, error)
                   : GF_OK;
    gf_archive_calls.archive_read_free(reader->unpacked);
    reader->unpacked = NULL;
    reader->into = (struct passage){0};
    return gf_archive_calls.archive_read_open2(reader->archive, reader, NULL, read_direct,
                                               skip_direct, NULL)
               ? archive_fail_reading(reader, error)
               : GF_OK;
}

/* Finds out whether the input is a zip archive, and makes a stream that is one a file. A tar's
 * first member may be named with the bytes that a zip begins with. */
static enum gf_status look_for_zip(struct gf_archive_reader *reader, struct gf_error *error)
{
    enum { MAGIC = 4, USTAR = 257, USTAR_BYTES = 5 };
    char head[USTAR + USTAR_BYTES];
    size_t got;
    int descriptor;
    int64_t offset;
    GF_TRY(gf_input_peek(reader->input, head, sizeof head, &got, error));
    const bool is_tar = got == sizeof head && !memcmp(head + USTAR, "ustar", USTAR_BYTES);
    reader->is_zip = got >= MAGIC && !is_tar &&
                     (!memcmp(head, "PK\3\4", MAGIC) || !memcmp(head, "PK\5\6", MAGIC));
    if (!reader->is_zip || gf_input_size(reader->input) >= 0)
        return GF_OK;
    gf_input_keep_all(reader->input);
    return gf_input_descriptor(reader->input, &descriptor, &offset, error);
}

static enum gf_status open_zip(struct gf_archive_reader *reader, struct gf_error *error)
{
    reader->packed = true; /* no member lies in the file as it is */
    reader->archive = gf_archive_calls.archive_read_new();
    GF_ALLOCATED(reader->archive, error);
    (void)gf_archive_calls.archive_read_support_format_zip(reader->archive);
    (void)gf_archive_calls.archive_read_set_seek_callback(reader->archive, seek_direct);
    return gf_archive_calls.archive_read_open2(reader->archive, reader, NULL, read_direct,
                                               skip_direct, NULL)
               ? archive_fail_reading(reader, error)
               : GF_OK;
}

/* Opens the steps of a reader that has its input. */
static GF_CHECKED enum gf_status archive_open_steps(struct gf_archive_reader *reader,
                                                    struct gf_error *error)
{
    GF_TRY(look_for_zip(reader, error));
    if (reader->is_zip)
        return open_zip(reader, error);
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
                ? archive_fail_reading(reader, error)
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
    if (reader->is_zip) /* the list of its members was read, to the end of the file */
        return GF_OK;
    while ((got = reader->unpacked ? read_unpacked(reader->archive, reader, &block)
                                   : read_direct(reader->archive, reader, &block)) > 0)
        continue;
    if (!got && reader->unpacked) {
        while ((got = read_block(reader->unpacked, reader, &block)) > 0)
            continue;
    }
    if (got < 0)
        return archive_fail_reading(reader, error);
    const int64_t packed =
        reader->unpacked ? gf_archive_calls.archive_filter_bytes(reader->unpacked, -1) : end;
    *more = reader->out.zeros_from > end || reader->into.zeros_from > packed;
    if (reader->out.bytes > end)
        return GF_OK;
    return gf_fail(error, status_of_damage(reader),
                   "%s: ends without a tar archive's end marker: it may have been cut",
                   gf_input_name(reader->input));
}
/* ---- opening a reader, and its members ---- */

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
    GF_OPENED(archive_open_steps(opened, error), gf_archive_reader_close, opened, reader);
}

enum gf_status gf_archive_reader_open(const char *argument, struct gf_archive_reader **reader,
                                      struct gf_error *error)
{
    struct gf_input *input;
    enum gf_status status = gf_archive_load(argument, error);
    *reader = NULL;
    GF_THEN(status, gf_input_open(gf_archive_path(argument), false, &input, error));
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
    GF_THEN(status, gf_input_open_descriptor(own, offset + start, (struct gf_pages){-1, -1},
                                             gf_input_name(reader->input), &input, error));
    return status ? status : open_reader(input, start, reader->uncut, again, error);
}

int64_t gf_archive_position(const struct gf_archive_reader *reader)
{
    if (reader->is_zip)
        return reader->members;
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
    gf_input_close(reader->input);
    free(reader);
}

/* Turns a file whose name ends with a slash into the folder that it stands for. libarchive does so
 * itself if the name is UTF-8. As a file it would make an output archive that cannot be read
 * again. */
static void make_folder(const struct gf_archive_member *member)
{
    const size_t length = strlen(member->name);
    if (!length || member->name[length - 1] != '/' ||
        gf_archive_calls.archive_entry_filetype(member->header) != AE_IFREG)
        return;
    gf_archive_calls.archive_entry_set_filetype(member->header, AE_IFDIR);
    gf_archive_calls.archive_entry_set_size(member->header, 0);
}

static bool is_owner(la_int64_t number)
{
    return number >= 0 && number <= UINT32_MAX;
}

/* Gives a member whose owner or group has a number beyond 32 bits to nobody. libarchive would write
 * such a number in a form that no program reads. */
static void bound_owner(struct archive_entry *header)
{
    enum { NOBODY = 65534 };
    if (!is_owner(gf_archive_calls.archive_entry_uid(header)))
        gf_archive_calls.archive_entry_set_uid(header, NOBODY);
    if (!is_owner(gf_archive_calls.archive_entry_gid(header)))
        gf_archive_calls.archive_entry_set_gid(header, NOBODY);
}

enum gf_status gf_archive_next(struct gf_archive_reader *reader, struct gf_archive_member *member,
                               bool *found, struct gf_error *error)
{
    *member = (struct gf_archive_member){.header = gf_archive_calls.archive_entry_new()};
    *found = false;
    GF_ALLOCATED(member->header, error);
    const locale_t before = reader->is_zip ? gf_archive_begin_utf8() : (locale_t)0;
    const int code = gf_archive_calls.archive_read_next_header2(reader->archive, member->header);
    const char *const name =
        code == ARCHIVE_EOF ? "" : gf_archive_calls.archive_entry_pathname(member->header);
    member->name = name ? strdup(name) : NULL;
    if (reader->is_zip) {
        uselocale(before);
        member->stored =
            code != ARCHIVE_EOF &&
            strstr(gf_archive_calls.archive_format_name(reader->archive), "uncompressed");
        reader->members++;
    }
    if (code == ARCHIVE_EOF) {
        gf_archive_member_free(member);
        return GF_OK;
    }
    if (code < ARCHIVE_WARN || !member->name) {
        const enum gf_status status = archive_fail_reading(reader, error);
        gf_archive_member_free(member);
        return status;
    }
    if (code == ARCHIVE_WARN) {
        /* In the locale C libarchive converts no name, and leaves its bytes as they are. In a
         * locale of UTF-8 it would compose letters that are written as a letter and its accent. */
        const char *const why = gf_archive_calls.archive_error_string(reader->archive);
        if (!why || (!strstr(why, "can't be converted") && !strstr(why, "cannot be converted")))
            member->fault = strdup(why ? why : "its header is damaged");
    }
    make_folder(member);
    bound_owner(member->header);
    snprintf(reader->member, sizeof reader->member, "%s", member->name);
    *reader->fault = '\0';
    member->is_file = gf_archive_calls.archive_entry_filetype(member->header) == AE_IFREG &&
                      !gf_archive_calls.archive_entry_hardlink(member->header);
    const int64_t size = gf_archive_calls.archive_entry_size(member->header);
    member->size = member->is_file && size > 0 ? (uint64_t)size : 0;
    reader->left = member->size;
    gf_archive_calls.archive_entry_sparse_clear(member->header); /* holes are read as zeros */
    *found = true;
    return GF_OK;
}

void gf_archive_reader_allow_any_proportion(struct gf_archive_reader *reader)
{
    reader->any_proportion = true;
}

/* Fails if the members have too many bytes for the archive's size: a few packed bytes, or a hole,
 * can stand for any number. */
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

/* Opens a zip archive again that libarchive has given up, and goes behind the member that was found
 * last. Does so only as often as takes seconds: with thousands of damaged members it would take
 * hours. */
static bool begin_again(struct gf_archive_reader *reader)
{
    enum { PASSED_MOST = 200000 };
    reader->passed += reader->members;
    if (reader->passed > PASSED_MOST)
        return false;
    struct archive_entry *const passed = gf_archive_calls.archive_entry_new();
    struct gf_error unsaid;
    gf_archive_calls.archive_read_free(reader->archive);
    reader->archive = NULL;
    reader->into = (struct passage){0};
    bool good = passed && !open_zip(reader, &unsaid);
    for (int64_t i = 0; good && i < reader->members; i++)
        good = gf_archive_calls.archive_read_next_header2(reader->archive, passed) >= ARCHIVE_WARN;
    if (passed)
        gf_archive_calls.archive_entry_free(passed);
    return good;
}

/* Fails since the member cannot be read. Notes why, if others behind it can. */
static enum gf_status fail_member(struct gf_archive_reader *reader, la_ssize_t code,
                                  struct gf_error *error)
{
    const char *const why = gf_archive_calls.archive_error_string(reader->archive);
    const enum gf_status status = archive_fail_reading(reader, error);
    char fault[sizeof reader->fault];
    snprintf(fault, sizeof fault, "%s", why ? why : "damaged");
    if (reader->is_zip && !reader->status && (code != ARCHIVE_FATAL || begin_again(reader)))
        memcpy(reader->fault, fault, sizeof fault);
    return status;
}

const char *gf_archive_reader_fault(const struct gf_archive_reader *reader)
{
    return *reader->fault ? reader->fault : NULL;
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
            return fail_member(reader, count, error);
    }
    memset((char *)data + got, 0, size - got); /* libarchive leaves out a hole that ends a file */
    reader->left -= size;
    /* The checksum is compared at the next reading only. */
    const la_ssize_t more = reader->is_zip && !reader->left
                                ? gf_archive_calls.archive_read_data(reader->archive, &(char){0}, 1)
                                : 0;
    return more ? fail_member(reader, more, error) : GF_OK;
}

int gf_archive_reader_members(const struct gf_archive_reader *reader)
{
    int descriptor;
    int64_t offset;
    if (reader->unpacked || reader->is_zip ||
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
    if (reader->unpacked || reader->is_zip || !member->size || left < 0 ||
        member->size > (uint64_t)left ||
        gf_archive_calls.archive_entry_sparse_count(member->header) ||
        gf_input_descriptor(reader->input, &descriptor, &offset, &(struct gf_error){0}))
        return -1;
    return offset + begin;
}

#endif
