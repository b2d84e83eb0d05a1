#include "codec/png/inflate_stripe.h"

#include <string.h>

#include "base/target_clones.h"
#include "codec/png/huffman.h"

enum {
    END = 256,
    FIRST_LENGTH = 257,
    LITERALS = 286,
    DISTANCES = 30,
    LENGTHS = 19,
    LONGEST = GF_HUFFMAN_LONGEST,
    TABLE_BITS = 12, /* longer codes are rare: they are found bit by bit */
    TABLE_MASK = (1 << TABLE_BITS) - 1,
    STORED_HEAD = 4
};

/* Bits are used from the lowest on. `count` of them are in `bits`; `at` is the place of the next
 * byte to load. Behind the data come zeros. */
struct reader {
    const uint8_t *data;
    size_t size, at;
    uint64_t bits;
    unsigned count;
};

/* The codes of each length, in order of the lengths and then of the symbols. */
struct codes {
    uint16_t of_length[LONGEST + 1], symbol[LITERALS];
};

/* An entry of the table: the bits that it takes, then the number of literals and these; or 0
 * literals and another symbol, or nothing where the code is longer. */
struct decoder {
    uint32_t entry[1 << TABLE_BITS];
    struct codes literals, distances;
};

/* ---- bits ---- */

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Afterwards there are 56 bits or more. */
static inline void refill(struct reader *reader)
{
    if (reader->at <= reader->size)
        reader->bits |= load64(reader->data + reader->at) << reader->count;
    reader->at += (63 - reader->count) >> 3;
    reader->count |= 56;
}

static inline uint32_t take(struct reader *reader, unsigned count)
{
    const uint32_t bits = (uint32_t)(reader->bits & ((1u << count) - 1));
    reader->bits >>= count;
    reader->count -= count;
    return bits;
}

/* The place of the next byte that no bit was taken of. */
static size_t place(const struct reader *reader)
{
    return reader->at - reader->count / 8;
}

/* ---- codes ---- */

/* False where the lengths make no complete code. `single`: one code of one bit will do. */
static bool make_codes(struct codes *codes, const uint8_t *lengths, int symbols, bool single)
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

/* Takes a code bit by bit and returns its symbol, or -1 where there is no such code. */
static int take_symbol(struct reader *reader, const struct codes *codes)
{
    int code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= LONGEST; length++) {
        const int count = codes->of_length[length];
        code |= (int)(reader->bits >> (length - 1) & 1);
        if (code - count < first) {
            take(reader, length);
            return codes->symbol[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static void fill_table(struct decoder *decoder, const uint8_t *lengths)
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
    /* From the end on, since a shorter index is looked up, which must still be of one literal. */
    for (uint32_t i = TABLE_MASK; i; i--) {
        const uint32_t one = entry[i], length = one & 255;
        const uint32_t two = length ? entry[i >> length] : 0;
        if ((one >> 8 & 255) == 1 && (two >> 8 & 255) == 1 && length + (two & 255) <= TABLE_BITS)
            entry[i] = (length + (two & 255)) | 2u << 8 | (one >> 16 & 255) << 16 |
                       (two >> 16 & 255) << 24;
    }
}

/* Reads the head of a block that has its own codes. */
static bool read_head(struct reader *reader, struct decoder *decoder)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0}, of_lengths[LENGTHS] = {0};
    struct codes codes;
    refill(reader);
    const int literals = (int)take(reader, 5) + FIRST_LENGTH, distances = (int)take(reader, 5) + 1;
    const int written = (int)take(reader, 4) + 4;
    if (literals > LITERALS || distances > DISTANCES)
        return false;
    for (int i = 0; i < written; i++) {
        refill(reader);
        of_lengths[order[i]] = (uint8_t)take(reader, 3);
    }
    if (!make_codes(&codes, of_lengths, LENGTHS, false))
        return false;
    for (int i = 0; i < literals + distances;) {
        refill(reader);
        const int symbol = take_symbol(reader, &codes);
        if (symbol < 0 || (symbol == 16 && !i))
            return false;
        const uint8_t length = (uint8_t)(symbol < 16 ? symbol : symbol == 16 ? lengths[i - 1] : 0);
        const int run = symbol < 16    ? 1
                        : symbol == 16 ? 3 + (int)take(reader, 2)
                        : symbol == 17 ? 3 + (int)take(reader, 3)
                                       : 11 + (int)take(reader, 7);
        if (run > literals + distances - i)
            return false;
        memset(lengths + i, length, (size_t)run);
        i += run;
    }
    uint8_t all[LITERALS] = {0};
    memcpy(all, lengths, (size_t)literals);
    if (!all[END] || !make_codes(&decoder->literals, all, LITERALS, false) ||
        !make_codes(&decoder->distances, lengths + literals, distances, true))
        return false;
    fill_table(decoder, all);
    return true;
}

