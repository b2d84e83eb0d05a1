/* Warps 8-bit gray with vector instructions: eight pixels at a time, each in a 32-bit lane. */
#include "pixel/warp/warp_cpu.h"

#include "base/simd.h"

#if GF_X86

enum { LANES = 8 };

GF_AVX2 GF_INLINE __m256i fractions(const uint16_t *from)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from));
}

/* Loads four bytes of each window, at the offsets from `row`. */
GF_AVX2 GF_INLINE __m256i four_bytes(const unsigned char *row, __m256i offsets)
{
    return _mm256_i32gather_epi32((const int *)(const void *)row, offsets, 1);
}

GF_AVX2 GF_INLINE __m256i offsets_of(const struct gf_warp_run *run, int k, int before, int pitch)
{
    const __m256i x = _mm256_loadu_si256((const void *)(run->x + k));
    const __m256i y = _mm256_loadu_si256((const void *)(run->y + k));
    const __m256i less = _mm256_set1_epi32(before);
    return _mm256_add_epi32(
        _mm256_sub_epi32(x, less),
        _mm256_mullo_epi32(_mm256_sub_epi32(y, less), _mm256_set1_epi32(pitch)));
}

/* Stores the lowest byte of each lane. */
GF_AVX2 GF_INLINE void store_lanes(__m256i v, uint8_t *out)
{
    const __m256i low =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i packed = _mm256_shuffle_epi8(v, low);
    const __m128i both =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
    _mm_storel_epi64((void *)out, both);
}

/* Interpolates between the two lowest bytes a and b of each lane: 4096 a + f (b - a), with the
 * weights 4096 - f and f. */
GF_AVX2 GF_INLINE __m256i between(__m256i bytes, __m256i weights)
{
    const __m256i two = _mm256_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1,
                                         0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    return _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, two), weights);
}

/* Computes gf_warp_linear8(), rounded, for gray. */
GF_AVX2 static void linear_gathered(const struct gf_view *in, const struct gf_warp_run *run,
                                    int first, int count, uint8_t *out)
{
    const unsigned char *const top_row = gf_view_row(in, 0), *const bottom_row =
                                                                 top_row + in->pitch;
    const __m256i half = _mm256_set1_epi32(1 << 23), one = _mm256_set1_epi32(4096);
    for (int i = 0; i < count; i += LANES) {
        const __m256i at = offsets_of(run, first + i, 0, (int)in->pitch);
        const __m256i f = fractions(run->f + first + i), g = fractions(run->g + first + i);
        const __m256i weights = _mm256_or_si256(_mm256_sub_epi32(one, f), _mm256_slli_epi32(f, 16));
        const __m256i top = between(four_bytes(top_row, at), weights);
        const __m256i bottom = between(four_bytes(bottom_row, at), weights);
        const __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(top, 12),
                                             _mm256_mullo_epi32(g, _mm256_sub_epi32(bottom, top)));
        store_lanes(_mm256_srli_epi32(_mm256_add_epi32(sum, half), 24), out + i);
    }
}

static void linear(const struct gf_view *in, const struct gf_warp_run *run, int first, int count,
                   uint8_t *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_linear_gray8(in, run, first + i, count - i, out + i);
        const int left = count - i;
        linear_gathered(in, run, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR, out + i);
    }
}

/* Weights 4 part .. 4 part + 3 of each lane's phase, in pairs of 16 bits: 0 and 2, 1 and 3. */
struct pairs {
    __m256i even, odd;
};

GF_AVX2 GF_INLINE struct pairs weights_of(const int16_t *table, __m256i phases, int part)
{
    const int *const from = (const int *)(const void *)(table + 4 * part);
    const __m256i low = _mm256_i32gather_epi32(from, phases, 4);
    const __m256i high = _mm256_i32gather_epi32(from + 1, phases, 4);
    return (struct pairs){_mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa),
                          _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa)};
}

/* Multiplies four bytes by their weights and adds the products. */
GF_AVX2 GF_INLINE __m256i weigh(__m256i bytes, struct pairs weights)
{
    const __m256i each_second = _mm256_set1_epi32(0x00ff00ff);
    const __m256i even = _mm256_and_si256(bytes, each_second);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bytes, 8), each_second);
    return _mm256_add_epi32(_mm256_madd_epi16(even, weights.even),
                            _mm256_madd_epi16(odd, weights.odd));
}

/* Computes table_value() of warp_cpu.c, rounded. Weights after the last tap are 0. */
GF_AVX2 GF_INLINE void table(const struct gf_warp *warp, const struct gf_view *in,
                             const struct gf_warp_run *run, int first, int count, const int taps,
                             uint8_t *out)
{
    const int16_t *const weights = gf_warp_weights(warp);
    const int before = taps / 2 - 1, parts = (taps + 3) / 4;
    const __m256i half = _mm256_set1_epi32(128), whole = _mm256_set1_epi32(1 << 19);
    for (int i = 0; i < count; i += LANES) {
        /* A phase has GF_WARP_TAPS weights of 2 bytes, which are 4 words. */
        const __m256i across =
            _mm256_slli_epi32(_mm256_srli_epi32(fractions(run->f + first + i), 2), 2);
        const __m256i down =
            _mm256_slli_epi32(_mm256_srli_epi32(fractions(run->g + first + i), 2), 2);
        const __m256i at = offsets_of(run, first + i, before, (int)in->pitch);
        struct pairs weight[2], column = {0};
        __m256i sum = whole;
        for (int part = 0; part < parts; part++)
            weight[part] = weights_of(weights, across, part);
        for (int j = 0; j < taps; j++) {
            const unsigned char *const row = gf_view_row(in, 0) + (size_t)j * in->pitch;
            __m256i value = half;
            for (int part = 0; part < parts; part++)
                value =
                    _mm256_add_epi32(value, weigh(four_bytes(row + 4 * part, at), weight[part]));
            value = _mm256_srai_epi32(value, 8);
            if (j % 4 == 0)
                column = weights_of(weights, down, j / 4);
            /* Weight j is widened from the low or the high half of its pair. */
            const __m256i pair = j % 2 ? column.odd : column.even;
            const __m256i w = j % 4 < 2 ? _mm256_srai_epi32(_mm256_slli_epi32(pair, 16), 16)
                                        : _mm256_srai_epi32(pair, 16);
            sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(value, w));
        }
        sum = _mm256_max_epi32(_mm256_srai_epi32(sum, 20), _mm256_setzero_si256());
        store_lanes(_mm256_min_epi32(sum, _mm256_set1_epi32(255)), out + i);
    }
}

GF_AVX2 static void cubic(const struct gf_warp *warp, const struct gf_view *in,
                          const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    table(warp, in, run, first, count, 4, out);
}

GF_AVX2 static void lanczos3(const struct gf_warp *warp, const struct gf_view *in,
                             const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    table(warp, in, run, first, count, 6, out);
}

int gf_warp_simd_gray8(const struct gf_warp *warp, const struct gf_view *in,
                       const struct gf_warp_run *run, int first, int count, uint8_t *out)
{
    const int done = count / LANES * LANES;
    if (in->pitch * (size_t)warp->in_height > INT32_MAX)
        return 0;
    if (warp->kernel == GF_WARP_LINEAR)
        linear(in, run, first, done, out);
    else if (warp->kernel == GF_WARP_CUBIC)
        cubic(warp, in, run, first, done, out);
    else
        lanczos3(warp, in, run, first, done, out);
    return done;
}
#endif
