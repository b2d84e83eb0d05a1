/* Resizes on the CPU: with vectors, by halves, and in floats. */
#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "pixel/resample/resample.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

/* Both passes of resize for 8-bit samples with vectors. The first pass computes sixteen result
 * samples at a time: for each tap, their inputs are selected from 64 bytes. The products are exact
 * (pixel/resample/resample.h), so that the sums equal those of the portable code. Functions on rows
 * need GF_CPU_VBMI. */

enum {
    GF_RESAMPLE_LANES = 16, /* samples of the result in a vector */
    GF_RESAMPLE_LINES = 4,  /* rows that are computed together */
};

/* The table of columns for vectors. Lane j of vector b is the sum over k < taps of weight[(b * taps
 * + k) * 16 + j] times input sample base[b] + k * channels + lane[b * 16 + j]. */
struct gf_resample_lanes {
    int vectors, taps, channels;
    int *base;
    unsigned char *lane;
    float *weight;
    int *from; /* index in the column table of the first weight of each lane's pixel */
};

/* Computes 1..GF_RESAMPLE_LINES rows of the first pass from as many input rows of `samples` bytes.
 * Results are clamped to 0..max; up to 15 floats after a row are overwritten. */
GF_X86_ONLY void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                                        const unsigned char *const *rows, int count, size_t samples,
                                        float max, float *const *out);

/* Computes the second pass: the sum of rows times their weights, in order, rounded to bytes. Up to
 * 63 floats after a row are read. */
GF_X86_ONLY void gf_resample_lanes_sum(const float *const *rows, const float *weight, int count,
                                       size_t samples, unsigned char *to);

/* The nearest kernel for pixels of one byte: result i is byte start[i] of a row.
 * gf_resample_picks_fill() fills base and lane of `lanes`, and returns false if the inputs of lanes
 * are too far apart. */
GF_X86_ONLY bool gf_resample_picks_fill(struct gf_resample_lanes *lanes, const int *start,
                                        int count);
GF_X86_ONLY void gf_resample_picks_row(const struct gf_resample_lanes *lanes,
                                       const unsigned char *row, int bytes, int count,
                                       unsigned char *to);

enum { REACH = 64, PICKED = 64 }; /* bytes from which the lanes select */

/* Whether the inputs of a vector's lanes are close enough together. */
static bool resample_lanes_fit(const struct gf_resample_axis *columns, struct gf_format in)
{
    /* The distance between the pixels of a vector's first and last lane is at most 15 / channels
     * results. */
    const double apart = ceil((GF_RESAMPLE_LANES - 1) / in.channels * columns->scale);
    return in.bits == 8 && (apart + 1) * in.channels <= REACH;
}

/* The lanes after the last sample may hold any values. */
static void fill_lanes(const struct gf_resample_lanes *lanes, const struct gf_resample *resample)
{
    const int *const start = gf_resample_ints(resample, resample->columns.start);
    const int channels = lanes->channels, taps = lanes->taps, out = resample->column_axis.out;
    int pixel = 0, channel = 0;
    for (int b = 0; b < lanes->vectors; b++) {
        unsigned char *const lane = lanes->lane + (size_t)b * GF_RESAMPLE_LANES;
        int *const from = lanes->from + (size_t)b * GF_RESAMPLE_LANES;
        const int base = start[pixel] * channels;
        lanes->base[b] = base;
        for (int i = 0; i < GF_RESAMPLE_LANES; i++) {
            from[i] = pixel * taps;
            lane[i] = (unsigned char)(start[pixel] * channels + channel - base);
            channel++;
            if (channel == channels && pixel + 1 < out) {
                channel = 0;
                pixel++;
            }
        }
    }
}

GF_TARGET_CLONES static void fill_weights(const struct gf_resample_lanes *lanes,
                                          const float *restrict weights, float *restrict to)
{
    for (int b = 0; b < lanes->vectors; b++) {
        const int *const from = lanes->from + (size_t)b * GF_RESAMPLE_LANES;
        for (int k = 0; k < lanes->taps; k++, to += GF_RESAMPLE_LANES)
            for (int i = 0; i < GF_RESAMPLE_LANES; i++)
                to[i] = weights[from[i] + k];
    }
}

