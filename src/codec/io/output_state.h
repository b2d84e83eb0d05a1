/* The state of an output, for the files that implement output.h. Nothing else includes this
 * header. */
#pragma once

#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "codec/io/output.h"
#include "codec/io/temporary.h"
#include "codec/io/transfer.h"

/* An output in memory needs its buffer for small pieces alone. */
enum {
    GF_OUTPUT_BUFFER_BYTES = 1 << 20,
    GF_OUTPUT_SMALL_BUFFER_BYTES = 16 << 10,
    GF_OUTPUT_NAME_TRIES = 100
};

struct gf_output {
    char *name;   /* the name in the caller's words, for messages */
    char *target; /* the file to replace, without links; NULL: there is none */
    struct gf_temporary temporary;
    int fd;
    bool to_stdout, exists;
    bool in_memory;
    bool foreign;          /* another process commits the file */
    unsigned char *memory; /* an output in memory: its bytes, of which there are `written` */
    size_t capacity;
    bool borrowed; /* the memory is a caller's */
    bool failed;   /* a write failed, so that commit fails too */
    struct gf_output_options options;
    struct gf_reservation *reservation; /* disk space allocated ahead; NULL: none */
    int threads;                        /* number of threads that may write at the same time */
    int64_t written;                    /* the number of bytes written, without the bytes in the
                                         * buffer */
    size_t held, buffer_bytes;
    unsigned char buffer[];
};

/* Fails with the text of errno and the output's name. */
static inline enum gf_status gf_output_fail(const struct gf_output *output, struct gf_error *error)
{
    return gf_fail(error, gf_status_of_name(GF_ERROR_UNFIT, GF_ERROR_OUTPUT), "%s: %s",
                   output->name, strerror(errno));
}

/* Fails with the text of errno, by which the folder of the output's file, and not the file, refuses
 * a new file or its name. */
static inline enum gf_status gf_output_fail_folder(const struct gf_output *output,
                                                   struct gf_error *error)
{
    if (errno == EBUSY)
        return gf_fail(error, GF_ERROR_OUTPUT,
                       "%s: is mounted by itself, and cannot be replaced: mount its folder, or "
                       "name another file",
                       output->name);
    if (errno == EACCES || errno == EPERM || errno == EROFS)
        return gf_fail(error, GF_ERROR_OUTPUT,
                       "%s: its folder takes no new file: %s (an output is a new file beside the "
                       "one that it replaces; name it in another folder)",
                       output->name, strerror(errno));
    return gf_output_fail(output, error);
}

/* Gives the output's complete file its name, or copies it to its destination. (output_commit.c) */
enum gf_status gf_output_put_in_place(struct gf_output *output, struct gf_error *error) GF_CHECKED;
