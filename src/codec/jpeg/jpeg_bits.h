/* Bits of entropy-coded data of a JPEG. The reader leaves out the zeros that are stuffed after each
 * byte 0xff, and the writer adds them. (ITU-T T.81, F.1.2.3) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/io/input.h"

enum {
    GF_JPEG_RAW_BYTES = 32 << 10,
    GF_JPEG_BLOCK_BYTES = 256, /* the most bytes of a block of 64 coefficients */
    GF_JPEG_BEFORE_BYTES = 8   /* bytes before the next byte that the buffer keeps */
};

/* The next bits of a reader. Functions use a local copy, which stays in registers. */
struct gf_jpeg_cursor {
    const unsigned char *at; /* the next byte that is not counted in `value` */
    /* The first bit is the highest. Bits after the first `count` may be set. */
    uint64_t value;
    int count;
};

/* A reader. `buffer` holds the data without stuffed zeros. The data ends at a marker or at the end
 * of the input, and zeros follow it. */
struct gf_jpeg_bits {
    struct gf_jpeg_cursor next;
    const unsigned char *limit;         /* gf_jpeg_bits_advance() must be called when next.at
                                         * reaches this address */
    const unsigned char *end;           /* end of the data in the buffer */
    bool ended;                         /* no more data comes from the input */
    struct gf_input *input;             /* NULL: all data is in the buffer */
    int64_t offset, stop;               /* offsets in the input: next byte to read; end */
    const unsigned char *raw, *raw_end; /* raw bytes that are not in the buffer yet */
    int64_t begin;                      /* offset in the input of the buffer's first byte */
    int stuffed;                        /* number of bytes 0xff in the buffer */
    /* The number of these bytes before the last place for which an offset was computed. */
    int passed;
    uint16_t stuffed_at[GF_JPEG_RAW_BYTES + GF_JPEG_BEFORE_BYTES + GF_JPEG_BLOCK_BYTES];
    unsigned char raw_buffer[GF_JPEG_RAW_BYTES];
    unsigned char buffer[GF_JPEG_BEFORE_BYTES + GF_JPEG_RAW_BYTES + 4 * GF_JPEG_BLOCK_BYTES];
};

void gf_jpeg_bits_open_memory(struct gf_jpeg_bits *bits, const unsigned char *data, size_t size);
/* Starts to read the input at a bit, up to the byte offset `stop`. Both positions count the stuffed
 * zeros. */
void gf_jpeg_bits_open(struct gf_jpeg_bits *bits, struct gf_input *input, int64_t bit,
                       int64_t stop);
/* Reads until the buffer holds a whole block. It must be called when next.at has reached `limit`.
 * Returns false if more bits were taken than there are. */
bool gf_jpeg_bits_advance(struct gf_jpeg_bits *bits);
/* Returns the position in the input of the next bit. The reader must have an input, and must not
 * have taken more bits than there are. */
int64_t gf_jpeg_bits_place(struct gf_jpeg_bits *bits);
/* Skips the rest of the last byte and the marker after it. Returns false if another marker follows,
 * or if more bits than padding are left. */
bool gf_jpeg_bits_take_marker(struct gf_jpeg_bits *bits, int marker);

/* Returns the number of bits left in the buffer; negative if more were taken. */
static inline int gf_jpeg_bits_left(const struct gf_jpeg_bits *bits)
{
    return (int)(bits->end - bits->next.at) * 8 + bits->next.count;
}

/* Refills `value` to at least 56 bits. */
static inline void gf_jpeg_refill(struct gf_jpeg_cursor *next)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | next->at[i];
    next->value |= word >> next->count;
    next->at += (63 - next->count) >> 3;
    next->count |= 56;
}

static inline void gf_jpeg_skip(struct gf_jpeg_cursor *next, int count)
{
    next->value <<= count;
    next->count -= count;
}

/* A writer to memory. The caller provides memory: at most 8 bytes for each call. */
struct gf_jpeg_writer {
    unsigned char *at;
    uint64_t value; /* its last `count` bits are not written yet */
    int count;      /* the number of bits, at most 31 */
};

void gf_jpeg_writer_put_stuffed(struct gf_jpeg_writer *writer, uint32_t word);
/* Writes the last byte, filled up with ones. */
void gf_jpeg_writer_pad(struct gf_jpeg_writer *writer);
/* Copies bits until the reader has none left or the writer has reached `full`, which it may pass by
 * less than 64 bytes. Of the last byte's bits only the first `skip` are copied; 0: all of them.
 * Returns true if all bits are copied. */
bool gf_jpeg_bits_copy(struct gf_jpeg_bits *bits, struct gf_jpeg_writer *writer,
                       const unsigned char *full, int skip);

/* Puts at most 32 bits. */
static inline void gf_jpeg_writer_put(struct gf_jpeg_writer *writer, uint32_t bits, int count)
{
    writer->value = writer->value << count | bits;
    writer->count += count;
    if (writer->count < 32)
        return;
    writer->count -= 32;
    const uint32_t word = (uint32_t)(writer->value >> writer->count);
    if ((~word - 0x01010101u) & word & 0x80808080u) { /* one of the four bytes is 0xff */
        gf_jpeg_writer_put_stuffed(writer, word);
        return;
    }
    for (int i = 0; i < 4; i++)
        writer->at[i] = (unsigned char)(word >> (24 - 8 * i));
    writer->at += 4;
}
