/* The blocks of a deflate stream (RFC 1951), for inflate_stripe.c: bits, heads, codes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/load64.h"

enum {
    GF_INFLATE_STORED = 0, /* types of blocks; stripes have none with deflate's fixed codes */
    GF_INFLATE_DYNAMIC = 2,
    GF_INFLATE_BLOCK_END = 256,
    GF_INFLATE_FIRST_LENGTH = 257,
    GF_INFLATE_LITERALS = 286,
    GF_INFLATE_DISTANCES = 30,
    GF_INFLATE_LONGEST = 15,
    GF_INFLATE_TABLE_BITS = 12, /* longer codes are rare, and decoded bit by bit */
    GF_INFLATE_TABLE_MASK = (1 << GF_INFLATE_TABLE_BITS) - 1,
    GF_INFLATE_DISTANCE_BITS = 9,
    GF_INFLATE_DISTANCE_MASK = (1 << GF_INFLATE_DISTANCE_BITS) - 1,
    GF_INFLATE_MARGIN = 16 /* the bytes after the data that may be read */
};

/* Reads bits, the lowest bit first. `bits` contains the next `count` bits; `at` is the index of the
 * next byte to load. Zeros follow the end of the data. */
struct gf_inflate_reader {
    const uint8_t *data;
    size_t size, at;
    uint64_t bits;
    unsigned count;
};

/* Codes, for decoding bit by bit: the number of codes of each length, and the symbols in the order
 * of their codes. */
struct gf_inflate_codes {
    uint16_t of_length[GF_INFLATE_LONGEST + 1], symbol[GF_INFLATE_LITERALS];
};

/* The tables of a block's codes. An entry contains the number of bits to take, the number of
 * literals, and the literals. It contains 0 literals and a symbol for a length or the block's end,
 * and is 0 if the code is longer than the table's index. An entry of `distance` contains the number
 * of bits, then the symbol. */
struct gf_inflate_decoder {
    uint32_t entry[1 << GF_INFLATE_TABLE_BITS];
    uint16_t distance[1 << GF_INFLATE_DISTANCE_BITS];
    struct gf_inflate_codes literals, distances;
};

/* Reads the head of a block with its own codes, after the block's type, and fills the decoder.
 * Returns false if the codes are not complete. */
bool gf_inflate_read_head(struct gf_inflate_reader *reader, struct gf_inflate_decoder *decoder);
/* Skips a stored block. Returns its `length` bytes; NULL if its head is damaged or bytes are
 * missing. */
const uint8_t *gf_inflate_stored(struct gf_inflate_reader *reader, size_t *length);

/* Refills `bits` to at least 56 bits. */
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

/* Returns the number of bits that were taken so far. */
static inline uint64_t gf_inflate_place(const struct gf_inflate_reader *reader)
{
    return (uint64_t)reader->at * 8 - reader->count;
}

/* Takes one code, bit by bit, and returns its symbol, or -1 if no code matches. */
int gf_inflate_take_symbol(struct gf_inflate_reader *reader, const struct gf_inflate_codes *codes);

/* Takes the symbol of an entry that contains no literals. The symbol may be a literal nevertheless,
 * if its code is longer than the table's index. */
static inline int gf_inflate_take_other(struct gf_inflate_reader *reader,
                                        const struct gf_inflate_decoder *decoder, uint32_t entry)
{
    gf_inflate_refill(reader);
    if (!(entry & 255))
        return gf_inflate_take_symbol(reader, &decoder->literals);
    gf_inflate_take(reader, entry & 255);
    return (int)(entry >> 16);
}

/* The numbers that a symbol for lengths (from 3 on) or distances represents: the smallest number,
 * and the number of extra bits that are added to it. */
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

/* Takes the rest of a match, after the symbol of its length. Returns false if the distance is
 * invalid. */
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
