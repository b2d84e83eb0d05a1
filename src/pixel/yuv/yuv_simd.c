#include "pixel/yuv/yuv_simd.h"

#include <string.h>

#include "base/simd.h"

#if GF_X86

/* Sums are computed doubled, cut to whole numbers, and halved with rounding, which gives what
 * gf_yuv_round() does without an addition. Even and odd pixels are in vectors of their own. */

enum { HALVES = 2, HALF = GF_YUV_LANES / 2, FLOATS = 16 };

struct pair {
    __m512 even, odd;
};

/* Returns the byte in which packed() puts a pixel. */
static uint8_t lane_of(int pixel)
{
    const int half = pixel / HALF, pair = pixel % HALF / 2;
    return (uint8_t)(pair / 4 * 16 + half * 8 + pixel % 2 * 4 + pair % 4);
}

/* Rounds the doubled sums of 32 pixels to 16-bit words. Sums below 0 become 0. */
GF_VBMI GF_INLINE __m512i rounded(struct pair twice)
{
    const __m512i words =
        _mm512_packus_epi32(_mm512_cvttps_epi32(twice.even), _mm512_cvttps_epi32(twice.odd));
    return _mm512_avg_epu16(words, _mm512_setzero_si512());
}

/* Conversion of YCbCr to RGB. */

void gf_yuv_orders_prepare(struct gf_yuv_orders *orders)
{
    for (int i = 0; i < GF_YUV_LANES; i++)
        orders->from_rgb[i] = lane_of(i);
    for (int i = 0; i < 3 * GF_YUV_LANES; i++) /* those of green are in the second register */
        orders->to_rgb[i] = (uint8_t)(lane_of(i / 3) | (i % 3 == 1 ? GF_YUV_LANES : 0));
}

GF_VBMI void gf_yuv_weigh_simd(const uint8_t *near, const uint8_t *far, int far_weight,
                               size_t count, float *sums)
{
    const __m512i middle = _mm512_set1_epi16(4 * 128),
                  weight = _mm512_set1_epi16((short)far_weight),
                  rest = _mm512_set1_epi16((short)(4 - far_weight));
    for (size_t i = 0; i < count; i += HALF) {
        uint8_t last[2][HALF] = {{0}};
        const bool whole = i + HALF <= count;
        if (!whole) {
            memcpy(last[0], near + i, count - i);
            memcpy(last[1], far + i, count - i);
        }
        const void *const a = whole ? near + i : last[0], *const b = whole ? far + i : last[1];
        const __m512i from_a =
            _mm512_mullo_epi16(_mm512_cvtepu8_epi16(_mm256_loadu_si256(a)), rest);
        const __m512i from_b =
            _mm512_mullo_epi16(_mm512_cvtepu8_epi16(_mm256_loadu_si256(b)), weight);
        const __m512i sum = _mm512_sub_epi16(_mm512_add_epi16(from_a, from_b), middle);
        const __m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(sum)),
                      high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(sum, 1));
        _mm512_storeu_ps(sums + i, _mm512_cvtepi32_ps(low));
        _mm512_storeu_ps(sums + i + FLOATS, _mm512_cvtepi32_ps(high));
    }
}

/* Interpolates the chroma of 32 pixels, from pixel x on, of a row of sums. */
GF_VBMI GF_INLINE struct pair widen(const float *sums, size_t x, const enum gf_yuv_columns columns)
{
    if (columns == GF_YUV_EACH) {
        const __m512i even =
            _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        const __m512 four = _mm512_set1_ps(4), low = _mm512_mul_ps(four, _mm512_loadu_ps(sums + x)),
                     high = _mm512_mul_ps(four, _mm512_loadu_ps(sums + x + FLOATS));
        return (struct pair){_mm512_permutex2var_ps(low, even, high),
                             _mm512_permutex2var_ps(low, odd, high)};
    }
    const float *const at = sums + x / 2;
    const __m512 here = _mm512_loadu_ps(at), after = _mm512_loadu_ps(at + 1);
    if (columns == GF_YUV_PAIRS_LEFT)
        return (struct pair){_mm512_mul_ps(_mm512_set1_ps(4), here),
                             _mm512_mul_ps(_mm512_set1_ps(2), _mm512_add_ps(here, after))};
    const __m512 three = _mm512_set1_ps(3);
    return (struct pair){_mm512_fmadd_ps(three, here, _mm512_loadu_ps(at - 1)),
                         _mm512_fmadd_ps(three, here, after)};
}

/* The numbers of struct gf_yuv_to_rgb, doubled, in each lane. */
struct to_rgb {
    __m512i black, order[3];
    __m512 luma, red_v, green_u, green_v, blue_u;
};

