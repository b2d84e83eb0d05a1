#include "codec/png/deflate/deflate_fast.h"

#include <string.h>

#include "codec/png/deflate/deflate_code.h"
#include "codec/png/inflate/huffman.h"

enum {
    STORED_MAX = 65535,
    STORED_HEAD = 5,
    EMPTY_HEAD_BITS = 3, /* the bits of the head of an empty stored block, which fills up the last
                          * byte */
    EMPTY_BYTES = 4
};

struct long_code { /* a code and its extra bits */
    uint32_t bits, count;
};
struct codes {
    struct gf_deflate_literals literals;
    struct long_code length[GF_DEFLATE_LONGEST + 1];
    struct gf_deflate_symbol distance[GF_DEFLATE_DISTANCES];
};

static void fill_codes(const struct gf_deflate_code *from, struct codes *codes)
{
    uint16_t code[GF_DEFLATE_SYMBOLS];
    gf_huffman_codes(from->literal, GF_DEFLATE_SYMBOLS, code);
    gf_deflate_literals_fill(from->literal, code, &codes->literals);
    for (size_t length = GF_DEFLATE_SHORTEST; length <= GF_DEFLATE_LONGEST; length++) {
        unsigned extra, rest;
        const int s = gf_deflate_length_symbol(length, &extra, &rest);
        codes->length[length] = (struct long_code){code[s] | (uint32_t)rest << from->literal[s],
                                                   from->literal[s] + extra};
    }
    gf_huffman_codes(from->distance, GF_DEFLATE_DISTANCES, code);
    for (int s = 0; s < GF_DEFLATE_DISTANCES; s++)
        codes->distance[s] = (struct gf_deflate_symbol){code[s], from->distance[s]};
}

/* ---- the data of a block ---- */

static void put_match(struct gf_deflate_bits *bits, const struct codes *codes,
                      const struct gf_deflate_match *match)
{
    unsigned extra, rest;
    const struct gf_deflate_symbol distance =
        codes->distance[gf_deflate_distance_symbol(match->distance, &extra, &rest)];
    for (size_t length = match->length, part; length; length -= part) {
        part = gf_deflate_part(length);
        gf_deflate_put(bits, codes->length[part].bits, codes->length[part].count);
        gf_deflate_put(bits, distance.bits | (uint64_t)rest << distance.count,
                       distance.count + extra);
        gf_deflate_flush(bits);
    }
}

static void put_data(struct gf_deflate_bits *bits, const struct gf_deflate_piece *piece,
                     const struct codes *codes)
{
    const uint8_t *from = piece->data;
    for (const struct gf_deflate_match *match = piece->match; match < piece->match + piece->matches;
         match++) {
        gf_deflate_put_literals(bits, &codes->literals, from, piece->data + match->start);
        put_match(bits, codes, match);
        from = piece->data + match->start + match->length;
    }
    gf_deflate_put_literals(bits, &codes->literals, from, piece->data + piece->size);
    gf_deflate_put_symbol(bits, codes->literals.symbol[GF_DEFLATE_END]);
}

static void align(struct gf_deflate_bits *bits)
{
    bits->count = (bits->count + 7) & ~7u;
    gf_deflate_flush(bits);
}

static void put_stored_head(struct gf_deflate_bits *bits, size_t size, bool last)
{
    gf_deflate_put(bits, last, 3);
    align(bits);
    gf_deflate_put(bits, size | (~size & 0xffff) << 16, 32);
    gf_deflate_flush(bits);
}

static size_t store(const uint8_t *data, size_t size, bool last, uint8_t *out)
{
    struct gf_deflate_bits bits = {.out = out};
    for (size_t at = 0; at < size;) {
        const size_t part = size - at < STORED_MAX ? size - at : STORED_MAX;
        put_stored_head(&bits, part, last && at + part == size);
        memcpy(bits.out, data + at, part);
        bits.out += part;
        at += part;
    }
    return (size_t)(bits.out - out);
}

size_t gf_deflate_fast_bound(size_t size)
{
    return size + (size / STORED_MAX + 1) * STORED_HEAD + sizeof(uint64_t);
}

size_t gf_deflate_fast_scratch(size_t size)
{
    return (size / GF_DEFLATE_CELL + 1) * (sizeof(struct gf_deflate_match) + sizeof(uint16_t));
}

/* Replaces the matches of a drawing by repeats, if the block then has fewer bits. */
static void try_repeats(struct gf_deflate_piece *piece, size_t runs, struct gf_deflate_code *code)
{
    uint16_t *const distances = (uint16_t *)(piece->match + piece->size / GF_DEFLATE_CELL);
    struct gf_deflate_code other;
    if (!gf_deflate_is_drawing(piece, runs, distances))
        return;
    gf_deflate_find_repeats(piece, distances);
    gf_deflate_fit(piece, true, &other);
    if (other.bits < code->bits)
        *code = other;
    else
        (void)gf_deflate_find_runs(piece);
}

size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, void *scratch, uint8_t *out)
{
    struct gf_deflate_piece piece = {.data = data, .size = size, .match = scratch};
    struct gf_deflate_bits bits = {.out = out};
    struct gf_deflate_code code;
    struct codes codes;
    const size_t runs = gf_deflate_find_runs(&piece);
    gf_deflate_fit(&piece, false, &code);
    try_repeats(&piece, runs, &code);
    const uint64_t packed =
        last ? (code.bits + 7) / 8 : (code.bits + EMPTY_HEAD_BITS + 7) / 8 + EMPTY_BYTES;
    if (packed >= size + (size / STORED_MAX + 1) * STORED_HEAD)
        return store(data, size, last, out);
    fill_codes(&code, &codes);
    gf_deflate_put_head(&bits, &code, last);
    put_data(&bits, &piece, &codes);
    if (last)
        align(&bits);
    else
        put_stored_head(&bits, 0, false); /* an empty stored block ends at a whole byte */
    return (size_t)(bits.out - out);
}
