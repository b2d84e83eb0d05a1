#include "base/target_clones.h"
#include "pixel/resample.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

typedef float vector __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16)));
enum { LANES = 4, CHUNK = 64 };

struct work {
    const struct gf_resample *resample;
    struct gf_format in, out;
    float *source; /* one input row, with room for a vector behind it */
    float *slots;  /* input rows after the first pass, as many as a result needs, likewise */
    size_t slot;   /* floats */
    int slot_count;
    float *sums; /* one result row */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage,
                    enum gf_resample_kernel kernel, const struct gf_resample_axis *rows)
{
    struct gf_carver carver = {.base = base};
    *work = (struct work){.resample = stage->constants, .in = stage->in, .out = stage->out};
    work->slot = (gf_samples(stage->out) + LANES + CHUNK - 1) / CHUNK * CHUNK;
    work->slot_count = gf_resample_taps_most(kernel, rows);
    work->source = gf_carve(&carver, (gf_samples(stage->in) + LANES) * sizeof(float));
    work->slots = gf_carve(&carver, (size_t)work->slot_count * work->slot * sizeof(float));
    work->sums = gf_carve(&carver, work->slot * sizeof(float));
    return carver.used;
}

size_t gf_resample_scratch(const struct gf_stage *stage, enum gf_resample_kernel kernel,
                           const struct gf_resample_axis *rows)
{
    struct work work;
    return carve(&work, NULL, stage, kernel, rows);
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

/* One input row to one row of the result's width. A vector holds a pixel; what it holds more
 * belongs to the next one, which writes it again. */
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

/* Adds 1..4 rows, in their order: with four, the sums leave the registers a quarter as often. */
GF_TARGET_CLONES static void add_rows(const float *const *rows, const float *weight, int count,
                                      size_t samples, float *restrict sums)
{
    if (count == 4) {
        const float *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
        const float wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
        for (size_t i = 0; i < samples; i++)
            sums[i] = (((sums[i] + wa * a[i]) + wb * b[i]) + wc * c[i]) + wd * d[i];
        return;
    }
    for (int k = 0; k < count; k++) {
        const float *const row = rows[k], w = weight[k];
        for (size_t i = 0; i < samples; i++)
            sums[i] += w * row[i];
    }
}

static float *slot(const struct work *work, int row)
{
    return work->slots + (size_t)(row % work->slot_count) * work->slot;
}

static void make_slot(const struct work *work, const struct gf_view *in, int row)
{
    const struct gf_resample *const resample = work->resample;
    const unsigned char *const samples = gf_view_row(in, row);
    if (resample->linear)
        to_light(samples, work->in, gf_resample_floats(resample, resample->decode), work->source);
    else
        gf_samples_to_floats(samples, work->in.bits, gf_samples(work->in), work->source);
    memset(work->source + gf_samples(work->in), 0, LANES * sizeof(float));
    add_columns(resample, work->source, work->in.channels,
                gf_resample_most(resample, work->in.bits), slot(work, row));
}

/* Turns light into samples that are not rounded yet, in place. */
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

static void finish_row(const struct work *work, unsigned char *row)
{
    const struct gf_format format = work->out;
    const float max = (float)gf_sample_max(format);
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
    int made = 0; /* input rows before this one lie in their slots, as far as they are needed */
    for (int y = out->y; y < out->y + out->rows; y++) {
        const float *const weight = weights + (size_t)y * (size_t)table->taps;
        const int end = start[y] + count[y];
        for (made = made > start[y] ? made : start[y]; made < end; made++)
            make_slot(work, in, made);
        memset(work->sums, 0, work->slot * sizeof(float));
        for (int k = 0; k < count[y]; k += 4) {
            const int group = count[y] - k < 4 ? count[y] - k : 4;
            const float *rows[4];
            for (int i = 0; i < group; i++)
                rows[i] = slot(work, start[y] + k + i);
            add_rows(rows, weight + k, group, gf_samples(work->out), work->sums);
        }
        finish_row(work, gf_view_row(out, y));
    }
}

/* Inlined, so that the size is a constant. */
static inline __attribute__((always_inline)) void
gather(size_t size, const unsigned char *row, const int *start, int count, unsigned char *to)
{
    for (int i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, row + (size_t)start[i] * size, size);
}

static void pick_row(const struct gf_resample *resample, struct gf_format format,
                     const unsigned char *row, unsigned char *to)
{
    const int *const start = gf_resample_ints(resample, resample->columns.start);
    switch (format.channels * format.bits / 8) {
    case 1:
        gather(1, row, start, format.width, to);
        break;
    case 2:
        gather(2, row, start, format.width, to);
        break;
    case 3:
        gather(3, row, start, format.width, to);
        break;
    case 4:
        gather(4, row, start, format.width, to);
        break;
    case 6:
        gather(6, row, start, format.width, to);
        break;
    case 8:
        gather(8, row, start, format.width, to);
        break;
    }
}

void gf_resample_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_resample *const resample = stage->constants;
    const int halvings = gf_resample_halvings(resample, stage->in);
    if (resample->kernel != GF_RESAMPLE_NEAREST) {
        struct work work;
        carve(&work, scratch, stage, resample->kernel, &resample->row_axis);
        if (halvings) {
            gf_resample_halve(halvings, in, out, (uint16_t *)(void *)work.source);
            return;
        }
        weigh(&work, in, out);
        return;
    }
    const int *const start = gf_resample_ints(resample, resample->rows.start);
    for (int y = out->y; y < out->y + out->rows; y++)
        pick_row(resample, out->format, gf_view_row(in, start[y]), gf_view_row(out, y));
}
