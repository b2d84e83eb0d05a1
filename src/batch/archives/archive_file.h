/* Reads and writes a tar or zip archive member by member, by libarchive. A tar archive that is read
 * may be packed by gzip, bzip2, xz or zstd, whatever its name is; an archive that is written is
 * packed as its name says. */
#pragma once

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/text/json.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"

struct archive_entry;
struct stat;

/* Loads libarchive. Returns GF_ERROR_UNAVAILABLE if it is missing; the message begins with
 * `subject`. */
enum gf_status gf_archive_load(const char *subject, struct gf_error *error) GF_CHECKED;

/* Makes the calling thread's locale UTF-8, since libarchive converts names by that locale and the
 * names in archives are UTF-8. Returns the previous locale, for uselocale(). */
locale_t gf_archive_begin_utf8(void);

struct gf_archive_member {
    /* Everything that the archive says about the member. gf_archive_member_free() frees it. */
    struct archive_entry *header;
    char *name;
    char *fault;  /* NULL, or the message of libarchive about parts of the header that it ignored */
    bool stored;  /* a zip archive has its bytes as they are, not packed */
    bool is_file; /* false for a folder, a link or a device, which has no bytes */
    uint64_t size;
};
/* Makes a member from the result of stat() for a file; the caller sets its name. Returns false when
 * out of memory. */
bool gf_archive_member_of_file(struct gf_archive_member *member, const struct stat *file);
void gf_archive_member_free(struct gf_archive_member *member);
/* Changes the member's name and size in the header. Returns false when out of memory. */
bool gf_archive_member_change(struct gf_archive_member *member, const char *name, uint64_t size);
/* Returns the target of a hard or symbolic link; NULL if the member is no link. The text is valid
 * until the target is set. */
const char *gf_archive_member_target(const struct gf_archive_member *member);
bool gf_archive_member_is_hard_link(const struct gf_archive_member *member);
/* Returns why the member is no plain file or folder with a relative name that stays in its folder;
 * NULL if it is. */
const char *gf_archive_member_strange(const struct gf_archive_member *member);
/* Whether the member is a file with the name of a picture that is not hidden, as ._NAME and
 * everything in __MACOSX are, which macOS adds. */
bool gf_archive_member_is_picture(const struct gf_archive_member *member);
/* Returns the time of the member's last change, as its header states. */
struct timespec gf_archive_member_time(const struct gf_archive_member *member);
void gf_archive_member_set_target(struct gf_archive_member *member, const char *target);

struct gf_archive_reader; /* opaque */
/* Opens an archive for reading. Returns GF_ERROR_UNAVAILABLE if libarchive is missing. */
enum gf_status gf_archive_reader_open(const char *argument, struct gf_archive_reader **reader,
                                      struct gf_error *error) GF_CHECKED;
/* Opens an archive whose file has an open descriptor. The reader owns the descriptor, even after a
 * failure. `whole`: if the file ends early, it is damaged in its place, not by a transfer. */
enum gf_status gf_archive_reader_open_descriptor(int descriptor, const char *name, bool whole,
                                                 struct gf_archive_reader **reader,
                                                 struct gf_error *error) GF_CHECKED;
void gf_archive_reader_close(struct gf_archive_reader *reader);
/* Makes the reader's thread stop waiting for a stream's producer; the call in that thread then
 * fails. */
void gf_archive_reader_cancel(struct gf_archive_reader *reader);
/* Returns the number of bytes of an archive that is a file and is not packed; else -1. */
int64_t gf_archive_reader_size(const struct gf_archive_reader *reader);
/* Describes the file that the reader reads. Returns false if it reads no file. */
bool gf_archive_reader_file(const struct gf_archive_reader *reader, struct stat *file);
/* Finds the next member; *found is false at the end. This function and those that read further
 * return GF_ERROR_INPUT if the archive is damaged, or GF_ERROR_READ if it ends early and may have
 * been cut on its way. */
enum gf_status gf_archive_next(struct gf_archive_reader *reader, struct gf_archive_member *member,
                               bool *found, struct gf_error *error) GF_CHECKED;
/* Reads the next `size` bytes of the member that was found last; the member must have that many
 * left. Returns GF_ERROR_INPUT if the members that were read have more than
 * gf_bytes_in_proportion() of the archive's bytes that were read. */
enum gf_status gf_archive_read(struct gf_archive_reader *reader, void *data, size_t size,
                               struct gf_error *error) GF_CHECKED;
/* Returns why gf_archive_read() failed, if it was the fault of that member of a zip archive alone:
 * gf_archive_next() goes on behind it. Otherwise NULL. */
const char *gf_archive_reader_fault(const struct gf_archive_reader *reader);
/* Returns another descriptor of the file of an archive that is not packed, for
 * gf_archive_member_place(); -1: there is none. The caller closes it. */
int gf_archive_reader_members(const struct gf_archive_reader *reader);
/* Returns the position in the archive's file at which the bytes of the member that was found last
 * begin; -1 if they do not all lie there one after another. */
int64_t gf_archive_member_place(const struct gf_archive_reader *reader,
                                const struct gf_archive_member *member);
