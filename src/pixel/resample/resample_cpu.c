/* Resizes on the CPU: with vectors for 8 bits, by halving, and in floats. */
#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "pixel/point/point_floats.h"
#include "pixel/resample/resample.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

/* Both passes for 8-bit samples with vectors. */

/* The columns' inputs and weights, arranged for vectors of `each` lanes. Lane j of vector b, in
 * group g of lanes, is the sum over k < taps of weight[(b * taps + k) * each + j] times input
 * sample base[g] + k * channels + lane[b * each + j]. The inputs of a group's lanes come from one
 * group of bytes (base/vec.h). */
struct lanes {
    int vectors, taps, channels, each;
    int *base;
    unsigned char *lane;
    float *weight;
    int *from; /* for each lane, where the weights of its pixel begin in the table of columns */
};

enum {
    LINES = 4, /* the rows that are computed together */
    /* Bytes for the end of a row that the last vectors read, and for zeros behind it. */
    END_ROOM = 1024,
    REACH = 64, /* the bytes among which the widest vectors select */
    PICKED = 64
};

#define VEC_BYTES 16
#include "pixel/resample/resample_vec.h"
#if GF_X86
#define VEC_BYTES 32
#include "pixel/resample/resample_vec.h"
#define VEC_BYTES 64
#include "pixel/resample/resample_vec.h"
#endif

/* The functions for vectors of one width. */
struct vectors {
    int lanes, group; /* how many lanes a vector has, and a group of them */
    /* Computes 1..LINES rows of the first pass from as many input rows of `samples` bytes. Results
     * are clamped to 0..max; up to 15 floats after a row are overwritten. */
    void (*rows)(const struct lanes *lanes, const unsigned char *const *rows, int count,
                 size_t samples, float max, float *const *out);
    /* Computes the second pass: the sum of rows times their weights, in order, rounded to bytes. Up
     * to 63 floats after a row are read. */
    void (*sum)(const float *const *rows, const float *weight, int count, size_t samples,
                unsigned char *to);
    /* Computes `count` means of 2 x 2 pixels in rows a and b: a row that is half as wide. */
    void (*halve_once)(const unsigned char *a, const unsigned char *b, int count, int channels,
                       unsigned char *row);
    /* Adds each two neighbouring pixels of a row of sums, in place, for `count` results. Returns
     * how many it has made; the caller makes the rest. */
    int (*halve)(uint16_t *sums, int count, int channels);
};

/* Returns the functions for the widest vectors of this processor, or NULL. */
static const struct vectors *find_vectors(void)
{
#define VECTORS(bytes, group) \
    { \
        (bytes) / 4, group, lanes_rows_##bytes, lanes_sum_##bytes, halve_once_##bytes, \
            halve_##bytes \
    }
    static const struct vectors vectors_16 = VECTORS(16, 4);
#if GF_X86
    static const struct vectors vectors_32 = VECTORS(32, 4), vectors_64 = VECTORS(64, 16);
    if (gf_vec_bytes() >= 32)
        return gf_vec_bytes() == 32 ? &vectors_32 : &vectors_64;
#endif
    return gf_vec_bytes() ? &vectors_16 : NULL;
}

/* Whether the inputs of a group's lanes are close enough together for one group of bytes. */
static bool lanes_fit(const struct gf_resample_axis *columns, struct gf_format in, int group,
                      int taps)
{
    /* The pixels of a group's first and last lane are at most (group - 1) / channels apart in the
     * result. */
    const double apart = ceil((group - 1) / in.channels * columns->scale);
    return in.bits == 8 && (apart + 1) * in.channels <= 4 * group &&
           2 * (taps * in.channels + REACH) <= END_ROOM;
}

/* Finds lanes->base and lanes->lane: where each lane's input lies. Lanes behind the last sample may
 * have any values. */
