/* Point programs for 16-bit RGB pixels: with vectors of sixteen pixels, and without tables where
 * they are simple. */
#include <string.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "pixel/point/point_planes.h"

#if GF_X86

enum { PIXELS = 16, WORDS = 32 };

/* The 48 samples of 16 pixels: the first 32 and the last 16. */
struct samples {
    __m512i first, last;
};

GF_AVX512 GF_INLINE struct samples load(const uint16_t *in, size_t pixels)
{
    const size_t words = 3 * pixels;
    return (struct samples){
        _mm512_maskz_loadu_epi16((__mmask32)gf_first_bits(words), in),
        _mm512_maskz_loadu_epi16(words > WORDS ? (__mmask32)gf_first_bits(words - WORDS) : 0,
                                 in + WORDS)};
}

GF_AVX512 GF_INLINE __m512 channel_of(struct samples s, int channel)
{
    const __m512i red =
        _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
    const __m512i order = _mm512_add_epi32(red, _mm512_set1_epi32(channel));
    return _mm512_cvtepi32_ps(_mm512_maskz_permutex2var_epi16(0x55555555, s.first, order, s.last));
}

struct pixels {
    __m512 red, green, blue;
};

/* Computes gf_point_row_of(), rounded; packing saturates what is outside of 0..65535. */
GF_AVX512 GF_INLINE __m512i row_of(struct gf_point_op op, struct pixels p)
{
    const __m512 blue = _mm512_fmadd_ps(_mm512_set1_ps(op.c), p.blue, _mm512_set1_ps(op.d));
    const __m512 green = _mm512_fmadd_ps(_mm512_set1_ps(op.b), p.green, blue);
    const __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(op.a), p.red, green);
    return _mm512_cvttps_epi32(_mm512_add_ps(sum, _mm512_set1_ps(0.5f)));
}

struct places {
    __m512i first, last;
};

/* Finds the permutation after which each quarter of two joined vectors has four reds and four
 * greens, or four blues. */
GF_AVX512 GF_INLINE struct places find_places(void)
{
    uint16_t place[2 * WORDS] = {0};
    for (int i = 0; i < 3 * PIXELS; i++) {
        const int pixel = i / 3, channel = i % 3, at = 8 * (pixel / 4) + pixel % 4;
        place[i] = (uint16_t)(channel == 2 ? WORDS + at : at + 4 * channel);
    }
    return (struct places){_mm512_loadu_si512(place), _mm512_loadu_si512(place + WORDS)};
}

GF_AVX512 GF_INLINE struct samples matrix_of(const struct gf_point_op *op, struct places places,
                                             struct samples s)
{
    const struct pixels p = {channel_of(s, 0), channel_of(s, 1), channel_of(s, 2)};
    const __m512i two = _mm512_packus_epi32(row_of(op[0], p), row_of(op[1], p));
    const __m512i third = _mm512_packus_epi32(row_of(op[2], p), _mm512_setzero_si512());
    return (struct samples){_mm512_permutex2var_epi16(two, places.first, third),
                            _mm512_permutex2var_epi16(two, places.last, third)};
}

GF_AVX512 static void matrix(const struct gf_point_op *at, const uint16_t *in, size_t n,
                             uint16_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    const struct places places = find_places();
    size_t i = 0;
    for (; i + PIXELS <= n; i += PIXELS) {
        const struct samples s = matrix_of(op, places, load(in + 3 * i, PIXELS));
        _mm512_storeu_si512(out + 3 * i, s.first);
        _mm256_storeu_si256((void *)(out + 3 * i + WORDS), _mm512_castsi512_si256(s.last));
    }
    if (i < n) {
        const size_t words = 3 * (n - i);
        const struct samples s = matrix_of(op, places, load(in + 3 * i, n - i));
        _mm512_mask_storeu_epi16(out + 3 * i, (__mmask32)gf_first_bits(words), s.first);
        _mm512_mask_storeu_epi16(out + 3 * i + WORDS,
                                 words > WORDS ? (__mmask32)gf_first_bits(words - WORDS) : 0,
                                 s.last);
    }
}

/* Computes gf_point_gray_of(), rounded, in the same order of additions, since sums with some
 * weights are not exact. */
