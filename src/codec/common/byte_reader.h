/* Reads an input byte by byte, as PNM, QOI and Radiance HDR need. */
#pragma once

#include "codec/common/checks.h"
#include "codec/io/input.h"

enum { GF_BYTE_BUFFER = 64 << 10, GF_NO_BYTE = -1 };

struct gf_byte_reader {
    struct gf_input *input;
    struct gf_error *error;
    enum gf_status status; /* status of the last read from the input */
    /* For messages: the rows read, and the rows in the picture (0 while the header is read). */
    int row, rows;
    int64_t bytes_read; /* number of bytes read so far, including the bytes in the buffer */
    size_t first, end;  /* the part of the buffer that is not read yet */
    unsigned char buffer[GF_BYTE_BUFFER];
};

static inline int gf_byte_refill(struct gf_byte_reader *reader)
{
    reader->first = reader->end = 0;
    reader->status = gf_input_read_some(reader->input, reader->buffer, GF_BYTE_BUFFER, &reader->end,
                                        reader->error);
    reader->bytes_read += (int64_t)reader->end;
    return !reader->status && reader->end ? reader->buffer[reader->first++] : GF_NO_BYTE;
}

/* Returns the next byte; GF_NO_BYTE at the end of the input and after an error. */
static inline int gf_byte_next(struct gf_byte_reader *reader)
{
    return reader->first < reader->end ? reader->buffer[reader->first++] : gf_byte_refill(reader);
}

/* Reads the next `count` bytes. Returns false if the input ends before. */
static inline bool gf_byte_take(struct gf_byte_reader *reader, unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++) {
        const int byte = gf_byte_next(reader);
        if (byte == GF_NO_BYTE)
            return false;
        bytes[i] = (unsigned char)byte;
    }
    return true;
}

/* Fails for an input that ended too early or could not be read. */
static inline enum gf_status gf_byte_fail_short(const struct gf_byte_reader *reader)
{
    return reader->status ? reader->status
                          : gf_fail_truncated(reader->error, gf_input_name(reader->input),
                                              reader->rows ? reader->row : -1, reader->rows);
}
