/* Converts 8-bit RGB pixels to planes of floats and back, eight pixels at a time. Compilers do not
 * vectorise loops with steps of three bytes. */
#include <math.h>

#include "base/simd.h"
#include "pixel/point/point_planes.h"

#if GF_X86

/* Eight pixels are read or written as two groups of 16 bytes. Only 12 bytes of a group belong to
 * its four pixels, so that two more pixels must follow. */
enum { GROUP = 8, REACH = 10 };

struct group {
    __m256 red, green, blue;
};

GF_AVX2 static inline struct group load(const uint8_t *in)
{
    const __m256i red =
        _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 0, -1, -1, -1,
                         3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
    const __m256i one = _mm256_setr_epi8(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
                                         1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    const __m256i green = _mm256_add_epi8(red, one), blue = _mm256_add_epi8(green, one);
    const __m128i low = _mm_loadu_si128((const __m128i *)in);
    const __m128i high = _mm_loadu_si128((const __m128i *)(in + 12));
    const __m256i v = _mm256_set_m128i(high, low);
    return (struct group){_mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, red)),
                          _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, green)),
                          _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, blue))};
}

GF_AVX2 static inline __m256i rounded(__m256 v)
{
    return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(0.5f)));
}

GF_AVX2 static inline void store(uint8_t *out, struct group g)
{
    const __m256i pack = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0,
                                          1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m256i green = _mm256_slli_epi32(rounded(g.green), 8);
    const __m256i blue = _mm256_slli_epi32(rounded(g.blue), 16);
    const __m256i v =
        _mm256_shuffle_epi8(_mm256_or_si256(_mm256_or_si256(rounded(g.red), green), blue), pack);
    _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(out + 12), _mm256_extracti128_si256(v, 1));
}

GF_AVX2 int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p)
{
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const struct group g = load(in + 3 * i);
        _mm256_storeu_ps(p->colour[0] + i, g.red);
        _mm256_storeu_ps(p->colour[1] + i, g.green);
        _mm256_storeu_ps(p->colour[2] + i, g.blue);
    }
    return i;
}

GF_AVX2 int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p)
{
    int i = 0;
    for (; i + REACH <= n; i += GROUP)
        store(out + 3 * i,
              (struct group){_mm256_loadu_ps(p->colour[0] + i), _mm256_loadu_ps(p->colour[1] + i),
                             _mm256_loadu_ps(p->colour[2] + i)});
    return i;
}

/* Computes gf_point_row_of() for eight pixels. */
GF_AVX2 static inline __m256 row_of(struct gf_point_op op, struct group g)
{
    const __m256 blue = _mm256_fmadd_ps(_mm256_set1_ps(op.c), g.blue, _mm256_set1_ps(op.d));
    const __m256 green = _mm256_fmadd_ps(_mm256_set1_ps(op.b), g.green, blue);
    const __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(op.a), g.red, green);
    return _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(op.max));
}

GF_AVX2 static int matrix(const struct gf_point_op *at, const uint8_t *in, int n, uint8_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const struct group g = load(in + 3 * i);
        store(out + 3 * i, (struct group){row_of(op[0], g), row_of(op[1], g), row_of(op[2], g)});
    }
    return i;
}

/* Sixteen pixels. Only pixels that exist are read and written. */
enum { SIXTEEN = 16, SIXTEEN_BYTES = 48 };

struct sixteen {
    __m512 red, green, blue;
};

GF_VBMI static inline __m512 channel_of(__m512i v, int channel)
{
    const __m512i red =
        _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
    const __m512i order = _mm512_add_epi32(red, _mm512_set1_epi32(channel));
    return _mm512_cvtepi32_ps(_mm512_maskz_permutexvar_epi8(0x1111111111111111, order, v));
}

GF_VBMI static inline struct sixteen split_sixteen(__m512i v)
{
    return (struct sixteen){channel_of(v, 0), channel_of(v, 1), channel_of(v, 2)};
}

/* Computes a row of a matrix as integers, which may exceed 0..255: packing saturates them, if
 * gf_planes_sums_fit() is true. */
GF_VBMI static inline __m512i whole_row(struct gf_point_op op, struct sixteen p)
{
    const __m512 blue = _mm512_fmadd_ps(_mm512_set1_ps(op.c), p.blue, _mm512_set1_ps(op.d));
    const __m512 green = _mm512_fmadd_ps(_mm512_set1_ps(op.b), p.green, blue);
    const __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(op.a), p.red, green);
    return _mm512_cvttps_epi32(_mm512_add_ps(sum, _mm512_set1_ps(0.5f)));
}

