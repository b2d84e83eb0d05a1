/* Within the reader of PNM and PAM: its bytes, and the header as pnm_header.c understood it. */
#ifndef GF_CODEC_PNM_PNM_HEADER_H
#define GF_CODEC_PNM_PNM_HEADER_H

#include "codec/io/input.h"

enum { GF_PNM_BUFFER = 64 << 10, GF_PNM_END = -1 };

struct gf_pnm_reader {
    struct gf_input *input;
    struct gf_error *error;
    enum gf_status status; /* of the last reading from the input */
    int row, rows;         /* read, and of the picture: for messages. rows is 0 in the header */
    int64_t taken;         /* bytes from the input so far, those in the buffer included */
    size_t first, end;     /* what the buffer still has */
    unsigned char buffer[GF_PNM_BUFFER];
};

struct gf_pnm_header {
    char type; /* '1' to '7' */
    unsigned width, height, depth, maxval;
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

/* The next byte; a comment counts as the newline that ends it. */
int gf_pnm_byte_outside_comments(struct gf_pnm_reader *reader);
/* A decimal number and the one byte of white space behind it. */
enum gf_status gf_pnm_number(struct gf_pnm_reader *reader, unsigned *number) GF_CHECKED;
/* The input ended too early, or could not be read. */
enum gf_status gf_pnm_fail_short(const struct gf_pnm_reader *reader);

/* From the first byte to the last before the samples. The numbers are as the file has them,
 * unchecked but for the depth. */
enum gf_status gf_pnm_read_header(struct gf_pnm_reader *reader,
                                  struct gf_pnm_header *header) GF_CHECKED;

#endif
