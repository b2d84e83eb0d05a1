/* Turned tiles by vectors. */
#include "base/simd.h"
#include "pixel/orient_simd.h"

#if GF_X86

/* 16 x 16 bytes: four rounds of interleaving row i with row i + 8. */
GF_SSSE3 GF_INLINE void turn_bytes(const unsigned char *src, ptrdiff_t src_step, unsigned char *dst,
                                   ptrdiff_t dst_step)
{
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = _mm_loadu_si128((const void *)(src + i * src_step));
    for (int round = 0; round < 4; round += 2) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        for (int i = 0; i < 8; i++) {
            a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
            a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
        }
    }
    for (int i = 0; i < 16; i++)
        _mm_storeu_si128((void *)(dst + i * dst_step), a[i]);
}

/* 8 x 8 pixels of 2 bytes: three rounds of interleaving row i with row i + 4. */
GF_SSSE3 GF_INLINE void turn_halves(const unsigned char *src, ptrdiff_t src_step,
                                    unsigned char *dst, ptrdiff_t dst_step)
{
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++)
        b[i] = _mm_loadu_si128((const void *)(src + i * src_step));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            a[i] = b[i];
        for (int i = 0; i < 4; i++) {
            b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
            b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
        }
    }
    for (int i = 0; i < 8; i++)
        _mm_storeu_si128((void *)(dst + i * dst_step), b[i]);
}

/* 4 x 4 pixels, those of 3 bytes in words of 4 meanwhile. */
GF_SSSE3 GF_INLINE void turn_words(const int size, const unsigned char *src, ptrdiff_t src_step,
                                   unsigned char *dst, ptrdiff_t dst_step)
{
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i gather = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m128i a[4];
    for (int i = 0; i < 4; i++) {
        a[i] = _mm_loadu_si128((const void *)(src + i * src_step));
        if (size == 3)
            a[i] = _mm_shuffle_epi8(a[i], spread);
    }
    const __m128i low02 = _mm_unpacklo_epi32(a[0], a[2]), high02 = _mm_unpackhi_epi32(a[0], a[2]);
    const __m128i low13 = _mm_unpacklo_epi32(a[1], a[3]), high13 = _mm_unpackhi_epi32(a[1], a[3]);
    const __m128i turned[4] = {_mm_unpacklo_epi32(low02, low13), _mm_unpackhi_epi32(low02, low13),
                               _mm_unpacklo_epi32(high02, high13),
                               _mm_unpackhi_epi32(high02, high13)};
    for (int i = 0; i < 4; i++)
        _mm_storeu_si128((void *)(dst + i * dst_step),
                         size == 3 ? _mm_shuffle_epi8(turned[i], gather) : turned[i]);
}

/* 16 bytes of each of four rows. */
GF_AVX512 GF_INLINE __m512i four_rows(const unsigned char *src, ptrdiff_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)src));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 3 * step)), 3);
}

/* Four times turn_bytes(), side by side in the result. */
GF_AVX512 GF_INLINE void turn_bytes_64(const unsigned char *src, ptrdiff_t src_step,
                                       unsigned char *dst, ptrdiff_t dst_step)
{
    __m512i a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = four_rows(src + i * src_step, 16 * src_step);
    for (int round = 0; round < 4; round += 2) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm512_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm512_unpackhi_epi8(a[i], a[i + 8]);
        }
        for (int i = 0; i < 8; i++) {
            a[2 * i] = _mm512_unpacklo_epi8(b[i], b[i + 8]);
            a[2 * i + 1] = _mm512_unpackhi_epi8(b[i], b[i + 8]);
        }
    }
    for (int i = 0; i < 16; i++)
        _mm512_storeu_si512(dst + i * dst_step, a[i]);
}

/* Four times turn_halves(), side by side in the result. */
GF_AVX512 GF_INLINE void turn_halves_32(const unsigned char *src, ptrdiff_t src_step,
                                        unsigned char *dst, ptrdiff_t dst_step)
{
    __m512i a[8], b[8];
    for (int i = 0; i < 8; i++)
        b[i] = four_rows(src + i * src_step, 8 * src_step);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            a[i] = b[i];
        for (int i = 0; i < 4; i++) {
            b[2 * i] = _mm512_unpacklo_epi16(a[i], a[i + 4]);
            b[2 * i + 1] = _mm512_unpackhi_epi16(a[i], a[i + 4]);
        }
    }
    for (int i = 0; i < 8; i++)
        _mm512_storeu_si512(dst + i * dst_step, b[i]);
}

