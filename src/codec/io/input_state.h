/* The state of an input that opening, reading and keeping share. Only the files of input.h include
 * this. */
#ifndef GF_CODEC_IO_INPUT_STATE_H
#define GF_CODEC_IO_INPUT_STATE_H

#include "codec/io/input.h"
#include "codec/io/said.h"

enum { GF_INPUT_BUFFER_BYTES = 256 << 10, GF_INPUT_GIVEN_BACK_MOST = 64 << 10 };

struct gf_input {
    char *name;
    int fd;
    int page;
    int threads;                 /* that may read side by side; 0 is one */
    struct gf_crew *crew;        /* those threads */
    const unsigned char *memory; /* NULL: the bytes are those of fd */
    bool regular, opened;        /* regular: a file or memory; opened: fd is not standard input */
    bool at_end;
    int64_t base; /* where a regular file's bytes begin: a part of standard input may have been read
                   * before */
    int64_t size; /* of a regular file, else -1 */
    int64_t position;   /* the position of the next byte that is not in the buffer yet */
    int spool;          /* an unnamed file with the stream's bytes so far; -1: none are kept */
    int64_t spool_base; /* where the stream's bytes begin in that file */
    int64_t spooled;
    int spool_errno;   /* why the bytes are no longer kept */
    bool given_back;   /* the buffer begins with bytes from gf_input_give_back */
    size_t first, end; /* the part of the buffer that is still to be read */
    struct gf_said said;
    unsigned char buffer[GF_INPUT_BUFFER_BYTES + GF_INPUT_GIVEN_BACK_MOST];
};

/* Fails with the error of errno and the input's name. */
enum gf_status gf_input_fail(const struct gf_input *input, struct gf_error *error);
/* Reads the next bytes past the buffer, and keeps those of a stream; *got is 0 at the end. */
enum gf_status gf_input_read_next(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;

/* ---- streams whose bytes are kept (input_kept.c) ---- */

/* Keeps bytes that have been read, if the input's bytes are to be kept. */
void gf_input_keep(struct gf_input *input, const void *data, size_t size);
/* Reads the rest of a kept stream; from then on the input reads its unnamed file. */
enum gf_status gf_input_become_regular(struct gf_input *input, struct gf_error *error) GF_CHECKED;
/* Keeps the stream only from here on: the `left` bytes that are still to be read, which lie behind
 * the `taken` bytes that have been read. */
void gf_input_keep_from_here(struct gf_input *input, int64_t taken, size_t left);

#endif
