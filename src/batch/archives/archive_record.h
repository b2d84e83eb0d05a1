/* The record of an output archive: the file X.tar.json beside X.tar, with one JSON object. It is
 * written after the archive. An archive whose record names the same job and the same input, and
 * that still has its size, need not be made again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "gpufilter/status.h"

struct gf_archive_failed {
    char *input, *why;
};

struct gf_archive_record {
    const char *input, *identity; /* the input archive's name and identity */
    const char *output;           /* the output archive's name */
    const char *file;             /* the path at which the archive is written */
    const char *chain;
    uint64_t job;  /* a hash of the chain and of the options that the result depends on */
    uint64_t list; /* as in struct gf_inputs */
    size_t done;
    size_t pictures; /* the number of pictures in the record of an earlier run */
    size_t passed;   /* the number of other files that were copied */
    size_t dropped;  /* the number of files that were left out with a picture of their sample */
    struct gf_archive_failed *failed;
    size_t failures;
    bool again;   /* another try may mend a failure, so that the archive gets no record */
    double begun; /* the time in seconds since 1970 */
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
