/* Sums of products of bytes with AVX-512 VNNI: 64 samples of four rows at a time. */
#include "base/simd.h"
#include "filters/convolve/convolve_bytes.h"

#if GF_X86

enum { LINES = GF_CONVOLVE_LINES, PARTS = 4, WORDS = 16, SAMPLES = PARTS * WORDS };

GF_VNNI void gf_convolve_bytes_words(const unsigned char *const *rows, size_t count, uint32_t *to)
{
    /* The permutation `order` moves word i of each 128-bit part j to word 4 i + j. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for (size_t x = 0; x < count; x += SAMPLES, to += SAMPLES) {
        __m512i row[LINES];
        for (int i = 0; i < LINES; i++)
            row[i] = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(rows[i] + x));
        const __m512i upper0 = _mm512_unpacklo_epi8(row[0], row[1]);
        const __m512i upper1 = _mm512_unpackhi_epi8(row[0], row[1]);
        const __m512i lower0 = _mm512_unpacklo_epi8(row[2], row[3]);
        const __m512i lower1 = _mm512_unpackhi_epi8(row[2], row[3]);
        _mm512_storeu_si512(to, _mm512_unpacklo_epi16(upper0, lower0));
        _mm512_storeu_si512(to + WORDS, _mm512_unpackhi_epi16(upper0, lower0));
        _mm512_storeu_si512(to + 2 * WORDS, _mm512_unpacklo_epi16(upper1, lower1));
        _mm512_storeu_si512(to + 3 * WORDS, _mm512_unpackhi_epi16(upper1, lower1));
    }
}

/* Packs 64 words to bytes, with saturation. */
GF_VNNI GF_INLINE __m512i pack(const __m512i *words)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_packus_epi16(_mm512_packs_epi32(words[0], words[1]),
                                              _mm512_packs_epi32(words[2], words[3]));
    return _mm512_permutexvar_epi32(order, bytes);
}

GF_VNNI GF_INLINE __m512i shifted(const struct gf_convolve_bytes *bytes, const __m512i *sum)
{
    const __m128i shift = _mm_cvtsi32_si128(bytes->shift);
    __m512i words[PARTS];
    for (int i = 0; i < PARTS; i++)
        words[i] = _mm512_sra_epi32(sum[i], shift);
    return pack(words);
}

/* Computes gf_round_flat(gf_convolve_finish()) in each lane. */
GF_VNNI GF_INLINE __m512i exact(const struct gf_convolve_bytes *bytes, const __m512i *sum)
{
    __m512i words[PARTS];
    for (int i = 0; i < PARTS; i++) {
        __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(sum[i]), _mm512_set1_ps(bytes->scale));
        if (bytes->divisor != 1.0f)
            v = _mm512_div_ps(v, _mm512_set1_ps(bytes->divisor));
        v = _mm512_add_ps(v, _mm512_set1_ps(bytes->bias));
        v = _mm512_min_ps(_mm512_max_ps(v, _mm512_setzero_ps()), _mm512_set1_ps(255.0f));
        words[i] = _mm512_cvttps_epi32(_mm512_add_ps(v, _mm512_set1_ps(0.5f)));
    }
    return pack(words);
}

GF_VNNI GF_INLINE __m512i end_at(float scale, float shift, const __m512i *sum)
{
    __m512i words[PARTS];
    for (int i = 0; i < PARTS; i++)
        words[i] = _mm512_cvttps_epi32(_mm512_fmadd_ps(
            _mm512_cvtepi32_ps(sum[i]), _mm512_set1_ps(scale), _mm512_set1_ps(shift)));
    return pack(words);
}

GF_VNNI GF_INLINE bool lines(const struct gf_convolve_bytes *bytes, const enum gf_convolve_end end,
                             const uint32_t *const *group, int step, size_t count,
                             unsigned char *const *out, uint64_t *const *doubt)
{
    const struct gf_convolve_quad *const quad = bytes->quad;
    const int quads = bytes->count;
    uint64_t any = 0;
    for (size_t x = 0; x < count; x += SAMPLES) {
        __m512i sum[LINES][PARTS];
#pragma GCC unroll 4
        for (int line = 0; line < LINES; line++)
#pragma GCC unroll 4
            for (int i = 0; i < PARTS; i++)
                sum[line][i] = _mm512_set1_epi32(bytes->start);
        for (int q = 0; q < quads; q++) {
            const uint32_t *const at = group[quad[q].group] + (ptrdiff_t)quad[q].column * step + x;
            __m512i words[PARTS];
#pragma GCC unroll 4
            for (int i = 0; i < PARTS; i++)
                words[i] = _mm512_loadu_si512(at + i * WORDS);
#pragma GCC unroll 4
            for (int line = 0; line < LINES; line++) {
                const __m512i tap = _mm512_set1_epi32(quad[q].tap[line]);
#pragma GCC unroll 4
                for (int i = 0; i < PARTS; i++)
                    sum[line][i] = _mm512_dpbusd_epi32(sum[line][i], words[i], tap);
            }
        }
#pragma GCC unroll 4
        for (int line = 0; line < LINES; line++) {
            const __m512i found = end == GF_CONVOLVE_SHIFT ? shifted(bytes, sum[line])
                                  : end == GF_CONVOLVE_EXACT
                                      ? exact(bytes, sum[line])
                                      : end_at(bytes->scale, bytes->low, sum[line]);
            if (end == GF_CONVOLVE_NEAR) {
                const __m512i high = end_at(bytes->scale, bytes->high, sum[line]);
                doubt[line][x / SAMPLES] = _mm512_cmpneq_epi8_mask(found, high);
                any |= doubt[line][x / SAMPLES];
            }
            if (count - x >= SAMPLES)
                _mm512_storeu_si512(out[line] + x, found);
            else
                _mm512_mask_storeu_epi8(out[line] + x, gf_first_bits(count - x), found);
        }
    }
    return any != 0;
}

GF_VNNI bool gf_convolve_bytes_lines(const struct gf_convolve_bytes *bytes,
                                     const uint32_t *const *group, int step, size_t count,
                                     unsigned char *const *out, uint64_t *const *doubt)
{
    if (bytes->end == GF_CONVOLVE_SHIFT)
        return lines(bytes, GF_CONVOLVE_SHIFT, group, step, count, out, doubt);
    if (bytes->end == GF_CONVOLVE_EXACT)
        return lines(bytes, GF_CONVOLVE_EXACT, group, step, count, out, doubt);
    return lines(bytes, GF_CONVOLVE_NEAR, group, step, count, out, doubt);
}
#endif
