#include "codec/png/deflate_fast.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WITH_VBMI
#include <immintrin.h>
#endif

#include "base/target_clones.h"
#include "codec/png/deflate_code.h"
#include "codec/png/huffman.h"

enum {
    STORED_MAX = 65535,
    STORED_HEAD = 5,
    EMPTY_HEAD_BITS = 3, /* of the empty stored block that ends a piece at a byte's end */
    EMPTY_BYTES = 4
};

struct code {
    uint16_t bits, count;
};
struct long_code { /* with its extra bits */
    uint32_t bits, count;
};
/* The literals' codes for AVX-512: the lower bytes, the upper bytes, and the counts of bits. */
enum { LOW, HIGH, COUNT, TABLES, LITERALS = 256 };
struct codes {
    struct code literal[GF_DEFLATE_END + 1];
    uint8_t table[TABLES][LITERALS];
    bool vbmi; /* the processor has what put_blocks() needs */
    struct long_code length[GF_DEFLATE_LONGEST + 1];
    struct code distance[GF_DEFLATE_DISTANCES];
};

static bool has_vbmi(void)
{
#ifdef WITH_VBMI
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

static void fill_codes(const struct gf_deflate_code *from, struct codes *codes)
{
    uint16_t code[GF_DEFLATE_SYMBOLS];
    gf_huffman_codes(from->literal, GF_DEFLATE_SYMBOLS, code);
    for (int s = 0; s <= GF_DEFLATE_END; s++)
        codes->literal[s] = (struct code){code[s], from->literal[s]};
    for (int s = 0; s < LITERALS; s++) {
        codes->table[LOW][s] = (uint8_t)code[s];
        codes->table[HIGH][s] = (uint8_t)(code[s] >> 8);
        codes->table[COUNT][s] = from->literal[s];
    }
    codes->vbmi = has_vbmi();
    for (size_t length = GF_DEFLATE_SHORTEST; length <= GF_DEFLATE_LONGEST; length++) {
        unsigned extra, rest;
        const int s = gf_deflate_length_symbol(length, &extra, &rest);
        codes->length[length] = (struct long_code){code[s] | (uint32_t)rest << from->literal[s],
                                                   from->literal[s] + extra};
    }
    gf_huffman_codes(from->distance, GF_DEFLATE_DISTANCES, code);
    for (int s = 0; s < GF_DEFLATE_DISTANCES; s++)
        codes->distance[s] = (struct code){code[s], from->distance[s]};
}

/* ---- the data ---- */

static inline void put_four(struct gf_deflate_bits *bits, const struct code *literal,
                            const uint8_t *at)
{
    const struct code a = literal[at[0]], b = literal[at[1]], c = literal[at[2]],
                      d = literal[at[3]];
    const uint64_t ab = a.bits | (uint64_t)b.bits << a.count;
    const uint64_t cd = c.bits | (uint64_t)d.bits << c.count;
    const unsigned ab_count = a.count + b.count;
    gf_deflate_put(bits, ab | cd << ab_count, ab_count + c.count + d.count);
    gf_deflate_flush(bits);
}

static inline void put_one(struct gf_deflate_bits *bits, struct code code)
{
    gf_deflate_put(bits, code.bits, code.count);
    gf_deflate_flush(bits);
}

#ifdef WITH_VBMI
#define VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define VBMI_INLINE \
    __attribute__((target("avx512f,avx512bw,avx512vbmi"), always_inline)) static inline

/* Looks 64 bytes up in a table of 256. */
VBMI_INLINE __m512i look_up(const uint8_t *table, __m512i bytes)
{
    const __m512i *const part = (const __m512i *)table;
    const __m512i lower =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(part), bytes, _mm512_loadu_si512(part + 1));
    const __m512i upper =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(part + 2), bytes, _mm512_loadu_si512(part + 3));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), lower, upper);
}

/* Joins the codes of two pairs of literals, for eight times four of them. */
VBMI_INLINE __m512i join(__m256i first, __m256i second, __m256i count)
{
    return _mm512_or_si512(
        _mm512_cvtepu32_epi64(first),
        _mm512_sllv_epi64(_mm512_cvtepu32_epi64(second), _mm512_cvtepu32_epi64(count)));
}

