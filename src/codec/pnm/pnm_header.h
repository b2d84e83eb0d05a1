/* Reads the headers of PNM and PAM files, and the numbers in their text. Only pnm_read.c includes
 * this header. */
#pragma once

#include "codec/io/input.h"

enum { GF_PNM_BUFFER = 64 << 10, GF_PNM_END = -1 };

struct gf_pnm_reader {
    struct gf_input *input;
    struct gf_error *error;
    enum gf_status status; /* status of the last read from the input */
    int row, rows;         /* row numbers for messages: rows that were read, rows of the picture (0
                            * in the header) */
    int64_t bytes_read;    /* the number of bytes so far, including the bytes in the buffer */
    size_t first, end;     /* the part of the buffer that is not read yet */
    unsigned char buffer[GF_PNM_BUFFER];
};

struct gf_pnm_header {
    char type; /* '1' to '7' */
    unsigned width, height, depth, maxval;
    char unknown_type[41]; /* the beginning of an unknown TUPLTYPE; "": there is none */
};

int gf_pnm_refill(struct gf_pnm_reader *reader); /* the next byte, or GF_PNM_END */

static inline int gf_pnm_byte(struct gf_pnm_reader *reader)
{
    return reader->first < reader->end ? reader->buffer[reader->first++] : gf_pnm_refill(reader);
}

static inline bool gf_pnm_is_space(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Returns the next byte. A comment counts as the newline at its end. */
int gf_pnm_byte_outside_comments(struct gf_pnm_reader *reader);
/* Reads a decimal number and one byte of white space after it. */
enum gf_status gf_pnm_number(struct gf_pnm_reader *reader, unsigned *number) GF_CHECKED;
/* Fails for an input that ended too early or could not be read. */
enum gf_status gf_pnm_fail_short(const struct gf_pnm_reader *reader);

/* Reads the whole header up to the first sample. It checks no number except the depth. */
enum gf_status gf_pnm_read_header(struct gf_pnm_reader *reader,
                                  struct gf_pnm_header *header) GF_CHECKED;
