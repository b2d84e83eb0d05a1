/* Computes stretches of 8-bit pixels of a warp together: with vectors, or as one colour outside of
 * the picture. */
#include <string.h>

#include "base/cpu.h"
#include "base/extremes.h"
#include "base/simd.h"
#include "pixel/warp/warp.h"
#include "pixel/warp/warp_cpu.h"

#if GF_X86

/* Sixteen neighbouring pixels of the result that are close together in the input are computed at
 * once. Their bytes are selected from four or eight input rows in registers, in a fifth of the time
 * that gathering them from memory takes. */

enum { EACH = GF_WARP_NEAR, FEW = 4, MANY = 8 };

/* Where sixteen pixels' windows lie: their columns x and rows y, in pixels from `corner` on. */
struct near {
    const unsigned char *corner;
    __m512i x, y;
};

/* Finds the windows of the stretch's pixels from k on, which have `high` rows and pixels of `size`
 * bytes. Returns the number of input rows, FEW or MANY, that contain them. Returns 0 if they need
 * more rows, or more than `columns` columns, or if fewer than `bytes` bytes follow the corner. */
GF_VBMI GF_INLINE int find(const struct gf_view *in, const struct gf_warp_stretch *stretch, int k,
                           const int size, const int columns, const int high, const int bytes,
                           struct near *near)
{
    const int x = gf_least(stretch->x[k], stretch->x[k + EACH - 1]);
    const int y = gf_least(stretch->y[k], stretch->y[k + EACH - 1]);
    near->corner = gf_view_row(in, y) + (ptrdiff_t)size * x;
    near->x = _mm512_sub_epi32(_mm512_loadu_si512(stretch->x + k), _mm512_set1_epi32(x));
    near->y = _mm512_sub_epi32(_mm512_loadu_si512(stretch->y + k), _mm512_set1_epi32(y));
    const __mmask16 far = _mm512_cmpge_epu32_mask(near->x, _mm512_set1_epi32(columns));
    const __mmask16 below_few = _mm512_cmpgt_epu32_mask(near->y, _mm512_set1_epi32(FEW - high));
    const __mmask16 below_many = _mm512_cmpgt_epu32_mask(near->y, _mm512_set1_epi32(MANY - high));
    if (far || size * (int64_t)x + bytes > (int64_t)gf_row_bytes(in->format))
        return 0;
    const int left = in->y + in->rows - y;
    return !below_few && left >= FEW ? FEW : !below_many && left >= MANY ? MANY : 0;
}

/* Loads 32 bytes of each of two rows. */
GF_VBMI GF_INLINE __m512i two_rows(const unsigned char *from, size_t pitch)
{
    const __m256i first = _mm256_loadu_si256((const void *)from);
    const __m256i second = _mm256_loadu_si256((const void *)(from + pitch));
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

/* Selects the bytes with these indices from `rows` rows of 32 bytes that begin at `corner`. */
GF_VBMI GF_INLINE __m512i pick_32(const unsigned char *corner, size_t pitch, int rows,
                                  __m512i index)
{
    const __m512i upper = _mm512_permutex2var_epi8(two_rows(corner, pitch), index,
                                                   two_rows(corner + 2 * pitch, pitch));
    if (rows == FEW)
        return upper;
    corner += FEW * pitch;
    const __m512i lower = _mm512_permutex2var_epi8(two_rows(corner, pitch), index,
                                                   two_rows(corner + 2 * pitch, pitch));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), upper, lower);
}

/* Returns the index of byte x of row y, in rows of 32 bytes, for each pixel. */
GF_VBMI GF_INLINE __m512i index_32(const struct near *near)
{
    return _mm512_add_epi32(near->x, _mm512_slli_epi32(near->y, 5));
}

GF_VBMI GF_INLINE __m512i fractions(const uint16_t *from)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
}