static void fill_lanes(const struct lanes *lanes, const struct gf_resample *resample, int group)
{
    const int *const start = gf_resample_ints(resample, resample->columns.start);
    const int channels = lanes->channels, taps = lanes->taps, out = resample->column_axis.out;
    const int groups = lanes->vectors * lanes->each / group;
    int pixel = 0, channel = 0, *from = lanes->from;
    unsigned char *lane = lanes->lane;
    for (int g = 0; g < groups; g++, lane += group, from += group) {
        const int base = start[pixel] * channels;
        lanes->base[g] = base;
        for (int i = 0; i < group; i++) {
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

GF_INLINE void gather_weights(const struct lanes *lanes, const int each,
                              const float *restrict weights, float *restrict to)
{
    for (int b = 0; b < lanes->vectors; b++) {
        const int *const from = lanes->from + (size_t)b * (size_t)each;
        for (int k = 0; k < lanes->taps; k++, to += each)
            for (int i = 0; i < each; i++)
                to[i] = weights[from[i] + k];
    }
}

GF_TARGET_CLONES static void fill_weights(const struct lanes *lanes, const float *weights,
                                          float *to)
{
    switch (lanes->each) {
        GF_CASE_(4, EACH, gather_weights(lanes, EACH, weights, to))
        GF_CASE_(8, EACH, gather_weights(lanes, EACH, weights, to))
        GF_CASE_(16, EACH, gather_weights(lanes, EACH, weights, to))
    }
}

/* Fills in the arrays of `lanes`, which are allocated. */
static void resample_lanes_fill(struct lanes *lanes, const struct gf_resample *resample,
                                const struct vectors *vectors)
{
    const int samples = resample->column_axis.out * lanes->channels;
    lanes->taps = resample->columns.taps;
    lanes->each = vectors->lanes;
    lanes->vectors = (samples + lanes->each - 1) / lanes->each;
    fill_lanes(lanes, resample, vectors->group);
    fill_weights(lanes, gf_resample_floats(resample, resample->columns.weight), lanes->weight);
}

/* Means of 2 x 2, 4 x 4 or 8 x 8 pixels of 8 bits, in integers. The area kernel's weights are then
 * powers of two, so that its sums as floats are exact, too, and only the result is rounded. */

/* Adds the sums of pixels 2 i and 2 i + 1 to pixel i, for `count` results. */
static void halve(uint16_t *sums, int count, int channels)
{
    const struct vectors *const vectors = find_vectors();
    for (int x = vectors ? vectors->halve(sums, count, channels) : 0; x < count; x++) {
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
 * 8-bit pixels by the area kernel; otherwise 0. */
static int resample_halvings(const struct gf_resample *resample, struct gf_format format)
{
    const int n = halvings_of(&resample->column_axis);
    const bool takes = resample->kernel == GF_RESAMPLE_AREA && !resample->linear &&
                       format.bits == 8 && n == halvings_of(&resample->row_axis);
    return takes ? n : 0;
}

/* Computes rows of a picture whose sides are halved `halvings` times; `sums` has room for an input
 * row. */
static void resample_halve(int halvings, const struct gf_view *in, const struct gf_view *out,
                           uint16_t *sums)
{
    const struct vectors *const vectors = find_vectors();
    const size_t samples = gf_samples(in->format);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const int first = y << halvings;
        if (halvings == 1 && vectors) {
            vectors->halve_once(gf_view_row(in, first), gf_view_row(in, first + 1),
                                out->format.width, out->format.channels, gf_view_row(out, y));
            continue;
        }
        begin_sums(gf_view_row(in, first), gf_view_row(in, first + 1), samples, sums);
        for (int i = 2; i < 1 << halvings; i += 2)
            add_row_pair(gf_view_row(in, first + i), gf_view_row(in, first + i + 1), samples, sums);
        for (int n = 1; n <= halvings; n++)
            halve(sums, in->format.width >> n, in->format.channels);
        finish(sums, 2 * halvings, gf_samples(out->format), gf_view_row(out, y));
    }
}

int gf_resample_halve_once(const unsigned char *a, const unsigned char *b, int count, int channels,
                           unsigned char *row)
{
    const struct vectors *const vectors = find_vectors();
    if (vectors)
        vectors->halve_once(a, b, count, channels, row);
    return vectors ? count : 0;
}

typedef float vector __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16)));
typedef float long_vector __attribute__((vector_size(64)));
enum { LANES = 4, CHUNK = 64 };

struct work {
    const struct gf_resample *resample;
    struct gf_format in, out;
    float *source; /* one input row, with room for a vector after it */
    float *slots;  /* input rows after the first pass, with room for a vector after each */
    size_t slot;   /* the floats from one slot to the next */
    int slot_count;
    const float **rows;            /* the slots of the rows that a result row is the sum of */
    float *sums;                   /* a result row before rounding */
    const struct vectors *vectors; /* NULL: no vectors are used */
    struct lanes lanes;
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage,
                    enum gf_resample_kernel kernel, bool linear,
                    const struct gf_resample_axis *columns, const struct gf_resample_axis *rows)
{
    struct gf_carver carver = {.base = base};
    *work = (struct work){.resample = stage->constants, .in = stage->in, .out = stage->out};
    work->slot = (gf_samples(stage->out) + LANES + CHUNK - 1) / CHUNK * CHUNK;
    work->slot_count = gf_resample_taps_most(kernel, rows) + LINES - 1;
    work->source = gf_carve(&carver, (gf_samples(stage->in) + LANES) * sizeof(float));
    work->slots = gf_carve(&carver, (size_t)work->slot_count * work->slot * sizeof(float));
    work->rows = gf_carve(&carver, (size_t)work->slot_count * sizeof *work->rows);
    work->sums = gf_carve(&carver, work->slot * sizeof(float));
    const struct vectors *const vectors = find_vectors();
    const int taps = gf_resample_taps_most(kernel, columns);
    if (vectors && !linear && lanes_fit(columns, stage->in, vectors->group, taps)) {
        work->vectors = vectors;
        work->lanes.channels = stage->in.channels;
        work->lanes.base = gf_carve(&carver, work->slot / (size_t)vectors->group * sizeof(int));
        work->lanes.lane = gf_carve(&carver, work->slot);
        work->lanes.from = gf_carve(&carver, work->slot * sizeof(int));
        work->lanes.weight = gf_carve(&carver, work->slot * (size_t)taps * sizeof(float));
    }
    return carver.used;
}

size_t gf_resample_scratch(const struct gf_stage *stage, enum gf_resample_kernel kernel,
                           bool linear, const struct gf_resample_axis *columns,
                           const struct gf_resample_axis *rows)
{
    struct work work;
    linear = linear && kernel != GF_RESAMPLE_NEAREST; /* as gf_resample_prepare() decides */
    return carve(&work, NULL, stage, kernel, linear, columns, rows);
}

/* Convert a row of floats to linear light and back. Colours that alpha has multiplied are divided
 * by it before, and multiplied after. */
static void convert_light(float (*of)(float v), const float *row, struct gf_format format,
                          float *floats)
{
    const size_t count = gf_samples(format), channels = (size_t)format.channels;
    for (size_t i = 0; i < count; i += channels) {
        const size_t last = i + channels - 1;
        const float alpha = row[last];
        for (size_t c = i; c <= last; c++) {
            if (!gf_has_alpha(format))
                floats[c] = of(row[c]);
            else
                floats[c] = c == last || alpha == 0.0f ? row[c] : of(row[c] / alpha) * alpha;
        }
    }
}

static void floats_to_light(const float *row, struct gf_format format, float *floats)
{
    convert_light(gf_float_decode, row, format, floats);
}

static void to_light(const unsigned char *row, struct gf_format format, const float *decode,
                     float *floats)
{
    const gf_u16_any *const wide = (const gf_u16_any *)row;
    const bool is_wide = format.bits == 16, has_alpha = gf_has_alpha(format);
    const size_t count = gf_samples(format), channels = (size_t)format.channels;
    const uint32_t max = is_wide ? 65535 : 255;
    if (format.bits == 32) {
        floats_to_light((const float *)row, format, floats);
        return;
    }
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

/* Computes a row of the first pass from an input row. A vector holds one pixel; its unused lanes
 * overwrite the start of the next pixel, which is computed later. */
GF_TARGET_CLONES static void add_columns(const struct gf_resample *resample, const float *source,
                                         int channels, float max, bool limits, float *restrict out)
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
        if (limits) {
            sum = (vector)((mask)sum & (sum > 0.0f));
            const mask over = sum > most;
            sum = (vector)(((mask)most & over) | ((mask)sum & ~over));
        }
        memcpy(out + (size_t)i * (size_t)channels, &sum, sizeof sum);
    }
}

