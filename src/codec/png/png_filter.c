/* PNG's filters in plain C, and the choice of a filter for a row. */
#include "codec/png/png_filter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"

static uint8_t paeth_of(uint8_t left, uint8_t above, uint8_t corner)
{
    const int to_left = abs(above - corner), to_above = abs(left - corner);
    const int to_corner = abs(left + above - 2 * corner);
    if (to_left <= to_above && to_left <= to_corner)
        return left;
    return to_above <= to_corner ? above : corner;
}

static uint32_t distance(uint8_t byte)
{
    return byte < 128 ? byte : 256u - byte;
}

GF_TARGET_CLONES static void add_sums(const uint8_t *row, const uint8_t *above, size_t bytes,
                                      int bpp, uint64_t sums[GF_PNG_FILTERS])
{
    enum { RUN = 4096 };
    for (size_t x = 0; x < bytes; x += RUN) {
        const size_t end = bytes - x < RUN ? bytes : x + RUN;
        uint32_t none = 0, sub = 0, up = 0, average = 0, paeth = 0;
        for (size_t i = x; i < end; i++) {
            const uint8_t left = *(row + i - bpp), corner = *(above + i - bpp);
            none += distance(row[i]);
            sub += distance((uint8_t)(row[i] - left));
            up += distance((uint8_t)(row[i] - above[i]));
            average += distance((uint8_t)(row[i] - (left + above[i]) / 2));
            paeth += distance((uint8_t)(row[i] - paeth_of(left, above[i], corner)));
        }
        const uint32_t run[] = {none, sub, up, average, paeth};
        for (int f = 0; f < GF_PNG_FILTERS; f++)
            sums[f] += run[f];
    }
}

static void png_sums_plain(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                           uint64_t sums[GF_PNG_FILTERS])
{
    add_sums(row, above, bytes, bpp, sums);
}

GF_TARGET_CLONES static void apply(enum gf_png_filter filter, const uint8_t *row,
                                   const uint8_t *above, size_t bytes, int bpp, uint8_t *out)
{
    const uint8_t *const left = row - bpp, *const corner = above - bpp;
    switch (filter) {
    case GF_PNG_SUB:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - left[i]);
        break;
    case GF_PNG_UP:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - above[i]);
        break;
    case GF_PNG_AVERAGE:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - (left[i] + above[i]) / 2);
        break;
    case GF_PNG_PAETH:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - paeth_of(left[i], above[i], corner[i]));
        break;
    default:
        memcpy(out, row, bytes);
        break;
    }
}

void gf_png_apply_plain(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                        size_t bytes, int bpp, uint8_t *out)
{
    apply(filter, row, above, bytes, bpp, out);
}

static void undo_plain(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                       int bpp)
{
    /* The first pixel has no pixel to its left, where the filters use zeros. */
    const size_t first = (size_t)bpp < bytes ? (size_t)bpp : bytes;
    switch (filter) {
    case GF_PNG_SUB:
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + *(row + i - bpp));
        break;
    case GF_PNG_UP:
        for (size_t i = 0; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
        break;
    case GF_PNG_AVERAGE:
        for (size_t i = 0; i < first; i++)
            row[i] = (uint8_t)(row[i] + above[i] / 2);
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + (*(row + i - bpp) + above[i]) / 2);
        break;
    case GF_PNG_PAETH:
        for (size_t i = 0; i < first; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + paeth_of(*(row + i - bpp), above[i], *(above + i - bpp)));
        break;
    default:
        break;
    }
}

static void undo_two_plain(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes, int bpp)
{
    undo_plain(GF_PNG_PAETH, row, above, bytes, bpp);
    undo_plain(GF_PNG_PAETH, next, row, bytes, bpp);
}

int gf_png_undo_rows(const struct gf_png_filters *filters, uint8_t *rows, int count,
                     const uint8_t *above, size_t bytes, int bpp)
{
    const size_t step = bytes + 1;
    uint8_t *row = rows;
    for (int y = 0; y < count; y++, above = row + 1, row += step) {
        if (row[0] >= GF_PNG_FILTERS)
            return y;
        if (row[0] == GF_PNG_PAETH && y + 1 < count && row[step] == GF_PNG_PAETH) {
            filters->undo_two(row + 1, row + step + 1, above, bytes, bpp);
            row += step;
            y++;
        } else {
            filters->undo((enum gf_png_filter)row[0], row + 1, above, bytes, bpp);
        }
    }
    return count;
}

