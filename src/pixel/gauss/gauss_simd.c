#include "pixel/gauss/gauss.h"

#include <string.h>

#include "base/simd.h"

/* Returns the weight of a sample in the difference between row i of the result and row i - 1, if it
 * is j rows below the first sample that row i - 1 reads. */
static int tap_difference(const struct gf_gauss *gauss, int j)
{
    return j < 0 ? 0
                 : gf_gauss_tap(gauss, j - 1 - gauss->radius) -
                       gf_gauss_tap(gauss, j - gauss->radius);
}

static void quads_init(struct gf_gauss_quads *quads, const struct gf_gauss *gauss)
{
    memset(quads, 0, sizeof *quads);
    quads->fit = true;
    for (int j = 0; j < gf_gauss_reach(gauss); j++) {
        const int shift = j % 4 * 8;
        const int tap = gf_gauss_tap(gauss, j - gauss->radius);
        const int high = (tap + 128) >> 8;
        const int difference = tap_difference(gauss, j);
        quads->fit &= high <= INT8_MAX && difference <= INT8_MAX && difference >= INT8_MIN;
        quads->high[j / 4] |= (int32_t)((uint32_t)(high & 255) << shift);
        quads->low[j / 4] |= (int32_t)((uint32_t)(tap & 255) << shift);
        for (int p = 0; p < 4; p++) {
            const uint32_t late = (uint32_t)tap_difference(gauss, j - p) & 255;
            quads->difference[p][j / 4 + 1] |= (int32_t)(late << shift);
        }
    }
}

