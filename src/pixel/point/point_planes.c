/* Converts pixels to planes of floats and back, and applies the operations that depend on a pixel's
 * position. */
#include "pixel/point/point_planes.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/simd.h"

/* Converts 8-bit RGB to planes and back by hand-written vectors, eight pixels at a time, because
 * compilers do not vectorise loops with steps of three bytes. */

#if GF_X86

/* Eight pixels are read or written as two groups of 16 bytes, of which only 12 belong to the
 * group's four pixels, so that two more pixels must follow. */
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

/* Conversions of sixteen pixels with AVX-512. Only pixels that exist are read and written. */
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

/* Computes a row of a MATRIX as integers, which may be outside of 0..255: packing saturates them,
 * if gf_planes_sums_fit() is true. */
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

/* Applies a MATRIX as long as whole vectors fit in the row, and returns how many pixels that are.
 * 64 bytes are stored of which 48 count; the next pixels overwrite the others. */
GF_VBMI static int matrix_16(const struct gf_point_op *at, const uint8_t *in, int n, uint8_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    uint8_t gather[64] = {0};
    /* Each quarter gets four reds, four greens and four blues. */
    for (int i = 0; i < SIXTEEN_BYTES; i++)
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

/* Computes gf_point_gray_of() for sixteen pixels, as samples; no sum is rounded, so that the order
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

int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n, uint8_t *out)
{
    if (in == out)
        return 0;
    return gf_cpu_has(GF_CPU_VBMI) && gf_planes_sums_fit(op) ? matrix_16(op, in, n, out)
                                                             : matrix(op, in, n, out);
}
#endif

int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in, int n,
                        uint8_t *out)
{
    if (gf_bytes_gray(op, count, in, (size_t)n, out))
        return n;
#if GF_X86
    if (in != out && gf_cpu_has(GF_CPU_VBMI))
        return gray_16(op[0], count > 1, count > 1 ? (int)ceilf(op[1].a) : 0, in, n, out);
#endif
    return 0;
}

/* The plane of channel c: alpha, or a colour. */
#define PLANE_OF(planes, channels, c) \
    ((channels) % 2 == 0 && (c) == (channels)-1 ? (planes)->alpha : (planes)->colour[c])

/* Stores the samples of pixels first .. n - 1 in the planes. */
GF_INLINE void split(const void *in, int bits, int first, int n, const int channels,
                     struct gf_planes *planes)
{
    const uint8_t *const bytes = in;
    const uint16_t *const words = in;
    for (int c = 0; c < channels; c++) {
        float *const plane = PLANE_OF(planes, channels, c);
        if (bits == 8) {
            for (int i = first; i < n; i++)
                plane[i] = bytes[i * channels + c];
        } else {
            for (int i = first; i < n; i++)
                plane[i] = words[i * channels + c];
        }
    }
}

/* Whether a pixel of four channels is loaded as an integer whose lowest bits are the first channel.
 * Compilers vectorise loops over such integers. */
enum { PIXELS_ARE_NUMBERS = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

#define SPLIT_NUMBERS(type, bits) \
    for (int c = 0; c < 4; c++) { \
        float *const plane = PLANE_OF(planes, 4, c); \
        for (int i = first; i < n; i++) { \
            type v; \
            memcpy(&v, (const uint8_t *)in + (size_t)i * sizeof v, sizeof v); \
            plane[i] = (float)(int)(v >> (bits)*c & ((1u << (bits)) - 1)); \
        } \
    }

#define JOIN_NUMBERS(type, bits) \
    for (int i = first; i < n; i++) { \
        type v = (type)(int)(planes->alpha[i] + 0.5f) << 3 * (bits); \
        for (int c = 0; c < 3; c++) \
            v |= (type)(int)(planes->colour[c][i] + 0.5f) << (bits)*c; \
        memcpy((uint8_t *)out + (size_t)i * sizeof v, &v, sizeof v); \
    }

GF_TARGET_CLONES static void split_planes(const void *in, struct gf_format format, int first, int n,
                                          struct gf_planes *planes)
{
    if (PIXELS_ARE_NUMBERS && format.channels == 4 && format.bits == 8) {
        SPLIT_NUMBERS(uint32_t, 8)
    } else if (PIXELS_ARE_NUMBERS && format.channels == 4) {
        SPLIT_NUMBERS(uint64_t, 16)
    } else {
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       split(in, format.bits, first, n, CHANNELS, planes));
    }
}

GF_INLINE void join(void *out, int bits, int first, int n, const int channels,
                    const struct gf_planes *planes)
{
    uint8_t *const bytes = out;
    uint16_t *const words = out;
    for (int c = 0; c < channels; c++) {
        const float *const plane = PLANE_OF(planes, channels, c);
        if (bits == 8) {
            for (int i = first; i < n; i++)
                bytes[i * channels + c] = (uint8_t)(int)(plane[i] + 0.5f);
        } else {
            for (int i = first; i < n; i++)
                words[i * channels + c] = (uint16_t)(int)(plane[i] + 0.5f);
        }
    }
}

/* Stores pixels first .. n - 1 of the planes as samples; all values are within 0..M already. */
GF_TARGET_CLONES static void join_planes(void *out, struct gf_format format, int first, int n,
                                         const struct gf_planes *planes)
{
    if (PIXELS_ARE_NUMBERS && format.channels == 4 && format.bits == 8) {
        JOIN_NUMBERS(uint32_t, 8)
    } else if (PIXELS_ARE_NUMBERS && format.channels == 4) {
        JOIN_NUMBERS(uint64_t, 16)
    } else {
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       join(out, format.bits, first, n, CHANNELS, planes));
    }
}

