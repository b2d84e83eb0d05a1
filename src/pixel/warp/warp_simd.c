/* Warps 8-bit RGB with vector instructions: two pixels at a time, each channel in a 32-bit lane. */
#include "pixel/warp/warp.h"

#include <string.h>

#include "base/simd.h"

#if GF_X86

struct source {
    const unsigned char *data; /* the address of the first row */
    ptrdiff_t pitch;
};

GF_AVX2 GF_INLINE const unsigned char *pixel_at(const struct source *source, int x, int y)
{
    return source->data + (ptrdiff_t)y * source->pitch + 3 * (ptrdiff_t)x;
}

/* Loads two neighbouring pixels of each of two windows, as pairs of 16 bits: R R, G G, B B. Reads 8
 * bytes of each window. */
GF_AVX2 GF_INLINE __m256i load_pairs(const unsigned char *first, const unsigned char *second)
{
    const __m256i spread =
        _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 0, -1, 3, -1, 1,
                         -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    const __m128i low = _mm_loadl_epi64((const void *)first);
    const __m128i high = _mm_loadl_epi64((const void *)second);
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1),
                               spread);
}

GF_AVX2 GF_INLINE __m256i in_halves(int first, int second)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_set1_epi32(first)),
                                   _mm_set1_epi32(second), 1);
}

/* Stores the low bytes of the lanes, three of each pixel. Four bytes are stored; the next pixel
 * overwrites the fourth. */
GF_AVX2 GF_INLINE void store_two(__m256i v, uint8_t *out)
{
    const __m256i bytes = _mm256_shuffle_epi8(
        v, _mm256_setr_epi8(0, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8,
                            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    const uint32_t first = (uint32_t)_mm256_extract_epi32(bytes, 0);
    const uint32_t second = (uint32_t)_mm256_extract_epi32(bytes, 4);
    memcpy(out, &first, 4);
    memcpy(out + 3, &second, 4);
}

GF_AVX2 static void linear(const struct source *source, const struct gf_warp_run *run, int first,
                           int count, uint8_t *out)
{
    const __m256i half = _mm256_set1_epi32(1 << 23);
    for (int i = 0; i < count; i += 2) {
        const int k = first + i;
        const unsigned char *const p = pixel_at(source, run->x[k], run->y[k]);
        const unsigned char *const q = pixel_at(source, run->x[k + 1], run->y[k + 1]);
        const __m256i weight = in_halves(run->f[k] * 0xffff + 4096, run->f[k + 1] * 0xffff + 4096);
        const __m256i top = _mm256_madd_epi16(load_pairs(p, q), weight);
        const __m256i bottom =
            _mm256_madd_epi16(load_pairs(p + source->pitch, q + source->pitch), weight);
        const __m256i slope =
            _mm256_mullo_epi32(_mm256_sub_epi32(bottom, top), in_halves(run->g[k], run->g[k + 1]));
        const __m256i sum =
            _mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(top, 12), half), slope);
        store_two(_mm256_srli_epi32(sum, 24), out + 3 * i);
    }
}

GF_AVX2 GF_INLINE int weights_of(const int16_t *weight)
{
    int pair;
    memcpy(&pair, weight, sizeof pair);
    return pair;
}

GF_AVX2 GF_INLINE void table(const struct gf_warp *warp, const struct source *source,
                             const struct gf_warp_run *run, int first, int count, const int taps,
                             uint8_t *out)
{
    const int16_t *const weights = gf_warp_weights(warp);
    const int before = taps / 2 - 1;
    const __m256i half = _mm256_set1_epi32(128), whole = _mm256_set1_epi32(1 << 19);
    for (int i = 0; i < count; i += 2) {
        const int k = first + i;
        const unsigned char *p = pixel_at(source, run->x[k] - before, run->y[k] - before);
        const unsigned char *q = pixel_at(source, run->x[k + 1] - before, run->y[k + 1] - before);
        const int16_t *const across0 = weights + (run->f[k] >> 2) * GF_WARP_TAPS;
        const int16_t *const across1 = weights + (run->f[k + 1] >> 2) * GF_WARP_TAPS;
        const int16_t *const down0 = weights + (run->g[k] >> 2) * GF_WARP_TAPS;
        const int16_t *const down1 = weights + (run->g[k + 1] >> 2) * GF_WARP_TAPS;
        __m256i weight[3], sum = whole;
        for (int pair = 0; pair < taps / 2; pair++)
            weight[pair] =
                in_halves(weights_of(across0 + 2 * pair), weights_of(across1 + 2 * pair));
        for (int j = 0; j < taps; j += 2) {
            __m256i rows[2];
            for (int r = 0; r < 2; r++) {
                __m256i row = half;
                for (int pair = 0; pair < taps / 2; pair++)
                    row = _mm256_add_epi32(
                        row,
                        _mm256_madd_epi16(load_pairs(p + 6 * pair, q + 6 * pair), weight[pair]));
                rows[r] = _mm256_srai_epi32(row, 8);
                p += source->pitch;
                q += source->pitch;
            }
            /* The sums of rows fit in 16 bits, so that pairs of sums can be multiplied by pairs of
             * weights. */
            const __m256i both = _mm256_blend_epi16(rows[0], _mm256_slli_epi32(rows[1], 16), 0xaa);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(both, in_halves(weights_of(down0 + j),
                                                                          weights_of(down1 + j))));
        }
        const __m256i value = _mm256_max_epi32(_mm256_srai_epi32(sum, 20), _mm256_setzero_si256());
        store_two(_mm256_min_epi32(value, _mm256_set1_epi32(255)), out + 3 * i);
    }
}

GF_AVX2 static void cubic(const struct gf_warp *warp, const struct source *source,
                          const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    table(warp, source, run, first, count, 4, out);
}

GF_AVX2 static void lanczos3(const struct gf_warp *warp, const struct source *source,
                             const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    table(warp, source, run, first, count, 6, out);
}

int gf_warp_simd_rgb8(const struct gf_warp *warp, const struct gf_view *in,
                      const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    /* The last pixel is left out, because four bytes are stored for each pixel. */
    const int done = (count - 1) & ~1;
    const struct source source = {gf_view_row(in, 0), (ptrdiff_t)in->pitch};
    if (warp->kernel == GF_WARP_LINEAR)
        linear(&source, run, first, done, out);
    else if (warp->kernel == GF_WARP_CUBIC)
        cubic(warp, &source, run, first, done, out);
    else
        lanczos3(warp, &source, run, first, done, out);
    return done;
}
#endif
