/* Resizing with Pillow's very samples: the weights, and the passes on the CPU. */
#include "filters/resize/pillow.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "filters/resize/resize.h"
#include "pixel/stencil.h"

/* ---- the weights ---- */

/* A number as the sum of two doubles. */
struct pair {
    double high, low;
};

static struct pair pair_of(double a, double b)
{
    const double sum = a + b, from_b = sum - a;
    return (struct pair){sum, (a - (sum - from_b)) + (b - from_b)};
}

static struct pair product(struct pair a, struct pair b)
{
    const double high = a.high * b.high;
    return pair_of(high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

/* Returns sin(x + halves pi / 2), rounded as C libraries round it but for one case in many. Sums of
 * 16 bits that are halfway between two samples depend on the last bit of their weights. */
static double sine(double x, int halves)
{
    const struct pair pi = {3.14159265358979312, 1.2246467991473532e-16};
    const double k = floor(x / pi.high + halves / 2.0 + 0.5), turns = k - halves / 2.0;
    const double whole = turns * pi.high;
    const struct pair near = pair_of(x, -whole);
    const struct pair r =
        pair_of(near.high, near.low - fma(turns, pi.high, -whole) - turns * pi.low);
    const struct pair square = product(r, r);
    double tail = 1;
    for (int n = 22; n > 10; n -= 2)
        tail = 1 - square.high * (1.0 / (n * (n + 1))) * tail;
    struct pair sum = {tail, 0};
    for (int n = 10; n > 0; n -= 2) {
        const struct pair term = product(square, sum);
        const double by = n * (n + 1), part = term.high / by;
        const struct pair left = pair_of(1, -part);
        sum = pair_of(left.high, left.low - (fma(-part, by, term.high) + term.low) / by);
    }
    const struct pair result = product(r, sum);
    return (int64_t)k & 1 ? -result.high : result.high;
}

static double sinc(double x)
{
    const double turned = x * 3.14159265358979323846;
    return x == 0 ? 1 : sine(turned, 0) / turned;
}

/* Returns the weight of an input at the distance `at` from the output, in Pillow's operations. */
static double kernel_at(enum gf_resample_kernel kernel, double at)
{
    const double x = fabs(at);
    switch (kernel) {
    case GF_RESAMPLE_LANCZOS3:
        return at >= -3 && at < 3 ? sinc(at) * sinc(at / 3) : 0;
    case GF_RESAMPLE_CUBIC:
        if (x < 1)
            return (1.5 * x - 2.5) * x * x + 1;
        return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
    case GF_RESAMPLE_LINEAR:
        return x < 1 ? 1 - x : 0;
    case GF_RESAMPLE_HAMMING: {
        const double turned = x * 3.14159265358979323846;
        if (x == 0 || x >= 1)
            return x == 0;
        return sine(turned, 0) / turned * ((double)0.54f + (double)0.46f * sine(turned, 1));
    }
    default:
        return at > -0.5 && at <= 0.5;
    }
}

/* One axis. The box kernel copies the samples of a kept one. */
struct axis {
    enum gf_resample_kernel kernel;
    struct gf_resample_axis its;
    bool is_kept;
};

static struct axis axis_of(const struct gf_stage *stage, bool rows)
{
    const struct gf_pillow_params *const resize = stage->params;
    const float from = resize->box[rows], length = resize->box[rows + 2] - from;
    struct axis axis = {.kernel = resize->kernel,
                        .its = {.in = rows ? stage->in.height : stage->in.width,
                                .out = rows ? resize->height : resize->width,
                                .from = from}};
    axis.its.scale = (double)length / axis.its.out;
    axis.is_kept = axis.its.in == axis.its.out && from == 0 && axis.its.scale == 1;
    if (axis.is_kept && axis.kernel != GF_RESAMPLE_NEAREST)
        axis.kernel = GF_RESAMPLE_AREA;
    return axis;
}

static void weights_of(const struct axis *axis, int i, int first, int count, double *weight)
{
    const double scale = axis->its.scale, centre = axis->its.from + (i + 0.5) * scale;
    const double narrowing = 1 / (scale < 1 ? 1 : scale);
    double sum = 0;
    for (int k = 0; k < count; k++) {
        weight[k] = kernel_at(axis->kernel, (k + first - centre + 0.5) * narrowing);
        sum += weight[k];
    }
    for (int k = 0; k < count && sum != 0; k++)
        weight[k] /= sum;
}

/* The positions of the nearest kernel are sums of steps for 8 bits, and products for 16. */
static void fill_nearest(const struct gf_resample_axis *axis, int bits, int *start)
{
    double sum = axis->from + axis->scale * 0.5;
    for (int i = 0; i < axis->out; i++, sum += axis->scale) {
        const double at = bits == 8 ? sum : axis->scale * (i + 0.5) + axis->from;
        start[i] = at < axis->in ? (int)at : axis->in - 1;
    }
}

/* `scratch` has room for the weights of an output. */
static void fill_axis(const struct axis *axis, const struct gf_pillow_axis *table, int bits,
                      double *scratch, char *block)
{
    int *const start = (int *)(block + table->start), *const count = (int *)(block + table->count);
    if (axis->kernel == GF_RESAMPLE_NEAREST) {
        fill_nearest(&axis->its, bits, start);
        return;
    }
    for (int i = 0; i < axis->its.out; i++) {
        const size_t at = (size_t)i * (size_t)table->taps;
        double *const wide = bits == 8 ? scratch : (double *)(block + table->weight) + at;
        int32_t *const whole = (int32_t *)(block + table->weight) + at;
        int end;
        gf_resample_inputs(axis->kernel, &axis->its, i, i + 1, &start[i], &end);
        count[i] = end - start[i];
        weights_of(axis, i, start[i], count[i], wide);
        for (int k = 0; bits == 8 && k < count[i]; k++)
            whole[k] = (int32_t)(wide[k] * (1 << GF_PILLOW_BITS) + (wide[k] < 0 ? -0.5 : 0.5));
    }
}

static size_t take(size_t *used, size_t count, size_t size)
{
    const size_t at = *used;
    *used += (count * size + 15) / 16 * 16;
    return at;
}

static struct gf_pillow_axis lay_out(const struct axis *axis, int bits, size_t *used)
{
    struct gf_pillow_axis table = {.is_kept = axis->is_kept};
    const size_t outputs = (size_t)axis->its.out;
    table.start = take(used, outputs, sizeof(int));
    if (axis->kernel == GF_RESAMPLE_NEAREST)
        return table;
    for (int i = 0; i < axis->its.out; i++) {
        int first, end;
        gf_resample_inputs(axis->kernel, &axis->its, i, i + 1, &first, &end);
        table.taps = end - first > table.taps ? end - first : table.taps;
    }
    table.count = take(used, outputs, sizeof(int));
    table.taps = (table.taps + 3) / 4 * 4; /* a kernel loads four weights at a time */
    table.weight =
        take(used, outputs * (size_t)table.taps, bits == 8 ? sizeof(int32_t) : sizeof(double));
    return table;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct axis columns = axis_of(stage, false), rows = axis_of(stage, true);
    const int bits = stage->in.bits;
    struct gf_pillow pillow;
    size_t used = sizeof pillow;
    pillow.columns = lay_out(&columns, bits, &used);
    pillow.rows = lay_out(&rows, bits, &used);
    const int most =
        pillow.columns.taps > pillow.rows.taps ? pillow.columns.taps : pillow.rows.taps;
    const size_t scratch = take(&used, (size_t)most, sizeof(double));
    GF_TRY(gf_stage_constants(stage, used, error));
    char *const block = stage->constants;
    memcpy(block, &pillow, sizeof pillow);
    fill_axis(&columns, &pillow.columns, bits, (double *)(block + scratch), block);
    fill_axis(&rows, &pillow.rows, bits, (double *)(block + scratch), block);
    return GF_OK;
}

/* ---- the declaration's answers ---- */

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_pillow_params *const resize = params;
    if (in.bits == 16 && in.channels > 1)
        return gf_fail(error, GF_ERROR_USAGE,
                       "like=pillow takes samples of 16 bits in gray pictures without alpha only");
    if (resize->width > GF_RESIZE_SIDE_MAX || resize->height > GF_RESIZE_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%dx%d is larger than %d pixels a side",
                       resize->width, resize->height, GF_RESIZE_SIDE_MAX);
    if (resize->box[2] > (float)in.width || resize->box[3] > (float)in.height)
        return gf_fail(error, GF_ERROR_USAGE, "box is not within the picture of %dx%d", in.width,
                       in.height);
    out->width = resize->width;
    out->height = resize->height;
    return GF_OK;
}

static void input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct axis axis = axis_of(stage, true);
    gf_resample_inputs(axis.kernel, &axis.its, y0, y1, first, end);
}