void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p)
{
    split_planes(
        from, format,
        gf_is_rgb8(format) && gf_cpu_has(GF_CPU_AVX2) ? gf_planes_split_rgb8(from, n, p) : 0, n, p);
}

void gf_planes_join(uint8_t *to, struct gf_format format, int n, const struct gf_planes *p)
{
    join_planes(to, format,
                gf_is_rgb8(format) && gf_cpu_has(GF_CPU_AVX2) ? gf_planes_join_rgb8(to, n, p) : 0,
                n, p);
}

/* Operations that mix in a colour or fade alpha, by a field (struct gf_point_field). */

GF_TARGET_CLONES static void find_field(const struct gf_stage *stage, int number, int x, int y,
                                        float *restrict field)
{
    const struct gf_point_program *const program = stage->constants;
    const float *const curve =
        gf_point_block(program, program->field_at + (unsigned)number * program->field_bytes);
    const float *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[gf_point_field_columns(stage->in.width) + (size_t)y];
    float at[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        at[i] = gf_point_field_at(columns[x + i], row);
    for (int i = 0; i < GF_PIECE; i++)
        field[i] = gf_point_field_value(curve, at[i]);
}

void gf_planes_field(const struct gf_stage *stage, int number, int x, int y, float *field)
{
    find_field(stage, number, x, y, field);
}

GF_TARGET_CLONES static void blend(const struct gf_point_op op, float colour, float *restrict v,
                                   const float *restrict field)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_blend_of(&op, v[i], colour, field[i]);
}

GF_TARGET_CLONES static void fade(const float *restrict field, float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] *= field[i];
}

void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p)
{
    const float colour[3] = {op->a, op->b, op->c};
    float field[GF_PIECE];
    find_field(stage, (int)op->d, x, y, field);
    if (op->kind == GF_POINT_FADE)
        fade(field, p->alpha);
    for (int c = 0; c < colours && op->kind != GF_POINT_FADE; c++)
        blend(*op, colour[c], p->colour[c], field);
}

static bool is_one_position(const struct gf_stage *stage)
{
    const struct gf_point_program *const program = stage->constants;
    return program->count == 1 && program->op[0].kind == GF_POINT_MIX &&
           program->table == GF_POINT_NO_TABLE && stage->in.bits == 8 && !gf_has_alpha(stage->in);
}

static const float *curve_of(const struct gf_stage *stage)
{
    const struct gf_point_program *const program = stage->constants;
    return gf_point_block(program,
                          program->field_at + (unsigned)program->op[0].d * program->field_bytes);
}

/* Returns the first column after x whose number in `columns` differs from that of x, or `width`. In
 * each row the field has the same value in all columns before it. */
static int end_of(const float *columns, int x, int width)
{
    enum { BLOCK = 64 };
    const float place = columns[x];
    while (x + BLOCK < width && !memcmp(columns + x, columns + x + 1, BLOCK * sizeof *columns))
        x += BLOCK;
    while (x < width && columns[x] == place)
        x++;
    return x;
}

void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage)
{
    enum { SHORT = 16 };
    *mix = (struct gf_mix){.stage = stage, .row = NAN};
    if (!is_one_position(stage))
        return;
    const float *const columns = curve_of(stage) + GF_POINT_CURVE_ROOM;
    const struct gf_point_op *const op = ((const struct gf_point_program *)stage->constants)->op;
    const uint8_t colour[3] = {(uint8_t)op->a, (uint8_t)op->b, (uint8_t)op->c};
    const int width = stage->in.width;
    gf_pattern_make(&mix->colour, colour, (size_t)stage->in.channels);
    for (int x = 0, end; x < width && mix->count < GF_MIX_STRETCHES; x = end) {
        end = end_of(columns, x, width);
        if (end - x < SHORT)
            continue;
        mix->begin[mix->count] = x;
        mix->end[mix->count++] = end;
    }
}

/* Whether the operation's colour has integer channels, so that it is copied where the field is
 * 1. */
static bool is_whole(const struct gf_point_op *op)
{
    return op->a == floorf(op->a) && op->b == floorf(op->b) && op->c == floorf(op->c);
}

/* Decides for each stretch of columns whether its pixels are copied, filled with the colour, or
 * computed, in rows that have the number `row` in the field. */
static void sort_stretches(struct gf_mix *mix, float row)
{
    const struct gf_point_program *const program = mix->stage->constants;
    const float *const curve = curve_of(mix->stage), *const columns = curve + GF_POINT_CURVE_ROOM;
    for (int i = 0; i < mix->count; i++) {
        const float field = gf_point_field_of(curve, columns[mix->begin[i]], row);
        mix->copies[i] = field == 0.0f;
        mix->fills[i] = field == 1.0f && is_whole(program->op);
    }
    mix->row = row;
}

int gf_mix_stretch(struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y)
{
    const struct gf_format format = mix->stage->in;
    const float row = curve_of(
        mix->stage)[GF_POINT_CURVE_ROOM + gf_point_field_columns(format.width) + (size_t)y];
    if (row != mix->row)
        sort_stretches(mix, row);
    int i = 0;
    while (i < mix->count && (x < mix->begin[i] || x >= mix->end[i]))
        i++;
    if (i == mix->count)
        return 0;
    const size_t channels = (size_t)format.channels, first = (size_t)x * channels,
                 samples = (size_t)(mix->end[i] - x) * channels;
    if (mix->fills[i])
        gf_pattern_put(&mix->colour, out + first, samples);
    else if (!mix->copies[i])
        return 0;
    else if (in != out)
        memcpy(out + first, in + first, samples);
    return mix->end[i] - x;
}