/* Fills the arrays of `lanes`, which the caller has allocated. */
static void resample_lanes_fill(struct gf_resample_lanes *lanes, const struct gf_resample *resample)
{
    const int samples = resample->column_axis.out * lanes->channels;
    lanes->taps = resample->columns.taps;
    lanes->vectors = (samples + GF_RESAMPLE_LANES - 1) / GF_RESAMPLE_LANES;
    fill_lanes(lanes, resample);
    fill_weights(lanes, gf_resample_floats(resample, resample->columns.weight), lanes->weight);
}

#if GF_X86

/* Loads `count` bytes and fills the vector with zeros. */
GF_VBMI GF_INLINE __m512i load_part(const unsigned char *from, ptrdiff_t count)
{
    return _mm512_maskz_loadu_epi8(gf_first_bits(count < 0 ? 0 : (uint64_t)count), from);
}

/* Computes vectors first .. end - 1 of `count` rows. `inside` says that the 64 bytes of all these
 * vectors are inside the rows. Each caller passes constants for `count` and `inside`. */
GF_VBMI GF_INLINE void make_vectors(const struct gf_resample_lanes *lanes, int first, int end,
                                    const int count, const bool inside,
                                    const unsigned char *const *rows, size_t samples, float max,
                                    float *const *out)
{
    const __m512 most = _mm512_set1_ps(max);
    const int taps = lanes->taps;
    for (int b = first; b < end; b++) {
        const __m512i lane = _mm512_cvtepu8_epi32(
            _mm_loadu_si128((const void *)(lanes->lane + (size_t)b * GF_RESAMPLE_LANES)));
        const float *weight = lanes->weight + (size_t)b * (size_t)taps * GF_RESAMPLE_LANES;
        ptrdiff_t at = lanes->base[b];
        __m512 sum[GF_RESAMPLE_LINES];
        for (int i = 0; i < count; i++)
            sum[i] = _mm512_setzero_ps();
        for (int k = 0; k < taps; k++, at += lanes->channels, weight += GF_RESAMPLE_LANES) {
            const __m512 w = _mm512_loadu_ps(weight);
            for (int i = 0; i < count; i++) {
                const __m512i bytes = inside ? _mm512_loadu_si512(rows[i] + at)
                                             : load_part(rows[i] + at, (ptrdiff_t)samples - at);
                const __m512i picked =
                    _mm512_maskz_permutexvar_epi8(0x1111111111111111, lane, bytes);
                sum[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(picked), w, sum[i]);
            }
        }
        for (int i = 0; i < count; i++)
            _mm512_storeu_ps(out[i] + (size_t)b * GF_RESAMPLE_LANES,
                             _mm512_min_ps(_mm512_max_ps(sum[i], _mm512_setzero_ps()), most));
    }
}

GF_VBMI GF_INLINE void make_lines(const struct gf_resample_lanes *lanes, int inside,
                                  const int count, const unsigned char *const *rows, size_t samples,
                                  float max, float *const *out)
{
    make_vectors(lanes, 0, inside, count, true, rows, samples, max, out);
    make_vectors(lanes, inside, lanes->vectors, count, false, rows, samples, max, out);
}

GF_VBMI void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                                    const unsigned char *const *rows, int count, size_t samples,
                                    float max, float *const *out)
{
    const ptrdiff_t reach = (ptrdiff_t)(lanes->taps - 1) * lanes->channels + REACH;
    int inside = lanes->vectors;
    while (inside && lanes->base[inside - 1] + reach > (ptrdiff_t)samples)
        inside--;
    if (count == GF_RESAMPLE_LINES) {
        make_lines(lanes, inside, GF_RESAMPLE_LINES, rows, samples, max, out);
        return;
    }
    for (int i = 0; i < count; i++)
        make_lines(lanes, inside, 1, rows + i, samples, max, out + i);
}
/* Computes samples x .. x + 63 of the second pass. Packing to bytes clamps them to 0..255. */
GF_VBMI GF_INLINE __m512i sum_64(const float *const *rows, const float *weight, int count, size_t x)
{
    enum { PARTS = 4 };
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512 sum[PARTS];
    __m512i whole[PARTS];
    for (int i = 0; i < PARTS; i++)
        sum[i] = _mm512_setzero_ps();
    for (int k = 0; k < count; k++) {
        const __m512 w = _mm512_set1_ps(weight[k]);
        for (int i = 0; i < PARTS; i++)
            sum[i] = _mm512_add_ps(sum[i], _mm512_mul_ps(_mm512_loadu_ps(rows[k] + x + 16 * i), w));
    }
    for (int i = 0; i < PARTS; i++)
        whole[i] = _mm512_cvttps_epi32(_mm512_add_ps(sum[i], _mm512_set1_ps(0.5f)));
    return _mm512_permutexvar_epi32(order,
                                    _mm512_packus_epi16(_mm512_packus_epi32(whole[0], whole[1]),
                                                        _mm512_packus_epi32(whole[2], whole[3])));
}