static int input_rows_most(const struct gf_stage *stage, int rows)
{
    const struct axis axis = axis_of(stage, true);
    return gf_resample_inputs_most(axis.kernel, &axis.its, rows);
}

/* ---- the passes on the CPU ---- */

/* The first pass computes ROWS rows together: a vector has a pixel of each, and a pixel has at most
 * LANES samples. */
enum { CHUNK = 1024, LANES = 4, ROWS = 4 };
typedef int32_t pixel __attribute__((vector_size(16)));
typedef unsigned char pixel_bytes __attribute__((vector_size(4)));
typedef int32_t pixels __attribute__((vector_size(64)));
typedef unsigned char pixels_bytes __attribute__((vector_size(16)));

struct work {
    const struct gf_pillow_params *resize;
    const struct gf_pillow *pillow;
    struct gf_format in, out;
    int32_t *source; /* ROWS input rows, pixel by pixel, with room for a vector behind them */
    unsigned char *premultiplied; /* the same rows */
    unsigned char *slots;         /* rows between the passes, with room for a chunk behind each */
    size_t slot;                  /* the bytes from one slot to the next */
    int slot_count;
    const unsigned char **rows; /* the rows that a result row is the sum of */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    const struct axis rows = axis_of(stage, true);
    struct gf_carver carver = {.base = base};
    *work = (struct work){
        .resize = stage->params, .pillow = stage->constants, .in = stage->in, .out = stage->out};
    work->slot = (gf_row_bytes(stage->out) + 127) / 64 * 64;
    work->slot_count = gf_resample_taps_most(rows.kernel, &rows.its) + ROWS - 1;
    work->source = gf_carve(&carver, ROWS * (gf_samples(stage->in) + LANES) * sizeof(int32_t));
    work->premultiplied =
        gf_carve(&carver, gf_has_alpha(stage->in) ? ROWS * gf_samples(stage->in) : 0);
    work->slots = gf_carve(&carver, (size_t)work->slot_count * work->slot);
    work->rows = gf_carve(&carver, (size_t)work->slot_count * sizeof *work->rows);
    return carver.used;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage);
}

