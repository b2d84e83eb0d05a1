/* The kernels of resampling: which inputs an output is the weighted sum of, and the tables for
 * threads of a device that walk down the rows. */
#include "pixel/resample/resample.h"

#include "base/fail.h"
#include "pixel/sample.h"

static double sinc(double x)
{
    const double pi = 3.14159265358979323846;
    return x == 0 ? 1 : gf_sin_pi_double(x) / (pi * x);
}

/* Returns the weight of an input at the distance `at` from the output's position: by Lanczos with 3
 * lobes, Keys' cubic with a = -1/2, the triangle, Hamming's window of a sinc, or the box, which
 * excludes its left end. */
static double kernel_at(enum gf_resample_kernel kernel, double at)
{
    const double x = fabs(at);
    switch (kernel) {
    case GF_RESAMPLE_LANCZOS3:
        return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case GF_RESAMPLE_CUBIC:
        if (x < 1)
            return (1.5 * x - 2.5) * x * x + 1;
        return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
    case GF_RESAMPLE_LINEAR:
        return x < 1 ? 1 - x : 0;
    case GF_RESAMPLE_HAMMING:
        return x < 1 ? sinc(x) * (0.54 + 0.46 * gf_sin_pi_double(x + 0.5)) : 0;
    default:
        return at > -0.5 && at <= 0.5;
    }
}

double gf_resample_radius(enum gf_resample_kernel kernel)
{
    switch (kernel) {
    case GF_RESAMPLE_LANCZOS3:
        return 3;
    case GF_RESAMPLE_CUBIC:
        return 2;
    case GF_RESAMPLE_LINEAR:
    case GF_RESAMPLE_HAMMING:
        return 1;
    default:
        return 0.5;
    }
}

/* The inputs first .. end - 1 of an output, whose centres are within the kernel's reach of
 * `centre`. Shrinking widens the kernel by `widening`. */
struct window {
    double centre, widening;
    int first, end;
};

static struct window window_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                               int i)
{
    struct window window = {.centre = axis->from + ((double)i + axis->offset + 0.5) * axis->scale,
                            .widening = axis->scale > 1 ? axis->scale : 1};
    const double radius = gf_resample_radius(kernel) * window.widening;
    const double first = window.centre - radius + 0.5;
    window.first = first > 0 ? gf_at_most(first, axis->in - 1) : 0;
    window.end = gf_at_most(window.centre + radius + 0.5, axis->in);
    if (window.end <= window.first)
        window.end = window.first + 1;
    return window;
}

void gf_resample_inputs(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i0,
                        int i1, int *first, int *end)
{
    if (kernel != GF_RESAMPLE_NEAREST) {
        const struct window window = window_of(kernel, axis, i0);
        *first = window.first;
        *end = i1 - i0 == 1 ? window.end : window_of(kernel, axis, i1 - 1).end;
        return;
    }
    /* Positions are sums of steps, which differ from this product by less than one input. */
    const double low = axis->from + ((double)i0 + axis->offset + 0.5) * axis->scale - 1;
    const double high = axis->from + ((double)i1 - 1 + axis->offset + 0.5) * axis->scale + 2;
    *first = low > 0 ? gf_at_most(low, axis->in - 1) : 0;
    *end = gf_at_most(high, axis->in);
}

int gf_resample_taps_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis)
{
    const double widening = axis->scale > 1 ? axis->scale : 1;
    return gf_at_most(ceil(2 * gf_resample_radius(kernel) * widening) + 1, axis->in);
}

int gf_resample_inputs_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                            int rows)
{
    const double between = ceil((rows - 1) * axis->scale) + 1;
    return gf_at_most(gf_resample_taps_most(kernel, axis) + between, axis->in);
}

/* Computes the weights of the inputs of output i, for all kernels but the nearest. */
static void resample_weights(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                             int i, float *weight)
{
    const struct window window = window_of(kernel, axis, i);
    double sum = 0;
    for (int at = window.first; at < window.end; at++)
        sum += kernel_at(kernel, (at - window.centre + 0.5) / window.widening);
    for (int at = window.first; at < window.end; at++) {
        const double w = kernel_at(kernel, (at - window.centre + 0.5) / window.widening);
        weight[at - window.first] =
            sum != 0 ? (float)(w / sum) : 1.0f / (float)(window.end - window.first);
    }
}

/* Tables for the device's threads that walk down the picture. They use 8-bit samples as the bits of
 * floats without conversion, where a sample of 1 is the smallest float above 0. COLUMN_SCALE, a
 * factor of the weights, restores the scale without rounding. The product of a 16-bit weight and
 * such a sample is exact. */
