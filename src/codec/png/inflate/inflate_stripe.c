#include "codec/png/inflate/inflate.h"

#include <string.h>

#include "base/target_clones.h"
#include "codec/png/inflate/inflate_code.h"

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
    const int symbol = gf_inflate_take_other(reader, decoder, entry);
    *ended = symbol == GF_INFLATE_BLOCK_END;
    if (symbol < 0 || *ended)
        return *ended ? out : NULL;
    if (symbol < GF_INFLATE_BLOCK_END) {
        *out = (uint8_t)symbol;
        return out + 1;
    }
    if (!gf_inflate_take_match(reader, decoder, symbol, &length, &distance) ||
        distance > (size_t)(out - begin) || out > end || length > (size_t)(end - out))
        return NULL;
    return copy(out, distance, length);
}

static inline uint8_t *take_literals(struct gf_inflate_reader *reader, uint32_t entry, uint8_t *out)
{
    out[0] = (uint8_t)(entry >> 16);
    out[1] = (uint8_t)(entry >> 24);
    gf_inflate_take(reader, entry & 255);
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
        gf_inflate_refill(&reader);
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
    const uint8_t *const data = gf_inflate_stored(reader, &length);
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
        gf_inflate_refill(&reader);
        const bool final = gf_inflate_take(&reader, 1);
        const uint32_t kind = gf_inflate_take(&reader, 2);
        if (kind == GF_INFLATE_STORED)
            at = copy_stored(&reader, at, end);
        else if (kind == GF_INFLATE_DYNAMIC && gf_inflate_read_head(&reader, &decoder))
            at = take_data(&reader, &decoder, out, at, end);
        else
            return false;
        const size_t used = (size_t)((gf_inflate_place(&reader) + 7) / 8);
        if (!at || at > end || used > size)
            return false;
        if (final)
            return last && at == end && used == size;
        if (!last && used == size && !(reader.count & 7))
            return at == end;
    }
}
