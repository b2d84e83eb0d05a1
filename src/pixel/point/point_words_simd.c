/* Runs operations on 16-bit RGB pixels, sixteen pixels at a time. */

#include "base/simd.h"
#include "pixel/point/point_planes.h"

#if GF_X86

enum { PIXELS = 16, WORDS = 32 };

/* The 48 samples of 16 pixels: the first 32 and the last 16. */
struct samples {
    __m512i first, last;
};

GF_AVX512 GF_INLINE struct samples load(const uint16_t *in, size_t pixels)
{
    const size_t words = 3 * pixels;
    return (struct samples){
        _mm512_maskz_loadu_epi16((__mmask32)gf_first_bits(words), in),
        _mm512_maskz_loadu_epi16(words > WORDS ? (__mmask32)gf_first_bits(words - WORDS) : 0,
                                 in + WORDS)};
}

GF_AVX512 GF_INLINE __m512 channel_of(struct samples s, int channel)
{
    const __m512i red =
        _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
    const __m512i order = _mm512_add_epi32(red, _mm512_set1_epi32(channel));
    return _mm512_cvtepi32_ps(_mm512_maskz_permutex2var_epi16(0x55555555, s.first, order, s.last));
}

struct pixels {
    __m512 red, green, blue;
};

/* Computes gf_point_row_of(), rounded. The result may be outside 0..65535: packing saturates it. */
GF_AVX512 GF_INLINE __m512i row_of(struct gf_point_op op, struct pixels p)
{
    const __m512 blue = _mm512_fmadd_ps(_mm512_set1_ps(op.c), p.blue, _mm512_set1_ps(op.d));
    const __m512 green = _mm512_fmadd_ps(_mm512_set1_ps(op.b), p.green, blue);
    const __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(op.a), p.red, green);
    return _mm512_cvttps_epi32(_mm512_add_ps(sum, _mm512_set1_ps(0.5f)));
}

struct places {
    __m512i first, last;
};

/* Finds the permutation after which each quarter of the two joined vectors contains four reds and
 * four greens, or four blues. */
GF_AVX512 GF_INLINE struct places find_places(void)
{
    uint16_t place[2 * WORDS] = {0};
    for (int i = 0; i < 3 * PIXELS; i++) {
        const int pixel = i / 3, channel = i % 3, at = 8 * (pixel / 4) + pixel % 4;
        place[i] = (uint16_t)(channel == 2 ? WORDS + at : at + 4 * channel);
    }
    return (struct places){_mm512_loadu_si512(place), _mm512_loadu_si512(place + WORDS)};
}

GF_AVX512 GF_INLINE struct samples matrix_of(const struct gf_point_op *op, struct places places,
                                             struct samples s)
{
    const struct pixels p = {channel_of(s, 0), channel_of(s, 1), channel_of(s, 2)};
    const __m512i two = _mm512_packus_epi32(row_of(op[0], p), row_of(op[1], p));
    const __m512i third = _mm512_packus_epi32(row_of(op[2], p), _mm512_setzero_si512());
    return (struct samples){_mm512_permutex2var_epi16(two, places.first, third),
                            _mm512_permutex2var_epi16(two, places.last, third)};
}

GF_AVX512 static void matrix(const struct gf_point_op *at, const uint16_t *in, size_t n,
                             uint16_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    const struct places places = find_places();
    size_t i = 0;
    for (; i + PIXELS <= n; i += PIXELS) {
        const struct samples s = matrix_of(op, places, load(in + 3 * i, PIXELS));
        _mm512_storeu_si512(out + 3 * i, s.first);
        _mm256_storeu_si256((void *)(out + 3 * i + WORDS), _mm512_castsi512_si256(s.last));
    }
    if (i < n) {
        const size_t words = 3 * (n - i);
        const struct samples s = matrix_of(op, places, load(in + 3 * i, n - i));
        _mm512_mask_storeu_epi16(out + 3 * i, (__mmask32)gf_first_bits(words), s.first);
        _mm512_mask_storeu_epi16(out + 3 * i + WORDS,
                                 words > WORDS ? (__mmask32)gf_first_bits(words - WORDS) : 0,
                                 s.last);
    }
}

/* Computes gf_point_gray_of(), rounded. The order of additions is the same, because sums with some
 * weights are not exact. */
GF_AVX512 GF_INLINE __m256i gray_of(struct gf_point_op op, struct samples s)
{
    const __m512 red = _mm512_mul_ps(channel_of(s, 0), _mm512_set1_ps(op.a));
    const __m512 green = _mm512_mul_ps(channel_of(s, 1), _mm512_set1_ps(op.b));
    const __m512 blue = _mm512_mul_ps(channel_of(s, 2), _mm512_set1_ps(op.c));
    const __m512 gray =
        _mm512_mul_ps(_mm512_add_ps(_mm512_add_ps(red, green), blue), _mm512_set1_ps(op.d));
    return _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(_mm512_add_ps(gray, _mm512_set1_ps(0.5f))));
}

GF_AVX512 static void gray(const struct gf_point_op op, const uint16_t *in, size_t n, uint16_t *out)
{
    size_t i = 0;
    for (; i + PIXELS <= n; i += PIXELS)
        _mm256_storeu_si256((void *)(out + i), gray_of(op, load(in + 3 * i, PIXELS)));
    if (i < n)
        _mm512_mask_storeu_epi16(out + i, (__mmask32)gf_first_bits(n - i),
                                 _mm512_castsi256_si512(gray_of(op, load(in + 3 * i, n - i))));
}

bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n, uint16_t *out)
{
    if (in == out || !gf_planes_sums_fit(op))
        return false;
    matrix(op, in, n, out);
    return true;
}

bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n, uint16_t *out)
{
    if (in == out)
        return false;
    gray(*op, in, n, out);
    return true;
}
#endif
