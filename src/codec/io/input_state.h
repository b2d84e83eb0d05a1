/* The state of an input, for the files that implement input.h. Nothing else includes this
 * header. */
#pragma once

#include "codec/io/input.h"
#include "codec/io/said.h"

/* The first read reads only as much as headers need. Later bytes can then be read directly to the
 * memory in which they are decoded. */
enum {
    GF_INPUT_BUFFER_BYTES = 256 << 10,
    GF_INPUT_FIRST_BYTES = 32 << 10,
    GF_INPUT_GIVEN_BACK_MOST = 64 << 10
};

struct gf_input {
    char *name;
    int fd;
    struct gf_pages pages;
    int threads;                    /* number of threads that may read at the same time; 0 is one */
    struct gf_crew *crew;           /* the other threads that read */
    const unsigned char *memory;    /* the caller's bytes; NULL: the bytes are read from fd */
    const struct gf_reader *reader; /* gives a stream's bytes; NULL: they are read from fd */
    bool regular, opened;           /* regular: a file or memory; opened: fd has to be closed */
    bool at_end;
    bool narrowed;      /* the file has bytes after `size` that do not belong to the input */
    bool headers_only;  /* no pixels will be read */
    int64_t base;       /* the offset at which the input begins in a regular file: another process
                         * may have read bytes before it */
    int64_t size;       /* bytes of a regular file, else -1 */
    int64_t position;   /* offset of the next byte that is not in the buffer yet */
    int spool;          /* the unnamed file with the stream's bytes so far; -1: none are kept */
    int64_t spool_base; /* offset at which the stream's bytes begin in the spool file */
    int64_t spooled;
    int spool_errno;   /* errno of the failure after which bytes are no longer kept */
    bool lost;         /* bytes that follow were taken from the stream and could not be kept */
    bool given_back;   /* the buffer begins with the bytes of gf_input_give_back */
    size_t first, end; /* the part of the buffer that is not read yet */
    struct gf_said said;
    unsigned char buffer[GF_INPUT_BUFFER_BYTES + GF_INPUT_GIVEN_BACK_MOST];
};

/* Fails with the text of errno and the input's name. */
enum gf_status gf_input_fail(const struct gf_input *input, struct gf_error *error);
/* Appends bytes that have been read to the spool file, if the input's bytes are to be kept. */
void gf_input_keep(struct gf_input *input, const void *data, size_t size);
/* Reads the bytes after the buffer's bytes; bytes of a stream are kept if they must be. *got is 0
 * at the end. */
enum gf_status gf_input_read_next(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;

/* ---- streams whose bytes are kept (input_kept.c) ---- */

/* Reads the rest of a kept stream, which may have about `most` bytes; from then on the input reads
 * its spool file as a regular one. */
enum gf_status gf_input_become_regular(struct gf_input *input, uint64_t most,
                                       struct gf_error *error) GF_CHECKED;
/* Fails because a stream's bytes could not be kept. */
enum gf_status gf_input_fail_kept(const struct gf_input *input, struct gf_error *error);
/* Makes the spool file begin at the input's position: `taken` bytes of the stream are before it,
 * and `left` bytes in the buffer are still to be read. */
void gf_input_keep_from_here(struct gf_input *input, int64_t taken, size_t left);