GF_VBMI int gf_warp_near_linear_gray8(const struct gf_view *in,
                                      const struct gf_warp_stretch *stretch, int first, int count,
                                      uint8_t *out)
{
    const __m512i lowest = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    /* The offsets of a window's four bytes in rows of 32: the pixel, its right neighbour, and the
     * two below them. */
    const __m512i window = _mm512_set1_epi32(0x21200100);
    const __m512i each_second = _mm512_set1_epi32(0x00ff00ff), one = _mm512_set1_epi32(4096);
    const __m512i half = _mm512_set1_epi32(1 << 23);
    int i = 0;
    for (; i + EACH <= count; i += EACH) {
        const int k = first + i;
        struct near near;
        const int rows = find(in, stretch, k, 1, 31, 2, 32, &near);
        if (!rows)
            break;
        const __m512i index = _mm512_add_epi8(_mm512_shuffle_epi8(index_32(&near), lowest), window);
        const __m512i bytes = pick_32(near.corner, in->pitch, rows, index);
        const __m512i f = fractions(stretch->f + k), g = fractions(stretch->g + k);
        const __m512i down = _mm512_or_si512(_mm512_sub_epi32(one, g), _mm512_slli_epi32(g, 16));
        const __m512i left = _mm512_madd_epi16(_mm512_and_si512(bytes, each_second), down);
        const __m512i right =
            _mm512_madd_epi16(_mm512_and_si512(_mm512_srli_epi32(bytes, 8), each_second), down);
        /* This is gf_warp_linear8(), then rounding. Nothing is rounded before, so that the order of
         * operations does not matter. */
        const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(left, 12),
                                             _mm512_mullo_epi32(f, _mm512_sub_epi32(right, left)));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(sum, half), 24);
        _mm_storeu_si128((void *)(out + i), _mm512_cvtepi32_epi8(rounded));
    }
    return i;
}

GF_VBMI int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                               int first, int count, uint8_t *out)
{
    int i = 0;
    for (; i + EACH <= count; i += EACH) {
        struct near near;
        const int rows = find(in, stretch, first + i, 1, 32, 1, 32, &near);
        if (!rows)
            break;
        const __m512i bytes = pick_32(near.corner, in->pitch, rows, index_32(&near));
        _mm_storeu_si128((void *)(out + i), _mm512_cvtepi32_epi8(bytes));
    }
    return i;
}

GF_VBMI int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                              int first, int count, uint8_t *out)
{
    static const unsigned char lowest[64] = {0,  0,  0,  4,  4,  4,  8,  8,  8,  12, 12, 12,
                                             16, 16, 16, 20, 20, 20, 24, 24, 24, 28, 28, 28,
                                             32, 32, 32, 36, 36, 36, 40, 40, 40, 44, 44, 44,
                                             48, 48, 48, 52, 52, 52, 56, 56, 56, 60, 60, 60};
    static const unsigned char channel[64] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0,
                                              1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1,
                                              2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    const __m512i low = _mm512_loadu_si512(lowest), which = _mm512_loadu_si512(channel);
    const size_t pitch = in->pitch;
    int i = 0;
    for (; i + EACH <= count; i += EACH) {
        struct near near;
        if (find(in, stretch, first + i, 3, 21, 1, 64, &near) != FEW)
            break;
        /* The index of each pixel's first byte in four rows of 64 bytes; its highest bit selects
         * the lower two rows. */
        const __m512i pixel = _mm512_add_epi32(
            _mm512_add_epi32(near.x, _mm512_slli_epi32(near.x, 1)), _mm512_slli_epi32(near.y, 6));
        const __m512i index = _mm512_add_epi8(_mm512_permutexvar_epi8(low, pixel), which);
        const unsigned char *const row = near.corner;
        const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(row), index,
                                                       _mm512_loadu_si512(row + pitch));
        const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(row + 2 * pitch), index,
                                                       _mm512_loadu_si512(row + 3 * pitch));
        _mm512_mask_storeu_epi8(out + 3 * i, (UINT64_C(1) << (3 * EACH)) - 1,
                                _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), upper, lower));
    }
    return i;
}

/* 8-bit gray with AVX2: eight pixels at a time, each in a 32-bit lane. */

enum { LANES = 8 };

GF_AVX2 GF_INLINE __m256i gray_fractions(const uint16_t *from)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from));
}

/* Loads four bytes of each of eight windows, at the offsets from `row`. */
GF_AVX2 GF_INLINE __m256i four_bytes(const unsigned char *row, __m256i offsets)
{
    return _mm256_i32gather_epi32((const int *)(const void *)row, offsets, 1);
}

GF_AVX2 GF_INLINE __m256i offsets_of(const struct gf_warp_stretch *stretch, int k, int before,
                                     int pitch)
{
    const __m256i x = _mm256_loadu_si256((const void *)(stretch->x + k));
    const __m256i y = _mm256_loadu_si256((const void *)(stretch->y + k));
    const __m256i less = _mm256_set1_epi32(before);
    return _mm256_add_epi32(
        _mm256_sub_epi32(x, less),
        _mm256_mullo_epi32(_mm256_sub_epi32(y, less), _mm256_set1_epi32(pitch)));
}

