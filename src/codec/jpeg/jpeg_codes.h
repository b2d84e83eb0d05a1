/* The entropy-coded data of a sequential JPEG: its bits, its codes, and where its rows begin.
 * The reader of bits leaves out the zeros that are stuffed after each byte 0xff, and the writer
 * adds them. (ITU-T T.81, F.1.2.3) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/io/input.h"
#include "codec/jpeg/jpeg_header.h"

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
    /* The number of bytes 0xff in the buffer before the byte whose offset in the input was computed
     * last. stuffed_at has the index in the buffer of each byte 0xff. */
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

/* Walks over the Huffman codes of a sequential scan, decodes only the DC values, and finds every
 * invalid code. (ITU-T T.81, annexes C and F) */

enum {
    GF_JPEG_LOOK_BITS = 11,
    GF_JPEG_DC_SIZES = GF_JPEG_DC_SYMBOLS,
    GF_JPEG_UNIT_BLOCKS = 10,
    GF_JPEG_COMPONENTS = 3,
    GF_JPEG_DC_MOST = 2047 /* the largest DC value; a value has at most 11 bits */
};

/* The symbols that begin in the next LOOK_BITS bits, each including the bits of its value. */
struct gf_jpeg_step {
    _Alignas(4) uint8_t bits; /* number of bits to skip; 0: even the first code is longer */
    uint8_t need;    /* coefficients that must be left in the block; 64: even the first code is
                      * longer */
    uint8_t advance; /* coefficients; 64: the block ends. In a DC table: bits of the value */
};

/* A Huffman table. `step` looks up several symbols at once; single symbols are found by the
 * smallest and largest code of each length. */
struct gf_jpeg_table {
    struct gf_jpeg_step step[1 << GF_JPEG_LOOK_BITS];
    int32_t most[17];  /* the largest code of each length; -1: there is none */
    int32_t first[17]; /* index of the smallest code's symbol, minus that code */
    uint8_t symbol[256];
};

/* Makes a table. counts[n] is the number of codes of n bits, 1 to 16; counts[0] is not read.
 * Returns false for a table that is damaged, or that no sequential JPEG of 8 bits can have. */
bool gf_jpeg_table_make(struct gf_jpeg_table *table, const uint8_t *counts, const uint8_t *symbols,
                        bool is_dc);

/* The codes of a DC table, by the size of the difference in bits. */
struct gf_jpeg_dc_codes {
    struct gf_jpeg_code code[GF_JPEG_DC_SIZES];
};

/* The blocks of a unit (MCU) in order. */
struct gf_jpeg_unit {
    int blocks;
    struct {
        int component;
        const struct gf_jpeg_table *dc, *ac;
    } block[GF_JPEG_UNIT_BLOCKS];
    const struct gf_jpeg_dc_codes *codes[GF_JPEG_COMPONENTS]; /* needed by gf_jpeg_copy_unit() */
};

/* Walks over `units` units and adds the DC differences to dc[component]. Returns 0 for invalid
 * codes, 64 if the last block ends with its last coefficient, and more than 64 if it ends with the
 * end-of-block code. The caller checks with gf_jpeg_bits_left() whether there were enough bits. */
int gf_jpeg_walk(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits, int units,
                 int32_t *dc);

/* Copies a unit. Its first DC differences refer to dc_in[component], and are changed to refer to
 * dc_out[component]. A block takes up to 512 bytes, including stuffed zeros. Returns false if the
 * table has no code for a difference. */
bool gf_jpeg_copy_unit(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits,
                       struct gf_jpeg_writer *writer, const int32_t *dc_in, const int32_t *dc_out);

/* Finds where the rows of units (MCUs) of a JPEG's scan begin in its file. This requires a walk
 * over all codes of a sequential scan, which also finds the first damaged code. */

/* Scouts find in parallel where the units (MCUs) of a scan begin. The scan is cut into
 * subsequences, and a scout walks over each from a guess: that a unit begins with the subsequence's
 * first bit. After some units Huffman codes resynchronise even from a wrong guess. The positions
 * that a scout has marked are therefore mostly right. They are valid from the first position on
 * that the walk from the scan's start reaches, too. */

/* The beginning of a unit, if the scout's guess was right. */
struct gf_jpeg_mark {
    int64_t bit;                    /* position in the input, with stuffed zeros */
    int32_t dc[GF_JPEG_COMPONENTS]; /* sums of the DC differences since the first mark */
};

struct gf_jpeg_subsequence {
    int64_t end;               /* offset in the input where the next subsequence begins */
    int count;                 /* number of marks, which may be 0 */
    size_t room;               /* the number of marks for which `mark` has room */
    struct gf_jpeg_mark *mark; /* the beginnings of consecutive units */
};

struct gf_jpeg_scouts;

struct gf_jpeg_index_row {
    int64_t bit;  /* the row's first bit in the input, after a restart marker */
    int64_t stop; /* the offset in the input after the last byte of the row before */
    /* The DC values to which the row's first differences are added. */
    int32_t dc[GF_JPEG_COMPONENTS];
};

struct gf_jpeg_index {
    const struct gf_jpeg_unit *unit;
    struct gf_input *input;
    int units_across, rows;
    int restart_interval;          /* the units between restart markers; 0: there are no restart
                                    * markers */
    struct gf_jpeg_scouts *scouts; /* NULL: one thread walks over all codes */
    struct gf_jpeg_bits bits;
    int64_t units;                  /* number of units that were walked over; only used with
                                     * scouts */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values before the next unit */
    int until_restart, restarts;
    int known; /* rows 0 to `known` are known; row[rows] is the scan's end */
    bool damaged;
    struct gf_jpeg_index_row row[];
};

/* Opens an index; NULL when out of memory. The scan's first code is at the offset `begin` of the
 * input. With more than one thread, scouts walk ahead; their subsequences have subsequence_bytes
 * bytes, or with 0 a size that they choose. */
struct gf_jpeg_index *gf_jpeg_index_open(const struct gf_jpeg_unit *unit, int units_across,
                                         int rows, int restart_interval, struct gf_input *input,
                                         int64_t begin, int threads, int subsequence_bytes);
void gf_jpeg_index_close(struct gf_jpeg_index *index);
/* Makes a new index begin at row `row`, with which a restart interval begins, and search for
 * restart markers alone up to there. If they are not in order, the index begins at the first row.
 */
void gf_jpeg_index_skip(struct gf_jpeg_index *index, int row);
/* Walks until the beginning of row `row` is known. Returns false if damage or anything unusual
 * comes before it. The last row counts as known only if the end marker follows it. */
bool gf_jpeg_index_reach(struct gf_jpeg_index *index, int row);
/* Whether the data does not end with the codes of the last row and the ones that fill their last
 * byte: the codes of more units follow up to its end, a row is damaged, or the last byte is filled
 * otherwise. `index` must be new. */
bool gf_jpeg_index_has_more(struct gf_jpeg_index *index);
