/* A batch with tar archives. The members of one stream through in their order with names, times and
 * modes, to other archives, where a name's extension changes where the format does, and to files.
 * Members that are no pictures by their names pass into the archives untouched. Files go into
 * archives, too. A member is written when it is complete; one that is damaged is reported and left
 * out, or ends the run (fail_fast). */
#ifndef GF_BATCH_ARCHIVE_H
#define GF_BATCH_ARCHIVE_H

#include <stdbool.h>

#include "gpufilter/status.h"

struct gf_batch;
struct gf_batch_request;

/* Whether the first input or an output of the request is an archive. */
bool gf_archive_takes_part(const struct gf_batch_request *request);
/* Runs such a request. */
enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

/* GF_ERROR_UNAVAILABLE where there is no libarchive; the message begins with the subject. */
enum gf_status gf_archive_load(const char *subject, struct gf_error *error) GF_CHECKED;

/* Whether an argument of -i or -o names an archive: by its extension, or by "tar:" before a file's
 * name or "-" for standard input and output. */
bool gf_archive_named(const char *argument);
/* Without the "tar:". */
const char *gf_archive_path(const char *argument);
/* The name of what packs an archive of that name ("gzip"); NULL where nothing does. */
const char *gf_archive_packer(const char *argument);

#endif