void gf_png_filter_row(const struct gf_png_filters *filters, const uint8_t *row,
                       const uint8_t *above, size_t bytes, int bpp, uint8_t *out)
{
    uint64_t sums[GF_PNG_FILTERS] = {0};
    filters->sums(row, above ? above : row, bytes, bpp, sums);
    enum gf_png_filter best = GF_PNG_NONE;
    for (int f = 1; f < (above ? GF_PNG_FILTERS : GF_PNG_UP); f++)
        best = sums[f] < sums[best] ? (enum gf_png_filter)f : best;
    *out = (uint8_t)best;
    filters->apply(best, row, above ? above : row, bytes, bpp, out + 1);
}

const struct gf_png_filters gf_png_filters_plain = {"plain", png_sums_plain, gf_png_apply_plain,
                                                    undo_plain, undo_two_plain};

/* PNG's filters for AVX2. A filter is applied to vectors of a row's bytes. It is undone on the
 * samples of one pixel at a time, because each pixel depends on the pixel before it. */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE __attribute__((target("avx2"), always_inline)) static inline

enum { WIDTH = 32 };

/* A vector of bytes of the row, and the bytes to the left of them, above them, and diagonally above
 * them to the left (`corner`). */
struct around {
    __m256i x, left, above, corner;
};

AVX2_INLINE struct around load(const uint8_t *row, const uint8_t *above, size_t i, int bpp)
{
    return (struct around){_mm256_loadu_si256((const __m256i *)(row + i)),
                           _mm256_loadu_si256((const __m256i *)(row + i - bpp)),
                           _mm256_loadu_si256((const __m256i *)(above + i)),
                           _mm256_loadu_si256((const __m256i *)(above + i - bpp))};
}

/* Returns the mean of two bytes, rounded down, by an instruction that rounds up. */
AVX2_INLINE __m256i average(__m256i a, __m256i b)
{
    const __m256i odd = _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8(1));
    return _mm256_sub_epi8(_mm256_avg_epu8(a, b), odd);
}

/* Computes Paeth's predictor on bytes. If `left` and `above` are on the same side of the corner,
 * the corner's distance is the sum of the two others, so that the corner is never chosen; otherwise
 * it is their difference. */
AVX2_INLINE __m256i paeth(__m256i left, __m256i above, __m256i corner)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i left_over = _mm256_subs_epu8(left, corner);
    const __m256i above_over = _mm256_subs_epu8(above, corner);
    const __m256i to_above = _mm256_or_si256(left_over, _mm256_subs_epu8(corner, left));
    const __m256i to_left = _mm256_or_si256(above_over, _mm256_subs_epu8(corner, above));
    const __m256i same_side =
        _mm256_cmpeq_epi8(_mm256_cmpeq_epi8(left_over, zero), _mm256_cmpeq_epi8(above_over, zero));
    const __m256i difference =
        _mm256_or_si256(_mm256_subs_epu8(to_left, to_above), _mm256_subs_epu8(to_above, to_left));
    const __m256i to_corner = _mm256_or_si256(difference, same_side);
    const __m256i least = _mm256_min_epu8(to_left, to_above);
    const __m256i side = _mm256_blendv_epi8(above, left, _mm256_cmpeq_epi8(least, to_left));
    const __m256i not_corner = _mm256_cmpeq_epi8(_mm256_min_epu8(least, to_corner), least);
    return _mm256_blendv_epi8(corner, side, not_corner);
}

AVX2_INLINE __m256i add_distances(__m256i sum, __m256i x, __m256i prediction)
{
    const __m256i distance = _mm256_abs_epi8(_mm256_sub_epi8(x, prediction));
    return _mm256_add_epi64(sum, _mm256_sad_epu8(distance, _mm256_setzero_si256()));
}

AVX2_INLINE uint64_t across(__m256i sum)
{
    uint64_t part[4];
    _mm256_storeu_si256((__m256i *)part, sum);
    return part[0] + part[1] + part[2] + part[3];
}