GF_VBMI void gf_resample_lanes_sum(const float *const *rows, const float *weight, int count,
                                   size_t samples, unsigned char *to)
{
    size_t x = 0;
    for (; x + 64 <= samples; x += 64)
        _mm512_storeu_si512(to + x, sum_64(rows, weight, count, x));
    if (x < samples)
        _mm512_mask_storeu_epi8(to + x, gf_first_bits(samples - x), sum_64(rows, weight, count, x));
}
/* Finds for each of 64 lanes which of 128 bytes it selects. */
bool gf_resample_picks_fill(struct gf_resample_lanes *lanes, const int *start, int count)
{
    lanes->vectors = (count + PICKED - 1) / PICKED;
    for (int i = 0; i < count; i++) {
        const int base = start[i / PICKED * PICKED];
        if (start[i] - base >= 2 * REACH)
            return false;
        lanes->base[i / PICKED] = base;
        lanes->lane[i] = (unsigned char)(start[i] - base);
    }
    return true;
}

GF_VBMI void gf_resample_picks_row(const struct gf_resample_lanes *lanes, const unsigned char *row,
                                   int bytes, int count, unsigned char *to)
{
    for (int b = 0; b < lanes->vectors; b++, to += PICKED) {
        const unsigned char *const from = row + lanes->base[b];
        const ptrdiff_t there = bytes - lanes->base[b];
        const int left = count - b * PICKED;
        const __mmask64 lanes_left = gf_first_bits((uint64_t)left);
        const __m512i lane = _mm512_maskz_loadu_epi8(lanes_left, lanes->lane + b * PICKED);
        const __m512i picked = _mm512_permutex2var_epi8(load_part(from, there), lane,
                                                        load_part(from + REACH, there - REACH));
        if (left < PICKED)
            _mm512_mask_storeu_epi8(to, lanes_left, picked);
        else
            _mm512_storeu_si512(to, picked);
    }
}
#endif

/* Computes means of 2 x 2, 4 x 4 or 8 x 8 pixels of 8 bits in integers. The weights of the area
 * kernel are powers of two in this case, so that its float sums are exact, too, and only the result
 * is rounded. */

#if GF_X86

/* Adds neighbouring sums of `count` pixels in place: two vectors become one vector. Returns the
 * number of pixels that whole vectors computed. */
GF_AVX512 static int halve_simd(uint16_t *sums, int count, int channels)
{
    const int each = 32 / channels, step = each * channels;
    uint16_t order[32] = {0};
    for (int i = 0; i < step; i++)
        order[i] = (uint16_t)(2 * channels * (i / channels) + i % channels);
    const __m512i even = _mm512_loadu_si512(order);
    const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16((short)channels));
    int done = 0;
    for (; 2 * (count - done) * channels >= 64; done += each) {
        const uint16_t *const from = sums + (ptrdiff_t)2 * done * channels;
        const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 32);
        const __m512i sum = _mm512_add_epi16(_mm512_permutex2var_epi16(low, even, high),
                                             _mm512_permutex2var_epi16(low, odd, high));
        /* This store overwrites only sums that have been read. */
        _mm512_storeu_si512(sums + (ptrdiff_t)done * channels, sum);
    }
    return done;
}

/* Returns the means of two pixels in each of two rows, with 16 bits each. The bytes of the two
 * pixels are neighbours. */
GF_VBMI GF_INLINE __m512i means_of_pairs(__m512i above, __m512i below)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i sum =
        _mm512_add_epi16(_mm512_maddubs_epi16(above, ones), _mm512_maddubs_epi16(below, ones));
    return _mm512_srli_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(2)), 2);
}