/* Stores the lowest byte of each of the eight lanes. */
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

/* Interpolates between the two lowest bytes a and b of each lane: returns 4096 a + f (b - a).
 * `weights` has 4096 - f and f in each lane. */
GF_AVX2 GF_INLINE __m256i between(__m256i bytes, __m256i weights)
{
    const __m256i two = _mm256_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1,
                                         0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    return _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, two), weights);
}

/* Computes gray pixels as gf_warp_linear8() does, rounded. */
GF_AVX2 static void linear_gathered(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                    int first, int count, uint8_t *out)
{
    const unsigned char *const top_row = gf_view_row(in, 0), *const bottom_row =
                                                                 top_row + in->pitch;
    const __m256i half = _mm256_set1_epi32(1 << 23), one = _mm256_set1_epi32(4096);
    for (int i = 0; i < count; i += LANES) {
        const __m256i at = offsets_of(stretch, first + i, 0, (int)in->pitch);
        const __m256i f = gray_fractions(stretch->f + first + i),
                      g = gray_fractions(stretch->g + first + i);
        const __m256i weights = _mm256_or_si256(_mm256_sub_epi32(one, f), _mm256_slli_epi32(f, 16));
        const __m256i top = between(four_bytes(top_row, at), weights);
        const __m256i bottom = between(four_bytes(bottom_row, at), weights);
        const __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(top, 12),
                                             _mm256_mullo_epi32(g, _mm256_sub_epi32(bottom, top)));
        store_lanes(_mm256_srli_epi32(_mm256_add_epi32(sum, half), 24), out + i);
    }
}

static void gray_linear(const struct gf_view *in, const struct gf_warp_stretch *stretch, int first,
                        int count, uint8_t *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_linear_gray8(in, stretch, first + i, count - i, out + i);
        const int left = count - i;
        linear_gathered(in, stretch, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR, out + i);
    }
}

/* Four weights of each lane's phase, those with the numbers 4 part .. 4 part + 3, in pairs of 16
 * bits: 0 and 2 in `even`, 1 and 3 in `odd`. */
struct pairs {
    __m256i even, odd;
};

GF_AVX2 GF_INLINE struct pairs gray_weights_of(const int16_t *gray_by_table, __m256i phases,
                                               int part)
{
    const int *const from = (const int *)(const void *)(gray_by_table + 4 * part);
    const __m256i low = _mm256_i32gather_epi32(from, phases, 4);
    const __m256i high = _mm256_i32gather_epi32(from + 1, phases, 4);
    return (struct pairs){_mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa),
                          _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa)};
}

/* Returns for each lane the sum of its four bytes times the four weights. */
GF_AVX2 GF_INLINE __m256i weigh(__m256i bytes, struct pairs weights)
{
    const __m256i each_second = _mm256_set1_epi32(0x00ff00ff);
    const __m256i even = _mm256_and_si256(bytes, each_second);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bytes, 8), each_second);
    return _mm256_add_epi32(_mm256_madd_epi16(even, weights.even),
                            _mm256_madd_epi16(odd, weights.odd));
}