/* The channels of 32 pixels, as 16-bit words. */
struct colours {
    __m512i red, green, blue;
};

GF_VBMI GF_INLINE __m512 luma_of(const struct to_rgb *to, __m512i y)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(y, to->black)), to->luma);
}

GF_VBMI GF_INLINE __m512 add_product(__m512 sum, __m512 value, __m512 factor)
{
    return _mm512_add_ps(sum, _mm512_mul_ps(value, factor));
}

GF_VBMI GF_INLINE struct pair add_products(struct pair sum, struct pair value, __m512 factor)
{
    return (struct pair){add_product(sum.even, value.even, factor),
                         add_product(sum.odd, value.odd, factor)};
}

GF_VBMI GF_INLINE struct colours colours_of(const struct to_rgb *to, __m256i luma, struct pair u,
                                            struct pair v)
{
    const __m512i pairs = _mm512_cvtepu16_epi32(luma);
    const struct pair y = {luma_of(to, _mm512_and_si512(pairs, _mm512_set1_epi32(255))),
                           luma_of(to, _mm512_srli_epi32(pairs, 8))};
    const struct pair rest = add_products(y, u, to->green_u);
    return (struct colours){rounded(add_products(y, v, to->red_v)),
                            rounded(add_products(rest, v, to->green_v)),
                            rounded(add_products(y, u, to->blue_u))};
}

/* Converts 64 pixels, from pixel x on, with the luma y; out[0..2] become their 192 bytes of RGB. */
GF_VBMI GF_INLINE void to_rgb_64(const struct to_rgb *to, const enum gf_yuv_columns columns,
                                 __m512i y, const float *u, const float *v, size_t x,
                                 __m512i out[3])
{
    const __mmask64 blues[3] = {0x4924924924924924, 0x2492492492492492, 0x9249249249249249};
    const struct colours low =
        colours_of(to, _mm512_castsi512_si256(y), widen(u, x, columns), widen(v, x, columns));
    const struct colours high =
        colours_of(to, _mm512_extracti64x4_epi64(y, 1), widen(u, x + HALF, columns),
                   widen(v, x + HALF, columns));
    const __m512i red = _mm512_packus_epi16(low.red, high.red),
                  green = _mm512_packus_epi16(low.green, high.green),
                  blue = _mm512_packus_epi16(low.blue, high.blue);
    for (int i = 0; i < 3; i++) {
        const __m512i both = _mm512_permutex2var_epi8(red, to->order[i], green);
        out[i] = _mm512_mask_permutexvar_epi8(both, blues[i], to->order[i], blue);
    }
}

GF_VBMI GF_INLINE void to_rgb(const struct gf_yuv_to_rgb *from, const struct gf_yuv_orders *orders,
                              const enum gf_yuv_columns columns, const uint8_t *luma,
                              const float *u, const float *v, size_t width, uint8_t *rgb)
{
    struct to_rgb to = {
        .black = _mm512_set1_epi32((int)from->black),
        .luma = _mm512_set1_ps(2 * from->luma),
        .red_v = _mm512_set1_ps(2 * from->red_v),
        .green_u = _mm512_set1_ps(-2 * from->green_u),
        .green_v = _mm512_set1_ps(-2 * from->green_v),
        .blue_u = _mm512_set1_ps(2 * from->blue_u),
    };
    __m512i out[3];
    memcpy(to.order, orders->to_rgb, sizeof to.order);
    size_t x = 0;
    for (; x + GF_YUV_LANES <= width; x += GF_YUV_LANES) {
        to_rgb_64(&to, columns, _mm512_loadu_si512(luma + x), u, v, x, out);
        for (size_t i = 0; i < 3; i++)
            _mm512_storeu_si512(rgb + 3 * x + i * GF_YUV_LANES, out[i]);
    }
    if (x == width)
        return;
    to_rgb_64(&to, columns, _mm512_maskz_loadu_epi8(gf_first_bits(width - x), luma + x), u, v, x,
              out);
    memcpy(rgb + 3 * x, out, 3 * (width - x));
}

GF_VBMI void gf_yuv_to_rgb_simd(const struct gf_yuv_to_rgb *to, const struct gf_yuv_orders *orders,
                                enum gf_yuv_columns columns, const uint8_t *luma, const float *u,
                                const float *v, size_t width, uint8_t *rgb)
{
    if (columns == GF_YUV_EACH)
        to_rgb(to, orders, GF_YUV_EACH, luma, u, v, width, rgb);
    else if (columns == GF_YUV_PAIRS_CENTRE)
        to_rgb(to, orders, GF_YUV_PAIRS_CENTRE, luma, u, v, width, rgb);
    else
        to_rgb(to, orders, GF_YUV_PAIRS_LEFT, luma, u, v, width, rgb);
}

