#include "codec/png/deflate/deflate_code.h"

#include "base/target_clones.h"
#include "codec/png/inflate/huffman.h"

enum {
    FIRST_LENGTH = 257, /* symbol of the shortest match */
    TABLES = 8,         /* several tables: counting a literal need not wait for the last addition */
    LENGTH_BITS = 7,
    REPEAT = 16, /* symbol: repeats the last code length 3 to 6 times */
    FEW_ZEROS = 17,
    MANY_ZEROS = 18
};

struct counts {
    uint32_t literal[TABLES][GF_DEFLATE_SYMBOLS], distance[GF_DEFLATE_DISTANCES];
};

/* Computes the symbol of a length or a distance. `over` is the number minus the smallest number;
 * there are 2^share symbols for each power of two. *rest is the difference from the symbol's
 * smallest number, in *extra bits. */
static int symbol_of(unsigned over, int share, unsigned *extra, unsigned *rest)
{
    *extra = *rest = 0;
    if (over < 2u << share)
        return (int)over;
    const int top = 31 - __builtin_clz(over);
    *extra = (unsigned)(top - share);
    *rest = over & ((1u << *extra) - 1);
    return (int)(((unsigned)*extra << share) + (over >> *extra));
}

int gf_deflate_length_symbol(size_t length, unsigned *extra, unsigned *rest)
{
    *extra = *rest = 0;
    if (length == GF_DEFLATE_LONGEST)
        return GF_DEFLATE_SYMBOLS - 1;
    return FIRST_LENGTH + symbol_of((unsigned)length - GF_DEFLATE_SHORTEST, 2, extra, rest);
}

int gf_deflate_distance_symbol(uint32_t distance, unsigned *extra, unsigned *rest)
{
    return symbol_of(distance - 1, 1, extra, rest);
}

GF_TARGET_CLONES static void count_literals(struct counts *counts, const uint8_t *at,
                                            const uint8_t *end)
{
    for (; end - at >= TABLES; at += TABLES) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        for (int i = 0; i < TABLES; i++, word >>= 8)
            counts->literal[i][word & 255]++;
    }
    while (at < end)
        counts->literal[0][*at++]++;
}

static void count_match(struct counts *counts, const struct gf_deflate_match *match)
{
    unsigned extra, rest;
    const int distance = gf_deflate_distance_symbol(match->distance, &extra, &rest);
    for (size_t length = match->length, part; length; length -= part) {
        part = gf_deflate_part(length);
        counts->literal[0][gf_deflate_length_symbol(part, &extra, &rest)]++;
        counts->distance[distance]++;
    }
}

static void count_all(const struct gf_deflate_piece *piece, struct counts *counts)
{
    const uint8_t *from = piece->data;
    for (const struct gf_deflate_match *match = piece->match; match < piece->match + piece->matches;
         match++) {
        count_literals(counts, from, piece->data + match->start);
        count_match(counts, match);
        from = piece->data + match->start + match->length;
    }
    count_literals(counts, from, piece->data + piece->size);
    counts->literal[0][GF_DEFLATE_END] = 1;
    for (int s = 0; s < GF_DEFLATE_SYMBOLS; s++)
        for (int table = 1; table < TABLES; table++)
            counts->literal[0][s] += counts->literal[table][s];
}

/* ---- the head of the block ---- */

static void add_token(struct gf_deflate_code *code, int symbol, int extra, int rest)
{
    code->token[code->tokens].symbol = (uint8_t)symbol;
    code->token[code->tokens].extra = (uint8_t)extra;
    code->token[code->tokens++].rest = (uint8_t)rest;
}

/* Adds the symbols for `run` equal code lengths. */
static void add_run(struct gf_deflate_code *code, int length, int run)
{
    if (length) {
        add_token(code, length, 0, 0);
        run--;
    }
    while (length && run >= 3) {
        const int part = run < 6 ? run : 6;
        add_token(code, REPEAT, 2, part - 3);
        run -= part;
    }
    while (!length && run >= 11) {
        const int part = run < 138 ? run : 138;
        add_token(code, MANY_ZEROS, 7, part - 11);
        run -= part;
    }
    if (!length && run >= 3) {
        add_token(code, FEW_ZEROS, 3, run - 3);
        run = 0;
    }
    while (run-- > 0)
        add_token(code, length, 0, 0);
}