/* Computes gray pixels as table_value() of warp_cpu.c, rounded. Weights from `taps` on are 0. */
GF_AVX2 GF_INLINE void gray_by_table(const struct gf_warp *warp, const struct gf_view *in,
                                     const struct gf_warp_stretch *stretch, int first, int count,
                                     const int taps, uint8_t *out)
{
    const int16_t *const weights = gf_warp_weights(warp);
    const int before = taps / 2 - 1, parts = (taps + 3) / 4;
    const __m256i half = _mm256_set1_epi32(128), whole = _mm256_set1_epi32(1 << 19);
    for (int i = 0; i < count; i += LANES) {
        /* A phase's offset in 32-bit words: GF_WARP_TAPS weights of 16 bits are 4 words. */
        const __m256i across =
            _mm256_slli_epi32(_mm256_srli_epi32(gray_fractions(stretch->f + first + i), 2), 2);
        const __m256i down =
            _mm256_slli_epi32(_mm256_srli_epi32(gray_fractions(stretch->g + first + i), 2), 2);
        const __m256i at = offsets_of(stretch, first + i, before, (int)in->pitch);
        struct pairs weight[2], column = {0};
        __m256i sum = whole;
        for (int part = 0; part < parts; part++)
            weight[part] = gray_weights_of(weights, across, part);
        for (int j = 0; j < taps; j++) {
            const unsigned char *const row = gf_view_row(in, 0) + (size_t)j * in->pitch;
            __m256i value = half;
            for (int part = 0; part < parts; part++)
                value =
                    _mm256_add_epi32(value, weigh(four_bytes(row + 4 * part, at), weight[part]));
            value = _mm256_srai_epi32(value, 8);
            if (j % 4 == 0)
                column = gray_weights_of(weights, down, j / 4);
            /* Weight j is sign-extended from the low or the high half of its pair. */
            const __m256i pair = j % 2 ? column.odd : column.even;
            const __m256i w = j % 4 < 2 ? _mm256_srai_epi32(_mm256_slli_epi32(pair, 16), 16)
                                        : _mm256_srai_epi32(pair, 16);
            sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(value, w));
        }
        sum = _mm256_max_epi32(_mm256_srai_epi32(sum, 20), _mm256_setzero_si256());
        store_lanes(_mm256_min_epi32(sum, _mm256_set1_epi32(255)), out + i);
    }
}

GF_AVX2 static void gray_cubic(const struct gf_warp *warp, const struct gf_view *in,
                               const struct gf_warp_stretch *stretch, int first, int count,
                               uint8_t *out)
{
    gray_by_table(warp, in, stretch, first, count, 4, out);
}

GF_AVX2 static void gray_lanczos3(const struct gf_warp *warp, const struct gf_view *in,
                                  const struct gf_warp_stretch *stretch, int first, int count,
                                  uint8_t *out)
{
    gray_by_table(warp, in, stretch, first, count, 6, out);
}

int gf_warp_simd_gray8(const struct gf_warp *warp, const struct gf_view *in,
                       const struct gf_warp_stretch *stretch, int first, int count, uint8_t *out)
{
    const int done = count / LANES * LANES;
    if (in->pitch * (size_t)warp->in_height > INT32_MAX)
        return 0;
    if (warp->kernel == GF_WARP_LINEAR)
        gray_linear(in, stretch, first, done, out);
    else if (warp->kernel == GF_WARP_CUBIC)
        gray_cubic(warp, in, stretch, first, done, out);
    else
        gray_lanczos3(warp, in, stretch, first, done, out);
    return done;
}

/* 8-bit RGB with AVX2: two pixels at a time, each channel in a 32-bit lane. */

struct source {
    const unsigned char *data; /* the address of the first row */
    ptrdiff_t pitch;
};

GF_AVX2 GF_INLINE const unsigned char *pixel_at(const struct source *source, int x, int y)
{
    return source->data + (ptrdiff_t)y * source->pitch + 3 * (ptrdiff_t)x;
}

/* Loads two neighbouring pixels at each of two addresses, as pairs of 16 bits, R R, G G and B B for
 * each. Reads 8 bytes at each address. */
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

/* Stores the lowest bytes of three lanes of each of two pixels. Four bytes are stored for a pixel;
 * the next pixel overwrites the fourth. */
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