/* Halves a gray row once. The pixels to add are neighbouring bytes. */
GF_VBMI static void halve_once_gray(const unsigned char *a, const unsigned char *b, int count,
                                    unsigned char *row)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    int x = 0;
    for (; x + 64 <= count; x += 64) {
        const __m512i low =
            means_of_pairs(_mm512_loadu_si512(a + 2 * x), _mm512_loadu_si512(b + 2 * x));
        const __m512i high =
            means_of_pairs(_mm512_loadu_si512(a + 2 * x + 64), _mm512_loadu_si512(b + 2 * x + 64));
        _mm512_storeu_si512(row + x,
                            _mm512_permutexvar_epi64(order, _mm512_packus_epi16(low, high)));
    }
    for (; x < count; x += 32) {
        const __mmask64 read = gf_first_bits(2 * (uint64_t)(count - x));
        const __m512i mean = means_of_pairs(_mm512_maskz_loadu_epi8(read, a + 2 * x),
                                            _mm512_maskz_loadu_epi8(read, b + 2 * x));
        _mm512_mask_storeu_epi8(row + x, gf_first_bits((uint64_t)(count - x)) & 0xffffffff,
                                _mm512_castsi256_si512(_mm512_cvtepi16_epi8(mean)));
    }
}

/* Halves a row of several channels once. A permutation makes the bytes to add neighbours. */
GF_VBMI static void halve_once_colour(const unsigned char *a, const unsigned char *b, int count,
                                      int channels, unsigned char *row)
{
    const ptrdiff_t each = 32 / channels * channels, samples = (ptrdiff_t)count * channels;
    unsigned char order[64] = {0};
    for (int i = 0; i < each; i++) {
        const int left = 2 * i - i % channels;
        order[2 * i] = (unsigned char)left;
        order[2 * i + 1] = (unsigned char)(left + channels);
    }
    const __m512i pairs = _mm512_loadu_si512(order);
    ptrdiff_t i = 0;
    for (; samples - i >= 32; i += each) {
        const __m512i above = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(a + 2 * i));
        const __m512i below = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(b + 2 * i));
        _mm256_storeu_si256((void *)(row + i), _mm512_cvtepi16_epi8(means_of_pairs(above, below)));
    }
    for (; i < samples; i += each) {
        const __mmask64 read = gf_first_bits(2 * (uint64_t)(samples - i));
        const __m512i above =
            _mm512_permutexvar_epi8(pairs, _mm512_maskz_loadu_epi8(read, a + 2 * i));
        const __m512i below =
            _mm512_permutexvar_epi8(pairs, _mm512_maskz_loadu_epi8(read, b + 2 * i));
        _mm512_mask_storeu_epi8(
            row + i, gf_first_bits((uint64_t)(samples - i)) & gf_first_bits((uint64_t)each),
            _mm512_castsi256_si512(_mm512_cvtepi16_epi8(means_of_pairs(above, below))));
    }
}

static void halve_once(const unsigned char *a, const unsigned char *b, int count, int channels,
                       unsigned char *row)
{
    if (channels == 1)
        halve_once_gray(a, b, count, row);
    else
        halve_once_colour(a, b, count, channels, row);
}
#endif

/* Adds the sums of pixels 2 i and 2 i + 1 for `count` results. */
static void halve(uint16_t *sums, int count, int channels)
{
    int x = 0;
#if GF_X86
    if (gf_cpu_has(GF_CPU_AVX512))
        x = halve_simd(sums, count, channels);
#endif
    for (; x < count; x++) {
        for (int c = 0; c < channels; c++) {
            const uint16_t *const from = sums + (ptrdiff_t)2 * x * channels + c;
            sums[(ptrdiff_t)x * channels + c] = (uint16_t)(from[0] + from[channels]);
        }
    }
}

GF_TARGET_CLONES static void begin_sums(const unsigned char *restrict a,
                                        const unsigned char *restrict b, size_t count,
                                        uint16_t *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = (uint16_t)(a[i] + b[i]);
}

GF_TARGET_CLONES static void add_row_pair(const unsigned char *restrict a,
                                          const unsigned char *restrict b, size_t count,
                                          uint16_t *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = (uint16_t)(sums[i] + a[i] + b[i]);
}

GF_TARGET_CLONES static void finish(const uint16_t *restrict sums, int bits, size_t count,
                                    unsigned char *restrict row)
{
    const uint16_t half = (uint16_t)(1u << (bits - 1));
    for (size_t i = 0; i < count; i++)
        row[i] = (unsigned char)((uint16_t)(sums[i] + half) >> bits);
}