GF_VBMI static inline __m512i matrix_of(const struct gf_point_op *op, __m512i v, __m512i order)
{
    const struct sixteen p = split_sixteen(v);
    const __m512i words = _mm512_packs_epi32(whole_row(op[0], p), whole_row(op[1], p));
    const __m512i last = _mm512_packs_epi32(whole_row(op[2], p), _mm512_setzero_si512());
    return _mm512_permutexvar_epi8(order, _mm512_packus_epi16(words, last));
}

/* Converts pixels as long as whole vectors fit in the row. A vector's 48 bytes are stored with 16
 * more, which the next pixels overwrite. */
GF_VBMI static int matrix_16(const struct gf_point_op *at, const uint8_t *in, int n, uint8_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    uint8_t gather[64] = {0};
    for (int i = 0; i < SIXTEEN_BYTES; i++) /* each quarter gets four reds, four greens and four
                                             * blues */
        gather[i] = (uint8_t)(16 * (i / 12) + 4 * (i % 3) + i / 3 % 4);
    const __m512i order = _mm512_loadu_si512(gather);
    int i = 0;
    for (; 3 * i + 64 <= 3 * n; i += SIXTEEN)
        _mm512_storeu_si512(out + 3 * i, matrix_of(op, _mm512_loadu_si512(in + 3 * i), order));
    for (; i < n; i += SIXTEEN) {
        const __mmask64 some = gf_first_bits(3 * (uint64_t)(n - i)) & gf_first_bits(SIXTEEN_BYTES);
        const __m512i v = _mm512_maskz_loadu_epi8(some, in + 3 * i);
        _mm512_mask_storeu_epi8(out + 3 * i, some, matrix_of(op, v, order));
    }
    return n;
}

/* Computes gf_point_gray_of() for sixteen pixels, as samples. No sum is rounded, so that the order
 * of additions does not matter. With `step`, a sample is 255 if it is at least `least`, otherwise
 * 0. */
GF_VBMI static inline __m128i gray_of(struct gf_point_op op, bool step, int least, __m512i v)
{
    const struct sixteen p = split_sixteen(v);
    const __m512 blue = _mm512_mul_ps(_mm512_set1_ps(op.c), p.blue);
    const __m512 green = _mm512_fmadd_ps(_mm512_set1_ps(op.b), p.green, blue);
    const __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(op.a), p.red, green);
    __m512i gray =
        _mm512_cvttps_epi32(_mm512_fmadd_ps(sum, _mm512_set1_ps(op.d), _mm512_set1_ps(0.5f)));
    if (step)
        gray =
            _mm512_maskz_set1_epi32(_mm512_cmpge_epi32_mask(gray, _mm512_set1_epi32(least)), 255);
    return _mm512_cvtepi32_epi8(gray);
}

GF_VBMI static int gray_16(const struct gf_point_op op, bool step, int least, const uint8_t *in,
                           int n, uint8_t *out)
{
    int i = 0;
    for (; 3 * i + 64 <= 3 * n; i += SIXTEEN)
        _mm_storeu_si128((void *)(out + i),
                         gray_of(op, step, least, _mm512_loadu_si512(in + 3 * i)));
    for (; i < n; i += SIXTEEN) {
        const __mmask64 some = gf_first_bits(3 * (uint64_t)(n - i)) & gf_first_bits(SIXTEEN_BYTES);
        const __m128i gray = gray_of(op, step, least, _mm512_maskz_loadu_epi8(some, in + 3 * i));
        _mm512_mask_storeu_epi8(out + i, gf_first_bits((uint64_t)(n - i)) & gf_first_bits(SIXTEEN),
                                _mm512_castsi128_si512(gray));
    }
    return n;
}

int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in, int n,
                        uint8_t *out)
{
    if (in == out)
        return 0;
    if (gf_bytes_gray(op, count, in, (size_t)n, out))
        return n;
    return count > 1 ? gray_16(op[0], true, (int)ceilf(op[1].a), in, n, out)
                     : gray_16(op[0], false, 0, in, n, out);
}

int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n, uint8_t *out)
{
    if (in == out)
        return 0;
    return gf_cpu_has(GF_CPU_VBMI) && gf_planes_sums_fit(op) ? matrix_16(op, in, n, out)
                                                             : matrix(op, in, n, out);
}
#endif
