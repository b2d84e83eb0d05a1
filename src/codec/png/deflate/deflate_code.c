#include "codec/png/deflate/deflate.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "codec/png/deflate/code_lengths.h"

/* A leaf (a symbol that occurs) or an inner node with two children. */
struct node {
    uint32_t frequency;
    int16_t symbol, parent;
};

static int by_frequency(const void *a, const void *b)
{
    const struct node *const x = a, *const y = b;
    if (x->frequency != y->frequency)
        return x->frequency < y->frequency ? -1 : 1;
    return x->symbol - y->symbol;
}

/* Joins the two rarest nodes until one is left. The leaves are sorted by frequency, and inner nodes
 * are made in order of their frequency, so that the two rarest nodes are always at the front of
 * these two queues. */
static int build_tree(struct node *node, int leaves)
{
    int leaf = 0, inner = leaves, count = leaves;
    for (; count < 2 * leaves - 1; count++) {
        node[count] = (struct node){.symbol = -1, .parent = -1};
        for (int child = 0; child < 2; child++) {
            const int rarest =
                leaf < leaves && (inner == count || node[leaf].frequency <= node[inner].frequency)
                    ? leaf++
                    : inner++;
            node[rarest].parent = (int16_t)count;
            node[count].frequency += node[rarest].frequency;
        }
    }
    return count;
}

void gf_huffman_lengths(const uint32_t *frequency, int symbols, int longest, uint8_t *lengths)
{
    struct node node[2 * GF_HUFFMAN_SYMBOLS];
    uint8_t depth[2 * GF_HUFFMAN_SYMBOLS];
    int of_length[GF_HUFFMAN_LONGEST + 1] = {0};
    int leaves = 0;
    for (int s = 0; s < symbols; s++) {
        lengths[s] = 0;
        if (frequency[s])
            node[leaves++] = (struct node){frequency[s], (int16_t)s, -1};
    }
    qsort(node, (size_t)leaves, sizeof *node, by_frequency);
    const int count = build_tree(node, leaves);
    if (count < 1)
        return; /* no symbol occurs */
    depth[count - 1] = 0;
    for (int i = count - 2; i >= 0; i--) {
        const int deep = depth[node[i].parent] + 1;
        depth[i] = (uint8_t)(deep > 255 ? 255 : deep);
        if (i < leaves)
            of_length[deep < longest ? deep : longest]++;
    }
    gf_huffman_bound(of_length, longest);
    for (int length = longest, i = 0; length >= 1; length--)
        for (int n = of_length[length]; n; n--)
            lengths[node[i++].symbol] = (uint8_t)length;
}

static uint16_t reversed(uint32_t code, int length)
{
    uint32_t bits = 0;
    for (int i = 0; i < length; i++)
        bits |= (code >> i & 1) << (length - 1 - i);
    return (uint16_t)bits;
}

void gf_huffman_codes(const uint8_t *lengths, int symbols, uint16_t *codes)
{
    uint32_t next[GF_HUFFMAN_LONGEST + 2] = {0};
    for (int s = 0; s < symbols; s++)
        next[lengths[s] + 1] += lengths[s] != 0;
    for (int length = 1; length <= GF_HUFFMAN_LONGEST; length++)
        next[length] = length == 1 ? 0 : (next[length - 1] + next[length]) << 1;
    for (int s = 0; s < symbols; s++)
        codes[s] = lengths[s] ? reversed(next[lengths[s]]++, lengths[s]) : 0;
}

void gf_deflate_literals_fill(const uint8_t *length, const uint16_t *code,
                              struct gf_deflate_literals *literals)
{
    for (int s = 0; s <= GF_DEFLATE_END; s++)
        literals->symbol[s] = (struct gf_deflate_symbol){code[s], length[s]};
    for (int s = 0; s < GF_DEFLATE_LITERALS; s++) {
        literals->table[GF_DEFLATE_LOW][s] = (uint8_t)code[s];
        literals->table[GF_DEFLATE_HIGH][s] = (uint8_t)(code[s] >> 8);
        literals->table[GF_DEFLATE_COUNT][s] = length[s];
    }
    literals->vbmi = gf_cpu_has(GF_CPU_VBMI);
}

#if GF_X86
/* Looks up 64 bytes in a table of 256 bytes. */
GF_VBMI GF_INLINE __m512i look_up(const uint8_t *table, __m512i bytes)
{
    const __m512i *const part = (const __m512i *)table;
    const __m512i lower =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(part), bytes, _mm512_loadu_si512(part + 1));
    const __m512i upper =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(part + 2), bytes, _mm512_loadu_si512(part + 3));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), lower, upper);
}

/* Joins the codes of two pairs of literals to one code of four literals, eight times in a
 * vector. */
GF_VBMI GF_INLINE __m512i join(__m256i first, __m256i second, __m256i count)
{
    return _mm512_or_si512(
        _mm512_cvtepu32_epi64(first),
        _mm512_sllv_epi64(_mm512_cvtepu32_epi64(second), _mm512_cvtepu32_epi64(count)));
}

/* The codes of 64 literals, joined by four and by eight, and their numbers of bits. */
enum { BLOCK = 64, FOURS = BLOCK / 4, EIGHTS = BLOCK / 8, EIGHT_BITS = 56 };
struct joined {
    uint64_t fours[FOURS], eights[EIGHTS];
    uint32_t four_counts[FOURS];
    uint64_t eight_counts[EIGHTS];
    bool fits; /* eight codes have at most EIGHT_BITS, so that seven older bits fit in a word */
};

