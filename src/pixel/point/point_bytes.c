/* Point programs for 8-bit samples: with vectors, 64 pixels or samples at a time, and by tables. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "pixel/point/point_planes.h"

enum { CHANNELS_MAX = 4, PHASES_MAX = 3 };

/* The weights of red, green, blue and again green, in 256ths, whose sum is at most 256. The first
 * two and the last two weigh at most 128 together, so that their sums of products have 15 bits. */
struct weights {
    uint8_t byte[4];
};

/* The tables that map the samples of the channels, without those that are equal to another or
 * change nothing. */
struct tables {
    int channels, count;
    const uint8_t *table[CHANNELS_MAX];
    uint8_t applies[CHANNELS_MAX][CHANNELS_MAX]; /* applies[t][c] is 255 if channel c is mapped by
                                                  * table t, otherwise 0 */
};

#define VEC_BYTES 16
#include "pixel/point/point_bytes_vec.h"
#if GF_X86
#define VEC_BYTES 32
#include "pixel/point/point_bytes_vec.h"
#define VEC_BYTES 64
#include "pixel/point/point_bytes_vec.h"
#endif

/* Finds the weights of a GRAY in 256ths. Returns false if they are not of that form. */
static bool find_weights(const struct gf_point_op *op, struct weights *weights)
{
    const bool fit = op->a >= 0 && op->a < 128 && op->b >= 0 && op->b < 255 && op->c >= 0 &&
                     op->c < 128 && op->a + op->b + op->c <= 256;
    if (!fit || op->d != 1.0f / 256 || op->a != floorf(op->a) || op->b != floorf(op->b) ||
        op->c != floorf(op->c))
        return false;
    const int red = (int)op->a, green = (int)op->b, blue = (int)op->c;
    const int half = green < 128 - red ? green : red ? 128 - red : 127;
    *weights =
        (struct weights){{(uint8_t)red, (uint8_t)half, (uint8_t)blue, (uint8_t)(green - half)}};
    return blue + green - half <= 128 && green - half < 128;
}

bool gf_bytes_gray(const struct gf_point_op *op, int count, const uint8_t *in, size_t n,
                   uint8_t *out)
{
    const struct gf_point_op *const step = count > 1 ? &op[1] : NULL;
    struct weights weights;
    if (in == out || !gf_vec_bytes() || !find_weights(op, &weights))
        return false;
    GF_BY_VEC(gray, &weights, step, in, n, out);
    return true;
}

static bool is_identity(const uint8_t *table)
{
    for (int v = 0; v < 256; v++) {
        if (table[v] != v)
            return false;
    }
    return true;
}

static struct tables find_tables(const uint8_t *table, int channels)
{
    struct tables tables = {.channels = channels};
    for (int c = 0; c < channels; c++, table += 256) {
        int t = 0;
        while (t < tables.count && memcmp(table, tables.table[t], 256))
            t++;
        if (t == tables.count && is_identity(table))
            continue;
        if (t == tables.count)
            tables.table[tables.count++] = table;
        tables.applies[t][c] = 255;
    }
    if (tables.count == 1 && !memchr(tables.applies[0], 0, (size_t)channels))
        tables.channels = 1;
    return tables;
}

bool gf_bytes_map(const uint8_t *in, uint8_t *out, size_t n, int channels, const uint8_t *table)
{
    const struct tables tables = find_tables(table, channels);
    if (!tables.count && gf_vec_bytes())
        memmove(out, in, n);
    else if (gf_vec_bytes() == 64 || (GF_X86 && gf_vec_bytes() && tables.count == 1))
        GF_BY_VEC(map_bytes, &tables, in, out, n);
    else
        return false;
    return true;
}

#if GF_X86 && !defined(VEC_PLAIN)

enum { WIDTH = 64 };

struct colours {
    struct table_64 table[3];
    /* Permutations for each third of the result: of red and green, and with blue. */
    __m512i two[3], third[3];
    __mmask64 blue[3];
};

GF_VBMI GF_INLINE void colours_init(struct colours *colours, const uint8_t table[3][256])
{
    for (int c = 0; c < 3; c++)
        colours->table[c] = load_table_64(table[c]);
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

GF_VBMI GF_INLINE void colour_some(const struct colours *colours, __m512i v, uint8_t *out,
                                   size_t bytes)
{
    const __m512i red = (__m512i)look_up_64(&colours->table[0], (bytes_64)v);
    const __m512i green = (__m512i)look_up_64(&colours->table[1], (bytes_64)v);
    const __m512i blue = (__m512i)look_up_64(&colours->table[2], (bytes_64)v);
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

/* Mixes sixteen samples, given as the bits of floats 2^23 + sample; returns floats whose lowest
 * bytes are the results. */
GF_VBMI GF_INLINE __m512 mix_sixteen(__m512 as, __m512i s, __m512i v)
{
    const __m512 sample = _mm512_sub_ps(_mm512_castsi512_ps(v), _mm512_set1_ps(8388608.0f));
    const __m512 difference = _mm512_sub_ps(_mm512_castsi512_ps(s), _mm512_castsi512_ps(v));
    return _mm512_add_ps(_mm512_fmadd_ps(as, difference, sample), _mm512_set1_ps(0.5f));
}

/* Mixes half of the samples of two vectors of 16-bit words. A mixture of two samples is within
 * 0..255 without clamping. */
GF_VBMI GF_INLINE __m512i mix_words_of(__m512 as, __m512i s, __m512i v)
{
    const __m512i upper = _mm512_set1_epi16(0x4B00); /* the upper 16 bits of the float 2^23 */
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

/* Maps n samples by the tables [channels][256], with one load and one store for eight samples.
 * `out` may be `in`. */
GF_INLINE void map_8(const uint8_t *in, uint8_t *out, size_t n, const int channels,
                     const uint8_t *table)
{
    /* A word begins with channel 0 again after so many words. */
    const int words = channels == 3 ? 3 : 1;
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
    if (bits == 8 && gf_bytes_map(in, out, width * (size_t)format.channels, format.channels, table))
        return;
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