GF_AVX2 static void linear(const struct source *source, const struct gf_warp_stretch *stretch,
                           int first, int count, uint8_t *out)
{
    const __m256i half = _mm256_set1_epi32(1 << 23);
    for (int i = 0; i < count; i += 2) {
        const int k = first + i;
        const unsigned char *const p = pixel_at(source, stretch->x[k], stretch->y[k]);
        const unsigned char *const q = pixel_at(source, stretch->x[k + 1], stretch->y[k + 1]);
        const __m256i weight =
            in_halves(stretch->f[k] * 0xffff + 4096, stretch->f[k + 1] * 0xffff + 4096);
        const __m256i top = _mm256_madd_epi16(load_pairs(p, q), weight);
        const __m256i bottom =
            _mm256_madd_epi16(load_pairs(p + source->pitch, q + source->pitch), weight);
        const __m256i slope = _mm256_mullo_epi32(_mm256_sub_epi32(bottom, top),
                                                 in_halves(stretch->g[k], stretch->g[k + 1]));
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
                             const struct gf_warp_stretch *stretch, int first, int count,
                             const int taps, uint8_t *out)
{
    const int16_t *const weights = gf_warp_weights(warp);
    const int before = taps / 2 - 1;
    const __m256i half = _mm256_set1_epi32(128), whole = _mm256_set1_epi32(1 << 19);
    for (int i = 0; i < count; i += 2) {
        const int k = first + i;
        const unsigned char *p = pixel_at(source, stretch->x[k] - before, stretch->y[k] - before);
        const unsigned char *q =
            pixel_at(source, stretch->x[k + 1] - before, stretch->y[k + 1] - before);
        const int16_t *const across0 = weights + (stretch->f[k] >> 2) * GF_WARP_TAPS;
        const int16_t *const across1 = weights + (stretch->f[k + 1] >> 2) * GF_WARP_TAPS;
        const int16_t *const down0 = weights + (stretch->g[k] >> 2) * GF_WARP_TAPS;
        const int16_t *const down1 = weights + (stretch->g[k + 1] >> 2) * GF_WARP_TAPS;
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
            /* The sums of rows fit in 16 bits, so that two are multiplied by weights at once. */
            const __m256i both = _mm256_blend_epi16(rows[0], _mm256_slli_epi32(rows[1], 16), 0xaa);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(both, in_halves(weights_of(down0 + j),
                                                                          weights_of(down1 + j))));
        }
        const __m256i value = _mm256_max_epi32(_mm256_srai_epi32(sum, 20), _mm256_setzero_si256());
        store_two(_mm256_min_epi32(value, _mm256_set1_epi32(255)), out + 3 * i);
    }
}

GF_AVX2 static void cubic(const struct gf_warp *warp, const struct source *source,
                          const struct gf_warp_stretch *stretch, int first, int count, uint8_t *out)
{
    table(warp, source, stretch, first, count, 4, out);
}

GF_AVX2 static void lanczos3(const struct gf_warp *warp, const struct source *source,
                             const struct gf_warp_stretch *stretch, int first, int count,
                             uint8_t *out)
{
    table(warp, source, stretch, first, count, 6, out);
}

int gf_warp_simd_rgb8(const struct gf_warp *warp, const struct gf_view *in,
                      const struct gf_warp_stretch *stretch, int first, int count, uint8_t *out)
{
    /* The last pixel is left out, because four bytes are stored for each pixel, one too many. */
    const int done = (count - 1) & ~1;
    const struct source source = {gf_view_row(in, 0), (ptrdiff_t)in->pitch};
    if (warp->kernel == GF_WARP_LINEAR)
        linear(&source, stretch, first, done, out);
    else if (warp->kernel == GF_WARP_CUBIC)
        cubic(warp, &source, stretch, first, done, out);
    else
        lanczos3(warp, &source, stretch, first, done, out);
    return done;
}
#endif

/* Where a pixel's window lies: inside the picture, with the further columns that vectors read;
 * entirely outside; or at an edge (MIXED). For a stretch of pixels MIXED also means that their
 * windows lie in different places. */
enum place { INSIDE, OUTSIDE, MIXED };

/* Finds where each pixel's window in a stretch lies. */
GF_TARGET_CLONES static void find_places(const struct gf_warp *warp,
                                         const struct gf_warp_stretch *stretch, int count,
                                         unsigned char *places)
{
    const int taps = warp->taps, before = taps > 1 ? taps / 2 - 1 : 0, width = warp->in_width,
              height = warp->in_height;
    const int right = width - taps - GF_WARP_BESIDE, bottom = height - taps;
    const unsigned char outside = warp->edge ? MIXED : OUTSIDE;
    for (int k = 0; k < count; k++) {
        const int x = stretch->x[k] - before, y = stretch->y[k] - before;
        const bool is_in = (x >= 0) & (y >= 0) & (x <= right) & (y <= bottom);
        const bool is_out = (x <= -taps) | (y <= -taps) | (x >= width) | (y >= height);
        places[k] = is_in ? INSIDE : is_out ? outside : MIXED;
    }
}

struct extremes {
    int left, right, top, bottom;
};