AVX2 static void sums_avx2(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                           uint64_t sums[GF_PNG_FILTERS])
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum[GF_PNG_FILTERS] = {zero, zero, zero, zero, zero};
    size_t i = 0;
    for (; i + WIDTH <= bytes; i += WIDTH) {
        const struct around at = load(row, above, i, bpp);
        sum[GF_PNG_NONE] = add_distances(sum[GF_PNG_NONE], at.x, zero);
        sum[GF_PNG_SUB] = add_distances(sum[GF_PNG_SUB], at.x, at.left);
        sum[GF_PNG_UP] = add_distances(sum[GF_PNG_UP], at.x, at.above);
        sum[GF_PNG_AVERAGE] = add_distances(sum[GF_PNG_AVERAGE], at.x, average(at.left, at.above));
        sum[GF_PNG_PAETH] =
            add_distances(sum[GF_PNG_PAETH], at.x, paeth(at.left, at.above, at.corner));
    }
    for (int f = 0; f < GF_PNG_FILTERS; f++)
        sums[f] += across(sum[f]);
    png_sums_plain(row + i, above + i, bytes - i, bpp, sums);
}

AVX2 static void apply_avx2(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                            size_t bytes, int bpp, uint8_t *out)
{
    size_t i = 0;
    if (filter == GF_PNG_AVERAGE)
        for (; i + WIDTH <= bytes; i += WIDTH) {
            const struct around at = load(row, above, i, bpp);
            _mm256_storeu_si256((__m256i *)(out + i),
                                _mm256_sub_epi8(at.x, average(at.left, at.above)));
        }
    else if (filter == GF_PNG_PAETH)
        for (; i + WIDTH <= bytes; i += WIDTH) {
            const struct around at = load(row, above, i, bpp);
            _mm256_storeu_si256((__m256i *)(out + i),
                                _mm256_sub_epi8(at.x, paeth(at.left, at.above, at.corner)));
        }
    gf_png_apply_plain(filter, row + i, above + i, bytes - i, bpp, out + i);
}

/* Loads a pixel into the low bytes. A pixel of 3 or 6 bytes is loaded together with the bytes after
 * it. */
AVX2_INLINE __m128i load_pixel(const uint8_t *at, int bpp)
{
    if (bpp > 4)
        return _mm_loadl_epi64((const __m128i *)at);
    int32_t word;
    memcpy(&word, at, sizeof word);
    return _mm_cvtsi32_si128(word);
}

AVX2_INLINE void store_pixel(uint8_t *at, __m128i pixel, int bpp)
{
    const int64_t word = _mm_cvtsi128_si64(pixel);
    memcpy(at, &word, (size_t)bpp);
}

/* Computes Paeth's predictor for the samples of one pixel, with 16 bits each. The next pixel waits
 * for the result, so that the chain of instructions from `left` to the result must be short. */
AVX2_INLINE __m128i paeth_pixel(__m128i left, __m128i above, __m128i corner)
{
    const __m128i above_off = _mm_sub_epi16(above, corner), left_off = _mm_sub_epi16(left, corner);
    const __m128i to_left = _mm_abs_epi16(above_off), to_above = _mm_abs_epi16(left_off);
    const __m128i to_corner = _mm_abs_epi16(_mm_add_epi16(above_off, left_off));
    const __m128i other = _mm_blendv_epi8(above, corner, _mm_cmpgt_epi16(to_above, to_corner));
    const __m128i least = _mm_min_epi16(to_above, to_corner);
    return _mm_blendv_epi8(left, other, _mm_cmpgt_epi16(to_left, least));
}

AVX2_INLINE void undo_sub(uint8_t *row, size_t bytes, int bpp)
{
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < bytes; i += (size_t)bpp) {
        left = _mm_add_epi8(left, load_pixel(row + i, bpp));
        store_pixel(row + i, left, bpp);
    }
}

AVX2_INLINE void undo_average(uint8_t *row, const uint8_t *above, size_t bytes, int bpp)
{
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < bytes; i += (size_t)bpp) {
        const __m128i up = load_pixel(above + i, bpp);
        const __m128i odd = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
        const __m128i half = _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
        left = _mm_add_epi8(load_pixel(row + i, bpp), half);
        store_pixel(row + i, left, bpp);
    }
}

AVX2_INLINE void undo_paeth(uint8_t *row, const uint8_t *above, size_t bytes, int bpp)
{
    __m128i left = _mm_setzero_si128(), corner = left;
    for (size_t i = 0; i < bytes; i += (size_t)bpp) {
        const __m128i up = _mm_cvtepu8_epi16(load_pixel(above + i, bpp));
        const __m128i x = _mm_cvtepu8_epi16(load_pixel(row + i, bpp));
        left = _mm_add_epi8(x, paeth_pixel(left, up, corner)); /* the upper bytes stay 0 */
        corner = up;
        store_pixel(row + i, _mm_packus_epi16(left, left), bpp);
    }
}