void gf_gauss_pairs_init(struct gf_gauss_pairs *pairs, const struct gf_gauss *gauss)
{
    const int radius = gauss->radius;
    pairs->gauss = gauss;
    quads_init(&pairs->quads, gauss);
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

/* Computes samples first .. end - 1 of a row of the vertical pass in plain C: the whole row, or the
 * end that is shorter than a vector. */
GF_TARGET_CLONES static void vertical_row(const struct gf_gauss *gauss,
                                          const unsigned char *const *rows, uint16_t *mid,
                                          size_t first, size_t end)
{
    enum { STRETCH = 512 };
    const int radius = gauss->radius, shift = gauss->shift - GF_GAUSS_FRACTION;
    for (size_t x = first; x < end; x += STRETCH) {
        const size_t stretch = end - x < STRETCH ? end - x : STRETCH;
        uint32_t sum[STRETCH];
        for (size_t i = 0; i < stretch; i++)
            sum[i] = vertical_half(gauss) + gauss->fixed[0] * (uint32_t)rows[radius][x + i];
        for (int k = 1; k <= radius; k++) {
            const unsigned char *const above = rows[radius - k] + x;
            const unsigned char *const below = rows[radius + k] + x;
            const uint32_t tap = gauss->fixed[k];
            for (size_t i = 0; i < stretch; i++)
                sum[i] += tap * ((uint32_t)above[i] + below[i]);
        }
        for (size_t i = 0; i < stretch; i++)
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

#if GF_X86

/* Writes samples i and i + channels as the halves of work[i], so that one load serves two taps. */
GF_TARGET_CLONES static void interleave(const uint16_t *mid, int channels, uint32_t *work,
                                        size_t count)
{
    const uint16_t *const next = mid + channels;
    for (size_t i = 0; i < count; i++)
        work[i] = mid[i] | (uint32_t)next[i] << 16;
}

/* Sums of 32 columns: of the columns 0-3 and 16-19, 4-7 and 20-23, 8-11 and 24-27, and the rest. */
struct sums32 {
    __m256i part[4];
};

/* Adds the samples of rows -k and k, and of rows -n and n, times their taps. Each pair of samples
 * is added before it is multiplied, since both have the same tap. */
GF_AVX2 GF_INLINE void add_pairs(struct sums32 *sums, const unsigned char *const *centre, size_t x,
                                 int k, int n, __m256i taps)
{
    const __m256i ones = _mm256_set1_epi8(1);
    const __m256i above = _mm256_loadu_si256((const __m256i *)(centre[-k] + x)),
                  below = k ? _mm256_loadu_si256((const __m256i *)(centre[k] + x))
                            : _mm256_setzero_si256(),
                  further_above = _mm256_loadu_si256((const __m256i *)(centre[-n] + x)),
                  further_below = _mm256_loadu_si256((const __m256i *)(centre[n] + x));
    const __m256i low = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(above, below), ones),
                  high = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(above, below), ones),
                  further_low = _mm256_maddubs_epi16(
                      _mm256_unpacklo_epi8(further_above, further_below), ones),
                  further_high = _mm256_maddubs_epi16(
                      _mm256_unpackhi_epi8(further_above, further_below), ones);
    const __m256i both[] = {
        _mm256_unpacklo_epi16(low, further_low), _mm256_unpackhi_epi16(low, further_low),
        _mm256_unpacklo_epi16(high, further_high), _mm256_unpackhi_epi16(high, further_high)};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        sums->part[i] = _mm256_add_epi32(sums->part[i], _mm256_madd_epi16(both[i], taps));
}

/* Computes 32 columns of a row. */
GF_AVX2 GF_INLINE void vertical32(const struct gf_gauss *gauss, const unsigned char *const *centre,
                                  size_t x, uint16_t *mid)
{
    const __m128i shift = _mm_cvtsi32_si128(gauss->shift - GF_GAUSS_FRACTION);
    const __m256i half = _mm256_set1_epi32((int)vertical_half(gauss));
    struct sums32 sums = {{half, half, half, half}};
    add_pairs(&sums, centre, x, 0, 1, _mm256_set1_epi32(gauss->fixed[0] | gauss->fixed[1] << 16));
    for (int k = 2; k <= gauss->radius; k += 2) {
        const int n = k < gauss->radius ? k + 1 : k; /* the last may be alone: its tap is 0 */
        const int further = n > k ? gauss->fixed[n] : 0;
        add_pairs(&sums, centre, x, k, n, _mm256_set1_epi32(gauss->fixed[k] | further << 16));
    }
    for (int i = 0; i < 4; i++)
        sums.part[i] = _mm256_srl_epi32(sums.part[i], shift);
    const __m256i first = _mm256_packus_epi32(sums.part[0], sums.part[1]),
                  second = _mm256_packus_epi32(sums.part[2], sums.part[3]);
    _mm256_storeu_si256((__m256i *)(mid + x), _mm256_permute2x128_si256(first, second, 0x20));
    _mm256_storeu_si256((__m256i *)(mid + x + 16), _mm256_permute2x128_si256(first, second, 0x31));
}

GF_AVX2 static void vertical_avx2(const struct gf_gauss_pairs *pairs,
                                  const unsigned char *const *rows, uint16_t *mid, size_t mid_pitch,
                                  size_t count)
{
    const struct gf_gauss *const gauss = pairs->gauss;
    if (count < 32)
        vertical_rest(pairs, rows, mid, mid_pitch, 0, count);
    for (int i = 0; count >= 32 && i < GF_GAUSS_LINES; i++) {
        const unsigned char *const *const centre = rows + i + gauss->radius;
        uint16_t *const line = mid + (size_t)i * mid_pitch;
        for (size_t x = 0; x + 32 <= count; x += 32)
            vertical32(gauss, centre, x, line);
        if (count % 32) /* the last columns, some of them again */
            vertical32(gauss, centre, count - 32, line);
    }
}

GF_AVX2 static void horizontal_avx2(const struct gf_gauss_pairs *pairs, const uint16_t *mid,
                                    int channels, uint32_t *work, uint32_t *sums, size_t count)
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

/* Loads 32 columns of four rows, so that each word holds the four samples of a column. *first has
 * columns 0-3, 16-19, 8-11 and 24-27; *second has the four columns that follow each of these
 * groups. */
GF_VNNI static inline void load_quads(const unsigned char *const rows[4], size_t x, __m512i *first,
                                      __m512i *second)
{
    __m256i row[4];
    for (int i = 0; i < 4; i++)
        row[i] = _mm256_loadu_si256((const __m256i *)(rows[i] + x));
    const __m256i upper0 = _mm256_unpacklo_epi8(row[0], row[1]);
    const __m256i upper8 = _mm256_unpackhi_epi8(row[0], row[1]);
    const __m256i lower0 = _mm256_unpacklo_epi8(row[2], row[3]);
    const __m256i lower8 = _mm256_unpackhi_epi8(row[2], row[3]);
    *first = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_unpacklo_epi16(upper0, lower0)),
                                _mm256_unpacklo_epi16(upper8, lower8), 1);
    *second = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_unpackhi_epi16(upper0, lower0)),
                                 _mm256_unpackhi_epi16(upper8, lower8), 1);
}