GF_INLINE void premultiply(const unsigned char *row, size_t samples, const size_t channels,
                           unsigned char *restrict to)
{
    for (size_t i = 0; i < samples; i += channels) {
        const int alpha = row[i + channels - 1];
        for (size_t c = i; c < i + channels - 1; c++)
            to[c] = (unsigned char)gf_pillow_premultiplied(row[c], alpha);
        to[i + channels - 1] = (unsigned char)alpha;
    }
}

GF_TARGET_CLONES static void premultiply_row(const unsigned char *row, struct gf_format format,
                                             unsigned char *restrict to)
{
    if (format.channels == 4)
        premultiply(row, gf_samples(format), 4, to);
    else
        premultiply(row, gf_samples(format), 2, to);
}

/* Puts the pixels of rows beside each other. Unused lanes overwrite the start of the next pixel,
 * which is written later. */
GF_TARGET_CLONES static void interleave(const unsigned char *const rows[ROWS], size_t samples,
                                        size_t channels, int32_t *restrict to)
{
    size_t i = 0;
    for (; i + LANES <= samples; i += channels)
        for (int r = 0; r < ROWS; r++, to += channels) {
            pixel_bytes bytes;
            memcpy(&bytes, rows[r] + i, sizeof bytes);
            const pixel v = __builtin_convertvector(bytes, pixel);
            memcpy(to, &v, sizeof v);
        }
    for (; i < samples; i += channels)
        for (int r = 0; r < ROWS; r++)
            for (size_t c = 0; c < channels; c++)
                *to++ = rows[r][i + c];
}

