/* The blocks of a deflate stream (RFC 1951), for inflate_stripe.c: bits, heads, codes. */
#ifndef GF_CODEC_PNG_INFLATE_INFLATE_CODE_H
#define GF_CODEC_PNG_INFLATE_INFLATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/load64.h"

enum {
    GF_INFLATE_STORED = 0, /* the kinds of blocks; stripes have none of the fixed codes */
    GF_INFLATE_DYNAMIC = 2,
    GF_INFLATE_BLOCK_END = 256,
    GF_INFLATE_FIRST_LENGTH = 257,
    GF_INFLATE_LITERALS = 286,
    GF_INFLATE_DISTANCES = 30,
    GF_INFLATE_LONGEST = 15,
    GF_INFLATE_TABLE_BITS = 12, /* longer codes are rare: they are found bit by bit */
    GF_INFLATE_TABLE_MASK = (1 << GF_INFLATE_TABLE_BITS) - 1,
    GF_INFLATE_DISTANCE_BITS = 9,
    GF_INFLATE_DISTANCE_MASK = (1 << GF_INFLATE_DISTANCE_BITS) - 1,
    GF_INFLATE_MARGIN = 16 /* so many bytes behind the data are readable */
};

/* Bits are used from the lowest on. `count` of them are in `bits`; `at` is the place of the next
 * byte to load. Behind the data come zeros. */
struct gf_inflate_reader {
    const uint8_t *data;
    size_t size, at;
    uint64_t bits;
    unsigned count;
};

/* The codes of each length, in order of the lengths and then of the symbols. */
struct gf_inflate_codes {
    uint16_t of_length[GF_INFLATE_LONGEST + 1], symbol[GF_INFLATE_LITERALS];
};

/* An entry of the table: the bits that it takes, then the number of literals and these; or 0
 * literals and another symbol, or nothing where the code is longer. One of `distance`: the bits,
 * then the symbol. */
struct gf_inflate_decoder {
    uint32_t entry[1 << GF_INFLATE_TABLE_BITS];
    uint16_t distance[1 << GF_INFLATE_DISTANCE_BITS];
    struct gf_inflate_codes literals, distances;
};

/* Read the head of a block that has its own codes, behind its kind, and fill the decoder. False: it
 * has no complete codes. */
bool gf_inflate_read_head(struct gf_inflate_reader *reader, struct gf_inflate_decoder *decoder);
/* Passes a stored block's head. NULL: it is damaged, or not all of its `length` bytes are there. */
const uint8_t *gf_inflate_stored(struct gf_inflate_reader *reader, size_t *length);

/* Afterwards there are 56 bits or more. */
static inline void gf_inflate_refill(struct gf_inflate_reader *reader)
{
    if (reader->at <= reader->size)
        reader->bits |= gf_load64(reader->data + reader->at) << reader->count;
    reader->at += (63 - reader->count) >> 3;
    reader->count |= 56;
}

static inline uint32_t gf_inflate_take(struct gf_inflate_reader *reader, unsigned count)
{
    const uint32_t bits = (uint32_t)(reader->bits & ((1u << count) - 1));
    reader->bits >>= count;
    reader->count -= count;
    return bits;
}

/* The number of bits before the next one. */
static inline uint64_t gf_inflate_place(const struct gf_inflate_reader *reader)
{
    return (uint64_t)reader->at * 8 - reader->count;
}

/* Takes a code bit by bit and returns its symbol, or -1 where there is no such code. */
int gf_inflate_take_symbol(struct gf_inflate_reader *reader, const struct gf_inflate_codes *codes);

/* Takes the symbol of an entry of the table that gives no literals. It may still be one. */
static inline int gf_inflate_take_other(struct gf_inflate_reader *reader,
                                        const struct gf_inflate_decoder *decoder, uint32_t entry)
{
    gf_inflate_refill(reader);
    if (!(entry & 255))
        return gf_inflate_take_symbol(reader, &decoder->literals);
    gf_inflate_take(reader, entry & 255);
    return (int)(entry >> 16);
}

/* What a symbol of lengths (from 3 on) or distances stands for: the least number, and the bits that
 * follow and are added to it. */
struct gf_inflate_range {
    uint16_t least;
    uint8_t extra;
};
extern const struct gf_inflate_range
    gf_inflate_lengths[GF_INFLATE_LITERALS - GF_INFLATE_FIRST_LENGTH];
extern const struct gf_inflate_range gf_inflate_distances[GF_INFLATE_DISTANCES];

static inline size_t gf_inflate_take_range(struct gf_inflate_reader *reader,
                                           struct gf_inflate_range range)
{
    return range.least + gf_inflate_take(reader, range.extra);
}

/* Takes the rest of a match that begins with the symbol of a length. False: it is none. */
static inline bool gf_inflate_take_match(struct gf_inflate_reader *reader,
                                         const struct gf_inflate_decoder *decoder, int symbol,
                                         size_t *length, size_t *distance)
{
    *length = gf_inflate_take_range(reader, gf_inflate_lengths[symbol - GF_INFLATE_FIRST_LENGTH]);
    const unsigned entry = decoder->distance[reader->bits & GF_INFLATE_DISTANCE_MASK];
    int of_distance = (int)(entry >> 8);
    if (entry)
        gf_inflate_take(reader, entry & 255);
    else
        of_distance = gf_inflate_take_symbol(reader, &decoder->distances);
    if (of_distance < 0)
        return false;
    *distance = gf_inflate_take_range(reader, gf_inflate_distances[of_distance]);
    return true;
}

#endif