static int halvings_of(const struct gf_resample_axis *axis)
{
    for (int n = 1; n <= 3; n++) {
        if (axis->scale == 1 << n && axis->offset == 0 && axis->in == axis->out << n)
            return n;
    }
    return 0;
}

/* Returns how often both sides of a picture are halved, 1..3, if each result is the mean of whole
 * 8-bit pixels; otherwise 0. */
static int resample_halvings(const struct gf_resample *resample, struct gf_format format)
{
    const int n = halvings_of(&resample->column_axis);
    const bool takes = resample->kernel == GF_RESAMPLE_AREA && !resample->linear &&
                       format.bits == 8 && n == halvings_of(&resample->row_axis);
    return takes ? n : 0;
}

/* Computes rows of such a result; `sums` has room for an input row. */
static void resample_halve(int halvings, const struct gf_view *in, const struct gf_view *out,
                           uint16_t *sums)
{
    const size_t samples = gf_samples(in->format);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const int first = y << halvings;
#if GF_X86
        if (halvings == 1 && gf_cpu_has(GF_CPU_VBMI)) {
            halve_once(gf_view_row(in, first), gf_view_row(in, first + 1), out->format.width,
                       out->format.channels, gf_view_row(out, y));
            continue;
        }
#endif
        begin_sums(gf_view_row(in, first), gf_view_row(in, first + 1), samples, sums);
        for (int i = 2; i < 1 << halvings; i += 2)
            add_row_pair(gf_view_row(in, first + i), gf_view_row(in, first + i + 1), samples, sums);
        for (int n = 1; n <= halvings; n++)
            halve(sums, in->format.width >> n, in->format.channels);
        finish(sums, 2 * halvings, gf_samples(out->format), gf_view_row(out, y));
    }
}

typedef float vector __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16)));
typedef float long_vector __attribute__((vector_size(64)));
enum { LANES = 4, CHUNK = 64 };

struct work {
    const struct gf_resample *resample;
    struct gf_format in, out;
    float *source; /* one input row, with room for a vector after it */
    float *slots;  /* input rows after the first pass, with the same room */
    size_t slot;   /* floats of a slot */
    int slot_count;
    const float **rows; /* the rows for one result row */
    float *sums;        /* one result row */
    bool has_lanes;
    struct gf_resample_lanes lanes;
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage,
                    enum gf_resample_kernel kernel, bool linear,
                    const struct gf_resample_axis *columns, const struct gf_resample_axis *rows)
{
    struct gf_carver carver = {.base = base};
    *work = (struct work){.resample = stage->constants, .in = stage->in, .out = stage->out};
    work->slot = (gf_samples(stage->out) + LANES + CHUNK - 1) / CHUNK * CHUNK;
    work->slot_count = gf_resample_taps_most(kernel, rows) + GF_RESAMPLE_LINES - 1;
    work->source = gf_carve(&carver, (gf_samples(stage->in) + LANES) * sizeof(float));
    work->slots = gf_carve(&carver, (size_t)work->slot_count * work->slot * sizeof(float));
    work->rows = gf_carve(&carver, (size_t)work->slot_count * sizeof *work->rows);
    work->sums = gf_carve(&carver, work->slot * sizeof(float));
    if (!linear && resample_lanes_fit(columns, stage->in)) {
        work->has_lanes = gf_cpu_has(GF_CPU_VBMI);
        const size_t taps = (size_t)gf_resample_taps_most(kernel, columns);
        work->lanes.channels = stage->in.channels;
        work->lanes.base = gf_carve(&carver, work->slot / GF_RESAMPLE_LANES * sizeof(int));
        work->lanes.lane = gf_carve(&carver, work->slot);
        work->lanes.from = gf_carve(&carver, work->slot * sizeof(int));
        work->lanes.weight = gf_carve(&carver, work->slot * taps * sizeof(float));
    }
    return carver.used;
}

size_t gf_resample_scratch(const struct gf_stage *stage, enum gf_resample_kernel kernel,
                           bool linear, const struct gf_resample_axis *columns,
                           const struct gf_resample_axis *rows)
{
    struct work work;
    linear = linear && kernel != GF_RESAMPLE_NEAREST; /* like gf_resample_prepare() */
    return carve(&work, NULL, stage, kernel, linear, columns, rows);
}

