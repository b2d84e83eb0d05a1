/* The two steps in which libarchive reads an archive: one unpacks it, the other finds the members.
 * So the bytes after the last member, which the second step does not read, can be checked. A file
 * that is not packed needs no first step; the second step passes over the bytes of members that are
 * read elsewhere. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "batch/archives/archive_calls.h"
#include "batch/archives/archive_file.h"
#include "codec/io/input.h"

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
    bool any_proportion;      /* `given` has no limit */
    char member[256];         /* the name of the member that was found last, for messages */
    struct gf_input *input;
    int64_t start;         /* the position in the archive's bytes at which this reader began */
    struct gf_error error; /* the failure of the input */
    enum gf_status status;
    atomic_bool cancelled;
    bool packed;
    bool ended; /* the input was read to its end */
    bool
        uncut; /* the input is a file that lies in its place, or has the size that it should have */
    char block[64 << 10];
};

/* Opens the steps of a reader that has its input. */
enum gf_status gf_archive_open_steps(struct gf_archive_reader *reader,
                                     struct gf_error *error) GF_CHECKED;
/* Fails with libarchive's message, or with an earlier message of the input. */
enum gf_status gf_archive_fail_reading(const struct gf_archive_reader *reader,
                                       struct gf_error *error);