/* Computes the weighted sum of rows in their order. Vectors of sums stay in registers. */
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
                gf_resample_most(resample, work->in.bits), work->in.bits != 32, to);
}

/* Computes the first pass for input rows first .. first + count - 1, into their slots; `count` is
 * at most LINES. */
static void make_slots(const struct work *work, const struct gf_view *in, int first, int count)
{
    const unsigned char *rows[LINES];
    float *slots[LINES];
    for (int i = 0; i < count; i++) {
        rows[i] = gf_view_row(in, first + i);
        slots[i] = slot(work, first + i);
    }
    if (work->vectors)
        work->vectors->rows(&work->lanes, rows, count, gf_samples(work->in),
                            gf_resample_most(work->resample, work->in.bits), slots);
    else
        for (int i = 0; i < count; i++)
            make_slot(work, rows[i], slots[i]);
}

/* Converts linear light to samples that are not rounded, in place. */
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

/* Computes a result row from the first `count` rows of work->rows, with their weights. */
static void finish_row(const struct work *work, const float *weight, int count, unsigned char *row)
{
    const struct gf_format format = work->out;
    const float max = (float)gf_sample_max(format);
    if (work->vectors) {
        work->vectors->sum(work->rows, weight, count, gf_samples(format), row);
        return;
    }
    add_rows(work->rows, weight, count, gf_samples(format), work->sums);
    if (work->resample->linear && format.bits == 32)
        convert_light(gf_float_encode, work->sums, format, work->sums);
    else if (work->resample->linear && gf_has_alpha(format))
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
    int made = start[out->y]; /* rows before this one are in slots, if they are still needed */
    for (int y = out->y; y <= last; y++) {
        if (made < start[y])
            made = start[y];
        while (made < start[y] + count[y]) {
            const int left = needed - made, lines = left < LINES ? left : LINES;
            make_slots(work, in, made, lines);
            made += lines;
        }
        for (int k = 0; k < count[y]; k++)
            work->rows[k] = slot(work, start[y] + k);
        finish_row(work, weights + (size_t)y * (size_t)table->taps, count[y], gf_view_row(out, y));
    }
}

