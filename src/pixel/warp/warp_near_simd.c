/* Warps 8-bit pictures where sixteen neighbouring pixels of the result are close together in the
 * input. Bytes are selected from four or eight input rows in registers, which takes a fifth of the
 * time of gathering them from memory. */
#include "pixel/warp/warp_cpu.h"

#include "base/simd.h"

#if GF_X86

enum { EACH = GF_WARP_NEAR, FEW = 4, MANY = 8 };

static inline int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The positions of a run's pixels from k on, relative to `corner`. */
struct near {
    const unsigned char *corner;
    __m512i x, y;
};

/* Finds the positions of a run's pixels from k on. Returns the number of input rows, FEW or MANY,
 * that contain their windows of `high` rows. Returns 0 if they need more rows, or more than
 * `columns` columns, or if fewer than `bytes` bytes follow the corner. */
GF_VBMI GF_INLINE int find(const struct gf_view *in, const struct gf_warp_run *run, int k,
                           const int size, const int columns, const int high, const int bytes,
                           struct near *near)
{
    const int x = smaller(run->x[k], run->x[k + EACH - 1]);
    const int y = smaller(run->y[k], run->y[k + EACH - 1]);
    near->corner = gf_view_row(in, y) + (ptrdiff_t)size * x;
    near->x = _mm512_sub_epi32(_mm512_loadu_si512(run->x + k), _mm512_set1_epi32(x));
    near->y = _mm512_sub_epi32(_mm512_loadu_si512(run->y + k), _mm512_set1_epi32(y));
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

/* Selects the bytes with these indices from `rows` rows of 32 bytes. */
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

/* Returns the index of byte (x, y) in rows of 32 bytes. */
GF_VBMI GF_INLINE __m512i index_32(const struct near *near)
{
    return _mm512_add_epi32(near->x, _mm512_slli_epi32(near->y, 5));
}

GF_VBMI GF_INLINE __m512i fractions(const uint16_t *from)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
}

GF_VBMI int gf_warp_near_linear_gray8(const struct gf_view *in, const struct gf_warp_run *run,
                                      int first, int count, uint8_t *out)
{
    const __m512i lowest = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    /* A window has four bytes: the pixel, its right neighbour, and the two below them. */
    const __m512i window = _mm512_set1_epi32(0x21200100);
    const __m512i each_second = _mm512_set1_epi32(0x00ff00ff), one = _mm512_set1_epi32(4096);
    const __m512i half = _mm512_set1_epi32(1 << 23);
    int i = 0;
    for (; i + EACH <= count; i += EACH) {
        const int k = first + i;
        struct near near;
        const int rows = find(in, run, k, 1, 31, 2, 32, &near);
        if (!rows)
            break;
        const __m512i index = _mm512_add_epi8(_mm512_shuffle_epi8(index_32(&near), lowest), window);
        const __m512i bytes = pick_32(near.corner, in->pitch, rows, index);
        const __m512i f = fractions(run->f + k), g = fractions(run->g + k);
        const __m512i down = _mm512_or_si512(_mm512_sub_epi32(one, g), _mm512_slli_epi32(g, 16));
        const __m512i left = _mm512_madd_epi16(_mm512_and_si512(bytes, each_second), down);
        const __m512i right =
            _mm512_madd_epi16(_mm512_and_si512(_mm512_srli_epi32(bytes, 8), each_second), down);
        /* Computes gf_warp_linear8(), rounded. No intermediate result is rounded, so that the order
         * of operations does not matter. */
        const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(left, 12),
                                             _mm512_mullo_epi32(f, _mm512_sub_epi32(right, left)));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(sum, half), 24);
        _mm_storeu_si128((void *)(out + i), _mm512_cvtepi32_epi8(rounded));
    }
    return i;
}

GF_VBMI int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_run *run, int first,
                               int count, uint8_t *out)
{
    int i = 0;
    for (; i + EACH <= count; i += EACH) {
        struct near near;
        const int rows = find(in, run, first + i, 1, 32, 1, 32, &near);
        if (!rows)
            break;
        const __m512i bytes = pick_32(near.corner, in->pitch, rows, index_32(&near));
        _mm_storeu_si128((void *)(out + i), _mm512_cvtepi32_epi8(bytes));
    }
    return i;
}

GF_VBMI int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_run *run, int first,
                              int count, uint8_t *out)
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
        if (find(in, run, first + i, 3, 21, 1, 64, &near) != FEW)
            break;
        /* The index of a pixel in four rows of 64 bytes; its highest bit selects the lower two
         * rows. */
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
#endif