/* Conversion of RGB to YCbCr. */

/* The numbers of struct gf_yuv_from_rgb in each lane; the weights for luma are doubled. */
struct from_rgb {
    __m512 weight[3][3], black;
    __m512i order;
};

struct triple {
    __m512 red, green, blue;
};

GF_VBMI GF_INLINE __m512 channel(__m512i low, __m512i high, int first)
{
    const __m512i from = _mm512_add_epi32(
        _mm512_setr_epi32(0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90),
        _mm512_set1_epi32(first));
    return _mm512_cvtepi32_ps(_mm512_maskz_permutex2var_epi8(0x1111111111111111, low, from, high));
}

GF_VBMI GF_INLINE struct triple triple_of(__m512i low, __m512i high, int first)
{
    return (struct triple){channel(low, high, first), channel(low, high, first + 1),
                           channel(low, high, first + 2)};
}

GF_VBMI GF_INLINE __m512 weigh(const __m512 weight[3], struct triple p)
{
    const __m512 red = _mm512_mul_ps(p.red, weight[0]);
    return add_product(add_product(red, p.green, weight[1]), p.blue, weight[2]);
}

GF_VBMI GF_INLINE struct pair weigh_pair(const __m512 weight[3], const struct triple p[2])
{
    return (struct pair){weigh(weight, p[0]), weigh(weight, p[1])};
}

/* Stores the chroma of 32 pixels, or the sums for pairs of columns. *before has in its last lane
 * the odd pixel before them. */
GF_VBMI GF_INLINE void put_chroma(float *to, size_t x, struct pair full, __m512 *before,
                                  const enum gf_yuv_columns columns)
{
    if (columns == GF_YUV_EACH) {
        const __m512i low =
            _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
        _mm512_storeu_ps(to + x, _mm512_permutex2var_ps(full.even, low, full.odd));
        _mm512_storeu_ps(to + x + FLOATS, _mm512_permutex2var_ps(full.even, high, full.odd));
        return;
    }
    __m512 sum = full.even;
    if (columns == GF_YUV_PAIRS_LEFT) {
        const __m512i shifted = _mm512_alignr_epi32(_mm512_castps_si512(full.odd),
                                                    _mm512_castps_si512(*before), FLOATS - 1);
        sum = _mm512_fmadd_ps(_mm512_set1_ps(2), full.even, _mm512_castsi512_ps(shifted));
        *before = full.odd;
    }
    _mm512_storeu_ps(to + x / 2, _mm512_add_ps(sum, full.odd));
}

/* The rows to which chroma is stored, and the chroma of the pixels before (see put_chroma()). */
struct chroma {
    float *u, *v;
    __m512 before_u, before_v;
};

/* Converts 32 pixels from pixel x on: stores their chroma, and returns their luma in words. */
GF_VBMI GF_INLINE __m512i from_rgb_32(const struct from_rgb *from, const uint8_t *rgb, size_t x,
                                      struct chroma *to, const enum gf_yuv_columns columns)
{
    const __m512i low = _mm512_loadu_si512(rgb);
    const __m512i high =
        _mm512_castsi256_si512(_mm256_loadu_si256((const void *)(rgb + GF_YUV_LANES)));
    const struct triple p[2] = {triple_of(low, high, 0), triple_of(low, high, 3)};
    put_chroma(to->u, x, weigh_pair(from->weight[1], p), &to->before_u, columns);
    put_chroma(to->v, x, weigh_pair(from->weight[2], p), &to->before_v, columns);
    const struct pair luma = weigh_pair(from->weight[0], p);
    return rounded(
        (struct pair){_mm512_add_ps(luma.even, from->black), _mm512_add_ps(luma.odd, from->black)});
}

/* Converts 64 pixels from pixel x on: stores their chroma, and returns their luma as bytes. */
GF_VBMI GF_INLINE __m512i from_rgb_64(const struct from_rgb *from, const uint8_t *rgb, size_t x,
                                      struct chroma *to, const enum gf_yuv_columns columns)
{
    const __m512i low = from_rgb_32(from, rgb, x, to, columns),
                  high = from_rgb_32(from, rgb + 3 * HALF, x + HALF, to, columns);
    return _mm512_permutexvar_epi8(from->order, _mm512_packus_epi16(low, high));
}

