/* Point programs for 8-bit samples that are computed in registers, 64 pixels or samples at a
 * time. */
#include <math.h>

#include "base/simd.h"
#include "pixel/point/point_planes.h"

#if GF_X86

enum { WIDTH = 64, QUARTER_BYTES = 48 };

struct gray {
    __m512i pixels;  /* the permutation of bytes to red, green, blue, green */
    __m512i weights; /* the weights of these four bytes; green's weight is halved, since green
                      * occurs twice */
    __m512i low, high;
    __m512i least;
    __mmask64 may; /* all bits, or none if the limit exceeds all samples */
};

/* Whether the weights fit in signed bytes, and the sums have at most eight fraction bits. */
static bool is_byte_luma(const struct gf_point_op *op)
{
    const bool fit = op->a >= 0 && op->a < 128 && op->b >= 0 && op->b < 255 && op->c >= 0 &&
                     op->c < 128 && op->a + op->b + op->c <= 256;
    return fit && op->d == 1.0f / 256 && op->a == floorf(op->a) && op->b == floorf(op->b) &&
           op->c == floorf(op->c);
}

GF_VBMI GF_INLINE struct gray gray_init(const struct gf_point_op *op, int count)
{
    uint8_t pixels[WIDTH], low[WIDTH] = {0}, high[WIDTH] = {0};
    for (int i = 0; i < WIDTH; i++)
        pixels[i] = (uint8_t)(3 * (i / 4) + (i % 4 == 3 ? 1 : i % 4));
    for (int i = 0; i < WIDTH / 2; i++) /* selects the upper byte of each sum from two registers */
        low[i] = high[i + WIDTH / 2] = (uint8_t)(4 * i + 1);
    const int green = (int)op->b;
    const uint32_t weights = (uint32_t)op->a | (uint32_t)(green / 2) << 8 | (uint32_t)op->c << 16 |
                             (uint32_t)(green - green / 2) << 24;
    const float least = count > 1 ? ceilf(op[1].a) : 0;
    return (struct gray){.pixels = _mm512_loadu_si512(pixels),
                         .weights = _mm512_set1_epi32((int)weights),
                         .low = _mm512_loadu_si512(low),
                         .high = _mm512_loadu_si512(high),
                         .least = _mm512_set1_epi8((char)(least > 0 ? (int)least : 0)),
                         .may = least > 255 ? 0 : ~(__mmask64)0};
}

/* Returns 256 times the luma of sixteen pixels, plus a half. */
GF_VBMI GF_INLINE __m512i sums(const struct gray *gray, __m512i v)
{
    return _mm512_dpbusd_epi32(_mm512_set1_epi32(128), _mm512_permutexvar_epi8(gray->pixels, v),
                               gray->weights);
}

GF_VBMI GF_INLINE __m512i gray_of(const struct gray *gray, const bool steps, const __m512i v[4])
{
    const __m512i low = _mm512_permutex2var_epi8(sums(gray, v[0]), gray->low, sums(gray, v[1]));
    const __m512i high = _mm512_permutex2var_epi8(sums(gray, v[2]), gray->high, sums(gray, v[3]));
    const __m512i luma = _mm512_mask_mov_epi8(low, 0xFFFFFFFF00000000, high);
    return steps ? _mm512_movm_epi8(_mm512_mask_cmpge_epu8_mask(gray->may, luma, gray->least))
                 : luma;
}

GF_VBMI GF_INLINE void gray_row(const struct gf_point_op *op, int count, const bool steps,
                                const uint8_t *in, size_t n, uint8_t *out)
{
    const struct gray gray = gray_init(op, count);
    __m512i v[4];
    size_t i = 0;
    for (; 3 * i + 3 * QUARTER_BYTES + WIDTH <= 3 * n; i += WIDTH) {
        for (int k = 0; k < 4; k++)
            v[k] = _mm512_loadu_si512(in + 3 * i + (size_t)(QUARTER_BYTES * k));
        _mm512_storeu_si512(out + i, gray_of(&gray, steps, v));
    }
    for (; i < n; i += WIDTH) {
        for (size_t k = 0; k < 4; k++) {
            const size_t at = 3 * i + QUARTER_BYTES * k;
            v[k] = _mm512_maskz_loadu_epi8(at < 3 * n ? gf_first_bits(3 * n - at) : 0, in + at);
        }
        _mm512_mask_storeu_epi8(out + i, gf_first_bits(n - i), gray_of(&gray, steps, v));
    }
}

GF_VBMI static void gray_levels(const struct gf_point_op *op, const uint8_t *in, size_t n,
                                uint8_t *out)
{
    gray_row(op, 1, false, in, n, out);
}

GF_VBMI static void gray_steps(const struct gf_point_op *op, const uint8_t *in, size_t n,
                               uint8_t *out)
{
    gray_row(op, 2, true, in, n, out);
}

bool gf_bytes_gray(const struct gf_point_op *op, int count, const uint8_t *in, size_t n,
                   uint8_t *out)
{
    if (in == out || !is_byte_luma(op))
        return false;
    if (count > 1)
        gray_steps(op, in, n, out);
    else
        gray_levels(op, in, n, out);
    return true;
}

