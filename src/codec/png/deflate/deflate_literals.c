#include "codec/png/deflate/deflate_code.h"

#include "base/simd.h"

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