GF_VBMI GF_INLINE struct from_rgb vectors_of(const struct gf_yuv_from_rgb *from,
                                             const struct gf_yuv_orders *orders)
{
    const struct gf_yuv_mix mix[3] = {from->luma, from->u, from->v};
    struct from_rgb vectors = {.black = _mm512_set1_ps(2 * from->luma.offset),
                               .order = _mm512_loadu_si512(orders->from_rgb)};
    for (int i = 0; i < 3; i++) {
        const float times = i ? 1 : 2;
        vectors.weight[i][0] = _mm512_set1_ps(times * mix[i].red);
        vectors.weight[i][1] = _mm512_set1_ps(times * mix[i].green);
        vectors.weight[i][2] = _mm512_set1_ps(times * mix[i].blue);
    }
    return vectors;
}

GF_VBMI GF_INLINE void from_rgb(const struct gf_yuv_from_rgb *numbers,
                                const struct gf_yuv_orders *orders,
                                const enum gf_yuv_columns columns, const uint8_t *rgb, size_t width,
                                uint8_t *luma, float *u, float *v)
{
    const struct from_rgb from = vectors_of(numbers, orders);
    uint8_t last[3 * GF_YUV_LANES] = {0};
    for (int i = 0; i < FLOATS; i++) /* the first pixel also counts as the one before it */
        memcpy(last + 6 * i, rgb, 3);
    const struct triple first =
        triple_of(_mm512_loadu_si512(last), _mm512_loadu_si512(last + GF_YUV_LANES), 0);
    struct chroma to = {u, v, weigh(from.weight[1], first), weigh(from.weight[2], first)};
    size_t x = 0;
    for (; x + GF_YUV_LANES <= width; x += GF_YUV_LANES)
        _mm512_storeu_si512(luma + x, from_rgb_64(&from, rgb + 3 * x, x, &to, columns));
    if (x == width)
        return;
    const size_t left = 3 * (width - x);
    memcpy(last, rgb + 3 * x, left);
    /* The last pixel also counts as the one behind it. */
    memcpy(last + left, rgb + 3 * width - 3, 3);
    _mm512_mask_storeu_epi8(luma + x, gf_first_bits(width - x),
                            from_rgb_64(&from, last, x, &to, columns));
}

GF_VBMI void gf_yuv_from_rgb_simd(const struct gf_yuv_from_rgb *from,
                                  const struct gf_yuv_orders *orders, enum gf_yuv_columns columns,
                                  const uint8_t *rgb, size_t width, uint8_t *luma, float *u,
                                  float *v)
{
    if (columns == GF_YUV_EACH)
        from_rgb(from, orders, GF_YUV_EACH, rgb, width, luma, u, v);
    else if (columns == GF_YUV_PAIRS_CENTRE)
        from_rgb(from, orders, GF_YUV_PAIRS_CENTRE, rgb, width, luma, u, v);
    else
        from_rgb(from, orders, GF_YUV_PAIRS_LEFT, rgb, width, luma, u, v);
}

/* Averages 32 columns, and returns them as 16-bit words, ordered 0..3, 16..19, 4..7 and so on. */
GF_VBMI GF_INLINE __m512i average(const float *above, const float *here, const float *below,
                                  __m512 factor, __m512 middle)
{
    __m512 sum[2];
    for (int i = 0; i < 2; i++) {
        const __m512 own = _mm512_loadu_ps(here + FLOATS * i);
        sum[i] = above
                     ? _mm512_fmadd_ps(_mm512_set1_ps(2), own, _mm512_loadu_ps(above + FLOATS * i))
                     : own;
        sum[i] = _mm512_add_ps(sum[i], _mm512_loadu_ps(below + FLOATS * i));
        /* `factor` is a power of two, so that the product is exact. */
        sum[i] = _mm512_fmadd_ps(sum[i], factor, middle);
    }
    return rounded((struct pair){sum[0], sum[1]});
}

GF_VBMI void gf_yuv_average_simd(const float *above, const float *here, const float *below,
                                 float factor, float middle, size_t count, uint8_t *to)
{
    const __m512 twice = _mm512_set1_ps(2 * factor), offset = _mm512_set1_ps(2 * middle);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for (size_t i = 0; i < count; i += GF_YUV_LANES) {
        const __m512i low = average(above ? above + i : NULL, here + i, below + i, twice, offset);
        const size_t next = i + HALF;
        const __m512i high =
            average(above ? above + next : NULL, here + next, below + next, twice, offset);
        const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
        if (i + GF_YUV_LANES <= count)
            _mm512_storeu_si512(to + i, bytes);
        else
            memcpy(to + i, &bytes, count - i);
    }
}

#endif