static void to_light(const unsigned char *row, struct gf_format format, const float *decode,
                     float *floats)
{
    const gf_u16_any *const wide = (const gf_u16_any *)row;
    const bool is_wide = format.bits == 16, has_alpha = gf_has_alpha(format);
    const size_t count = gf_samples(format), channels = (size_t)format.channels;
    const uint32_t max = is_wide ? 65535 : 255;
    for (size_t i = 0; i < count; i += channels) {
        const size_t last = i + channels - 1;
        const uint32_t alpha = is_wide ? wide[last] : row[last];
        for (size_t c = i; c <= last; c++) {
            const uint32_t v = is_wide ? wide[c] : row[c];
            if (!has_alpha)
                floats[c] = decode[v];
            else
                floats[c] = c < last ? gf_resample_decode_premultiplied(v, alpha, max, decode)
                                     : (float)alpha / (float)max;
        }
    }
}

/* Computes a row of the result's width from an input row. A vector holds one pixel. Its unused
 * lanes overwrite the start of the next pixel, which is computed later. */
GF_TARGET_CLONES static void add_columns(const struct gf_resample *resample, const float *source,
                                         int channels, float max, float *restrict out)
{
    const struct gf_resample_table *const table = &resample->columns;
    const int *const start = gf_resample_ints(resample, table->start);
    const int *const count = gf_resample_ints(resample, table->count);
    const float *weight = gf_resample_floats(resample, table->weight);
    const vector most = {max, max, max, max};
    for (int i = 0; i < resample->column_axis.out; i++, weight += table->taps) {
        const float *from = source + (size_t)start[i] * (size_t)channels;
        vector sum = {0};
        for (int k = 0; k < count[i]; k++, from += channels) {
            vector v;
            memcpy(&v, from, sizeof v);
            sum += v * weight[k];
        }
        sum = (vector)((mask)sum & (sum > 0.0f));
        const mask over = sum > most;
        sum = (vector)(((mask)most & over) | ((mask)sum & ~over));
        memcpy(out + (size_t)i * (size_t)channels, &sum, sizeof sum);
    }
}

/* Computes the weighted sum of rows in their order. The sum's vectors stay in registers. */
GF_TARGET_CLONES static void add_rows(const float *const *rows, const float *weight, int count,
                                      size_t samples, float *restrict sums)
{
    enum { EACH = sizeof(long_vector) / sizeof(float) };
    for (size_t x = 0; x < samples; x += CHUNK) {
        long_vector sum[CHUNK / EACH] = {0};
        for (int k = 0; k < count; k++) {
            const float *const from = rows[k] + x, w = weight[k];
            for (size_t i = 0; i < CHUNK / EACH; i++) {
                long_vector v;
                memcpy(&v, from + i * EACH, sizeof v);
                sum[i] += v * w;
            }
        }
        memcpy(sums + x, sum, sizeof sum);
    }
}

static float *slot(const struct work *work, int row)
{
    return work->slots + (size_t)(row % work->slot_count) * work->slot;
}

static void make_slot(const struct work *work, const unsigned char *samples, float *to)
{
    const struct gf_resample *const resample = work->resample;
    if (resample->linear)
        to_light(samples, work->in, gf_resample_floats(resample, resample->decode), work->source);
    else
        gf_samples_to_floats(samples, work->in.bits, gf_samples(work->in), work->source);
    memset(work->source + gf_samples(work->in), 0, LANES * sizeof(float));
    add_columns(resample, work->source, work->in.channels,
                gf_resample_most(resample, work->in.bits), to);
}

/* Computes the slots of input rows first .. first + count - 1. `count` is at most
 * GF_RESAMPLE_LINES. */
static void make_slots(const struct work *work, const struct gf_view *in, int first, int count)
{
    const unsigned char *rows[GF_RESAMPLE_LINES];
    float *slots[GF_RESAMPLE_LINES];
    for (int i = 0; i < count; i++) {
        rows[i] = gf_view_row(in, first + i);
        slots[i] = slot(work, first + i);
    }
    if (work->has_lanes)
        gf_resample_lanes_rows(&work->lanes, rows, count, gf_samples(work->in),
                               gf_resample_most(work->resample, work->in.bits), slots);
    else
        for (int i = 0; i < count; i++)
            make_slot(work, rows[i], slots[i]);
}