#define COLUMN_SCALE 0x1p125f

enum { WINDOW_MOST = 64 };

static void walk_window_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                           int i, int *start, int *end)
{
    gf_resample_inputs(kernel, axis, i, i + 1, start, end);
}

/* Returns the input row after which an output is complete. It is the output's last row, but each
 * row completes one output only: outputs that end with the picture wait for rows behind it, which
 * add nothing. `before` is the row that completes the previous output, or -1. */
static int completion_of(int end, int before)
{
    return end - 1 > before ? end - 1 : before + 1;
}

/* Returns the largest number of outputs that are incomplete at the same time or, with `gathers`
 * (enlarging), of inputs that an output has. */
static int reach_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                    bool gathers)
{
    int most = 0, unfinished = 0, before = -1;
    for (int i = 0; i < axis->out; i++) {
        int start, end;
        walk_window_of(kernel, axis, i, &start, &end);
        most = gathers && end - start > most ? end - start : most;
        while (!gathers) {
            int its_start, its_end;
            walk_window_of(kernel, axis, unfinished, &its_start, &its_end);
            const int completion = completion_of(its_end, before);
            if (completion >= start)
                break;
            before = completion;
            unfinished++;
        }
        most = !gathers && i - unfinished + 1 > most ? i - unfinished + 1 : most;
    }
    return most;
}

static int walk_groups_of(const struct gf_resample_axis *axis, int group)
{
    return (axis->out + group - 1) / group;
}

static int span_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int group)
{
    int most = 0;
    for (int i = 0; i < axis->out; i += group) {
        int first, end;
        const int last = axis->out - i < group ? axis->out : i + group;
        gf_resample_inputs(kernel, axis, i, last, &first, &end);
        most = end - first > most ? end - first : most;
    }
    return most;
}

static bool is_walked(struct gf_format format, bool linear)
{
    if (linear)
        return format.channels == 3 && format.bits == 8;
    return format.channels % 2 == 1 || (format.channels == 4 && format.bits == 16);
}

static size_t walk_take(size_t *used, size_t count)
{
    const size_t at = *used;
    *used += (count * sizeof(float) + 15) / 16 * 16;
    return at;
}

/* Pictures of fewer columns are too few threads for a device if each makes four. */
enum { WIDE_LEAST = 1500 };

/* Plans how groups of columns read their inputs, for a reach of 2, 4 or 6 rows. In a low picture
 * the reach of rows can be less than columns need; HALVES is then impossible. */
static void plan_columns(const struct gf_resample *resample, struct gf_format format,
                         struct gf_resample_walk *walk)
{
    const struct gf_resample_axis *const axis = &resample->column_axis;
    const bool halves = !walk->gathers && axis->scale == 2 && axis->offset == 0 &&
                        resample->columns.taps <= 2 * walk->reach;
    const bool is_half = format.channels * format.bits == 24 && halves;
    const bool is_wide = walk->reach == 2 || axis->out >= WIDE_LEAST;
    walk->group = format.channels == 1 || (is_half && is_wide) ? 4 : 2;
    walk->window = gf_resample_walk_window(walk->group, walk->reach, walk->gathers);
    const int span = span_of(resample->kernel, axis, walk->group);
    const int tight = gf_resample_walk_window(walk->group, walk->reach, true);
    if (halves && span <= walk->window) {
        walk->width_kind = GF_RESAMPLE_HALVES;
    } else if (span > walk->window || resample->linear) {
        walk->group = format.channels == 1 ? 4 : 2;
        walk->width_kind = GF_RESAMPLE_WIDE;
        walk->window = (span_of(resample->kernel, axis, walk->group) + 3) / 4 * 4;
        walk->reach = walk->gathers || walk->reach > 2 ? 6 : 2;
    } else if (walk->reach == 6 && span <= tight) {
        walk->window = tight;
    }
}

/* Plans how threads of a device walk down the rows (struct gf_resample_walk), and reserves memory
 * for their tables behind *used bytes of the block. */
