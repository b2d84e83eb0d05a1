/* The bits of entropy-coded data: read without the zeros that are stuffed behind each 0xff, and
 * written with them. (ITU-T T.81, F.1.2.3) */
#ifndef GF_CODEC_JPEG_JPEG_BITS_H
#define GF_CODEC_JPEG_JPEG_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/io/input.h"

enum {
    GF_JPEG_RAW_BYTES = 32 << 10,
    GF_JPEG_BLOCK_BYTES = 256, /* a block of 64 coefficients takes no more */
    GF_JPEG_BEFORE_BYTES = 8   /* kept before the next byte */
};

/* The next bits; a copy of it stays in registers. */
struct gf_jpeg_cursor {
    const unsigned char *at; /* the next byte that is not counted in `value` */
    uint64_t value;          /* the first bit is the highest; more than those counted may be set */
    int count;
};

/* A reader: the data without stuffed zeros lies in `buffer`. It ends at a marker or at the end of
 * the input; zeros follow it. */
struct gf_jpeg_bits {
    struct gf_jpeg_cursor next;
    const unsigned char *limit;         /* from here on gf_jpeg_bits_advance() must be called */
    const unsigned char *end;           /* of the data in the buffer */
    bool ended;                         /* no data follows it */
    struct gf_input *input;             /* NULL: all data is in memory */
    int64_t offset, stop;               /* in the input: of the next byte to read, of the end */
    const unsigned char *raw, *raw_end; /* with stuffed zeros, not in the buffer yet */
    int64_t begin;                      /* the offset in the input of the buffer's first byte */
    int stuffed;                        /* the number of bytes 0xff in the buffer */
    int passed;                         /* of these, before the place that was last asked for */
    uint16_t stuffed_at[GF_JPEG_RAW_BYTES + GF_JPEG_BEFORE_BYTES + GF_JPEG_BLOCK_BYTES];
    unsigned char raw_buffer[GF_JPEG_RAW_BYTES];
    unsigned char buffer[GF_JPEG_BEFORE_BYTES + GF_JPEG_RAW_BYTES + 4 * GF_JPEG_BLOCK_BYTES];
};

void gf_jpeg_bits_open_memory(struct gf_jpeg_bits *bits, const unsigned char *data, size_t size);
/* Reads the input from a bit on, which counts the stuffed zeros, too, up to the offset `stop`. */
void gf_jpeg_bits_open(struct gf_jpeg_bits *bits, struct gf_input *input, int64_t bit,
                       int64_t stop);
/* To be called where next.at has reached `limit`: makes sure that a block lies before the reader.
 * False if more bits were taken than there are. */
bool gf_jpeg_bits_advance(struct gf_jpeg_bits *bits);
/* The position in the input of the next bit. There must be an input, and no bits taken that it does
 * not have. */
int64_t gf_jpeg_bits_place(struct gf_jpeg_bits *bits);
/* Skips the rest of the last byte and the marker behind it. False if it is another one, or if more
 * than the padding is left. */
bool gf_jpeg_bits_take_marker(struct gf_jpeg_bits *bits, int marker);

/* The bits that are in the buffer; negative if more were taken. */
static inline int gf_jpeg_bits_left(const struct gf_jpeg_bits *bits)
{
    return (int)(bits->end - bits->next.at) * 8 + bits->next.count;
}

/* Makes sure of 56 bits. */
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

/* A writer to memory that has room for what is put: at most 8 bytes for each call. */
struct gf_jpeg_writer {
    unsigned char *at;
    uint64_t value; /* the last `count` bits of it are not written yet */
    int count;      /* at most 31 */
};

void gf_jpeg_writer_put_stuffed(struct gf_jpeg_writer *writer, uint32_t word);
/* Fills the last byte with ones. */
void gf_jpeg_writer_pad(struct gf_jpeg_writer *writer);
/* Copies bits until the reader has none left or the writer stands at or behind `full`, which it
 * passes by less than 64 bytes. `skip` of the last byte's bits count; 0: all. True: all are copied.
 */
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
    if ((~word - 0x01010101u) & word & 0x80808080u) { /* a byte is 0xff */
        gf_jpeg_writer_put_stuffed(writer, word);
        return;
    }
    for (int i = 0; i < 4; i++)
        writer->at[i] = (unsigned char)(word >> (24 - 8 * i));
    writer->at += 4;
}

#endif
