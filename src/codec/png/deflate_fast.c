#include "codec/png/deflate_fast.h"

#include <string.h>

#include "codec/png/huffman.h"

enum {
    END = 256,          /* the symbol that ends a block */
    FIRST_LENGTH = 257, /* the symbol of the shortest run */
    SYMBOLS = 286,
    SHORTEST = 3,
    LONGEST = 258,  /* bytes of a run */
    LOOK = 8,       /* a run must fill so many bytes: one comparison finds it */
    CODE_BITS = 14, /* four of these and seven bits left over from before fit into a word */
    SAMPLE_BYTES = 2048,
    SAMPLE_STEP = 4, /* one in so many pieces is sampled */
    STORED_MAX = 65535,
    STORED_HEAD = 5,
    LENGTH_SYMBOLS = 19, /* of the code in which the code lengths are written */
    LENGTH_BITS = 7
};

struct code {
    uint16_t bits, count;
};
struct run_code { /* a length with its extra bits, and the distance, which is always 1 */
    uint32_t bits, count;
};
struct codes {
    struct code literal[END + 1];
    struct run_code run[LONGEST + 1];
};

/* ---- bits ---- */

struct bits {
    uint64_t held;
    unsigned count; /* below 8 after flush() */
    uint8_t *out;
};

static inline void put(struct bits *bits, uint64_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
}

static inline void flush(struct bits *bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t word = __builtin_bswap64(bits->held);
#else
    const uint64_t word = bits->held;
#endif
    memcpy(bits->out, &word, sizeof word);
    bits->out += bits->count >> 3;
    bits->held >>= bits->count & ~7u;
    bits->count &= 7;
}

static void align(struct bits *bits)
{
    bits->count = (bits->count + 7) & ~7u;
    flush(bits);
}

/* ---- runs ---- */

/* The symbol of a run's length; `extra` bits follow it, which hold `rest`. */
static int length_symbol(int length, int *extra, int *rest)
{
    *extra = *rest = 0;
    if (length == LONGEST)
        return SYMBOLS - 1;
    const int over = length - SHORTEST;
    if (over < 8)
        return FIRST_LENGTH + over;
    const int top = 31 - __builtin_clz((unsigned)over); /* four symbols for each power of two */
    *extra = top - 2;
    *rest = over & ((1 << *extra) - 1);
    return FIRST_LENGTH + 4 * (top - 1) + (over >> *extra & 3);
}

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Whether the next bytes are all the one before them. */
static inline bool run_starts(const uint8_t *at)
{
    return load64(at) == at[-1] * 0x0101010101010101u;
}

static size_t run_length(const uint8_t *at, const uint8_t *end)
{
    const uint64_t same = at[-1] * 0x0101010101010101u;
    const uint8_t *to = at + LOOK;
    while (end - to >= 8 && load64(to) == same)
        to += 8;
    while (to < end && *to == at[-1])
        to++;
    return (size_t)(to - at);
}

/* The length of a run's next part. It never leaves a rest that is too short to be written. */
static size_t run_part(size_t length)
{
    if (length <= LONGEST)
        return length;
    return length - LONGEST < SHORTEST ? LONGEST - SHORTEST : LONGEST;
}

/* ---- the code ---- */

static void count_piece(const uint8_t *at, const uint8_t *end, uint32_t (*frequency)[SYMBOLS])
{
    frequency[0][*at++]++;
    while (end - at >= LOOK) {
        if (!run_starts(at)) {
            for (int i = 0; i < LOOK;
                 i++) /* four tables, so that no count waits for the one before */
                frequency[i % 4][at[i]]++;
            at += LOOK;
            continue;
        }
        for (size_t length = run_length(at, end), part; length; length -= part, at += part) {
            int extra, rest;
            part = run_part(length);
            frequency[0][length_symbol((int)part, &extra, &rest)]++;
        }
    }
    while (at < end)
        frequency[0][*at++]++;
}

/* Fits a code to a sample. A symbol that the sample lacks may come all the same, so that each
 * counts at least once. */
static void fit_code(const uint8_t *data, size_t size, uint8_t *lengths)
{
    uint32_t frequency[4][SYMBOLS] = {0};
    const size_t step = size > 8 * (size_t)SAMPLE_BYTES ? SAMPLE_STEP : 1;
    for (size_t at = 0; at < size; at += step * SAMPLE_BYTES)
        count_piece(data + at, data + (size - at < SAMPLE_BYTES ? size : at + SAMPLE_BYTES),
                    frequency);
    for (int s = 0; s < SYMBOLS; s++) {
        const uint32_t sum = frequency[0][s] + frequency[1][s] + frequency[2][s] + frequency[3][s];
        frequency[0][s] = sum ? 4 * sum : 1;
    }
    gf_huffman_lengths(frequency[0], SYMBOLS, CODE_BITS, lengths);
}