/* ---- data ---- */

/* The number that a symbol with extra bits stands for; share as in deflate_code.c. */
static inline uint32_t take_rest(struct reader *reader, uint32_t symbol, unsigned share)
{
    if (symbol < 2u << share)
        return symbol;
    const unsigned extra = (symbol >> share) - 1;
    return (((1u << share) | (symbol & ((1u << share) - 1))) << extra) + take(reader, extra);
}

/* Copies a match. It may write a few bytes behind it. */
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

/* Takes a symbol that is not in the table as a literal. Returns where the output goes on; NULL: the
 * data is damaged. */
static uint8_t *take_other(struct reader *reader, const struct decoder *decoder, uint32_t entry,
                           uint8_t *begin, uint8_t *out, uint8_t *end, bool *ended)
{
    refill(reader);
    int symbol = (int)(entry >> 16);
    if (entry & 255)
        take(reader, entry & 255);
    else
        symbol = take_symbol(reader, &decoder->literals);
    *ended = symbol == END;
    if (symbol < 0 || *ended)
        return *ended ? out : NULL;
    if (symbol < END) {
        *out = (uint8_t)symbol;
        return out + 1;
    }
    const size_t length =
        symbol == LITERALS - 1 ? 258 : 3 + take_rest(reader, (uint32_t)symbol - FIRST_LENGTH, 2);
    const int of_distance = take_symbol(reader, &decoder->distances);
    if (of_distance < 0)
        return NULL;
    const size_t distance = 1 + take_rest(reader, (uint32_t)of_distance, 1);
    if (distance > (size_t)(out - begin) || out > end || length > (size_t)(end - out))
        return NULL;
    return copy(out, distance, length);
}

static inline uint8_t *take_literals(struct reader *reader, uint32_t entry, uint8_t *out)
{
    out[0] = (uint8_t)(entry >> 16);
    out[1] = (uint8_t)(entry >> 24);
    take(reader, entry & 255);
    return out + (entry >> 8 & 255);
}

/* Up to eight bytes behind `end` are written before that is noticed. */
GF_TARGET_CLONES static uint8_t *take_data(struct reader *from, const struct decoder *decoder,
                                           uint8_t *begin, uint8_t *out, uint8_t *end)
{
    struct reader reader = *from; /* the compiler keeps a copy in registers */
    bool ended = false;
    while (out && !ended) {
        uint32_t entry = 0;
        int looks = 0;
        refill(&reader);
        for (; looks < 4; looks++) {
            entry = decoder->entry[reader.bits & TABLE_MASK];
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

/* ---- blocks ---- */

static uint8_t *copy_stored(struct reader *reader, uint8_t *out, const uint8_t *end)
{
    take(reader, reader->count & 7);
    const size_t at = place(reader);
    if (at > reader->size || reader->size - at < STORED_HEAD)
        return NULL;
    const uint8_t *const head = reader->data + at;
    const size_t length = (size_t)head[0] | (size_t)head[1] << 8;
    if (((size_t)head[2] | (size_t)head[3] << 8) != (length ^ 0xffff) ||
        length > reader->size - at - STORED_HEAD || length > (size_t)(end - out))
        return NULL;
    memcpy(out, head + STORED_HEAD, length);
    reader->at = at + STORED_HEAD + length;
    reader->bits = 0;
    reader->count = 0;
    return out + length;
}

bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room)
{
    enum { STORED, FIXED, DYNAMIC };
    struct reader reader = {.data = data, .size = size};
    struct decoder decoder;
    uint8_t *at = out, *const end = out + room;
    for (;;) {
        refill(&reader);
        const bool final = take(&reader, 1);
        const uint32_t kind = take(&reader, 2);
        if (kind == STORED)
            at = copy_stored(&reader, at, end);
        else if (kind == DYNAMIC && read_head(&reader, &decoder))
            at = take_data(&reader, &decoder, out, at, end);
        else
            return false;
        if (!at || at > end || place(&reader) > size)
            return false;
        if (final)
            return last && at == end && place(&reader) == size;
        if (!last && place(&reader) == size && !(reader.count & 7))
            return at == end;
    }
}