/* Lets gf_archive_read() read any number of bytes; for outputs that have their own limit. */
void gf_archive_reader_allow_any_proportion(struct gf_archive_reader *reader);
/* Returns the position in the unpacked archive at which the member that was found last begins, or
 * the archive ends. */
int64_t gf_archive_position(const struct gf_archive_reader *reader);
/* Opens another reader of the same file. Its first member is the member at `position` or, if the
 * archive is packed, the archive's first member. */
enum gf_status gf_archive_reader_again(const struct gf_archive_reader *reader, int64_t position,
                                       struct gf_archive_reader **again,
                                       struct gf_error *error) GF_CHECKED;

/* Reads from the last member to the end of the input. *more tells whether anything but zeros
 * follows the end marker. Fails if the archive has no end marker, or if its packed form is damaged
 * after the marker. */
enum gf_status gf_archive_end(struct gf_archive_reader *reader, bool *more,
                              struct gf_error *error) GF_CHECKED;

/* A function that gets each picture of an archive: its name, "ARCHIVE/MEMBER", and its bytes, which
 * stay valid until it returns, or why it alone cannot be read (else NULL). */
typedef void gf_archive_taker(void *context, const char *name, const void *data, size_t size,
                              const struct gf_error *failure);
/* Calls taker() for each member whose name is the name of a picture (archive_read.c). Fails as
 * gf_archive_end() does; the members before a damage have been taken. */
enum gf_status gf_archive_each(const char *archive, gf_archive_taker *taker, void *context,
                               struct gf_error *error) GF_CHECKED;

struct gf_archive_writer; /* opaque */
/* Opens an archive for writing. A file becomes visible at gf_archive_commit(); standard output gets
 * each member at once. If `file` is not NULL, the archive is written to that new file, and its own
 * name is only for messages. Writing returns GF_ERROR_UNFIT if the archive, before it is packed,
 * exceeds options->max_output_bytes. */
enum gf_status gf_archive_writer_open(const char *argument, const char *file,
                                      const struct gf_options *options,
                                      struct gf_archive_writer **writer,
                                      struct gf_error *error) GF_CHECKED;
enum gf_status gf_archive_put(struct gf_archive_writer *writer,
                              const struct gf_archive_member *member,
                              struct gf_error *error) GF_CHECKED;
/* Writes bytes of the member that was written last. */
enum gf_status gf_archive_write(struct gf_archive_writer *writer, const void *data, size_t size,
                                struct gf_error *error) GF_CHECKED;
/* Whether the archive would replace `file` or, as standard output, is being written to `file`. */
bool gf_archive_writer_goes_to(const struct gf_archive_writer *writer, const struct stat *file);
enum gf_status gf_archive_commit(struct gf_archive_writer *writer,
                                 struct gf_error *error) GF_CHECKED;
/* Drops an archive that is not committed. */
void gf_archive_writer_close(struct gf_archive_writer *writer);

/* The record of an output archive: the file X.tar.json beside X.tar, with one JSON object. It is
 * written after the archive. An archive whose record names the same job and the same input, and
 * that still has its size, need not be made again. */

struct gf_archive_failed {
    char *input, *why;
};

struct gf_archive_record {
    const char *input, *identity; /* the input archive's name and identity */
    const char *output;           /* the output archive's name */
    const char *file;             /* the path at which the archive is written */
    const char *chain;
    uint64_t job;  /* a hash of the chain and of the options that the result depends on */
    uint64_t list; /* hash of the list of inputs (struct gf_inputs) */
    size_t done;
    size_t pictures; /* number of pictures that the record of an earlier run states */
    size_t passed;   /* the number of other files that were copied */
    /* Number of files that were left out because a picture of their sample failed. */
    size_t dropped;
    struct gf_archive_failed *failed;
    size_t failures;
    bool again;   /* another try may mend a failure, so that the archive gets no record */
    double begun; /* when the archive was begun, in seconds since 1970 */
};

/* Notes a picture or a link that the archive lacks. Returns false when out of memory. */
bool gf_archive_record_add(struct gf_archive_record *record, const char *input,
                           enum gf_status status, const char *why);
void gf_archive_record_free(struct gf_archive_record *record);

/* Writes the record of an archive that is complete, beside its file. */
enum gf_status gf_archive_record_write(const struct gf_archive_record *record, const char *device,
                                       bool sync, struct gf_error *error) GF_CHECKED;
/* Removes the record of an archive that is about to be replaced. */
enum gf_status gf_archive_record_remove(const char *output, struct gf_error *error) GF_CHECKED;
/* Whether an earlier run has made the archive that `wanted` describes. Sets the numbers of pictures
 * in `wanted` to those of the earlier run; pictures that failed are not named. */
bool gf_archive_record_fits(struct gf_archive_record *wanted);
/* Like gf_archive_record_fits() for a record in memory, which ends with NUL. The archive itself is
 * not looked at: the number that follows the record is its size, and must follow if it is `sized`.
 */
bool gf_archive_record_fits_text(struct gf_archive_record *wanted, const char *text, size_t size,
                                 bool sized);

/* The keys of the record, for the manual; {0} ends them. */
extern const struct gf_key_help gf_archive_record_keys[];