struct colours {
    __m512i table[3][4];
    __m512i two[3], third[3]; /* permutations for each third of the result: of red and green, and
                               * with blue */
    __mmask64 blue[3];
};

GF_VBMI GF_INLINE void colours_init(struct colours *colours, const uint8_t table[3][256])
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++)
            colours->table[c][k] = _mm512_loadu_si512(table[c] + WIDTH * k);
    for (int part = 0; part < 3; part++) {
        uint8_t two[WIDTH], third[WIDTH];
        colours->blue[part] = 0;
        for (int i = 0; i < WIDTH; i++) {
            const int pixel = (WIDTH * part + i) / 3, channel = (WIDTH * part + i) % 3;
            two[i] = (uint8_t)(pixel + (channel == 1 ? WIDTH : 0));
            third[i] = (uint8_t)pixel;
            colours->blue[part] |= (__mmask64)(channel == 2) << i;
        }
        colours->two[part] = _mm512_loadu_si512(two);
        colours->third[part] = _mm512_loadu_si512(third);
    }
}

GF_VBMI GF_INLINE __m512i look_up(const __m512i table[4], __m512i v, __mmask64 upper)
{
    const __m512i low = _mm512_permutex2var_epi8(table[0], v, table[1]);
    return _mm512_mask_mov_epi8(low, upper, _mm512_permutex2var_epi8(table[2], v, table[3]));
}

GF_VBMI GF_INLINE void colour_some(const struct colours *colours, __m512i v, uint8_t *out,
                                   size_t bytes)
{
    const __mmask64 upper = _mm512_movepi8_mask(v);
    const __m512i red = look_up(colours->table[0], v, upper);
    const __m512i green = look_up(colours->table[1], v, upper);
    const __m512i blue = look_up(colours->table[2], v, upper);
    for (int part = 0; part < 3; part++) {
        const size_t at = (size_t)WIDTH * (size_t)part;
        const __m512i two = _mm512_permutex2var_epi8(red, colours->two[part], green);
        const __m512i all =
            _mm512_mask_permutexvar_epi8(two, colours->blue[part], colours->third[part], blue);
        if (bytes >= 3 * (size_t)WIDTH)
            _mm512_storeu_si512(out + at, all);
        else if (at < bytes)
            _mm512_mask_storeu_epi8(out + at, gf_first_bits(bytes - at), all);
    }
}

GF_VBMI void gf_bytes_colour(const uint8_t table[3][256], const uint8_t *in, size_t n, uint8_t *out)
{
    struct colours colours;
    colours_init(&colours, table);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        colour_some(&colours, _mm512_loadu_si512(in + i), out + 3 * i, 3 * (size_t)WIDTH);
    if (i < n)
        colour_some(&colours, _mm512_maskz_loadu_epi8(gf_first_bits(n - i), in + i), out + 3 * i,
                    3 * (n - i));
}

/* Mixes sixteen samples as floats near 2^23; their lowest bytes are the samples. */
GF_VBMI GF_INLINE __m512 mix_sixteen(__m512 as, __m512i s, __m512i v)
{
    const __m512 sample = _mm512_sub_ps(_mm512_castsi512_ps(v), _mm512_set1_ps(8388608.0f));
    const __m512 difference = _mm512_sub_ps(_mm512_castsi512_ps(s), _mm512_castsi512_ps(v));
    return _mm512_add_ps(_mm512_fmadd_ps(as, difference, sample), _mm512_set1_ps(0.5f));
}

/* Mixes half of the samples of two vectors to 16-bit words. Mixtures of samples stay within 0..255
 * without clamping. */
GF_VBMI GF_INLINE __m512i mix_words_of(__m512 as, __m512i s, __m512i v)
{
    const __m512i upper = _mm512_set1_epi16(0x4B00); /* the upper half of the bits of the float
                                                      * 2^23 */
    const __m512 low =
        mix_sixteen(as, _mm512_unpacklo_epi16(s, upper), _mm512_unpacklo_epi16(v, upper));
    const __m512 high =
        mix_sixteen(as, _mm512_unpackhi_epi16(s, upper), _mm512_unpackhi_epi16(v, upper));
    return _mm512_packus_epi32(_mm512_cvttps_epi32(low), _mm512_cvttps_epi32(high));
}

GF_VBMI GF_INLINE __m512i mix_of(__m512 as, __m512i s, __m512i v)
{
    const __m512i none = _mm512_setzero_si512();
    return _mm512_packus_epi16(
        mix_words_of(as, _mm512_unpacklo_epi8(s, none), _mm512_unpacklo_epi8(v, none)),
        mix_words_of(as, _mm512_unpackhi_epi8(s, none), _mm512_unpackhi_epi8(v, none)));
}

GF_VBMI void gf_bytes_mix(float opacity, const uint8_t *s, const uint8_t *in, uint8_t *out,
                          size_t n)
{
    const __m512 as = _mm512_set1_ps(opacity);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        _mm512_storeu_si512(out + i,
                            mix_of(as, _mm512_loadu_si512(s + i), _mm512_loadu_si512(in + i)));
    const __mmask64 some = gf_first_bits(n - i);
    _mm512_mask_storeu_epi8(
        out + i, some,
        mix_of(as, _mm512_maskz_loadu_epi8(some, s + i), _mm512_maskz_loadu_epi8(some, in + i)));
}

#endif