GF_TARGET_CLONES static void straighten_row(struct gf_format format, unsigned char *row)
{
    const size_t channels = (size_t)format.channels;
    for (size_t i = 0; i < gf_samples(format); i += channels) {
        const int alpha = row[i + channels - 1];
        for (size_t c = i; c < i + channels - 1; c++)
            row[c] = (unsigned char)gf_pillow_straight(row[c], alpha);
    }
}

/* Here, too, unused bytes overwrite what is computed later. */
GF_TARGET_CLONES static void columns_of_bytes(const struct gf_pillow *pillow, const int32_t *source,
                                              int width, size_t channels,
                                              unsigned char *const to[ROWS])
{
    const struct gf_pillow_axis *const axis = &pillow->columns;
    const int *const start = (const int *)((const char *)pillow + axis->start);
    const int *const count = (const int *)((const char *)pillow + axis->count);
    const int32_t *weight = (const int32_t *)((const char *)pillow + axis->weight);
    const size_t step = ROWS * channels;
    size_t at = 0;
    for (int x = 0; x < width; x++, weight += axis->taps, at += channels) {
        const int32_t *own = source + (size_t)start[x] * step;
        pixels sum = (pixels){0} + (1 << (GF_PILLOW_BITS - 1));
        for (int k = 0; k < count[x]; k++, own += step) {
            pixels v;
            memcpy(&v, own, sizeof v);
            sum += v * weight[k];
        }
        sum >>= GF_PILLOW_BITS; /* as gf_pillow_byte() */
        sum &= sum > 0;
        sum = (sum | (sum > 255)) & 255;
        const pixels_bytes bytes = __builtin_convertvector(sum, pixels_bytes);
        for (int r = 0; r < ROWS; r++)
            memcpy(to[r] + at, (const unsigned char *)&bytes + (size_t)r * channels, LANES);
    }
}

static void columns_of_words(const struct gf_pillow *pillow, const gf_u16_any *from, int width,
                             uint16_t *restrict to)
{
    const struct gf_pillow_axis *const axis = &pillow->columns;
    const int *const start = (const int *)((const char *)pillow + axis->start);
    const int *const count = (const int *)((const char *)pillow + axis->count);
    const double *weight = (const double *)((const char *)pillow + axis->weight);
    for (int x = 0; x < width; x++, weight += axis->taps) {
        double sum = 0;
        for (int k = 0; k < count[x]; k++)
            sum += from[start[x] + k] * weight[k];
        to[x] = (uint16_t)gf_pillow_word(sum);
    }
}

/* Adds the samples of four rows to sums. */
GF_INLINE void add_four(const unsigned char *const *rows, size_t x, size_t samples,
                        const int32_t *weight, int32_t *restrict sums)
{
    const unsigned char *const a = rows[0] + x, *const b = rows[1] + x, *const c = rows[2] + x,
                               *const d = rows[3] + x;
    const int32_t wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
    for (size_t i = 0; i < samples; i++)
        sums[i] += a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
}

GF_INLINE void add_one(const unsigned char *row, size_t samples, int32_t weight,
                       int32_t *restrict sums)
{
    for (size_t i = 0; i < samples; i++)
        sums[i] += row[i] * weight;
}

/* Computes a result row in chunks whose sums stay in the first cache. */
GF_TARGET_CLONES static void rows_of_bytes(const unsigned char *const *rows, const int32_t *weight,
                                           int count, size_t samples, unsigned char *restrict to)
{
    int32_t sums[CHUNK];
    for (size_t x = 0; x < samples; x += CHUNK) {
        const size_t left = samples - x < CHUNK ? samples - x : CHUNK;
        int k = 0;
        for (size_t i = 0; i < left; i++)
            sums[i] = 1 << (GF_PILLOW_BITS - 1);
        for (; k + 4 <= count; k += 4)
            add_four(rows + k, x, left, weight + k, sums);
        for (; k < count; k++)
            add_one(rows[k] + x, left, weight[k], sums);
        for (size_t i = 0; i < left; i++)
            to[x + i] = (unsigned char)gf_pillow_byte(sums[i]);
    }
}