static struct gf_resample_walk resample_walk_plan(const struct gf_resample *resample,
                                                  struct gf_format format, size_t *used)
{
    const struct gf_resample_axis *const columns = &resample->column_axis, *const rows =
                                                                               &resample->row_axis;
    struct gf_resample_walk walk = {.gathers = rows->scale <= 1};
    if (resample->kernel == GF_RESAMPLE_NEAREST || !is_walked(format, resample->linear))
        return (struct gf_resample_walk){0};
    const int reach = reach_of(resample->kernel, rows, walk.gathers);
    const bool has_negative = isfinite(gf_resample_most(resample, format.bits));
    walk.reach = resample->linear || reach > 4 ? 6 : reach > 2 || has_negative ? 4 : 2;
    plan_columns(resample, format, &walk);
    if (reach > walk.reach || walk.window > WINDOW_MOST || walk.window > columns->in)
        return (struct gf_resample_walk){0};
    const size_t groups = (size_t)walk_groups_of(columns, walk.group);
    const size_t stride = (size_t)gf_resample_walk_stride(walk.reach);
    walk.column_start = walk_take(used, groups);
    walk.column_weight =
        walk_take(used, (size_t)(walk.window + 3) / 4 * 4 * groups * (size_t)walk.group);
    if (!walk.gathers)
        walk.row_first = walk_take(used, (size_t)(rows->in + walk.reach));
    walk.row_weight =
        walk_take(used, (size_t)(walk.gathers ? rows->out : rows->in + walk.reach) * stride);
    if (resample->linear)
        walk.encode = walk_take(used, GF_RESAMPLE_ENCODE_BUCKETS);
    return walk;
}

static void fill_columns(const struct gf_resample *resample, char *block)
{
    const struct gf_resample_walk *const walk = &resample->walk;
    const struct gf_resample_axis *const axis = &resample->column_axis;
    const struct gf_resample_table *const table = &resample->columns;
    const int *const start = gf_resample_ints(block, table->start);
    const int *const count = gf_resample_ints(block, table->count);
    int *const group_start = (int *)(block + walk->column_start);
    float *const to = (float *)(block + walk->column_weight);
    const float scale = resample->linear ? 1 : COLUMN_SCALE;
    const int group = walk->group, groups = walk_groups_of(axis, group);
    for (int i = 0; i < axis->out; i++) {
        const float *const weight =
            gf_resample_floats(block, table->weight) + (size_t)i * (size_t)table->taps;
        const int g = i / group, first = start[g * group], most = axis->in - walk->window;
        group_start[g] = walk->width_kind == GF_RESAMPLE_HALVES ? 2 * group * g - walk->reach + 1
                         : first < most                         ? first
                                                                : most;
        for (int k = 0; k < count[i]; k++) {
            const int at = start[i] + k - group_start[g];
            to[((size_t)(at / 4 * groups + g) * 4 + (size_t)(at % 4)) * (size_t)group +
               (size_t)(i % group)] = weight[k] * scale;
        }
    }
}

static void fill_rows(const struct gf_resample *resample, float scale, char *block)
{
    const struct gf_resample_walk *const walk = &resample->walk;
    const struct gf_resample_axis *const axis = &resample->row_axis;
    const struct gf_resample_table *const table = &resample->rows;
    const int *const start = gf_resample_ints(block, table->start);
    const int *const count = gf_resample_ints(block, table->count);
    const size_t stride = (size_t)gf_resample_walk_stride(walk->reach);
    float *const to = (float *)(block + walk->row_weight);
    int *const row_first = (int *)(block + walk->row_first);
    int completed = 0, before = -1;
    for (int r = 0; r < axis->in + walk->reach && !walk->gathers; r++) {
        row_first[r] = completed;
        if (completed == axis->out ||
            completion_of(start[completed] + count[completed], before) != r)
            continue;
        to[(size_t)r * stride + (size_t)walk->reach] = 1;
        before = r;
        completed++;
    }
    for (int i = 0; i < axis->out; i++) {
        const float *const weight =
            gf_resample_floats(block, table->weight) + (size_t)i * (size_t)table->taps;
        for (int k = 0; k < count[i]; k++) {
            const int r = start[i] + k;
            const size_t at = walk->gathers
                                  ? (size_t)i * stride + (size_t)(walk->reach - count[i] + k)
                                  : (size_t)r * stride + (size_t)(i - row_first[r]);
            to[at] = weight[k] * scale;
        }
    }
}

/* Returns the bits of the least float whose 8-bit sample exceeds v (for
 * GF_RESAMPLE_ENCODE_BUCKETS). */
static uint32_t change_after(int v)
{
    uint32_t below = 0, above = 0x3f800000; /* the bits of the floats 0 and 1 */
    while (above - below > 1) {
        const uint32_t middle = (below + above) / 2;
        const float encoded = gf_resample_encode(gf_float_of_bits(middle)) * 255.0f;
        if (gf_round_sample(encoded, 255.0f) > v)
            above = middle;
        else
            below = middle;
    }
    return gf_bits_of_float(gf_float_of_bits(above) + GF_RESAMPLE_ENCODE_OFFSET);
}