/* Converts linear light to unrounded samples in place. */
GF_TARGET_CLONES static void encode(float *sums, size_t count, float max)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = gf_resample_encode(sums[i]) * max;
}

GF_TARGET_CLONES static void encode_premultiplied(float *sums, struct gf_format format, float max)
{
    const size_t count = gf_samples(format), channels = (size_t)format.channels;
    for (size_t i = 0; i < count; i += channels) {
        float *const alpha = &sums[i + channels - 1];
        for (size_t c = i; &sums[c] < alpha; c++)
            sums[c] = gf_resample_encode_premultiplied(sums[c], *alpha) * max;
        *alpha *= max;
    }
}

/* Computes a result row from the first `count` rows of work->rows. */
static void finish_row(const struct work *work, const float *weight, int count, unsigned char *row)
{
    const struct gf_format format = work->out;
    const float max = (float)gf_sample_max(format);
    if (work->has_lanes) {
        gf_resample_lanes_sum(work->rows, weight, count, gf_samples(format), row);
        return;
    }
    add_rows(work->rows, weight, count, gf_samples(format), work->sums);
    if (work->resample->linear && gf_has_alpha(format))
        encode_premultiplied(work->sums, format, max);
    else if (work->resample->linear)
        encode(work->sums, gf_samples(format), max);
    gf_floats_to_samples(work->sums, format.bits, gf_samples(format), row);
}

static void weigh(const struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    const struct gf_resample_table *const table = &work->resample->rows;
    const int *const start = gf_resample_ints(work->resample, table->start);
    const int *const count = gf_resample_ints(work->resample, table->count);
    const float *const weights = gf_resample_floats(work->resample, table->weight);
    const int last = out->y + out->rows - 1, needed = start[last] + count[last];
    int made = start[out->y]; /* earlier rows are in slots, if they are still needed */
    for (int y = out->y; y <= last; y++) {
        if (made < start[y])
            made = start[y];
        while (made < start[y] + count[y]) {
            const int left = needed - made;
            const int lines = left < GF_RESAMPLE_LINES ? left : GF_RESAMPLE_LINES;
            make_slots(work, in, made, lines);
            made += lines;
        }
        for (int k = 0; k < count[y]; k++)
            work->rows[k] = slot(work, start[y] + k);
        finish_row(work, weights + (size_t)y * (size_t)table->taps, count[y], gf_view_row(out, y));
    }
}

/* Copies the nearest pixels. The function is inlined, so that the size is a constant. */
GF_INLINE void gather(size_t size, const unsigned char *row, const int *start, int count,
                      unsigned char *to)
{
    for (int i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, row + (size_t)start[i] * size, size);
}

static void pick_row(const struct gf_resample *resample, struct gf_format format,
                     const unsigned char *row, unsigned char *to)
{
    const int *const start = gf_resample_ints(resample, resample->columns.start);
    GF_BY_PIXEL_BYTES(format.channels * format.bits / 8, SIZE,
                      gather(SIZE, row, start, format.width, to));
}

static void pick(struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    const struct gf_resample *const resample = work->resample;
    const int *const columns = gf_resample_ints(resample, resample->columns.start);
    const int *const rows = gf_resample_ints(resample, resample->rows.start);
    const int width = out->format.width;
    const bool has_picks = work->has_lanes && work->in.channels == 1 &&
                           gf_resample_picks_fill(&work->lanes, columns, width);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const row = gf_view_row(in, rows[y]);
        if (has_picks)
            gf_resample_picks_row(&work->lanes, row, work->in.width, width, gf_view_row(out, y));
        else
            pick_row(resample, out->format, row, gf_view_row(out, y));
    }
}

void gf_resample_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_resample *const resample = stage->constants;
    const int halvings = resample_halvings(resample, stage->in);
    struct work work;
    carve(&work, scratch, stage, resample->kernel, resample->linear, &resample->column_axis,
          &resample->row_axis);
    if (resample->kernel == GF_RESAMPLE_NEAREST) {
        pick(&work, in, out);
    } else if (halvings) {
        resample_halve(halvings, in, out, (uint16_t *)(void *)work.source);
    } else {
        if (work.has_lanes)
            resample_lanes_fill(&work.lanes, resample);
        weigh(&work, in, out);
    }
}
