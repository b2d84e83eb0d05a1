/* Computes window sums of any radius with vectors. Each lane has the difference between the column
 * that enters its window and the column that leaves it; running sums of the differences are the
 * sums of windows. */
#include <string.h>

#include "base/simd.h"
#include "filters/boxblur/boxblur.h"

#if GF_X86

enum { LANES = 16 };

GF_AVX512 GF_INLINE __m512i words(const uint16_t *from)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
}

/* Computes gf_box_mean8() in each lane. */
GF_AVX512 GF_INLINE __m512i means(__m512i sums, const struct gf_box_mean *mean)
{
    const __m512i num =
        _mm512_slli_epi32(_mm512_add_epi32(sums, _mm512_set1_epi32((int)mean->half)), 1);
    const __m512i multiplier = _mm512_set1_epi64(mean->multiplier);
    const __m128i shift = _mm_cvtsi32_si128(32 + mean->shift);
    const __m512i even = _mm512_srl_epi64(_mm512_mul_epu32(num, multiplier), shift);
    const __m512i odd =
        _mm512_srl_epi64(_mm512_mul_epu32(_mm512_srli_epi64(num, 32), multiplier), shift);
    return _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
}

/* Moves each lane's value up by `back` lanes; the lowest lanes become 0. */
GF_AVX512 GF_INLINE __m512i moved(__m512i v, __m512i lane, int back)
{
    const __m512i from = _mm512_sub_epi32(lane, _mm512_set1_epi32(back));
    return _mm512_maskz_permutexvar_epi32((__mmask16)(0xffff << back), from, v);
}

/* Returns the sums of the first pixel's windows, with the channels repeated over the lanes. */
GF_AVX512 static __m512i first_sums(const uint16_t *columns, int radius, int channels)
{
    uint32_t sum[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        for (int k = 0; k <= 2 * radius; k++)
            sum[i] += columns[i % channels + k * channels];
    return _mm512_loadu_si512(sum);
}

/* Each caller passes a constant number of channels. */
GF_AVX512 GF_INLINE void slide(const uint16_t *columns, int radius, const int channels,
                               size_t count, const struct gf_box_mean *mean, unsigned char *row)
{
    const int step = LANES / channels * channels;
    const ptrdiff_t reach = (ptrdiff_t)2 * radius * channels;
    uint32_t lanes[LANES], lasts[LANES];
    for (int i = 0; i < LANES; i++) {
        lanes[i] = (uint32_t)i;
        lasts[i] = (uint32_t)(step - channels + i % channels);
    }
    const __m512i lane = _mm512_loadu_si512(lanes), last = _mm512_loadu_si512(lasts);
    __m512i sums = first_sums(columns, radius, channels);
    const __m128i first = _mm512_cvtepi32_epi8(means(sums, mean));
    memcpy(row, &first, (size_t)channels);
    for (size_t i = (size_t)channels; i < count; i += (size_t)step) {
        __m512i v = _mm512_sub_epi32(words(columns + i + reach), words(columns + i - channels));
        for (int back = channels; back < LANES; back *= 2)
            v = _mm512_add_epi32(v, moved(v, lane, back));
        v = _mm512_add_epi32(v, sums);
        sums = _mm512_permutexvar_epi32(last, v);
        const __m128i bytes = _mm512_cvtepi32_epi8(means(v, mean));
        if (i + LANES <= count)
            _mm_storeu_si128((void *)(row + i), bytes);
        else
            memcpy(row + i, &bytes, count - i);
    }
}

GF_AVX512 void gf_box_slide_simd(const uint16_t *columns, int radius, int channels, size_t count,
                                 const struct gf_box_mean *mean, unsigned char *row)
{
    GF_BY_CHANNELS(channels, CHANNELS, slide(columns, radius, CHANNELS, count, mean, row));
}
#endif