/* The codes of some literals one behind the other, and their counts of bits. */
enum { BLOCK = 64, FOURS = BLOCK / 4, EIGHTS = BLOCK / 8, EIGHT_BITS = 56 };
struct joined {
    uint64_t fours[FOURS], eights[EIGHTS];
    uint32_t four_counts[FOURS];
    uint64_t eight_counts[EIGHTS];
    bool fits; /* no eight has more than EIGHT_BITS, with which seven bits from before fit a word */
};

VBMI_INLINE void join_eights(__m512i first, __m512i last, __m512i counts, struct joined *joined)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                  odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i even_counts = _mm512_and_si512(counts, _mm512_set1_epi64(UINT32_MAX));
    const __m512i all = _mm512_add_epi64(even_counts, _mm512_srli_epi64(counts, 32));
    _mm512_storeu_si512(
        joined->eights,
        _mm512_or_si512(_mm512_permutex2var_epi64(first, even, last),
                        _mm512_sllv_epi64(_mm512_permutex2var_epi64(first, odd, last), even_counts)));
    _mm512_storeu_si512(joined->eight_counts, all);
    joined->fits = !_mm512_cmpgt_epu64_mask(all, _mm512_set1_epi64(EIGHT_BITS));
}

VBMI_INLINE void join_block(const struct codes *codes, const uint8_t *at, struct joined *joined)
{
    const __m512i byte = _mm512_set1_epi16(255), word = _mm512_set1_epi32(65535);
    const __m512i literals = _mm512_loadu_si512(at), low = look_up(codes->table[LOW], literals),
                  high = look_up(codes->table[HIGH], literals),
                  count = look_up(codes->table[COUNT], literals);
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

/* Puts blocks of 64 literals and returns where the rest begins. */
VBMI static const uint8_t *put_blocks(struct gf_deflate_bits *to, const struct codes *codes,
                                      const uint8_t *at, const uint8_t *end)
{
    struct gf_deflate_bits bits = *to; /* the compiler keeps a copy in registers */
    struct joined joined;
    for (; end - at >= BLOCK; at += BLOCK) {
        join_block(codes, at, &joined);
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
#else
static const uint8_t *put_blocks(struct gf_deflate_bits *to, const struct codes *codes,
                                 const uint8_t *at, const uint8_t *end)
{
    (void)to, (void)codes, (void)end;
    return at;
}
#endif

GF_TARGET_CLONES static void put_rest(struct gf_deflate_bits *to, const struct code *literal,
                                      const uint8_t *at, const uint8_t *end)
{
    struct gf_deflate_bits bits = *to; /* the compiler keeps a copy in registers */
    for (; end - at >= 8; at += 8) {
        put_four(&bits, literal, at);
        put_four(&bits, literal, at + 4);
    }
    while (at < end)
        put_one(&bits, literal[*at++]);
    *to = bits;
}

static void put_literals(struct gf_deflate_bits *bits, const struct codes *codes, const uint8_t *at,
                         const uint8_t *end)
{
    put_rest(bits, codes->literal, codes->vbmi ? put_blocks(bits, codes, at, end) : at, end);
}

static void put_match(struct gf_deflate_bits *bits, const struct codes *codes,
                      const struct gf_deflate_match *match)
{
    unsigned extra, rest;
    const struct code distance =
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
        put_literals(bits, codes, from, piece->data + match->start);
        put_match(bits, codes, match);
        from = piece->data + match->start + match->length;
    }
    put_literals(bits, codes, from, piece->data + piece->size);
    put_one(bits, codes->literal[GF_DEFLATE_END]);
}

/* ---- blocks ---- */

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

/* Takes the repeats of a drawing in place of its runs where fewer bits are written then. */
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
        put_stored_head(&bits, 0, false); /* behind an empty block the next one begins at a byte */
    return (size_t)(bits.out - out);
}
