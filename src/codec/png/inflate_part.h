/* Unpacks a part from the middle of a deflate stream before what precedes it is known, as pugz (M.
 * Kerbiriou, R. Chikhi, Parallel Decompression of Gzip-Compressed Files and Random Access to DNA
 * Sequences, 2019) and rapidgzip (M. Knespel, H. Brunst, 2023) do: a block's head is found by its
 * codes, which must be complete; bytes that a match takes from before the part are placeholders,
 * which are replaced once the bytes before the part are there. */
#ifndef GF_CODEC_PNG_INFLATE_PART_H
#define GF_CODEC_PNG_INFLATE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/png/inflate_code.h"

enum {
    GF_INFLATE_WINDOW = 32768,
    GF_INFLATE_UNKNOWN = 256,   /* sample 256 + i is byte i of the window before the part */
    GF_INFLATE_PART_MARGIN = 16 /* so many samples behind the room are writable */
};

struct gf_inflate_part {
    uint64_t begin, stop; /* in bits from the data's first byte */
    bool first;           /* it begins the stream: no match may go before it */
    uint64_t end;         /* out: the border of blocks that it goes to */
    size_t count;         /* out: its samples */
    bool last;            /* out: it went to the end of the stream's last block */
};

/* Finds the first place from bit part->begin on and before bit part->stop that looks like the
 * beginning of a block with its own codes, not the stream's last, and sets part->begin to it. */
bool gf_inflate_find_block(const uint8_t *data, size_t size, struct gf_inflate_decoder *decoder,
                           struct gf_inflate_part *part);

/* Unpacks from bit `begin` to the first border of blocks at or behind bit `stop` behind which comes
 * a block that gf_inflate_find_block() would find, or to the stream's end. There is room for
 * GF_INFLATE_WINDOW samples before `samples`. False: the data is damaged or ends too early, there
 * is no block at `begin`, or it is more than `room` samples. */
bool gf_inflate_part(const uint8_t *data, size_t size, struct gf_inflate_decoder *decoder,
                     struct gf_inflate_part *part, uint16_t *samples, size_t room);

/* The bytes that samples stand for: themselves, then the window before a part. */
struct gf_inflate_table {
    uint8_t byte[GF_INFLATE_UNKNOWN + GF_INFLATE_WINDOW];
};

/* Fills in the bytes that stand for themselves. */
void gf_inflate_table_init(struct gf_inflate_table *table);
/* Makes bytes of samples. */
void gf_inflate_resolve(const uint16_t *samples, size_t count, const struct gf_inflate_table *table,
                        uint8_t *bytes);

#endif
