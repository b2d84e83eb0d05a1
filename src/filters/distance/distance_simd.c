/* Computes distances along a row with vectors of 32 pixels. */
#include "filters/distance/distance_simd.h"

#include "base/simd.h"

#if GF_X86

enum { EACH = 32 };

struct lanes {
    __m512i number;   /* 0, 1, 2, .. */
    __m512i reversed; /* 31, 30, .. */
};

GF_AVX512 GF_INLINE struct lanes lanes_of(void)
{
    uint16_t number[EACH], reversed[EACH];
    for (int i = 0; i < EACH; i++) {
        number[i] = (uint16_t)i;
        reversed[i] = (uint16_t)(EACH - 1 - i);
    }
    return (struct lanes){_mm512_loadu_si512(number), _mm512_loadu_si512(reversed)};
}

/* Computes the distance to the nearest dark pixel on the left for each of 32 pixels, which are 0 if
 * they are dark, otherwise NONE. The vector is searched in steps of 1, 2, 4, 8 and 16. Dark pixels
 * of earlier vectors are at the distance `before` from the pixel in front of this vector. Sums
 * saturate at NONE, the largest number. */
GF_AVX512 GF_INLINE __m512i spread(__m512i v, __m512i before, __m512i number)
{
    const __m512i none = _mm512_set1_epi16(-1);
    for (int step = 1; step < EACH; step *= 2) {
        const __m512i from = _mm512_sub_epi16(number, _mm512_set1_epi16((short)step));
        const __m512i moved = _mm512_mask_permutexvar_epi16(none, ~(__mmask32)0 << step, from, v);
        v = _mm512_min_epu16(v, _mm512_adds_epu16(moved, _mm512_set1_epi16((short)step)));
    }
    const __m512i further = _mm512_add_epi16(number, _mm512_set1_epi16(1));
    return _mm512_min_epu16(v, _mm512_adds_epu16(before, further));
}

GF_AVX512 GF_INLINE __m512i last_of(__m512i v)
{
    return _mm512_permutexvar_epi16(_mm512_set1_epi16(EACH - 1), v);
}

/* Returns which of 32 pixels that exist are dark. */
GF_AVX512 GF_INLINE __mmask32 dark(const unsigned char *row, int bits, int x, __mmask32 there)
{
    if (bits == 8)
        return (__mmask32)_mm512_mask_testn_epi8_mask(
            there, _mm512_maskz_loadu_epi8(there, row + x), _mm512_set1_epi8(-1));
    const __m512i samples = _mm512_maskz_loadu_epi16(there, row + 2 * (ptrdiff_t)x);
    return _mm512_mask_testn_epi16_mask(there, samples, _mm512_set1_epi16(-1));
}

GF_AVX512 void gf_distance_along_simd(const unsigned char *row, int bits, int width, gf_u16_any *to)
{
    const struct lanes lanes = lanes_of();
    const __m512i none = _mm512_set1_epi16(-1);
    __m512i before = none;
    for (int x = 0; x < width; x += EACH) {
        const __mmask32 there = (__mmask32)gf_first_bits((uint64_t)(width - x));
        const __m512i at = _mm512_mask_set1_epi16(none, dark(row, bits, x, there), 0);
        const __m512i found = spread(at, before, lanes.number);
        _mm512_mask_storeu_epi16(to + x, there, found);
        before = last_of(found);
    }
    /* The row is computed from right to left in the same way; each vector's pixels are reversed. */
    before = none;
    for (int x = (width - 1) / EACH * EACH; x >= 0; x -= EACH) {
        const __mmask32 there = (__mmask32)gf_first_bits((uint64_t)(width - x));
        const __m512i at =
            _mm512_permutexvar_epi16(lanes.reversed, _mm512_mask_loadu_epi16(none, there, to + x));
        const __m512i found = spread(at, before, lanes.number);
        _mm512_mask_storeu_epi16(to + x, there, _mm512_permutexvar_epi16(lanes.reversed, found));
        before = last_of(found);
    }
}

#endif