/* Stores 32 sums, whose columns are in the order of load_quads(). */
GF_VNNI static inline void store_quads(uint16_t *mid, __m512i first, __m512i second, __m128i shift)
{
    const __m512i packed =
        _mm512_packus_epi32(_mm512_srl_epi32(first, shift), _mm512_srl_epi32(second, shift));
    _mm512_storeu_si512(mid, _mm512_shuffle_i64x2(packed, packed, _MM_SHUFFLE(3, 1, 2, 0)));
}

/* Computes a block of the vertical pass: its first row from the samples, and each other row from
 * the row above it and a difference. */
GF_VNNI static void vertical_flat(const struct gf_gauss_pairs *pairs,
                                  const unsigned char *const *rows, uint16_t *mid, size_t mid_pitch,
                                  size_t count)
{
    const struct gf_gauss_quads *const quads = &pairs->quads;
    const int steps = gf_gauss_reach(pairs->gauss) / 4;
    const __m128i shift = _mm_cvtsi32_si128(pairs->gauss->shift - GF_GAUSS_FRACTION);
    size_t x = 0;
    for (; x < count && count >= 32; x += 32) {
        if (x + 32 > count)
            x = count - 32; /* the last vector computes some columns again */
        __m512i high[2], sum[GF_GAUSS_LINES][2];
        for (int v = 0; v < 2; v++) {
            high[v] = _mm512_setzero_si512();
            sum[0][v] = _mm512_set1_epi32((int)vertical_half(pairs->gauss));
            for (int i = 1; i < GF_GAUSS_LINES; i++)
                sum[i][v] = _mm512_setzero_si512();
        }
        if (x % 64 == 0)
            for (int j = 0; j < 4 * steps; j++)
                _mm_prefetch((const char *)(rows[j] + x + 64), _MM_HINT_T0);
        for (int j = 0; j < steps; j++) {
            __m512i both[2];
            load_quads(rows + 4 * j, x, &both[0], &both[1]);
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++) {
                high[v] = _mm512_dpbusd_epi32(high[v], both[v], _mm512_set1_epi32(quads->high[j]));
                sum[0][v] =
                    _mm512_dpbusd_epi32(sum[0][v], both[v], _mm512_set1_epi32(quads->low[j]));
#pragma GCC unroll 8
                for (int i = 1; i < GF_GAUSS_LINES; i++) {
                    const int32_t *const taps = quads->difference[(i - 1) % 4] + 1 - (i - 1) / 4;
                    sum[i][v] = _mm512_dpbusd_epi32(sum[i][v], both[v], _mm512_set1_epi32(taps[j]));
                }
            }
        }
        for (int v = 0; v < 2; v++)
            sum[0][v] = _mm512_add_epi32(sum[0][v], _mm512_slli_epi32(high[v], 8));
#pragma GCC unroll 8
        for (int i = 0; i < GF_GAUSS_LINES; i++) {
            for (int v = 0; i && v < 2; v++)
                sum[i][v] = _mm512_add_epi32(sum[i][v], sum[i - 1][v]);
            store_quads(mid + (size_t)i * mid_pitch + x, sum[i][0], sum[i][1], shift);
        }
    }
    if (!x)
        vertical_rest(pairs, rows, mid, mid_pitch, x, count);
}