#if GF_X86 && !defined(VEC_PLAIN)

/* The nearest kernel for pixels of one byte: result i is byte start[i] of a row. picks_fill() finds
 * which of 128 bytes each of 64 lanes selects; it returns false if they are too far apart. */
static bool picks_fill(struct lanes *lanes, const int *start, int count)
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

/* Loads `count` bytes, and fills the rest of the vector with zeros. */
GF_VBMI GF_INLINE __m512i load_part(const unsigned char *from, ptrdiff_t count)
{
    return (__m512i)load_first_64(from, count < 0 ? 0 : (size_t)count);
}

GF_VBMI static void picks_row(const struct lanes *lanes, const unsigned char *row, int bytes,
                              int count, unsigned char *to)
{
    for (int b = 0; b < lanes->vectors; b++, to += PICKED) {
        const unsigned char *const from = row + lanes->base[b];
        const ptrdiff_t there = bytes - lanes->base[b];
        const size_t left = (size_t)(count - b * PICKED);
        const __m512i picked = _mm512_permutex2var_epi8(
            load_part(from, there), (__m512i)load_first_64(lanes->lane + b * PICKED, left),
            load_part(from + REACH, there - REACH));
        store_first_64(to, left, (bytes_64)picked);
    }
}

static bool pick_by_lanes(struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    const struct gf_resample *const resample = work->resample;
    const int *const columns = gf_resample_ints(resample, resample->columns.start);
    const int *const rows = gf_resample_ints(resample, resample->rows.start);
    const int width = out->format.width;
    if (!work->vectors || work->in.channels != 1 || !gf_cpu_has(GF_CPU_VBMI) ||
        !picks_fill(&work->lanes, columns, width))
        return false;
    for (int y = out->y; y < out->y + out->rows; y++)
        picks_row(&work->lanes, gf_view_row(in, rows[y]), work->in.width, width,
                  gf_view_row(out, y));
    return true;
}
#else
static bool pick_by_lanes(struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    return false;
}
#endif

/* Copies the nearest pixels of a row. The function is inlined, so that their size is a constant. */
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
    const int *const rows = gf_resample_ints(work->resample, work->resample->rows.start);
    for (int y = out->y; y < out->y + out->rows; y++)
        pick_row(work->resample, out->format, gf_view_row(in, rows[y]), gf_view_row(out, y));
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
        if (!pick_by_lanes(&work, in, out))
            pick(&work, in, out);
    } else if (halvings) {
        resample_halve(halvings, in, out, (uint16_t *)(void *)work.source);
    } else {
        if (work.vectors)
            resample_lanes_fill(&work.lanes, resample, work.vectors);
        weigh(&work, in, out);
    }
}
