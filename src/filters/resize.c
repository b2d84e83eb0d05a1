#include "clones.h"
#include "resample.h"
#include "stencil.h"

enum { SIDE_MAX = 65535 };
enum fit { FIT_FILL, FIT_INSIDE, FIT_COVER };

struct resize {
    struct gf_length w, h;
    int kernel, light, fit;
};

/* In the order of enum gf_resample_kernel and enum fit. */
static const char *const kernels[] = {"lanczos3", "cubic", "linear", "nearest", "area", NULL};
static const char *const lights[] = {"srgb", "linear", NULL};
static const char *const fits[] = {"fill", "inside", "cover", NULL};

static const struct gf_param resize_params[] = {
    GF_PARAM_LENGTH(struct resize, w, 0.001, SIDE_MAX, "columns, pixels or % (by h, keeping the shape)"),
    GF_PARAM_LENGTH(struct resize, h, 0.001, SIDE_MAX, "rows, pixels or % (by w, keeping the shape)"),
    GF_PARAM_CHOICE(struct resize, kernel, GF_RESAMPLE_LANCZOS3, kernels, "what a pixel is averaged with"),
    GF_PARAM_CHOICE(struct resize, light, 0, lights, "what is averaged: sRGB values or linear light"),
    GF_PARAM_CHOICE(struct resize, fit, FIT_FILL, fits,
                    "with w and h: exactly that, the largest inside, or cut to cover it"),
    {0},
};

static enum gf_status resize_check(const void *params, struct gf_error *error)
{
    const struct resize *const resize = params;
    if (resize->w.unit == GF_UNSET && resize->h.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w or h is missing: pixels, or per cent as in 50%%");
    return GF_OK;
}

static double pixels(struct gf_length length, int whole)
{
    const double side = length.unit == GF_PERCENT ? floor(length.value * whole / 100 + 0.5) : length.value;
    return side < 1 ? 1 : side;
}

/* The side that goes with `side` on the other axis. */
static double in_proportion(double side, int whole, int other_whole)
{
    const double other = floor(side * other_whole / whole + 0.5);
    return other < 1 ? 1 : other;
}

/* The picture is scaled to full_w x full_h, of which the middle w x h is made. */
struct size {
    double w, h, full_w, full_h;
};

static struct size size_of(const struct resize *resize, struct gf_format in)
{
    struct size size = {0};
    if (resize->w.unit != GF_UNSET)
        size.w = pixels(resize->w, in.width);
    if (resize->h.unit != GF_UNSET)
        size.h = pixels(resize->h, in.height);
    if (resize->w.unit == GF_UNSET)
        size.w = in_proportion(size.h, in.height, in.width);
    else if (resize->h.unit == GF_UNSET)
        size.h = in_proportion(size.w, in.width, in.height);
    size.full_w = size.w;
    size.full_h = size.h;
    if (resize->fit == FIT_FILL || resize->w.unit == GF_UNSET || resize->h.unit == GF_UNSET)
        return size;
    const bool width_is_nearer = size.w * in.height < size.h * in.width;
    if (width_is_nearer == (resize->fit == FIT_INSIDE))
        size.full_h = in_proportion(size.w, in.width, in.height);
    else
        size.full_w = in_proportion(size.h, in.height, in.width);
    if (resize->fit == FIT_INSIDE) {
        size.w = size.full_w;
        size.h = size.full_h;
    }
    return size;
}

static enum gf_status resize_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct size size = size_of(params, in);
    if (size.w > SIDE_MAX || size.h > SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.0fx%.0f is larger than %d pixels a side", size.w, size.h,
                       SIDE_MAX);
    if (size.full_w > 1e9 || size.full_h > 1e9)
        return gf_fail(error, GF_ERROR_USAGE, "%dx%d is too narrow to cover %.0fx%.0f", in.width, in.height,
                       size.w, size.h);
    out->width = (int)size.w;
    out->height = (int)size.h;
    return GF_OK;
}

static struct gf_resample_axis axis_of(int in, double out, double full)
{
    return (struct gf_resample_axis){.in = in,
                                     .out = (int)out,
                                     .offset = (int)floor((full - out) / 2),
                                     .scale = (double)in / full};
}

static struct gf_resample_axis row_axis(const struct gf_stage *stage)
{
    const struct size size = size_of(stage->params, stage->in);
    return axis_of(stage->in.height, size.h, size.full_h);
}

static void resize_needs(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct resize *const resize = stage->params;
    const struct gf_resample_axis axis = row_axis(stage);
    gf_resample_needs((enum gf_resample_kernel)resize->kernel, &axis, y0, y1, first, end);
}

