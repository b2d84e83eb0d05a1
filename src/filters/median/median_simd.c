#include "filters/median/median.h"

#include "base/simd.h"

#if GF_X86

#define NET GF_VBMI GF_INLINE
#define NET_TYPE __m512i
#define NET_MIN(a, b) _mm512_min_epu8(a, b)
#define NET_MAX(a, b) _mm512_max_epu8(a, b)
#define NET_NAME(name) name##_8
#include "filters/median/median_net.h"

#define NET GF_VBMI GF_INLINE
#define NET_TYPE __m512i
#define NET_MIN(a, b) _mm512_min_epu16(a, b)
#define NET_MAX(a, b) _mm512_max_epu16(a, b)
#define NET_NAME(name) name##_16
#include "filters/median/median_net.h"

enum { BYTES = 64, AHEAD = 512 };

/* Sorts columns of samples in 64 bytes of each row. The result has 64 bytes for each rank. */
GF_VBMI GF_INLINE void sort_columns(const int sides, const int bits,
                                    const unsigned char *const *rows, size_t at, __m512i *rank)
{
    for (int i = 0; i < sides; i++)
        rank[i] = _mm512_loadu_si512(rows[i] + at);
    if (sides == 3 && bits == 8)
        net_sort3_8(rank);
    else if (sides == 3)
        net_sort3_16(rank);
    else if (bits == 8)
        net_sort5_8(rank);
    else
        net_sort5_16(rank);
}

/* Returns the medians of the windows that begin at the first 64 of 128 bytes of sorted columns.
 * Column k of a window is k steps to the right. */
GF_VBMI GF_INLINE __m512i median3(const int bits, const __m512i *first, const __m512i *second,
                                  const __m512i *further)
{
    __m512i rank[3][3];
    for (int i = 0; i < 3; i++) {
        rank[i][0] = first[i];
        for (int k = 1; k < 3; k++)
            rank[i][k] = _mm512_permutex2var_epi8(first[i], further[k], second[i]);
    }
    return bits == 8 ? net_median3_8(rank) : net_median3_16(rank);
}

GF_VBMI GF_INLINE __m512i median5(const int bits, const __m512i *first, const __m512i *second,
                                  const __m512i *further)
{
    __m512i rank[5][5];
    for (int i = 0; i < 5; i++) {
        rank[i][0] = first[i];
        for (int k = 1; k < 5; k++)
            rank[i][k] = _mm512_permutex2var_epi8(first[i], further[k], second[i]);
    }
    return bits == 8 ? net_median5_8(rank) : net_median5_16(rank);
}

struct medians {
    /* Sorted columns: the present 64 bytes and the next ones. */
    __m512i first[GF_MEDIAN_ROWS], second[GF_MEDIAN_ROWS];
    __m512i further[GF_MEDIAN_ROWS];
};

/* Computes the medians of 64 bytes. The next 64 bytes of `rows` contain the rest of their
 * windows. */
GF_VBMI GF_INLINE __m512i next(struct medians *m, const int sides, const int bits,
                               const unsigned char *const *rows, size_t at)
{
    sort_columns(sides, bits, rows, at, m->second);
    const __m512i found = sides == 3 ? median3(bits, m->first, m->second, m->further)
                                     : median5(bits, m->first, m->second, m->further);
    for (int k = 0; k < sides; k++)
        m->first[k] = m->second[k];
    return found;
}

/* Computes a row of medians. Each column is sorted once for all windows that contain it. */
GF_VBMI GF_INLINE void median_row(const int sides, const int bits,
                                  const struct gf_median_rows *rows, unsigned char *out,
                                  size_t size, int step)
{
    struct medians m;
    unsigned char place[BYTES];
    for (int k = 0; k < sides; k++) {
        for (int i = 0; i < BYTES; i++)
            place[i] = (unsigned char)(i + k * step);
        m.further[k] = _mm512_loadu_si512(place);
    }
    const struct gf_median_rows at = *rows; /* a copy, because the compiler assumes that stores may
                                             * change *rows */
    size_t i = 0;
    sort_columns(sides, bits, at.end ? at.left : at.right, 0, m.first);
    if (at.end && (uintptr_t)out % BYTES && (uintptr_t)out % (bits / 8) == 0) {
        _mm512_storeu_si512(out, next(&m, sides, bits, at.between, 0));
        i = BYTES - (uintptr_t)out % BYTES;
        sort_columns(sides, bits, at.left, i, m.first);
    }
    for (; i + BYTES <= at.end; i += BYTES) {
        _mm_prefetch((const char *)at.between[sides - 1] + i + AHEAD, _MM_HINT_T0);
        __builtin_prefetch(out + i + AHEAD, 1);
        _mm512_storeu_si512(out + i, next(&m, sides, bits, at.between, i));
    }
    for (; i < size; i += BYTES) {
        const __m512i found = next(&m, sides, bits, at.right, i + BYTES - at.end);
        const __mmask64 some = gf_first_bits(size - i);
        _mm512_mask_storeu_epi8(out + i, some, found);
    }
}

#define MEDIAN_ROW(sides, bits) \
    GF_VBMI static void median##sides##_##bits(const struct gf_median_rows *rows, \
                                               unsigned char *out, size_t size, int step) \
    { \
        median_row(sides, bits, rows, out, size, step); \
    }
