/* A tar archive, read and written member by member by libarchive. One that is read may be packed by
 * gzip, bzip2, xz or zstd, whatever its name; one that is written is packed as its name says. */
#ifndef GF_BATCH_ARCHIVE_FILE_H
#define GF_BATCH_ARCHIVE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gpufilter/status.h"

struct archive_entry;
struct stat;

struct gf_archive_member {
    struct archive_entry *header; /* all that the archive says of it; gf_archive_member_free() */
    char *name;
    char *fault;  /* what was passed over in the header, in libarchive's words; or NULL */
    bool is_file; /* else it is a folder, a link or a device, and has no bytes */
    uint64_t size;
};
/* Makes one of what stat() says of a file; its name is to be set. False when out of memory. */
bool gf_archive_member_of_file(struct gf_archive_member *member, const struct stat *file);
void gf_archive_member_free(struct gf_archive_member *member);
/* Other bytes are to stand under that header. False when out of memory. */
bool gf_archive_member_change(struct gf_archive_member *member, const char *name, uint64_t size);
/* What a hard or symbolic link points to; NULL where it is none. Valid until it is set. */
const char *gf_archive_member_target(const struct gf_archive_member *member);
bool gf_archive_member_is_hard_link(const struct gf_archive_member *member);
/* When the member was changed, as its header says. */
struct timespec gf_archive_member_time(const struct gf_archive_member *member);
void gf_archive_member_set_target(struct gf_archive_member *member, const char *target);

struct gf_archive_reader; /* opaque */
/* GF_ERROR_UNAVAILABLE where there is no libarchive. */
enum gf_status gf_archive_reader_open(const char *argument, struct gf_archive_reader **reader,
                                      struct gf_error *error) GF_CHECKED;
void gf_archive_reader_close(struct gf_archive_reader *reader);
/* Another thread that waits for a stream's producer stops waiting, and its call fails. */
void gf_archive_reader_cancel(struct gf_archive_reader *reader);
/* The bytes of an archive that is a file and is not packed; else -1. */
int64_t gf_archive_reader_size(const struct gf_archive_reader *reader);
/* The file that it reads; false where that is none. */
bool gf_archive_reader_file(const struct gf_archive_reader *reader, struct stat *file);
/* The next member; *found is false at the end. */
enum gf_status gf_archive_next(struct gf_archive_reader *reader, struct gf_archive_member *member,
                               bool *found, struct gf_error *error) GF_CHECKED;
/* The next bytes of that member, which has so many left. */
enum gf_status gf_archive_read(struct gf_archive_reader *reader, void *data, size_t size,
                               struct gf_error *error) GF_CHECKED;
/* Where the member that was found last, or the end, begins in the unpacked archive. */
int64_t gf_archive_position(const struct gf_archive_reader *reader);
/* Another reader of the same file: its first member is that at a position, or, of a packed archive,
 * the first of all. */
enum gf_status gf_archive_reader_again(const struct gf_archive_reader *reader, int64_t position,
                                       struct gf_archive_reader **again,
                                       struct gf_error *error) GF_CHECKED;

/* After the last member: reads on to the end of the input. *more: more than zeros follow the end
 * marker. Fails where the archive has no end marker, or what packs it is damaged behind that. */
enum gf_status gf_archive_end(struct gf_archive_reader *reader, bool *more,
                              struct gf_error *error) GF_CHECKED;

struct gf_archive_writer; /* opaque */
/* A file appears at commit; standard output gets each member when that is put. */
enum gf_status gf_archive_writer_open(const char *argument, bool no_clobber, bool sync,
                                      struct gf_archive_writer **writer,
                                      struct gf_error *error) GF_CHECKED;
enum gf_status gf_archive_put(struct gf_archive_writer *writer,
                              const struct gf_archive_member *member,
                              struct gf_error *error) GF_CHECKED;
/* Bytes of the member that was put last. */
enum gf_status gf_archive_write(struct gf_archive_writer *writer, const void *data, size_t size,
                                struct gf_error *error) GF_CHECKED;
/* Whether it would replace that file, or, as standard output, is writing to it. */
bool gf_archive_writer_goes_to(const struct gf_archive_writer *writer, const struct stat *file);
enum gf_status gf_archive_commit(struct gf_archive_writer *writer,
                                 struct gf_error *error) GF_CHECKED;
void gf_archive_writer_close(struct gf_archive_writer *writer); /* abandons what is not committed */

#endif