static enum gf_status resize_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct resize *const resize = stage->params;
    const struct size size = size_of(resize, stage->in);
    const struct gf_resample_axis columns = axis_of(stage->in.width, size.w, size.full_w);
    const struct gf_resample_axis rows = row_axis(stage);
    return gf_resample_prepare(stage, (enum gf_resample_kernel)resize->kernel, resize->light == 1, &columns,
                               &rows, error);
}

/* ---- CPU ---- */

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

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    const struct resize *const resize = stage->params;
    const struct gf_resample_axis axis = row_axis(stage);
    struct gf_carver carver = {.base = base};
    *work = (struct work){.resample = stage->constants, .in = stage->in, .out = stage->out};
    work->slot = (gf_samples(stage->out) + LANES + CHUNK - 1) / CHUNK * CHUNK;
    work->slot_count = gf_resample_taps_most((enum gf_resample_kernel)resize->kernel, &axis);
    work->source = gf_carve(&carver, (gf_samples(stage->in) + LANES) * sizeof(float));
    work->slots = gf_carve(&carver, (size_t)work->slot_count * work->slot * sizeof(float));
    work->sums = gf_carve(&carver, work->slot * sizeof(float));
    return carver.used;
}

static size_t resize_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    (void)rows;
    return carve(&work, NULL, stage);
}

GF_CLONES static void to_floats(const unsigned char *row, int bits, size_t count, float *restrict floats)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            floats[i] = row[i];
    } else {
        for (size_t i = 0; i < count; i++)
            floats[i] = ((const gf_u16_any *)row)[i];
    }
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

/* One input row to one row of the result's width. A vector holds a pixel; what it holds more belongs to the
 * next one, which writes it again. */
GF_CLONES static void add_columns(const struct gf_resample *resample, const float *source, int channels,
                                  float max, float *restrict out)
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
GF_CLONES static void add_rows(const float *const *rows, const float *weight, int count, size_t samples,
                               float *restrict sums)
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
        to_floats(samples, work->in.bits, gf_samples(work->in), work->source);
    memset(work->source + gf_samples(work->in), 0, LANES * sizeof(float));
    const float max = resample->linear ? 1.0f : work->in.bits == 8 ? 255.0f : 65535.0f;
    add_columns(resample, work->source, work->in.channels, max, slot(work, row));
}

GF_CLONES static void to_samples(const float *sums, int bits, size_t count, unsigned char *restrict row)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            row[i] = (unsigned char)gf_round_sample(sums[i], 255.0f);
    } else {
        for (size_t i = 0; i < count; i++)
            ((gf_u16_any *)row)[i] = (uint16_t)gf_round_sample(sums[i], 65535.0f);
    }
}

/* In place: light becomes samples, not yet rounded. */
GF_CLONES static void encode(float *sums, size_t count, float max)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = gf_resample_encode(sums[i]) * max;
}

static void encode_premultiplied(float *sums, struct gf_format format, float max)
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
    const float max = format.bits == 8 ? 255.0f : 65535.0f;
    if (work->resample->linear && gf_has_alpha(format))
        encode_premultiplied(work->sums, format, max);
    else if (work->resample->linear)
        encode(work->sums, gf_samples(format), max);
    to_samples(work->sums, format.bits, gf_samples(format), row);
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

/* Inlined with a constant size. */
static inline __attribute__((always_inline)) void gather(size_t size, const unsigned char *row,
                                                         const int *start, int count, unsigned char *to)
{
    for (int i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, row + (size_t)start[i] * size, size);
}

static void pick_row(const struct gf_resample *resample, struct gf_format format, const unsigned char *row,
                     unsigned char *to)
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

static void resize_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                       void *scratch)
{
    struct work work;
    carve(&work, scratch, stage);
    if (work.resample->kernel != GF_RESAMPLE_NEAREST) {
        weigh(&work, in, out);
        return;
    }
    const int *const start = gf_resample_ints(work.resample, work.resample->rows.start);
    for (int y = out->y; y < out->y + out->rows; y++)
        pick_row(work.resample, out->format, gf_view_row(in, start[y]), gf_view_row(out, y));
}

extern gf_launcher gf_resize_cuda;

const struct gf_filter gf_resize_filter = {
    .name = "resize",
    .summary = "Another size, by a weighted mean of pixels",
    .definition = "Pixel centres lie at half integers; when shrinking, the kernel is widened by the ratio; "
                  "weights are normalised.\nColumns first, clamped, then rows. Kernels: Lanczos of 3 lobes, "
                  "cubic with a = -1/2, linear (triangle), area (box),\nnearest. light=linear averages "
                  "linear light instead of sRGB values.",
    .params = resize_params,
    .params_size = sizeof(struct resize),
    .kind = GF_STENCIL,
    .check = resize_check,
    .shape = resize_shape,
    .needs = resize_needs,
    .prepare = resize_prepare,
    .cpu_scratch = resize_scratch,
    .cpu = resize_cpu,
    .cuda = GF_CUDA({"tiled", gf_resize_cuda}),
};