GF_AVX512 GF_INLINE __m256i gray_of(struct gf_point_op op, struct samples s)
{
    const __m512 red = _mm512_mul_ps(channel_of(s, 0), _mm512_set1_ps(op.a));
    const __m512 green = _mm512_mul_ps(channel_of(s, 1), _mm512_set1_ps(op.b));
    const __m512 blue = _mm512_mul_ps(channel_of(s, 2), _mm512_set1_ps(op.c));
    const __m512 gray =
        _mm512_mul_ps(_mm512_add_ps(_mm512_add_ps(red, green), blue), _mm512_set1_ps(op.d));
    return _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(_mm512_add_ps(gray, _mm512_set1_ps(0.5f))));
}

GF_AVX512 static void gray(const struct gf_point_op op, const uint16_t *in, size_t n, uint16_t *out)
{
    size_t i = 0;
    for (; i + PIXELS <= n; i += PIXELS)
        _mm256_storeu_si256((void *)(out + i), gray_of(op, load(in + 3 * i, PIXELS)));
    if (i < n)
        _mm512_mask_storeu_epi16(out + i, (__mmask32)gf_first_bits(n - i),
                                 _mm512_castsi256_si512(gray_of(op, load(in + 3 * i, n - i))));
}

bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n, uint16_t *out)
{
    if (in == out || !gf_planes_sums_fit(op))
        return false;
    matrix(op, in, n, out);
    return true;
}

bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n, uint16_t *out)
{
    if (in == out)
        return false;
    gray(*op, in, n, out);
    return true;
}
#endif

enum {
    LEVELS = 65536,
    MOST = LEVELS - 1,
    PART = 4096
}; /* PART: a table is compared in parts of so many entries, since most differ early from what is
    * sought */

GF_TARGET_CLONES static bool is_linear(const uint16_t *table, int sign, int offset)
{
    int differs = 0;
    for (int first = 0; first < LEVELS && !differs; first += PART) {
        for (int v = first; v < first + PART; v++) {
            const int sum = sign * v + offset, limited = sum < 0 ? 0 : sum > MOST ? MOST : sum;
            differs |= table[v] ^ limited;
        }
    }
    return !differs;
}

GF_TARGET_CLONES static bool is_step(const uint16_t *table, int least)
{
    int differs = 0;
    for (int first = 0; first < LEVELS && !differs; first += PART) {
        for (int v = first; v < first + PART; v++)
            differs |= table[v] ^ (v >= least ? MOST : 0);
    }
    return !differs;
}

/* Returns the first index in the table of a step whose value is MOST. */
static int least_of_step(const uint16_t *table)
{
    int below = -1, from = LEVELS;
    while (from - below > 1) {
        const int middle = (below + from) / 2;
        if (table[middle] == MOST)
            from = middle;
        else
            below = middle;
    }
    return from;
}

bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op)
{
    const int half = LEVELS / 2;
    for (int sign = -1; sign <= 1; sign += 2) {
        const int offset = table[half] - sign * half;
        *op = (struct gf_point_op){
            .kind = GF_POINT_LINEAR, .max = MOST, .b = (float)sign, .c = (float)offset};
        if (is_linear(table, sign, offset))
            return true;
    }
    const int least = least_of_step(table);
    *op = (struct gf_point_op){.kind = GF_POINT_STEP, .max = MOST, .a = (float)least};
    return is_step(table, least);
}

/* Adds `plus` or subtracts `minus` (one is 0), with saturation, to samples XOR `flipped`. */
GF_TARGET_CLONES static void add(uint16_t flipped, uint16_t plus, uint16_t minus,
                                 const uint16_t *in, uint16_t *out, size_t n)
{
    const uint16_t most = (uint16_t)(MOST - plus);
    GF_INDEPENDENT for (size_t i = 0; i < n; i++)
    {
        const uint16_t v = in[i] ^ flipped, low = v < most ? v : most;
        const uint16_t sum = (uint16_t)(low + plus), high = sum > minus ? sum : minus;
        out[i] = (uint16_t)(high - minus);
    }
}

GF_TARGET_CLONES static void step(uint16_t least, const uint16_t *in, uint16_t *out, size_t n)
{
    GF_INDEPENDENT for (size_t i = 0; i < n; i++) out[i] = in[i] >= least ? MOST : 0;
}

void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n)
{
    /* MOST - v is v with all bits inverted. */
    const int offset = (int)op->c - (op->b < 0 ? MOST : 0);
    if (op->kind == GF_POINT_LINEAR)
        add(op->b < 0 ? MOST : 0, (uint16_t)(offset > 0 ? offset : 0),
            (uint16_t)(offset < 0 ? -offset : 0), in, out, n);
    else if (op->a > MOST)
        memset(out, 0, n * sizeof *out);
    else
        step((uint16_t)op->a, in, out, n);
}