/* Returns the number of symbols up to the last symbol that occurs, but at least `least`. */
static int used(const uint8_t *lengths, int symbols, int least)
{
    while (symbols > least && !lengths[symbols - 1])
        symbols--;
    return symbols;
}

static void make_head(struct gf_deflate_code *code)
{
    uint8_t all[GF_DEFLATE_SYMBOLS + GF_DEFLATE_DISTANCES];
    uint32_t frequency[GF_DEFLATE_LENGTHS] = {0};
    code->literals = used(code->literal, GF_DEFLATE_SYMBOLS, GF_DEFLATE_END + 1);
    code->distances = used(code->distance, GF_DEFLATE_DISTANCES, 1);
    memcpy(all, code->literal, (size_t)code->literals);
    memcpy(all + code->literals, code->distance, (size_t)code->distances);
    code->tokens = 0;
    for (int from = 0, to, count = code->literals + code->distances; from < count; from = to) {
        for (to = from + 1; to < count && all[to] == all[from];)
            to++;
        add_run(code, all[from], to - from);
    }
    for (int i = 0; i < code->tokens; i++)
        frequency[code->token[i].symbol]++;
    gf_huffman_lengths(frequency, GF_DEFLATE_LENGTHS, LENGTH_BITS, code->length);
    code->bits = 3 + 5 + 5 + 4 + 3 * GF_DEFLATE_LENGTHS;
    for (int i = 0; i < code->tokens; i++)
        code->bits += code->length[code->token[i].symbol] + code->token[i].extra;
}

void gf_deflate_put_head(struct gf_deflate_bits *bits, const struct gf_deflate_code *code,
                         bool last)
{
    static const uint8_t order[GF_DEFLATE_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint16_t codes[GF_DEFLATE_LENGTHS];
    gf_huffman_codes(code->length, GF_DEFLATE_LENGTHS, codes);
    gf_deflate_put(bits, last, 1);
    gf_deflate_put(bits, 2, 2);
    gf_deflate_put(bits, (uint64_t)(code->literals - GF_DEFLATE_END - 1), 5);
    gf_deflate_put(bits, (uint64_t)(code->distances - 1), 5);
    gf_deflate_put(bits, GF_DEFLATE_LENGTHS - 4, 4);
    for (int i = 0; i < GF_DEFLATE_LENGTHS; i++) {
        gf_deflate_flush(bits);
        gf_deflate_put(bits, code->length[order[i]], 3);
    }
    for (int i = 0; i < code->tokens; i++) {
        const int symbol = code->token[i].symbol;
        gf_deflate_flush(bits);
        gf_deflate_put(bits, codes[symbol], code->length[symbol]);
        gf_deflate_put(bits, code->token[i].rest, code->token[i].extra);
    }
    gf_deflate_flush(bits);
}

/* ---- fitting the code to the counts ---- */

void gf_deflate_fit(const struct gf_deflate_piece *piece, bool repeats,
                    struct gf_deflate_code *code)
{
    struct counts counts = {0};
    count_all(piece, &counts);
    gf_huffman_lengths(counts.literal[0], GF_DEFLATE_SYMBOLS, GF_DEFLATE_CODE_BITS, code->literal);
    memset(code->distance, 0, sizeof code->distance);
    code->distance[0] = 1;
    if (repeats) {
        uint32_t frequency[GF_DEFLATE_DISTANCES];
        memcpy(frequency, counts.distance, sizeof frequency);
        frequency[0]++; /* a code must have at least two symbols */
        frequency[1]++;
        gf_huffman_lengths(frequency, GF_DEFLATE_DISTANCES, GF_DEFLATE_CODE_BITS, code->distance);
    }
    make_head(code);
    for (int s = 0; s < GF_DEFLATE_SYMBOLS; s++)
        code->bits += (uint64_t)counts.literal[0][s] * code->literal[s];
    /* Each code length has four symbols. */
    for (int s = FIRST_LENGTH; s < GF_DEFLATE_SYMBOLS - 1; s++)
        code->bits += (uint64_t)counts.literal[0][s] *
                      (unsigned)(s < FIRST_LENGTH + 4 ? 0 : (s - FIRST_LENGTH) / 4 - 1);
    for (int s = 0; s < GF_DEFLATE_DISTANCES; s++)
        code->bits +=
            (uint64_t)counts.distance[s] * (code->distance[s] + (unsigned)(s < 2 ? 0 : s / 2 - 1));
}
