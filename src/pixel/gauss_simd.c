#include "pixel/gauss_simd.h"

#include "base/cpu.h"
#include "base/target_clones.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

void gf_gauss_pairs_init(struct gf_gauss_pairs *pairs, const struct gf_gauss *gauss)
{
    const int radius = gauss->radius;
    pairs->gauss = gauss;
    for (int m = -GF_GAUSS_LEAD; m <= radius + GF_GAUSS_LEAD; m++) {
        const int before = gf_gauss_tap(gauss, 2 * m - 1 - radius);
        const int tap = gf_gauss_tap(gauss, 2 * m - radius);
        const int after = gf_gauss_tap(gauss, 2 * m + 1 - radius);
        pairs->even[GF_GAUSS_LEAD + m] = tap | after << 16;
        pairs->odd[GF_GAUSS_LEAD + m] = before | tap << 16;
    }
}

static uint32_t vertical_half(const struct gf_gauss *gauss)
{
    return 1u << (gauss->shift - GF_GAUSS_FRACTION - 1);
}

/* Samples first .. end - 1 of a row in plain C: the end of a row that vectors leave over, or all.
 */
GF_TARGET_CLONES static void vertical_row(const struct gf_gauss *gauss,
                                          const unsigned char *const *rows, uint16_t *mid,
                                          size_t first, size_t end)
{
    enum { RUN = 512 };
    const int radius = gauss->radius;
    const int shift = gauss->shift - GF_GAUSS_FRACTION;
    for (size_t x = first; x < end; x += RUN) {
        const size_t run = end - x < RUN ? end - x : RUN;
        uint32_t sum[RUN];
        for (size_t i = 0; i < run; i++)
            sum[i] = vertical_half(gauss) + gauss->fixed[0] * (uint32_t)rows[radius][x + i];
        for (int k = 1; k <= radius; k++) {
            const unsigned char *const above = rows[radius - k] + x;
            const unsigned char *const below = rows[radius + k] + x;
            const uint32_t tap = gauss->fixed[k];
            for (size_t i = 0; i < run; i++)
                sum[i] += tap * ((uint32_t)above[i] + below[i]);
        }
        for (size_t i = 0; i < run; i++)
            mid[x + i] = (uint16_t)(sum[i] >> shift);
    }
}

static void vertical_rest(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows,
                          uint16_t *mid, size_t mid_pitch, size_t first, size_t count)
{
    for (int i = 0; first < count && i < GF_GAUSS_LINES; i++)
        vertical_row(pairs->gauss, rows + i, mid + (size_t)i * mid_pitch, first, count);
}

static void vertical_plain(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows,
                           uint16_t *mid, size_t mid_pitch, size_t count)
{
    vertical_rest(pairs, rows, mid, mid_pitch, 0, count);
}

GF_TARGET_CLONES static void horizontal_plain(const struct gf_gauss_pairs *pairs,
                                              const uint16_t *mid, int channels, uint32_t *work,
                                              uint32_t *sums, size_t count)
{
    const struct gf_gauss *const gauss = pairs->gauss;
    const uint16_t *const centre = mid + (size_t)gauss->radius * (size_t)channels;
    (void)work;
    for (size_t i = 0; i < count; i++)
        sums[i] = gauss->fixed[0] * (uint32_t)centre[i];
    for (int k = 1; k <= gauss->radius; k++) {
        const uint16_t *const left = centre - (ptrdiff_t)k * channels;
        const uint16_t *const right = centre + (ptrdiff_t)k * channels;
        const uint32_t tap = gauss->fixed[k];
        for (size_t i = 0; i < count; i++)
            sums[i] += tap * ((uint32_t)left[i] + right[i]);
    }
}

#ifdef HAVE_X86

/* work[i] holds samples i and i + channels: one load then feeds two taps. */
GF_TARGET_CLONES static void interleave(const uint16_t *mid, int channels, uint32_t *work,
                                        size_t count)
{
    const uint16_t *const next = mid + channels;
    for (size_t i = 0; i < count; i++)
        work[i] = mid[i] | (uint32_t)next[i] << 16;
}

__attribute__((target("avx2"))) static void vertical_avx2(const struct gf_gauss_pairs *pairs,
                                                          const unsigned char *const *rows,
                                                          uint16_t *mid, size_t mid_pitch,
                                                          size_t count)
{
    const int steps = pairs->gauss->radius + GF_GAUSS_LINES / 2;
    const __m128i shift = _mm_cvtsi32_si128(pairs->gauss->shift - GF_GAUSS_FRACTION);
    const __m256i half = _mm256_set1_epi32((int)vertical_half(pairs->gauss));
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m256i sum[GF_GAUSS_LINES];
        for (int i = 0; i < GF_GAUSS_LINES; i++)
            sum[i] = half;
        for (int j = 0; j < steps; j++) {
            const __m256i upper =
                _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(rows[2 * j] + x)));
            const __m256i lower =
                _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(rows[2 * j + 1] + x)));
            const __m256i both = _mm256_or_si256(upper, _mm256_slli_epi32(lower, 16));
#pragma GCC unroll 8
            for (int i = 0; i < GF_GAUSS_LINES; i++) {
                const int32_t *const taps = i % 2 ? pairs->odd : pairs->even;
                const __m256i tap = _mm256_set1_epi32(taps[GF_GAUSS_LEAD + j - i / 2]);
                sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(both, tap));
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < GF_GAUSS_LINES; i++) {
            const __m256i words = _mm256_srl_epi32(sum[i], shift);
            const __m128i packed =
                _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
            _mm_storeu_si128((__m128i *)(mid + (size_t)i * mid_pitch + x), packed);
        }
    }
    vertical_rest(pairs, rows, mid, mid_pitch, x, count);
}

