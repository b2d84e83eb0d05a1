#include "codec/png/inflate_part.h"

#include "base/target_clones.h"

enum {
    KIND_BITS = 3,  /* whether it is the last block, and its kind */
    HEAD_BITS = 17, /* before the lengths of the code of code lengths */
    LENGTH_BITS = 3,
    WHOLE = 128, /* what the lengths of a complete code add up to, of each 128 >> length */
    PAIRS = 64
};

static void go_to(struct gf_inflate_reader *reader, uint64_t bit)
{
    reader->at = (size_t)(bit / 8);
    reader->bits = 0;
    reader->count = 0;
    gf_inflate_refill(reader);
    gf_inflate_take(reader, bit % 8);
}

/* 57 bits. */
static inline uint64_t bits_at(const uint8_t *data, uint64_t bit)
{
    return gf_load64(data + bit / 8) >> bit % 8;
}

/* Whether a block begins that has its own codes and is not the stream's last. */
static inline bool is_findable(uint64_t bits)
{
    return (bits & 7) == GF_INFLATE_DYNAMIC << 1;
}

/* Two code lengths each have their sum in the table. */
static void fill_sums(uint8_t sums[PAIRS])
{
    for (unsigned i = 0; i < PAIRS; i++) {
        const unsigned a = i & 7, b = i >> LENGTH_BITS;
        sums[i] = (uint8_t)((a ? WHOLE >> a : 0) + (b ? WHOLE >> b : 0));
    }
}

/* Of 32 places from a bit on, those where a block may begin that has its own codes, not more of
 * either than there are: one in nine. */
static inline uint32_t candidates(const uint8_t *data, uint64_t bit)
{
    const uint64_t w = bits_at(data, bit);
    const uint64_t kind = ~w & ~(w >> 1) & w >> 2;               /* as is_findable */
    const uint64_t literals = w >> 4 & w >> 5 & w >> 6 & w >> 7; /* 30 or 31 in five bits */
    const uint64_t distances = w >> 9 & w >> 10 & w >> 11 & w >> 12;
    return (uint32_t)(kind & ~literals & ~distances);
}

/* Whether the code of code lengths is complete, which it is at one candidate of some hundred. */
static inline bool may_begin(const uint8_t *data, uint64_t bit, const uint8_t sums[PAIRS])
{
    const unsigned written = (unsigned)(bits_at(data, bit) >> 13 & 15) + 4;
    uint64_t lengths = bits_at(data, bit + HEAD_BITS) & ((1ull << LENGTH_BITS * written) - 1);
    unsigned sum = 0;
    for (; lengths; lengths /= PAIRS)
        sum += sums[lengths % PAIRS];
    return sum == WHOLE;
}

bool gf_inflate_find_block(const uint8_t *data, size_t size, struct gf_inflate_decoder *decoder,
                           struct gf_inflate_part *part)
{
    struct gf_inflate_reader reader = {.data = data, .size = size};
    uint8_t sums[PAIRS];
    fill_sums(sums);
    for (; part->begin < part->stop; part->begin += 32)
        for (uint32_t places = candidates(data, part->begin); places; places &= places - 1) {
            const uint64_t bit = part->begin + (unsigned)__builtin_ctz(places);
            if (bit >= part->stop || !may_begin(data, bit, sums))
                continue;
            go_to(&reader, bit + KIND_BITS);
            if (gf_inflate_check_head(&reader, decoder)) {
                part->begin = bit;
                return true;
            }
        }
    return false;
}

/* Copies a match, eight samples at a time. What is nearer is copied as often as makes it far enough
 * away; what is written too much then is overwritten. */
static inline uint16_t *copy(uint16_t *out, size_t distance, size_t length)
{
    enum { STEP = 8 };
    uint16_t *const end = out + length, step[STEP];
    for (; distance < STEP && out < end; out += distance, distance *= 2) {
        memcpy(step, out - distance, sizeof step);
        memcpy(out, step, sizeof step);
    }
    for (; out < end; out += STEP)
        memcpy(out, out - distance, sizeof step);
    return end;
}