static void fill_codes(const uint8_t *lengths, struct codes *codes)
{
    uint16_t code[SYMBOLS];
    gf_huffman_codes(lengths, SYMBOLS, code);
    for (int s = 0; s <= END; s++)
        codes->literal[s] = (struct code){code[s], lengths[s]};
    for (int length = SHORTEST; length <= LONGEST; length++) {
        int extra, rest;
        const int s = length_symbol(length, &extra, &rest);
        codes->run[length].bits = code[s] | (uint32_t)rest << lengths[s];
        codes->run[length].count = (uint32_t)(lengths[s] + extra + 1); /* the distance's bit is 0 */
    }
}

/* Writes the head of a block: the code lengths of all symbols, none of which is 0, and of one
 * distance. Each is a symbol of a third code, whose symbols for repetitions are not used. */
static void put_head(struct bits *bits, const uint8_t *lengths, bool last)
{
    static const uint8_t order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t frequency[LENGTH_SYMBOLS] = {0};
    uint8_t length[LENGTH_SYMBOLS];
    uint16_t code[LENGTH_SYMBOLS];
    frequency[1] = 1; /* the length of the distance's code */
    for (int s = 0; s < SYMBOLS; s++)
        frequency[lengths[s]]++;
    gf_huffman_lengths(frequency, LENGTH_SYMBOLS, LENGTH_BITS, length);
    gf_huffman_codes(length, LENGTH_SYMBOLS, code);
    put(bits, last, 1);
    put(bits, 2, 2);
    put(bits, SYMBOLS - 257, 5);
    put(bits, 1 - 1, 5);
    put(bits, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++) {
        flush(bits);
        put(bits, length[order[i]], 3);
    }
    for (int s = 0; s <= SYMBOLS; s++) {
        const int of = s < SYMBOLS ? lengths[s] : 1;
        flush(bits);
        put(bits, code[of], length[of]);
    }
    flush(bits);
}

/* ---- the data ---- */

static inline void put_four(struct bits *bits, const struct code *literal, const uint8_t *at)
{
    const struct code a = literal[at[0]], b = literal[at[1]], c = literal[at[2]],
                      d = literal[at[3]];
    const uint64_t ab = a.bits | (uint64_t)b.bits << a.count;
    const uint64_t cd = c.bits | (uint64_t)d.bits << c.count;
    const unsigned ab_count = a.count + b.count;
    put(bits, ab | cd << ab_count, ab_count + c.count + d.count);
    flush(bits);
}

static inline void put_one(struct bits *bits, struct code code)
{
    put(bits, code.bits, code.count);
    flush(bits);
}

static void put_data(struct bits *to, const uint8_t *data, size_t size, const struct codes *codes)
{
    struct bits bits = *to; /* the compiler keeps a copy in registers */
    const uint8_t *at = data;
    const uint8_t *const end = data + size;
    put_one(&bits, codes->literal[*at++]);
    while (end - at >= LOOK) {
        if (!run_starts(at)) {
            put_four(&bits, codes->literal, at);
            put_four(&bits, codes->literal, at + 4);
            at += LOOK;
            continue;
        }
        for (size_t length = run_length(at, end), part; length; length -= part, at += part) {
            part = run_part(length);
            put(&bits, codes->run[part].bits, codes->run[part].count);
            flush(&bits);
        }
    }
    while (at < end)
        put_one(&bits, codes->literal[*at++]);
    put_one(&bits, codes->literal[END]);
    *to = bits;
}

bool gf_deflate_mostly_runs(const uint8_t *data, size_t size)
{
    size_t looks = 0, runs = 0;
    for (size_t piece = 0; piece < size; piece += (size_t)SAMPLE_STEP * SAMPLE_BYTES) {
        const size_t end = size - piece < SAMPLE_BYTES ? size : piece + SAMPLE_BYTES;
        for (size_t at = piece + LOOK; at + LOOK <= end; at += LOOK, looks++)
            runs += run_starts(data + at);
    }
    return 5 * runs > 4 * looks;
}

/* ---- blocks ---- */

static void put_stored_head(struct bits *bits, size_t size, bool last)
{
    put(bits, last, 3);
    align(bits);
    put(bits, size | (~size & 0xffff) << 16, 32);
    flush(bits);
}

static size_t stored_bytes(size_t size)
{
    return size + (size / STORED_MAX + 1) * STORED_HEAD;
}

static size_t store(const uint8_t *data, size_t size, bool last, uint8_t *out)
{
    struct bits bits = {.out = out};
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
    return size + size / 4 * 3 + 1024; /* CODE_BITS bits for each byte */
}

size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, uint8_t *out)
{
    uint8_t lengths[SYMBOLS];
    struct codes codes;
    struct bits bits = {.out = out};
    fit_code(data, size, lengths);
    fill_codes(lengths, &codes);
    put_head(&bits, lengths, last);
    put_data(&bits, data, size, &codes);
    if (last)
        align(&bits);
    else
        put_stored_head(&bits, 0, false); /* behind an empty block the next one begins at a byte */
    const size_t packed = (size_t)(bits.out - out);
    return packed < stored_bytes(size) ? packed : store(data, size, last, out);
}