GF_VBMI GF_INLINE void join_eights(__m512i first, __m512i last, __m512i counts,
                                   struct joined *joined)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                  odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i even_counts = _mm512_and_si512(counts, _mm512_set1_epi64(UINT32_MAX));
    const __m512i all = _mm512_add_epi64(even_counts, _mm512_srli_epi64(counts, 32));
    _mm512_storeu_si512(
        joined->eights,
        _mm512_or_si512(
            _mm512_permutex2var_epi64(first, even, last),
            _mm512_sllv_epi64(_mm512_permutex2var_epi64(first, odd, last), even_counts)));
    _mm512_storeu_si512(joined->eight_counts, all);
    joined->fits = !_mm512_cmpgt_epu64_mask(all, _mm512_set1_epi64(EIGHT_BITS));
}

GF_VBMI GF_INLINE void join_block(const struct gf_deflate_literals *literals, const uint8_t *at,
                                  struct joined *joined)
{
    const __m512i byte = _mm512_set1_epi16(255), word = _mm512_set1_epi32(65535);
    const __m512i bytes = _mm512_loadu_si512(at),
                  low = look_up(literals->table[GF_DEFLATE_LOW], bytes),
                  high = look_up(literals->table[GF_DEFLATE_HIGH], bytes),
                  count = look_up(literals->table[GF_DEFLATE_COUNT], bytes);
    const __m512i even = _mm512_or_si512(_mm512_and_si512(low, byte), _mm512_slli_epi16(high, 8));
    const __m512i odd = _mm512_or_si512(_mm512_srli_epi16(low, 8), _mm512_andnot_si512(byte, high));
    const __m512i even_count = _mm512_and_si512(count, byte);
    const __m512i pair_count = _mm512_add_epi16(even_count, _mm512_srli_epi16(count, 8));
    const __m512i first_count = _mm512_and_si512(pair_count, word);
    const __m512i first = _mm512_or_si512(
        _mm512_and_si512(even, word),
        _mm512_sllv_epi32(_mm512_and_si512(odd, word), _mm512_and_si512(even_count, word)));
    const __m512i second = _mm512_or_si512(
        _mm512_srli_epi32(even, 16),
        _mm512_sllv_epi32(_mm512_srli_epi32(odd, 16), _mm512_srli_epi32(even_count, 16)));
    const __m512i counts = _mm512_add_epi32(first_count, _mm512_srli_epi32(pair_count, 16));
    const __m512i fours = join(_mm512_castsi512_si256(first), _mm512_castsi512_si256(second),
                               _mm512_castsi512_si256(first_count));
    const __m512i last =
        join(_mm512_extracti64x4_epi64(first, 1), _mm512_extracti64x4_epi64(second, 1),
             _mm512_extracti64x4_epi64(first_count, 1));
    join_eights(fours, last, counts, joined);
    _mm512_storeu_si512(joined->fours, fours);
    _mm512_storeu_si512(joined->fours + EIGHTS, last);
    _mm512_storeu_si512(joined->four_counts, counts);
}

/* Writes blocks of 64 literals. Returns the address of the first literal that was not written. */
GF_VBMI static const uint8_t *put_blocks(struct gf_deflate_bits *to,
                                         const struct gf_deflate_literals *literals,
                                         const uint8_t *at, const uint8_t *end)
{
    struct gf_deflate_bits bits = *to; /* the compiler keeps a copy in registers */
    struct joined joined;
    for (; end - at >= BLOCK; at += BLOCK) {
        join_block(literals, at, &joined);
        for (int i = 0; joined.fits && i < EIGHTS; i++) {
            gf_deflate_put(&bits, joined.eights[i], (unsigned)joined.eight_counts[i]);
            gf_deflate_flush(&bits);
        }
        for (int i = 0; !joined.fits && i < FOURS; i++) {
            gf_deflate_put(&bits, joined.fours[i], joined.four_counts[i]);
            gf_deflate_flush(&bits);
        }
    }
    *to = bits;
    return at;
}
#endif

static inline void put_four(struct gf_deflate_bits *bits, const struct gf_deflate_symbol *literal,
                            const uint8_t *at)
{
    const struct gf_deflate_symbol a = literal[at[0]], b = literal[at[1]], c = literal[at[2]],
                                   d = literal[at[3]];
    const uint64_t ab = a.bits | (uint64_t)b.bits << a.count;
    const uint64_t cd = c.bits | (uint64_t)d.bits << c.count;
    const unsigned ab_count = a.count + b.count;
    gf_deflate_put(bits, ab | cd << ab_count, ab_count + c.count + d.count);
    gf_deflate_flush(bits);
}

GF_TARGET_CLONES static void put_rest(struct gf_deflate_bits *to,
                                      const struct gf_deflate_symbol *literal, const uint8_t *at,
                                      const uint8_t *end)
{
    struct gf_deflate_bits bits = *to; /* the compiler keeps a copy in registers */
    for (; end - at >= 8; at += 8) {
        put_four(&bits, literal, at);
        put_four(&bits, literal, at + 4);
    }
    while (at < end)
        gf_deflate_put_symbol(&bits, literal[*at++]);
    *to = bits;
}

void gf_deflate_put_literals(struct gf_deflate_bits *bits,
                             const struct gf_deflate_literals *literals, const uint8_t *at,
                             const uint8_t *end)
{
#if GF_X86
    if (literals->vbmi)
        at = put_blocks(bits, literals, at, end);
#endif
    put_rest(bits, literals->symbol, at, end);
}

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

static void make_head(struct gf_deflate_code *code)
{
    uint8_t all[GF_DEFLATE_SYMBOLS + GF_DEFLATE_DISTANCES];
    uint32_t frequency[GF_DEFLATE_LENGTHS] = {0};
    code->literals = gf_huffman_used(code->literal, GF_DEFLATE_SYMBOLS, GF_DEFLATE_END + 1);
    code->distances = gf_huffman_used(code->distance, GF_DEFLATE_DISTANCES, 1);
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
