/* Decompresses a stripe of a marked PNG. First the blocks of a deflate stream (RFC 1951): bits,
 * heads, codes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "codec/png/deflate/deflate.h"

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

/* Refills `bits` to at least 56 bits. */
static inline void inflate_refill(struct gf_inflate_reader *reader)
{
    if (reader->at <= reader->size)
        reader->bits |= gf_load64(reader->data + reader->at) << reader->count;
    reader->at += (63 - reader->count) >> 3;
    reader->count |= 56;
}

static inline uint32_t inflate_take(struct gf_inflate_reader *reader, unsigned count)
{
    const uint32_t bits = (uint32_t)(reader->bits & ((1u << count) - 1));
    reader->bits >>= count;
    reader->count -= count;
    return bits;
}

/* Returns the number of bits that were taken so far. */
static inline uint64_t inflate_place(const struct gf_inflate_reader *reader)
{
    return (uint64_t)reader->at * 8 - reader->count;
}

static int inflate_take_symbol(struct gf_inflate_reader *reader,
                               const struct gf_inflate_codes *codes);

/* Takes the symbol of an entry that contains no literals. The symbol may be a literal nevertheless,
 * if its code is longer than the table's index. */
static inline int inflate_take_other(struct gf_inflate_reader *reader,
                                     const struct gf_inflate_decoder *decoder, uint32_t entry)
{
    inflate_refill(reader);
    if (!(entry & 255))
        return inflate_take_symbol(reader, &decoder->literals);
    inflate_take(reader, entry & 255);
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

static inline size_t inflate_take_range(struct gf_inflate_reader *reader,
                                        struct gf_inflate_range range)
{
    return range.least + inflate_take(reader, range.extra);
}

/* Takes the rest of a match, after the symbol of its length. Returns false if the distance is
 * invalid. */
static inline bool inflate_take_match(struct gf_inflate_reader *reader,
                                      const struct gf_inflate_decoder *decoder, int symbol,
                                      size_t *length, size_t *distance)
{
    *length = inflate_take_range(reader, gf_inflate_lengths[symbol - GF_INFLATE_FIRST_LENGTH]);
    const unsigned entry = decoder->distance[reader->bits & GF_INFLATE_DISTANCE_MASK];
    int of_distance = (int)(entry >> 8);
    if (entry)
        inflate_take(reader, entry & 255);
    else
        of_distance = inflate_take_symbol(reader, &decoder->distances);
    if (of_distance < 0)
        return false;
    *distance = inflate_take_range(reader, gf_inflate_distances[of_distance]);
    return true;
}

enum {
    LENGTHS = 19,
    STORED_HEAD = 4,
    END = GF_INFLATE_BLOCK_END,
    LITERALS = GF_INFLATE_LITERALS,
    DISTANCES = GF_INFLATE_DISTANCES,
    LONGEST = GF_INFLATE_LONGEST,
    TABLE_BITS = GF_INFLATE_TABLE_BITS,
    TABLE_MASK = GF_INFLATE_TABLE_MASK
};

/* The table of lengths in RFC 1951, section 3.2.5. */
const struct gf_inflate_range gf_inflate_lengths[LITERALS - GF_INFLATE_FIRST_LENGTH] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
const struct gf_inflate_range gf_inflate_distances[DISTANCES] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

/* Makes the codes with these lengths. Returns false if they are no complete Huffman code. single: a
 * single code of one bit is valid, too. */
static bool make_codes(struct gf_inflate_codes *codes, const uint8_t *lengths, int symbols,
                       bool single)
{
    int left = 1, used = 0, next[LONGEST + 2] = {0};
    memset(codes->of_length, 0, sizeof codes->of_length);
    for (int s = 0; s < symbols; s++)
        codes->of_length[lengths[s]]++;
    codes->of_length[0] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        left = 2 * left - codes->of_length[length];
        if (left < 0)
            return false;
        used += codes->of_length[length];
        next[length + 1] = used;
    }
    for (int s = 0; s < symbols; s++)
        if (lengths[s])
            codes->symbol[next[lengths[s]]++] = (uint16_t)s;
    return !left || (single && used == 1 && codes->of_length[1] == 1);
}