MEDIAN_ROW(3, 8)
MEDIAN_ROW(3, 16)
MEDIAN_ROW(5, 8)
MEDIAN_ROW(5, 16)

/* ---- four rows of 3x3 medians at once ---- */

/* Three horizontal neighbours of each of 64 bytes, sorted. */
struct triple {
    __m512i low, middle, high;
};

GF_VBMI GF_INLINE __m512i least(const int bits, __m512i a, __m512i b)
{
    return bits == 8 ? _mm512_min_epu8(a, b) : _mm512_min_epu16(a, b);
}

GF_VBMI GF_INLINE __m512i largest(const int bits, __m512i a, __m512i b)
{
    return bits == 8 ? _mm512_max_epu8(a, b) : _mm512_max_epu16(a, b);
}

GF_VBMI GF_INLINE __m512i middle_of(const int bits, __m512i a, __m512i b, __m512i c)
{
    return bits == 8 ? net_middle_8(a, b, c) : net_middle_16(a, b, c);
}

GF_VBMI GF_INLINE struct triple sort_neighbours(const int bits, const unsigned char *at, int step)
{
    __m512i v[3];
    for (int k = 0; k < 3; k++)
        v[k] = _mm512_loadu_si512(at + k * step);
    if (bits == 8)
        net_sort3_8(v);
    else
        net_sort3_16(v);
    return (struct triple){v[0], v[1], v[2]};
}

/* Returns the median of three samples: the largest low, the median of the middles, and the smallest
 * high, of a pair of rows that two windows share and of a third row. */
GF_VBMI GF_INLINE __m512i median_of(const int bits, const struct triple pair[2],
                                    const struct triple *third)
{
    const __m512i low = largest(bits, largest(bits, pair[0].low, pair[1].low), third->low);
    const __m512i high = least(bits, least(bits, pair[0].high, pair[1].high), third->high);
    const __m512i middle = middle_of(bits, pair[0].middle, pair[1].middle, third->middle);
    return middle_of(bits, low, middle, high);
}

/* Computes 64 bytes of each of the four result rows. */
GF_VBMI GF_INLINE void four_medians(const int bits, const unsigned char *const *rows, size_t at,
                                    int step, __m512i found[4])
{
    struct triple row[6];
    for (int i = 0; i < 6; i++)
        row[i] = sort_neighbours(bits, rows[i] + at, step);
    found[0] = median_of(bits, row + 1, row);
    found[1] = median_of(bits, row + 1, row + 3);
    found[2] = median_of(bits, row + 3, row + 2);
    found[3] = median_of(bits, row + 3, row + 5);
}

GF_VBMI GF_INLINE void four_rows(const int bits, const struct gf_median_rows *rows,
                                 unsigned char *const *out, size_t size, int step)
{
    const struct gf_median_rows at = *rows; /* a copy, because the compiler assumes that stores may
                                             * change *rows */
    unsigned char *const to[4] = {out[0], out[1], out[2], out[3]};
    const uintptr_t ahead_in = 4 * ((uintptr_t)at.between[3] - (uintptr_t)at.between[2]);
    const uintptr_t ahead_out = 4 * ((uintptr_t)to[1] - (uintptr_t)to[0]);
    __m512i found[4];
    for (size_t i = 0; i < at.end; i += BYTES) {
        /* Prefetches the next four rows, because processors do not recognise this pattern of
         * accesses. */
        for (int k = 0; k < 4; k++) {
            _mm_prefetch((const char *)((uintptr_t)at.between[k + 2] + ahead_in + i), _MM_HINT_T0);
            __builtin_prefetch((const void *)((uintptr_t)to[k] + ahead_out + i), 1);
        }
        if (i)
            four_medians(bits, at.between, i - BYTES, step, found);
        else
            four_medians(bits, at.left, 0, step, found);
        for (int k = 0; k < 4; k++)
            _mm512_storeu_si512(to[k] + i, found[k]);
    }
    for (size_t i = at.end; i < size; i += BYTES) {
        const __mmask64 some = gf_first_bits(size - i);
        four_medians(bits, at.right, i - at.end, step, found);
        for (int k = 0; k < 4; k++)
            _mm512_mask_storeu_epi8(to[k] + i, some, found[k]);
    }
}

GF_VBMI static void four_rows_8(const struct gf_median_rows *rows, unsigned char *const *out,
                                size_t size, int step)
{
    four_rows(8, rows, out, size, step);
}

GF_VBMI static void four_rows_16(const struct gf_median_rows *rows, unsigned char *const *out,
                                 size_t size, int step)
{
    four_rows(16, rows, out, size, step);
}

void gf_median_simd_four(int bits, const struct gf_median_rows *rows, unsigned char *const *out,
                         size_t size, int step)
{
    (bits == 8 ? four_rows_8 : four_rows_16)(rows, out, size, step);
}

void gf_median_simd(int radius, int bits, const struct gf_median_rows *rows, unsigned char *out,
                    size_t size, int step)
{
    if (radius == 1)
        (bits == 8 ? median3_8 : median3_16)(rows, out, size, step);
    else
        (bits == 8 ? median5_8 : median5_16)(rows, out, size, step);
}
#endif
