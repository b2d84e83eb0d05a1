/* The state of an output that opening, writing and commit share. Only the files of output.h include
 * this. */
#ifndef GF_CODEC_IO_OUTPUT_STATE_H
#define GF_CODEC_IO_OUTPUT_STATE_H

#include "codec/io/output.h"
#include "codec/io/temporary.h"
#include "codec/io/reservation.h"

enum { GF_OUTPUT_BUFFER_BYTES = 1 << 20, GF_OUTPUT_NAME_TRIES = 100 };

struct gf_output {
    char *name;   /* as given, for messages */
    char *target; /* the file that is replaced, links resolved; NULL: commit copies the bytes out,
                   * or they stay in memory */
    struct gf_temporary temporary;
    int fd;
    bool to_stdout, exists;
    bool in_memory;
    bool foreign;          /* another process commits the file */
    unsigned char *memory; /* what was written: `written` bytes */
    size_t capacity;
    bool failed; /* a write failed, so that nothing may be committed */
    struct gf_output_options options;
    struct gf_reservation *reservation; /* NULL: the file's bytes are not allocated ahead */
    int threads;                        /* that may write side by side */
    int64_t written;                    /* bytes, without those in the buffer */
    size_t held;
    unsigned char buffer[GF_OUTPUT_BUFFER_BYTES];
};

/* Fails with the error of errno and the output's name. */
enum gf_status gf_output_fail(const struct gf_output *output, struct gf_error *error);
/* Gives the output's file, which has all bytes, its name, or copies it out. (output_commit.c) */
enum gf_status gf_output_put_in_place(struct gf_output *output, struct gf_error *error) GF_CHECKED;

#endif