static void fill_encode(uint32_t *table)
{
    const uint32_t width = 1u << 15, guard = GF_RESAMPLE_ENCODE_GUARD;
    uint32_t start = gf_bits_of_float(GF_RESAMPLE_ENCODE_OFFSET);
    uint32_t below = 0, change = change_after(0);
    for (int i = 0; i < GF_RESAMPLE_ENCODE_BUCKETS; i++, start += width) {
        while (below < 254 && change + guard < start)
            change = change_after((int)++below);
        if (change + guard < start)
            table[i] = (255u << 16) + width / 2 - start;
        else if (change <= start + width + guard)
            table[i] = ((below + 1) << 16) - change;
        else
            table[i] = (below << 16) + width / 2 - start;
    }
}

/* Fills in the tables for a walk down the rows, behind those of rows and columns. */
static void resample_walk_fill(const struct gf_resample *resample, int bits, char *block)
{
    if (!resample->walk.group)
        return;
    fill_columns(resample, block);
    fill_rows(resample, resample->linear ? 1.0f : (float)(1 << bits), block);
    if (resample->linear)
        fill_encode((uint32_t *)(block + resample->walk.encode));
}

static void fill_nearest(const struct gf_resample_axis *axis, int *start)
{
    /* The position is a sum of steps, as in Pillow; a product would round differently at times. */
    double at = (axis->offset + 0.5) * axis->scale;
    for (int i = 0; i < axis->out; i++, at += axis->scale)
        start[i] = gf_at_most(at, axis->in - 1);
}

/* Returns the number with 16 significant bits that is nearest to v. */
static float shortened(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0x80) & ~(uint32_t)0xff;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Rounds the weights of an output to 16 significant bits. Each rounding error is added to the next
 * weight, so that the sum does not change, and flat areas stay the same. */
static void shorten_weights(float *weight, int count)
{
    double owed = 0;
    for (int k = 0; k < count; k++) {
        const double whole = weight[k] + owed;
        weight[k] = shortened((float)whole);
        owed = whole - weight[k];
    }
}

/* Finds the inputs first .. end - 1 that the outputs of group g have, widened to multiples of
 * `step`. */
static void group_span(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int g,
                       int step, int *first, int *end)
{
    const int i0 = g * GF_RESAMPLE_GROUP;
    const int i1 = axis->out - i0 < GF_RESAMPLE_GROUP ? axis->out : i0 + GF_RESAMPLE_GROUP;
    gf_resample_inputs(kernel, axis, i0, i1, first, end);
    *first = *first / step * step;
    *end = (*end + step - 1) / step * step;
}

static int groups_of(const struct gf_resample_axis *axis)
{
    return (axis->out + GF_RESAMPLE_GROUP - 1) / GF_RESAMPLE_GROUP;
}

static size_t take(size_t *used, size_t count, size_t size)
{
    const size_t at = *used;
    *used += (count * size + 15) / 16 * 16;
    return at;
}

static struct gf_resample_table lay_out(enum gf_resample_kernel kernel,
                                        const struct gf_resample_axis *axis, size_t *used)
{
    struct gf_resample_table table = {0};
    const size_t outputs = (size_t)axis->out;
    table.start = take(used, outputs, sizeof(int));
    if (kernel == GF_RESAMPLE_NEAREST)
        return table;
    for (int i = 0; i < axis->out; i++) {
        int first, end;
        gf_resample_inputs(kernel, axis, i, i + 1, &first, &end);
        if (end - first > table.taps)
            table.taps = end - first;
    }
    table.count = take(used, outputs, sizeof(int));
    table.weight = take(used, outputs * (size_t)table.taps, sizeof(float));
    return table;
}

static void lay_out_groups(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                           int step, struct gf_resample_table *table, size_t *used)
{
    const size_t groups = (size_t)groups_of(axis);
    for (int g = 0; g < groups_of(axis); g++) {
        int first, end;
        group_span(kernel, axis, g, step, &first, &end);
        if (end - first > table->group_taps)
            table->group_taps = end - first;
    }
    table->group_start = take(used, groups, sizeof(int));
    table->group_count = take(used, groups, sizeof(int));
    table->group_weight =
        take(used, groups * (size_t)table->group_taps * GF_RESAMPLE_GROUP, sizeof(float));
}

