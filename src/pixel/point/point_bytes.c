/* Point programs for 8-bit samples: in registers, 64 pixels or samples at a time, and through
 * tables. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
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

/* A table of 256 bytes takes four registers. vpermi2b looks up 64 samples in two registers at a
 * time. */

enum { VECTOR = 64, CHANNELS_MAX = 4, PHASES_MAX = 3 };

struct lookup {
    __m512i table[CHANNELS_MAX][4];
    __mmask64 lanes[PHASES_MAX]
                   [CHANNELS_MAX]; /* the lanes of each channel, for each vector of a period */
};

GF_VBMI GF_INLINE void init(struct lookup *lookup, const uint8_t *table, int channels)
{
    for (int c = 0; c < channels; c++)
        for (int quarter = 0; quarter < 4; quarter++)
            lookup->table[c][quarter] = _mm512_loadu_si512(table + 256 * c + VECTOR * quarter);
}

/* Sets the lanes for a row whose first sample belongs to `channel`. */
GF_VBMI GF_INLINE void begin_with(struct lookup *lookup, int phases, int channels, size_t channel)
{
    memset(lookup->lanes, 0, sizeof lookup->lanes);
    for (int i = 0; i < phases * VECTOR && channels > 1; i++)
        lookup->lanes[i / VECTOR][(channel + (size_t)i) % (size_t)channels] |= (__mmask64)1
                                                                               << i % VECTOR;
}

GF_VBMI GF_INLINE __m512i look_up_samples(const struct lookup *lookup, int phase,
                                          const int channels, __m512i from)
{
    const __mmask64 upper = _mm512_movepi8_mask(from);
    __m512i to = from;
    for (int c = 0; c < channels; c++) {
        const __m512i *const table = lookup->table[c];
        const __m512i low = _mm512_permutex2var_epi8(table[0], from, table[1]);
        const __m512i high = _mm512_permutex2var_epi8(table[2], from, table[3]);
        const __m512i found = _mm512_mask_mov_epi8(low, upper, high);
        to = channels == 1 ? found : _mm512_mask_mov_epi8(to, lookup->lanes[phase][c], found);
    }
    return to;
}

/* Maps up to 64 samples. */
GF_VBMI GF_INLINE void map_some(const struct lookup *lookup, int phase, const int channels,
                                const uint8_t *in, uint8_t *out, size_t count)
{
    const __mmask64 some = count < VECTOR ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
    const __m512i from = _mm512_maskz_loadu_epi8(some, in);
    _mm512_mask_storeu_epi8(out, some, look_up_samples(lookup, phase, channels, from));
}

/* Maps a row. Except for the first samples, stores are aligned to cache lines. */
GF_VBMI GF_INLINE void map(const uint8_t *in, uint8_t *out, size_t count, const int channels,
                           const uint8_t *table)
{
    const int phases = channels == 3 ? 3 : 1; /* the number of vectors after which a vector begins
                                               * with channel 0 again */
    const size_t period = (size_t)phases * VECTOR, odd = (uintptr_t)out % VECTOR;
    const size_t head = !odd ? 0 : count < VECTOR - odd ? count : VECTOR - odd;
    struct lookup lookup;
    init(&lookup, table, channels);
    begin_with(&lookup, phases, channels, 0);
    map_some(&lookup, 0, channels, in, out, head);
    begin_with(&lookup, phases, channels, head);
    size_t i = head;
    for (; i + period <= count; i += period) {
        for (int phase = 0; phase < phases; phase++) {
            const size_t at = i + (size_t)phase * VECTOR;
            _mm512_storeu_si512(
                out + at, look_up_samples(&lookup, phase, channels, _mm512_loadu_si512(in + at)));
        }
    }
    for (int phase = 0; phase < phases && i < count; phase++, i += VECTOR)
        map_some(&lookup, phase, channels, in + i, out + i, count - i);
}

GF_VBMI void gf_map_simd(const uint8_t *in, uint8_t *out, size_t count, int channels,
                         const uint8_t *table)
{
    bool same = true;
    for (int c = 1; c < channels; c++)
        same &= !memcmp(table, table + 256 * (size_t)c, 256);
    GF_BY_CHANNELS(same ? 1 : channels, CHANNELS, map(in, out, count, CHANNELS, table));
}

#endif

/* Maps rows of samples through tables. */

/* Maps samples through tables, with one load and one store for eight samples. table:
 * [channel][256]. `out` may be `in`. */
GF_INLINE void map_8(const uint8_t *in, uint8_t *out, size_t n, const int channels,
                     const uint8_t *table)
{
    const int words = channels == 3 ? 3 : 1; /* the number of words after which a word begins with
                                              * channel 0 again */
    size_t i = 0;
    for (; i + 8 * (size_t)words <= n; i += 8 * (size_t)words) {
        for (int k = 0; k < words; k++) {
            uint64_t from, to = 0;
            memcpy(&from, in + i + 8 * k, 8);
            for (int j = 0; j < 8; j++)
                to |=
                    (uint64_t)table[(from >> 8 * j & 255) + 256 * (size_t)((8 * k + j) % channels)]
                    << 8 * j;
            memcpy(out + i + 8 * k, &to, 8);
        }
    }
    for (; i < n; i++)
        out[i] = table[in[i] + 256 * (i % (size_t)channels)];
}

GF_INLINE void map_16(const uint16_t *restrict in, uint16_t *restrict out, size_t n,
                      const int channels, const uint16_t *const table[3])
{
    const int colours = channels >= 3 ? 3 : 1;
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < colours; c++)
            out[i * (size_t)channels + (size_t)c] = table[c][in[i * (size_t)channels + (size_t)c]];
        if (channels != colours)
            out[i * (size_t)channels + (size_t)colours] =
                in[i * (size_t)channels + (size_t)colours];
    }
}

GF_INLINE void map_any(int bits, const void *in, void *out, size_t width, const int channels,
                       const void *table, int tables)
{
    if (bits == 8) {
        map_8(in, out, width * (size_t)channels, channels, table);
    } else {
        const uint16_t *const first = table;
        const int step = tables == 1 ? 0 : 65536;
        map_16(in, out, width, channels,
               (const uint16_t *const[3]){first, first + step, first + 2 * step});
    }
}

void gf_point_map_samples(const struct gf_point_program *program, struct gf_format format,
                          const void *in, void *out, size_t width)
{
    const void *const table = gf_point_block(program, program->table_at);
    const int bits = format.bits, tables = program->tables;
    if (bits == 8 && gf_cpu_has(GF_CPU_VBMI)) {
        gf_map_simd(in, out, width * (size_t)format.channels, format.channels, table);
        return;
    }
    if (bits == 16 && program->op[0].max > 0 && format.channels % 2) {
        gf_words_map(&program->op[0], in, out, width * (size_t)format.channels);
        return;
    }
    GF_BY_CHANNELS(format.channels, CHANNELS,
                   map_any(bits, in, out, width, CHANNELS, table, tables));
}

void gf_point_map_colour(const uint8_t table[3][256], const uint8_t *in, uint8_t *out, size_t n)
{
    uint8_t pixel[256][4] = {{0}};
    if (!n)
        return;
    if (gf_cpu_has(GF_CPU_VBMI)) {
        gf_bytes_colour(table, in, n, out);
        return;
    }
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            pixel[v][c] = table[c][v];
    for (size_t i = 0; i + 1 < n; i++) /* the next pixel overwrites the fourth byte */
        memcpy(out + 3 * i, pixel[in[i]], 4);
    memcpy(out + 3 * (n - 1), pixel[in[n - 1]], 3);
}