GF_TARGET_CLONES static void rows_of_words(const unsigned char *const *rows, const double *weight,
                                           int count, size_t samples, gf_u16_any *restrict to)
{
    enum { EACH = 32 };
    for (size_t x = 0; x < samples; x += EACH) {
        const size_t left = samples - x < EACH ? samples - x : EACH;
        double sum[EACH] = {0};
        for (int k = 0; k < count; k++)
            for (size_t i = 0; i < EACH; i++)
                sum[i] += ((const uint16_t *)(const void *)rows[k])[x + i] * weight[k];
        for (size_t i = 0; i < left; i++)
            to[x + i] = (uint16_t)gf_pillow_word(sum[i]);
    }
}

static unsigned char *slot(const struct work *work, int row)
{
    return work->slots + (size_t)(row % work->slot_count) * work->slot;
}

/* Computes the first pass for the rows y to y + ROWS - 1, of which the last one stands for those
 * from `end` on. */
static void make_slots(const struct work *work, const struct gf_view *in, int y, int end)
{
    const struct gf_pillow *const pillow = work->pillow;
    const size_t samples = gf_samples(work->in);
    const unsigned char *from[ROWS];
    unsigned char *to[ROWS];
    for (int r = 0; r < ROWS; r++) {
        const int row = y + r < end ? y + r : end - 1;
        from[r] = gf_view_row(in, row);
        to[r] = slot(work, row);
        if (work->in.bits == 16)
            columns_of_words(pillow, (const gf_u16_any *)from[r], work->out.width,
                             (uint16_t *)(void *)to[r]);
        if (gf_has_alpha(work->in) && !work->resize->from_premultiplied) {
            unsigned char *const own = work->premultiplied + (size_t)r * samples;
            premultiply_row(from[r], work->in, own);
            from[r] = own;
        }
        if (pillow->columns.is_kept && work->in.bits == 8)
            memcpy(to[r], from[r], samples);
    }
    if (pillow->columns.is_kept || work->in.bits == 16)
        return;
    interleave(from, samples, (size_t)work->in.channels, work->source);
    columns_of_bytes(pillow, work->source, work->out.width, (size_t)work->in.channels, to);
}

static void sum_rows(const struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    const struct gf_pillow_axis *const axis = &work->pillow->rows;
    const char *const block = (const char *)work->pillow;
    const int *const start = (const int *)(block + axis->start);
    const int *const count = (const int *)(block + axis->count);
    const size_t samples = gf_samples(work->out);
    const int last = out->y + out->rows - 1, end = start[last] + count[last];
    int made = start[out->y]; /* rows before this one are in slots, if they are still needed */
    for (int y = out->y; y < out->y + out->rows; y++) {
        const size_t weight = (size_t)y * (size_t)axis->taps;
        unsigned char *const to = gf_view_row(out, y);
        made = made < start[y] ? start[y] : made;
        for (; made < start[y] + count[y]; made += ROWS)
            make_slots(work, in, made, end);
        for (int k = 0; k < count[y]; k++)
            work->rows[k] = slot(work, start[y] + k);
        if (work->in.bits == 16) {
            rows_of_words(work->rows, (const double *)(block + axis->weight) + weight, count[y],
                          samples, (gf_u16_any *)to);
            continue;
        }
        rows_of_bytes(work->rows, (const int32_t *)(block + axis->weight) + weight, count[y],
                      samples, to);
        if (gf_has_alpha(work->in) && !work->resize->to_premultiplied)
            straighten_row(work->out, to);
    }
}