GF_TARGET_CLONES static struct extremes extremes_of(const struct gf_warp_stretch *stretch,
                                                    int count)
{
    int left = stretch->x[0], right = left, top = stretch->y[0], bottom = top;
    for (int k = 0; k < count; k++) {
        const int x = stretch->x[k], y = stretch->y[k];
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    return (struct extremes){left, right, top, bottom};
}

static struct extremes of_ends(const struct gf_warp_stretch *stretch, int last)
{
    const int x0 = stretch->x[0], x1 = stretch->x[last], y0 = stretch->y[0], y1 = stretch->y[last];
    return (struct extremes){x0 < x1 ? x0 : x1, x0 < x1 ? x1 : x0, y0 < y1 ? y0 : y1,
                             y0 < y1 ? y1 : y0};
}

/* Returns where all windows of the stretch lie, by the extremes of their positions. Under an affine
 * map these are at the stretch's ends. */
static enum place place_of(const struct gf_warp *warp, const struct gf_warp_stretch *stretch,
                           int count)
{
    const int before = warp->taps > 1 ? warp->taps / 2 - 1 : 0, taps = warp->taps;
    const int last = count - 1;
    const bool is_straight = warp->map.kind == GF_WARP_AFFINE;
    const struct extremes e = is_straight ? of_ends(stretch, last) : extremes_of(stretch, count);
    const int left = e.left - before, right = e.right - before;
    const int top = e.top - before, bottom = e.bottom - before;
    if (left >= 0 && top >= 0 && right <= warp->in_width - taps - GF_WARP_BESIDE &&
        bottom <= warp->in_height - taps)
        return INSIDE;
    const bool is_out =
        right <= -taps || bottom <= -taps || left >= warp->in_width || top >= warp->in_height;
    return is_out && !warp->edge ? OUTSIDE : MIXED;
}

/* Copies the nearest pixels, as four bytes each. The next pixel overwrites the fourth byte, so that
 * the last pixel of a row must not be copied in this way. */
static void copy_some_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                           int first, int count, unsigned char *out)
{
    for (int i = 0; i < count; i++)
        memcpy(out + 3 * i,
               gf_view_row(in, stretch->y[first + i]) + 3 * (size_t)stretch->x[first + i], 4);
}

static int copy_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch, int first,
                     int count, unsigned char *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count - 1; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_rgb8(in, stretch, first + i, count - 1 - i, out + 3 * i);
        const int left = count - 1 - i;
        copy_some_rgb8(in, stretch, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR,
                       out + 3 * i);
    }
    return count - 1;
}

static void copy_some_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                            int first, int count, unsigned char *out)
{
    for (int i = 0; i < count; i++)
        out[i] = gf_view_row(in, stretch->y[first + i])[stretch->x[first + i]];
}

static int copy_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch, int first,
                      int count, unsigned char *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_gray8(in, stretch, first + i, count - i, out + i);
        const int left = count - i;
        copy_some_gray8(in, stretch, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR, out + i);
    }
    return count;
}

static int make_inside(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                       int first, int count, unsigned char *out)
{
    if (!count)
        return 0;
    const bool is_gray = s->in->format.channels == 1;
    if (s->warp->kernel == GF_WARP_NEAREST)
        return (is_gray ? copy_gray8 : copy_rgb8)(s->in, stretch, first, count, out);
    if (!gf_cpu_has(GF_CPU_AVX2))
        return 0;
    return (is_gray ? gf_warp_simd_gray8 : gf_warp_simd_rgb8)(s->warp, s->in, stretch, first, count,
                                                              out);
}

static void fill_beyond(const struct gf_warp_sampler *s, int count, unsigned char *out)
{
    const uint16_t *const beyond = s->warp->beyond;
    if (s->in->format.channels == 1) {
        memset(out, beyond[0], (size_t)count);
        return;
    }
    for (int i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            out[3 * i + c] = (unsigned char)beyond[c];
    }
}

/* Computes the stretch in parts: with vectors where windows are inside the picture, as one colour
 * where they are outside, and the pixels between them one by one. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_stretch *stretch, int count, unsigned char *out)
{
    const enum place place = place_of(s->warp, stretch, count);
    unsigned char places[GF_WARP_STRETCH];
    if (place == MIXED)
        find_places(s->warp, stretch, count, places);
    for (int k = 0, first = 0; first < count; first = k) {
        const enum place here = place == MIXED ? (enum place)places[first] : place;
        unsigned char *const to = out + (size_t)first * s->pixel_bytes;
        k = place == MIXED ? first + 1 : count;
        while (k < count && places[k] == here)
            k++;
        if (here == OUTSIDE)
            fill_beyond(s, k - first, to);
        else
            maker(s, stretch,
                  here == INSIDE ? first + make_inside(s, stretch, first, k - first, to) : first, k,
                  out, NULL);
    }
}