/* Two rows in one vector. The lower row is processed one pixel later, so that neither row waits for
 * the other. */
struct two_rows {
    uint8_t *row, *next;
    const uint8_t *above;
    __m128i left, corner;
};

/* Undoes the filter of pixel i of the row and of pixel i - 1 of the next row. */
AVX2_INLINE void undo_two_pixels(struct two_rows *two, size_t i, int bpp, bool row, bool next)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i up = row ? _mm_cvtepu8_epi16(load_pixel(two->above + i, bpp)) : zero;
    const __m128i above = _mm_unpacklo_epi64(up, two->left);
    const __m128i x = _mm_unpacklo_epi32(row ? load_pixel(two->row + i, bpp) : zero,
                                         next ? load_pixel(two->next + i - bpp, bpp) : zero);
    two->left = _mm_add_epi8(_mm_cvtepu8_epi16(x), paeth_pixel(two->left, above, two->corner));
    two->corner = above;
    const __m128i packed = _mm_packus_epi16(two->left, two->left);
    if (row)
        store_pixel(two->row + i, packed, bpp);
    if (next)
        store_pixel(two->next + i - bpp, _mm_srli_epi64(packed, 32), bpp);
}

AVX2_INLINE void undo_two_paeth(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes,
                                int bpp)
{
    struct two_rows two = {row, next, above, _mm_setzero_si128(), _mm_setzero_si128()};
    undo_two_pixels(&two, 0, bpp, true, false);
    for (size_t i = (size_t)bpp; i < bytes; i += (size_t)bpp)
        undo_two_pixels(&two, i, bpp, true, true);
    undo_two_pixels(&two, bytes, bpp, false, true);
}

/* Undoes a filter. Each caller passes a constant bpp, so that the compiler unrolls the loops. */
AVX2_INLINE void undo_pixels(enum gf_png_filter filter, uint8_t *row, const uint8_t *above,
                             size_t bytes, int bpp)
{
    if (filter == GF_PNG_SUB)
        undo_sub(row, bytes, bpp);
    else if (filter == GF_PNG_AVERAGE)
        undo_average(row, above, bytes, bpp);
    else
        undo_paeth(row, above, bytes, bpp);
}

AVX2 static void undo_up(uint8_t *row, const uint8_t *above, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        row[i] = (uint8_t)(row[i] + above[i]);
}

AVX2 static void undo_avx2(enum gf_png_filter filter, uint8_t *row, const uint8_t *above,
                           size_t bytes, int bpp)
{
    if (filter == GF_PNG_UP)
        undo_up(row, above, bytes);
    else if (filter == GF_PNG_NONE)
        return;
    else if (bpp == 3)
        undo_pixels(filter, row, above, bytes, 3);
    else if (bpp == 4)
        undo_pixels(filter, row, above, bytes, 4);
    else if (bpp == 6)
        undo_pixels(filter, row, above, bytes, 6);
    else if (bpp == 8)
        undo_pixels(filter, row, above, bytes, 8);
    else if (bpp == 2)
        undo_pixels(filter, row, above, bytes, 2);
    else
        undo_pixels(filter, row, above, bytes, 1);
}

AVX2 static void undo_two_avx2(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes,
                               int bpp)
{
    if (bpp == 3)
        undo_two_paeth(row, next, above, bytes, 3);
    else if (bpp == 4)
        undo_two_paeth(row, next, above, bytes, 4);
    else if (bpp == 1)
        undo_two_paeth(row, next, above, bytes, 1);
    else if (bpp == 2)
        undo_two_paeth(row, next, above, bytes, 2);
    else {
        undo_avx2(GF_PNG_PAETH, row, above, bytes, bpp);
        undo_avx2(GF_PNG_PAETH, next, row, bytes, bpp);
    }
}

static const struct gf_png_filters filters_avx2 = {"avx2", sums_avx2, apply_avx2, undo_avx2,
                                                   undo_two_avx2};

#endif

const struct gf_png_filters *gf_png_filters_level(int level)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (level == 1 && __builtin_cpu_supports("avx2"))
        return &filters_avx2;
#endif
    return level ? NULL : &gf_png_filters_plain;
}

const struct gf_png_filters *gf_png_filters(void)
{
    const struct gf_png_filters *const best = gf_png_filters_level(1);
    return best ? best : gf_png_filters_level(0);
}