__attribute__((target("avx2"))) static void horizontal_avx2(const struct gf_gauss_pairs *pairs,
                                                            const uint16_t *mid, int channels,
                                                            uint32_t *work, uint32_t *sums,
                                                            size_t count)
{
    enum { WIDTH = 8, VECTORS = 4 };
    const int radius = pairs->gauss->radius;
    interleave(mid, channels, work, count + 2 * (size_t)radius * (size_t)channels);
    for (size_t x = 0; x < count; x += WIDTH * VECTORS) {
        __m256i sum[VECTORS];
        for (int i = 0; i < VECTORS; i++)
            sum[i] = _mm256_setzero_si256();
        const uint32_t *at = work + x;
        for (int m = 0; m <= radius; m++, at += 2 * channels) {
            const __m256i tap = _mm256_set1_epi32(pairs->even[GF_GAUSS_LEAD + m]);
#pragma GCC unroll 4
            for (int i = 0; i < VECTORS; i++) {
                const __m256i both = _mm256_loadu_si256((const __m256i *)(at + i * WIDTH));
                sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(both, tap));
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            _mm256_storeu_si256((__m256i *)(sums + x + i * WIDTH), sum[i]);
    }
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
vertical_avx512(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows, uint16_t *mid,
                size_t mid_pitch, size_t count)
{
    const int steps = pairs->gauss->radius + GF_GAUSS_LINES / 2;
    const __m128i shift = _mm_cvtsi32_si128(pairs->gauss->shift - GF_GAUSS_FRACTION);
    const __m512i half = _mm512_set1_epi32((int)vertical_half(pairs->gauss));
    size_t x = 0;
    for (; x + 32 <= count; x += 32) {
        __m512i sum[GF_GAUSS_LINES][2];
        for (int i = 0; i < GF_GAUSS_LINES; i++)
            sum[i][0] = sum[i][1] = half;
        for (int j = 0; j < steps; j++) {
            __m512i both[2];
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++) {
                const __m128i *const upper = (const __m128i *)(rows[2 * j] + x + 16 * v);
                const __m128i *const lower = (const __m128i *)(rows[2 * j + 1] + x + 16 * v);
                both[v] = _mm512_or_si512(
                    _mm512_cvtepu8_epi32(_mm_loadu_si128(upper)),
                    _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(lower)), 16));
            }
#pragma GCC unroll 8
            for (int i = 0; i < GF_GAUSS_LINES; i++) {
                const int32_t *const taps = i % 2 ? pairs->odd : pairs->even;
                const __m512i tap = _mm512_set1_epi32(taps[GF_GAUSS_LEAD + j - i / 2]);
                sum[i][0] = _mm512_dpwssd_epi32(sum[i][0], both[0], tap);
                sum[i][1] = _mm512_dpwssd_epi32(sum[i][1], both[1], tap);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < GF_GAUSS_LINES; i++) {
            uint16_t *const line = mid + (size_t)i * mid_pitch + x;
            for (int v = 0; v < 2; v++)
                _mm256_storeu_si256((__m256i *)(line + 16 * v),
                                    _mm512_cvtepi32_epi16(_mm512_srl_epi32(sum[i][v], shift)));
        }
    }
    vertical_rest(pairs, rows, mid, mid_pitch, x, count);
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
horizontal_avx512(const struct gf_gauss_pairs *pairs, const uint16_t *mid, int channels,
                  uint32_t *work, uint32_t *sums, size_t count)
{
    enum { WIDTH = 16, VECTORS = 8 };
    const int radius = pairs->gauss->radius;
    interleave(mid, channels, work, count + 2 * (size_t)radius * (size_t)channels);
    for (size_t x = 0; x < count; x += WIDTH * VECTORS) {
        __m512i sum[VECTORS];
        for (int i = 0; i < VECTORS; i++)
            sum[i] = _mm512_setzero_si512();
        const uint32_t *at = work + x;
        for (int m = 0; m <= radius; m++, at += 2 * channels) {
            const __m512i tap = _mm512_set1_epi32(pairs->even[GF_GAUSS_LEAD + m]);
#pragma GCC unroll 8
            for (int i = 0; i < VECTORS; i++) {
                const __m512i both = _mm512_loadu_si512(at + i * WIDTH);
                sum[i] = _mm512_dpwssd_epi32(sum[i], both, tap);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < VECTORS; i++)
            _mm512_storeu_si512(sums + x + i * WIDTH, sum[i]);
    }
}

#endif

const struct gf_gauss_simd *gf_gauss_simd_level(int level)
{
    static const struct gf_gauss_simd plain = {"plain", vertical_plain, horizontal_plain};
#ifdef HAVE_X86
    static const struct gf_gauss_simd avx2 = {"avx2", vertical_avx2, horizontal_avx2};
    static const struct gf_gauss_simd avx512 = {"avx512", vertical_avx512, horizontal_avx512};
    if (level == 1 && __builtin_cpu_supports("avx2"))
        return &avx2;
    if (level == 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
        return &avx512;
#endif
    return level == 0 ? &plain : NULL;
}

const struct gf_gauss_simd *gf_gauss_simd_best(void)
{
    const struct gf_gauss_simd *best = NULL;
    for (int level = gf_cpu_intrinsics_allowed() ? 2 : 0; !best; level--)
        best = gf_gauss_simd_level(level);
    return best;
}
