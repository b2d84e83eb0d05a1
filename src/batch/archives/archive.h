/* A batch with tar archives. The members of an input archive stream through in their order with
 * their names, times and modes, into other archives and into files. In an archive a member whose
 * format changes gets the new format's extension, and members whose names are not names of pictures
 * are copied untouched. Input files go into archives, too. A member is written when it is complete;
 * a damaged one is reported and left out, or ends the run (fail_fast). */
#ifndef GF_BATCH_ARCHIVES_ARCHIVE_H
#define GF_BATCH_ARCHIVES_ARCHIVE_H

#include <stdbool.h>

#include "gpufilter/status.h"

struct gf_batch;
struct gf_batch_request;

/* Whether the first input or an output of the request is an archive. */
bool gf_archive_takes_part(const struct gf_batch_request *request);
/* Runs such a request. */
enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

/* Loads libarchive. GF_ERROR_UNAVAILABLE where it is missing; the message begins with the
 * subject. */
enum gf_status gf_archive_load(const char *subject, struct gf_error *error) GF_CHECKED;

/* Whether an argument of -i or -o names an archive: by its extension, or by "tar:" before the name
 * of a file or before "-" for standard input and output. */
bool gf_archive_named(const char *argument);
/* Without the "tar:". */
const char *gf_archive_path(const char *argument);
/* The name of the packer of an archive of that name ("gzip"); NULL where none packs it. */
const char *gf_archive_packer(const char *argument);

#endif