/* Up to eight samples behind `end` are written before that is noticed. */
GF_TARGET_CLONES static uint16_t *take_data(struct gf_inflate_reader *from,
                                            const struct gf_inflate_decoder *decoder,
                                            const uint16_t *begin, uint16_t *out, uint16_t *end)
{
    struct gf_inflate_reader reader = *from; /* the compiler keeps a copy in registers */
    for (;;) {
        uint32_t entry = 0;
        int looks = 0;
        gf_inflate_refill(&reader);
        for (; looks < 4; looks++) {
            entry = decoder->entry[reader.bits & GF_INFLATE_TABLE_MASK];
            if (!(entry & 0xff00))
                break;
            out[0] = (uint8_t)(entry >> 16);
            out[1] = (uint8_t)(entry >> 24);
            gf_inflate_take(&reader, entry & 255);
            out += entry >> 8 & 255;
        }
        if (out > end || reader.at > reader.size + 8)
            return NULL;
        if (looks == 4)
            continue;
        const int symbol = gf_inflate_take_other(&reader, decoder, entry);
        size_t length, distance;
        if (symbol == GF_INFLATE_BLOCK_END)
            break;
        if (symbol < 0)
            return NULL;
        if (symbol < GF_INFLATE_BLOCK_END) {
            *out++ = (uint16_t)symbol;
            continue;
        }
        if (!gf_inflate_take_match(&reader, decoder, symbol, &length, &distance) ||
            distance > (size_t)(out - begin) || length > (size_t)(end - out))
            return NULL;
        out = copy(out, distance, length);
    }
    *from = reader;
    return out;
}

static uint16_t *take_stored(struct gf_inflate_reader *reader, uint16_t *out, const uint16_t *end)
{
    size_t length;
    const uint8_t *const data = gf_inflate_stored(reader, &length);
    if (!data || length > (size_t)(end - out))
        return NULL;
    for (size_t i = 0; i < length; i++)
        out[i] = data[i];
    return out + length;
}

static uint16_t *take_block(struct gf_inflate_reader *reader, struct gf_inflate_decoder *decoder,
                            uint32_t kind, const uint16_t *begin, uint16_t *out, uint16_t *end)
{
    if (kind == GF_INFLATE_STORED)
        return take_stored(reader, out, end);
    if (kind == GF_INFLATE_FIXED)
        gf_inflate_use_fixed(decoder);
    else if (kind != GF_INFLATE_DYNAMIC || !gf_inflate_read_head(reader, decoder))
        return NULL;
    return take_data(reader, decoder, begin, out, end);
}

bool gf_inflate_part(const uint8_t *data, size_t size, struct gf_inflate_decoder *decoder,
                     struct gf_inflate_part *part, uint16_t *samples, size_t room)
{
    struct gf_inflate_reader reader = {.data = data, .size = size};
    const uint16_t *const begin = part->first ? samples : samples - GF_INFLATE_WINDOW;
    uint16_t *out = samples;
    part->last = false;
    for (size_t i = 0; !part->first && i < GF_INFLATE_WINDOW; i++)
        samples[(ptrdiff_t)i - GF_INFLATE_WINDOW] = (uint16_t)(GF_INFLATE_UNKNOWN + i);
    go_to(&reader, part->begin);
    for (;;) {
        gf_inflate_refill(&reader);
        part->end = gf_inflate_place(&reader);
        if (part->end >= part->stop && is_findable(reader.bits))
            break;
        part->last = gf_inflate_take(&reader, 1);
        out = take_block(&reader, decoder, gf_inflate_take(&reader, 2), begin, out, samples + room);
        if (!out || gf_inflate_place(&reader) > (uint64_t)size * 8)
            return false;
        if (part->last) {
            part->end = gf_inflate_place(&reader);
            break;
        }
    }
    part->count = (size_t)(out - samples);
    return true;
}

void gf_inflate_table_init(struct gf_inflate_table *table)
{
    for (int i = 0; i < GF_INFLATE_UNKNOWN; i++)
        table->byte[i] = (uint8_t)i;
}

GF_TARGET_CLONES static void resolve(const uint16_t *samples, size_t count, const uint8_t *byte,
                                     uint8_t *bytes)
{
    enum { STEP = 32 };
    size_t i = 0;
    for (; i + STEP <= count; i += STEP) {
        uint16_t any = 0;
        for (int k = 0; k < STEP; k++)
            any |= samples[i + k];
        if (any < GF_INFLATE_UNKNOWN)
            for (int k = 0; k < STEP; k++)
                bytes[i + k] = (uint8_t)samples[i + k];
        else
            for (int k = 0; k < STEP; k++)
                bytes[i + k] = byte[samples[i + k]];
    }
    for (; i < count; i++)
        bytes[i] = byte[samples[i]];
}

void gf_inflate_resolve(const uint16_t *samples, size_t count, const struct gf_inflate_table *table,
                        uint8_t *bytes)
{
    resolve(samples, count, table->byte, bytes);
}