/* Four times turn_words(), side by side in the result; nothing is written beside it. */
GF_AVX512 GF_INLINE void turn_words_16(const int size, const unsigned char *src, ptrdiff_t src_step,
                                       unsigned char *dst, ptrdiff_t dst_step)
{
    const __m512i spread =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
    const __m512i gather = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m512i close = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0);
    __m512i a[4];
    for (int i = 0; i < 4; i++) {
        a[i] = four_rows(src + i * src_step, 4 * src_step);
        if (size == 3)
            a[i] = _mm512_shuffle_epi8(a[i], spread);
    }
    const __m512i low02 = _mm512_unpacklo_epi32(a[0], a[2]);
    const __m512i high02 = _mm512_unpackhi_epi32(a[0], a[2]);
    const __m512i low13 = _mm512_unpacklo_epi32(a[1], a[3]);
    const __m512i high13 = _mm512_unpackhi_epi32(a[1], a[3]);
    const __m512i turned[4] = {
        _mm512_unpacklo_epi32(low02, low13), _mm512_unpackhi_epi32(low02, low13),
        _mm512_unpacklo_epi32(high02, high13), _mm512_unpackhi_epi32(high02, high13)};
    for (int i = 0; i < 4; i++) {
        unsigned char *const to = dst + i * dst_step;
        if (size == 3)
            _mm512_mask_storeu_epi32(
                to, 0x0fff,
                _mm512_permutexvar_epi32(close, _mm512_shuffle_epi8(turned[i], gather)));
        else
            _mm512_storeu_si512(to, turned[i]);
    }
}

/* As many columns as four times the side divides; returns how many those are. */
GF_AVX512 static int turn_four(size_t size, const unsigned char *src, ptrdiff_t src_step,
                               unsigned char *dst, ptrdiff_t dst_step, int columns, int rows)
{
    const int side = gf_orient_side(size), done = columns / (4 * side) * (4 * side);
    for (int y = 0; y < rows; y += side) {
        for (int x = 0; x < done; x += 4 * side) {
            const unsigned char *const from = src + x * src_step + (ptrdiff_t)size * y;
            unsigned char *const to = dst + y * dst_step + (ptrdiff_t)size * x;
            if (size == 1)
                turn_bytes_64(from, src_step, to, dst_step);
            else if (size == 2)
                turn_halves_32(from, src_step, to, dst_step);
            else if (size == 3)
                turn_words_16(3, from, src_step, to, dst_step);
            else
                turn_words_16(4, from, src_step, to, dst_step);
        }
    }
    return done;
}

/* Columns of the result run fastest, so that what is written beside four pixels of 3 bytes is
 * written again. */
GF_SSSE3 static void turn_each(size_t size, const unsigned char *src, ptrdiff_t src_step,
                               unsigned char *dst, ptrdiff_t dst_step, int first, int columns,
                               int rows)
{
    const int side = gf_orient_side(size);
    for (int y = 0; y < rows; y += side) {
        for (int x = first; x < columns; x += side) {
            const unsigned char *const from = src + x * src_step + (ptrdiff_t)size * y;
            unsigned char *const to = dst + y * dst_step + (ptrdiff_t)size * x;
            if (size == 1)
                turn_bytes(from, src_step, to, dst_step);
            else if (size == 2)
                turn_halves(from, src_step, to, dst_step);
            else if (size == 3)
                turn_words(3, from, src_step, to, dst_step);
            else
                turn_words(4, from, src_step, to, dst_step);
        }
    }
}

void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                         unsigned char *dst, ptrdiff_t dst_step, int columns, int rows)
{
    int done = 0;
    if (gf_cpu_has(GF_CPU_AVX512))
        done = turn_four(size, src, src_step, dst, dst_step, columns, rows);
    turn_each(size, src, src_step, dst, dst_step, done, columns, rows);
}
#endif
