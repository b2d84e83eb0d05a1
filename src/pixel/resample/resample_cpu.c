#include "base/target_clones.h"
#include "pixel/resample/resample.h"
#include "pixel/resample/resample_simd.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

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
    if (!linear && gf_resample_lanes_fit(columns, stage->in)) {
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
    const int halvings = gf_resample_halvings(resample, stage->in);
    struct work work;
    carve(&work, scratch, stage, resample->kernel, resample->linear, &resample->column_axis,
          &resample->row_axis);
    if (resample->kernel == GF_RESAMPLE_NEAREST) {
        pick(&work, in, out);
    } else if (halvings) {
        gf_resample_halve(halvings, in, out, (uint16_t *)(void *)work.source);
    } else {
        if (work.has_lanes)
            gf_resample_lanes_fill(&work.lanes, resample);
        weigh(&work, in, out);
    }
}