static void fill_table(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                       bool is_short, const struct gf_resample_table *table, char *block)
{
    int *const start = (int *)(block + table->start);
    if (kernel == GF_RESAMPLE_NEAREST) {
        fill_nearest(axis, start);
        return;
    }
    int *const count = (int *)(block + table->count);
    /* If the scale is an integer, positions are exact, and outputs at equal fractions of an input
     * have equal weights. */
    const bool repeats = axis->scale == floor(axis->scale) && axis->offset == 0;
    for (int i = 0; i < axis->out; i++) {
        float *const own = (float *)(block + table->weight) + (size_t)i * (size_t)table->taps;
        int end;
        gf_resample_inputs(kernel, axis, i, i + 1, &start[i], &end);
        count[i] = end - start[i];
        if (repeats && i > 0 && start[i] - start[i - 1] == (int)axis->scale &&
            count[i] == count[i - 1]) {
            memcpy(own, own - table->taps, (size_t)count[i] * sizeof *own);
            continue;
        }
        resample_weights(kernel, axis, i, own);
        if (is_short)
            shorten_weights(own, count[i]);
    }
}

static void fill_groups(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                        int step, const struct gf_resample_table *table, char *block)
{
    const int *const start = gf_resample_ints(block, table->start);
    const int *const count = gf_resample_ints(block, table->count);
    int *const group_start = (int *)(block + table->group_start);
    int *const group_count = (int *)(block + table->group_count);
    float *const group_weight = (float *)(block + table->group_weight);
    for (int i = 0; i < axis->out; i++) {
        const float *const own =
            gf_resample_floats(block, table->weight) + (size_t)i * (size_t)table->taps;
        const int g = i / GF_RESAMPLE_GROUP;
        int end;
        group_span(kernel, axis, g, step, &group_start[g], &end);
        group_count[g] = end - group_start[g];
        float *const shared =
            group_weight + (size_t)g * (size_t)table->group_taps * GF_RESAMPLE_GROUP;
        for (int k = 0; k < count[i]; k++)
            shared[(start[i] - group_start[g] + k) * GF_RESAMPLE_GROUP + i % GF_RESAMPLE_GROUP] =
                own[k];
    }
}

enum gf_status gf_resample_prepare(struct gf_stage *stage, enum gf_resample_kernel kernel,
                                   bool linear, const struct gf_resample_axis *column_axis,
                                   const struct gf_resample_axis *row_axis, struct gf_error *error)
{
    struct gf_resample resample = {.kernel = kernel,
                                   .linear = linear && kernel != GF_RESAMPLE_NEAREST,
                                   .column_axis = *column_axis,
                                   .row_axis = *row_axis};
    const bool floats = gf_is_float(stage->in);
    const int samples = floats ? 0 : 1 << stage->in.bits;
    size_t used = (sizeof resample + 15) / 16 * 16;
    resample.columns = lay_out(kernel, column_axis, &used);
    resample.rows = lay_out(kernel, row_axis, &used);
    if (!floats)
        resample.walk = resample_walk_plan(&resample, stage->in, &used);
    /* Variants also need the groups' tables, although the default kernel walks down the rows. */
    const bool has_groups =
        !floats && kernel != GF_RESAMPLE_NEAREST && (!resample.walk.group || stage->variant);
    if (has_groups) {
        lay_out_groups(kernel, column_axis, GF_RESAMPLE_GROUP, &resample.columns, &used);
        lay_out_groups(kernel, row_axis, 1, &resample.rows, &used);
    }
    if (resample.linear)
        resample.decode = take(&used, (size_t)samples, sizeof(float));
    GF_TRY(gf_stage_constants(stage, used, error));
    char *const block = stage->constants;
    memcpy(block, &resample, sizeof resample);
    fill_table(kernel, column_axis, stage->in.bits == 8 && !resample.linear, &resample.columns,
               block);
    fill_table(kernel, row_axis, false, &resample.rows, block);
    if (has_groups) {
        fill_groups(kernel, column_axis, GF_RESAMPLE_GROUP, &resample.columns, block);
        fill_groups(kernel, row_axis, 1, &resample.rows, block);
    }
    if (!floats)
        resample_walk_fill(&resample, stage->in.bits, block);
    for (int i = 0; resample.linear && i < samples; i++)
        ((float *)(block + resample.decode))[i] =
            (float)gf_srgb_decode_exact((double)i / (samples - 1));
    return GF_OK;
}