/* Takes one code, bit by bit, and returns its symbol, or -1 if no code matches. */
static int inflate_take_symbol(struct gf_inflate_reader *reader,
                               const struct gf_inflate_codes *codes)
{
    int code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= LONGEST; length++) {
        const int count = codes->of_length[length];
        code |= (int)(reader->bits >> (length - 1) & 1);
        if (code - count < first) {
            inflate_take(reader, length);
            return codes->symbol[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static void fill_literals(struct gf_inflate_decoder *decoder, const uint8_t lengths[LITERALS])
{
    uint16_t codes[LITERALS];
    uint32_t *const entry = decoder->entry;
    gf_huffman_codes(lengths, LITERALS, codes);
    memset(entry, 0, sizeof decoder->entry);
    for (uint32_t s = 0; s < LITERALS; s++) {
        const uint32_t one = lengths[s] | (s < END ? 1u << 8 : 0) | s << 16;
        if (lengths[s] && lengths[s] <= TABLE_BITS)
            for (uint32_t i = codes[s]; i <= TABLE_MASK; i += 1u << lengths[s])
                entry[i] = one;
    }
    /* The loop goes down, because an entry looks up a smaller index, which must still contain a
     * single literal. */
    for (uint32_t i = TABLE_MASK; i; i--) {
        const uint32_t one = entry[i], length = one & 255;
        const uint32_t two = length ? entry[i >> length] : 0;
        if ((one >> 8 & 255) == 1 && (two >> 8 & 255) == 1 && length + (two & 255) <= TABLE_BITS)
            entry[i] = (length + (two & 255)) | 2u << 8 | (one >> 16 & 255) << 16 |
                       (two >> 16 & 255) << 24;
    }
}

static void fill_distances(struct gf_inflate_decoder *decoder, const uint8_t *lengths, int symbols)
{
    uint16_t codes[DISTANCES];
    gf_huffman_codes(lengths, symbols, codes);
    memset(decoder->distance, 0, sizeof decoder->distance);
    for (int s = 0; s < symbols; s++)
        if (lengths[s] && lengths[s] <= GF_INFLATE_DISTANCE_BITS)
            for (uint32_t i = codes[s]; i <= GF_INFLATE_DISTANCE_MASK; i += 1u << lengths[s])
                decoder->distance[i] = (uint16_t)(lengths[s] | s << 8);
}

/* Reads `count` code lengths. The lengths of both codes are one sequence. */
static bool read_lengths(struct gf_inflate_reader *reader, uint8_t *lengths, int count, int written)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t of_lengths[LENGTHS] = {0};
    struct gf_inflate_codes codes;
    for (int i = 0; i < written; i++) {
        inflate_refill(reader);
        of_lengths[order[i]] = (uint8_t)inflate_take(reader, 3);
    }
    if (!make_codes(&codes, of_lengths, LENGTHS, false))
        return false;
    for (int i = 0; i < count;) {
        inflate_refill(reader);
        const int symbol = inflate_take_symbol(reader, &codes);
        if (symbol < 0 || (symbol == 16 && !i))
            return false;
        const uint8_t length = (uint8_t)(symbol < 16 ? symbol : symbol == 16 ? lengths[i - 1] : 0);
        const int run = symbol < 16    ? 1
                        : symbol == 16 ? 3 + (int)inflate_take(reader, 2)
                        : symbol == 17 ? 3 + (int)inflate_take(reader, 3)
                                       : 11 + (int)inflate_take(reader, 7);
        if (run > count - i)
            return false;
        memset(lengths + i, length, (size_t)run);
        i += run;
    }
    return true;
}

/* Reads the head of a block with its own codes, after the block's type, and fills the decoder.
 * Returns false if the codes are not complete. */
static bool inflate_read_head(struct gf_inflate_reader *reader, struct gf_inflate_decoder *decoder)
{
    uint8_t lengths[LITERALS + DISTANCES] = {0}, all[LITERALS] = {0};
    inflate_refill(reader);
    const int literals = (int)inflate_take(reader, 5) + GF_INFLATE_FIRST_LENGTH;
    const int distances = (int)inflate_take(reader, 5) + 1;
    const int written = (int)inflate_take(reader, 4) + 4;
    if (literals > LITERALS || distances > DISTANCES ||
        !read_lengths(reader, lengths, literals + distances, written))
        return false;
    memcpy(all, lengths, (size_t)literals);
    if (!all[END] || !make_codes(&decoder->literals, all, LITERALS, false) ||
        !make_codes(&decoder->distances, lengths + literals, distances, true))
        return false;
    fill_literals(decoder, all);
    fill_distances(decoder, lengths + literals, distances);
    return true;
}

/* Skips a stored block. Returns its `length` bytes; NULL if its head is damaged or bytes are
 * missing. */
static const uint8_t *inflate_stored(struct gf_inflate_reader *reader, size_t *length)
{
    inflate_take(reader, reader->count & 7);
    const size_t at = (size_t)(inflate_place(reader) / 8);
    if (at > reader->size || reader->size - at < STORED_HEAD)
        return NULL;
    const uint8_t *const head = reader->data + at;
    *length = (size_t)head[0] | (size_t)head[1] << 8;
    if (((size_t)head[2] | (size_t)head[3] << 8) != (*length ^ 0xffff) ||
        *length > reader->size - at - STORED_HEAD)
        return NULL;
    reader->at = at + STORED_HEAD + *length;
    reader->bits = 0;
    reader->count = 0;
    return head + STORED_HEAD;
}

/* Copies a match. A few bytes after the match may be overwritten. */
static uint8_t *copy(uint8_t *out, size_t distance, size_t length)
{
    uint8_t *const end = out + length;
    if (distance == 1) {
        memset(out, out[-1], length);
    } else if (distance >= 8) {
        for (; out < end; out += 8)
            memcpy(out, out - distance, 8);
    } else {
        for (; out < end; out++)
            *out = out[-(ptrdiff_t)distance];
    }
    return end;
}

/* Takes a code whose table entry contains no literals: a match, the block's end (*ended becomes
 * true), or a literal whose code is longer than the table's index. Returns where the output
 * continues; NULL if the data is damaged. */
static uint8_t *take_other(struct gf_inflate_reader *reader,
                           const struct gf_inflate_decoder *decoder, uint32_t entry, uint8_t *begin,
                           uint8_t *out, uint8_t *end, bool *ended)
{
    size_t length, distance;
    const int symbol = inflate_take_other(reader, decoder, entry);
    *ended = symbol == GF_INFLATE_BLOCK_END;
    if (symbol < 0 || *ended)
        return *ended ? out : NULL;
    if (symbol < GF_INFLATE_BLOCK_END) {
        *out = (uint8_t)symbol;
        return out + 1;
    }
    if (!inflate_take_match(reader, decoder, symbol, &length, &distance) ||
        distance > (size_t)(out - begin) || out > end || length > (size_t)(end - out))
        return NULL;
    return copy(out, distance, length);
}

static inline uint8_t *take_literals(struct gf_inflate_reader *reader, uint32_t entry, uint8_t *out)
{
    out[0] = (uint8_t)(entry >> 16);
    out[1] = (uint8_t)(entry >> 24);
    inflate_take(reader, entry & 255);
    return out + (entry >> 8 & 255);
}

/* Decodes a block's data. It may write up to eight bytes after `end` before it notices the end. */
GF_TARGET_CLONES static uint8_t *take_data(struct gf_inflate_reader *from,
                                           const struct gf_inflate_decoder *decoder, uint8_t *begin,
                                           uint8_t *out, uint8_t *end)
{
    struct gf_inflate_reader reader = *from; /* a local copy stays in registers */
    bool ended = false;
    while (out && !ended) {
        uint32_t entry = 0;
        int looks = 0;
        inflate_refill(&reader);
        for (; looks < 4; looks++) {
            entry = decoder->entry[reader.bits & GF_INFLATE_TABLE_MASK];
            if (!(entry & 0xff00))
                break;
            out = take_literals(&reader, entry, out);
        }
        if (out > end || reader.at > reader.size + 8)
            return NULL;
        if (looks < 4) {
            *from = reader;
            out = take_other(from, decoder, entry, begin, out, end, &ended);
            reader = *from;
        }
    }
    *from = reader;
    return out;
}

static uint8_t *copy_stored(struct gf_inflate_reader *reader, uint8_t *out, const uint8_t *end)
{
    size_t length;
    const uint8_t *const data = inflate_stored(reader, &length);
    if (!data || length > (size_t)(end - out))
        return NULL;
    memcpy(out, data, length);
    return out + length;
}

bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room)
{
    struct gf_inflate_reader reader = {.data = data, .size = size};
    struct gf_inflate_decoder decoder;
    uint8_t *at = out, *const end = out + room;
    for (;;) {
        inflate_refill(&reader);
        const bool final = inflate_take(&reader, 1);
        const uint32_t kind = inflate_take(&reader, 2);
        if (kind == GF_INFLATE_STORED)
            at = copy_stored(&reader, at, end);
        else if (kind == GF_INFLATE_DYNAMIC && inflate_read_head(&reader, &decoder))
            at = take_data(&reader, &decoder, out, at, end);
        else
            return false;
        const size_t used = (size_t)((inflate_place(&reader) + 7) / 8);
        if (!at || at > end || used > size)
            return false;
        if (final)
            return last && at == end && used == size;
        if (!last && used == size && !(reader.count & 7))
            return at == end;
    }
}