static void pick(const struct gf_pillow *pillow, const struct gf_view *in,
                 const struct gf_view *out)
{
    const int *const columns = (const int *)((const char *)pillow + pillow->columns.start);
    const int *const rows = (const int *)((const char *)pillow + pillow->rows.start);
    const size_t size = gf_pixel_bytes(out->format);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, rows[y]);
        unsigned char *const to = gf_view_row(out, y);
        for (int x = 0; x < out->format.width; x++)
            memcpy(to + (size_t)x * size, from + (size_t)columns[x] * size, size);
    }
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_pillow_params *const resize = stage->params;
    struct work work;
    carve(&work, scratch, stage);
    if (resize->kernel == GF_RESAMPLE_NEAREST)
        pick(stage->constants, in, out);
    else
        sum_rows(&work, in, out);
}

extern gf_launcher gf_pillow_cuda, gf_pillow_stacked_cuda;

const struct gf_filter gf_pillow_filter = {
    .name = "pillow",
    .params_size = sizeof(struct gf_pillow_params),
    .kind = GF_STRAIGHT,
    .takes_no_region = true,
    .cost = {.pixel = 2, .row = 1.1},
    .shape = shape,
    .input_rows = input_rows,
    .input_rows_most = input_rows_most,
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
    .cuda = GF_CUDA({GF_VARIANT("tiled", gf_pillow_cuda,
                                "both passes at once, in integers, by tiles in shared memory")}),
    .cuda_stacked = GF_LAUNCHER(gf_pillow_stacked_cuda),
};

/* ---- the stages of Image.resize() ---- */

/* Returns whether the rows come first: from Pillow 12.2 on those of pictures that are far taller
 * than wide, from 13 on where the height loses more than twice the pixels that the width loses. */
static bool is_rows_first(const struct gf_pillow_params *resize, int width, int height, int version)
{
    const int less_high = height - resize->height, less_wide = width - resize->width;
    const bool keeps_columns =
        less_wide == 0 && resize->box[0] == 0 && resize->box[2] == (float)width;
    if (resize->kernel == GF_RESAMPLE_NEAREST || less_high <= 0 || keeps_columns)
        return false;
    return version < 13 ? height / 100.0 > width : less_high > 2.0 * less_wide;
}

void gf_pillow_parts(const struct gf_pillow_params *resize, int width, int height, double gap,
                     int version, struct gf_parts *parts)
{
    struct gf_pillow_params now = *resize;
    const double reach = gf_resample_radius(now.kernel) - 0.5;
    const double scale_x = ((double)now.box[2] - now.box[0]) / now.width,
                 scale_y = ((double)now.box[3] - now.box[1]) / now.height;
    struct gf_reduce_params reduce = {1, 1, {0, 0, width, height}};
    if (gap > 0 && now.kernel != GF_RESAMPLE_NEAREST) {
        reduce.x = fmax((int)(scale_x / gap), 1);
        reduce.y = fmax((int)(scale_y / gap), 1);
    }
    if (reduce.x > 1 || reduce.y > 1) {
        const double x = reach * scale_x, y = reach * scale_y;
        reduce.box[0] = (int)fmax(now.box[0] - x, 0);
        reduce.box[1] = (int)fmax(now.box[1] - y, 0);
        reduce.box[2] = (int)fmin(ceil(now.box[2] + x), width);
        reduce.box[3] = (int)fmin(ceil(now.box[3] + y), height);
        gf_parts_add(parts, &gf_reduce_filter, &reduce, sizeof reduce);
        for (int i = 0; i < 4; i++)
            now.box[i] =
                (float)(((double)now.box[i] - reduce.box[i % 2]) / (i % 2 ? reduce.y : reduce.x));
        width = (reduce.box[2] - reduce.box[0] + reduce.x - 1) / reduce.x;
        height = (reduce.box[3] - reduce.box[1] + reduce.y - 1) / reduce.y;
        now.from_premultiplied = true;
    }
    if (is_rows_first(&now, width, height, version)) {
        struct gf_pillow_params rows = now;
        rows.width = width;
        rows.box[0] = 0;
        rows.box[2] = (float)width;
        rows.to_premultiplied = now.from_premultiplied = true;
        gf_parts_add(parts, &gf_pillow_filter, &rows, sizeof rows);
        now.box[1] = 0;
        now.box[3] = (float)now.height;
    }
    gf_parts_add(parts, &gf_pillow_filter, &now, sizeof now);
}