GF_VNNI static void vertical_avx512(const struct gf_gauss_pairs *pairs,
                                    const unsigned char *const *rows, uint16_t *mid,
                                    size_t mid_pitch, size_t count)
{
    if (pairs->quads.fit) {
        vertical_flat(pairs, rows, mid, mid_pitch, count);
        return;
    }
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
            if (!(x & 32)) {
                _mm_prefetch((const char *)(rows[2 * j] + x + 64), _MM_HINT_T0);
                _mm_prefetch((const char *)(rows[2 * j + 1] + x + 64), _MM_HINT_T0);
            }
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

enum {
    WIDTH = 16,
    VECTORS = 8,
    TAPS = 4,
    FEW = 32
}; /* lanes of a vector; registers for sums, and for taps */

/* Adds TAPS pairs of taps to VECTORS vectors of sums. The samples of each pair are `step` vectors
 * behind those of the pair before, so that one load serves several sums. */
GF_VNNI GF_INLINE void add_taps(__m512i sum[VECTORS], const uint32_t *at, const __m512i tap[TAPS],
                                int step)
{
#pragma GCC unroll 17
    for (int i = 0; i < VECTORS + (TAPS - 1) * step; i++) {
        const __m512i both = _mm512_loadu_si512(at + i * WIDTH);
#pragma GCC unroll 4
        for (int k = 0; k < TAPS; k++) {
            const int v = i - k * step;
            if (v >= 0 && v < VECTORS)
                sum[v] = _mm512_dpwssd_epi32(sum[v], both, tap[k]);
        }
    }
}

/* Adds the pairs of taps in groups whose members are `apart` pairs apart: then their samples are
 * `step` whole vectors apart, since 2 apart channels = WIDTH step. */
GF_VNNI GF_INLINE void many_taps(const struct gf_gauss_pairs *pairs, const uint32_t *work,
                                 int channels, int step, uint32_t *sums, size_t count)
{
    const int radius = pairs->gauss->radius, apart = WIDTH * step / (2 * channels);
    for (size_t x = 0; x < count; x += WIDTH * VECTORS) {
        __m512i sum[VECTORS], tap[TAPS];
        for (int i = 0; i < VECTORS; i++)
            sum[i] = _mm512_setzero_si512();
        for (int first = 0; first < apart; first++)
            for (int m = first; m <= radius; m += TAPS * apart) {
                for (int k = 0; k < TAPS; k++) {
                    const int pair = m + k * apart;
                    tap[k] =
                        _mm512_set1_epi32(pair <= radius ? pairs->even[GF_GAUSS_LEAD + pair] : 0);
                }
                add_taps(sum, work + x + 2 * m * channels, tap, step);
            }
#pragma GCC unroll 8
        for (int i = 0; i < VECTORS; i++)
            _mm512_storeu_si512(sums + x + i * WIDTH, sum[i]);
    }
}

/* Adds few taps, in a loop in which each sum loads its own samples. */
GF_VNNI static void few_taps(const struct gf_gauss_pairs *pairs, const uint32_t *work, int channels,
                             uint32_t *sums, size_t count)
{
    for (size_t x = 0; x < count; x += WIDTH * VECTORS) {
        __m512i sum[VECTORS];
        for (int i = 0; i < VECTORS; i++)
            sum[i] = _mm512_setzero_si512();
        const uint32_t *at = work + x;
        for (int m = 0; m <= pairs->gauss->radius; m++, at += 2 * channels) {
            const __m512i tap = _mm512_set1_epi32(pairs->even[GF_GAUSS_LEAD + m]);
#pragma GCC unroll 8
            for (int i = 0; i < VECTORS; i++)
                sum[i] = _mm512_dpwssd_epi32(sum[i], _mm512_loadu_si512(at + i * WIDTH), tap);
        }
#pragma GCC unroll 8
        for (int i = 0; i < VECTORS; i++)
            _mm512_storeu_si512(sums + x + i * WIDTH, sum[i]);
    }
}

GF_VNNI static void horizontal_avx512(const struct gf_gauss_pairs *pairs, const uint16_t *mid,
                                      int channels, uint32_t *work, uint32_t *sums, size_t count)
{
    const int radius = pairs->gauss->radius;
    interleave(mid, channels, work, count + 2 * (size_t)radius * (size_t)channels);
    if (radius < FEW)
        few_taps(pairs, work, channels, sums, count);
    else if (channels == 3)
        many_taps(pairs, work, channels, 3, sums, count);
    else
        many_taps(pairs, work, channels, 1, sums, count);
}

#endif

const struct gf_gauss_simd *gf_gauss_simd_level(int level)
{
    static const struct gf_gauss_simd plain = {"plain", vertical_plain, horizontal_plain};
#if GF_X86
    static const struct gf_gauss_simd avx2 = {"avx2", vertical_avx2, horizontal_avx2};
    static const struct gf_gauss_simd avx512 = {"avx512", vertical_avx512, horizontal_avx512};
    if (level == 1 && gf_cpu_has(GF_CPU_AVX2))
        return &avx2;
    if (level == 2 && gf_cpu_has(GF_CPU_VNNI))
        return &avx512;
#endif
    return level == 0 ? &plain : NULL;
}

const struct gf_gauss_simd *gf_gauss_simd_best(void)
{
    const struct gf_gauss_simd *best = NULL;
    for (int level = 2; !best; level--)
        best = gf_gauss_simd_level(level);
    return best;
}
