#include "pixel/resample/resample.h"

#include "pixel/sample.h"

/* Tables for the device's threads that walk down the picture. 8-bit samples are used without
 * conversion, as the bits of floats: a sample of 1 is the smallest float. The factor COLUMN_SCALE
 * of the weights restores the scale without rounding. The product of a 16-bit weight and such a
 * sample is exact. */
#define COLUMN_SCALE 0x1p125f

enum { WINDOW_MOST = 64 };

static void window_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i,
                      int *start, int *end)
{
    gf_resample_inputs(kernel, axis, i, i + 1, start, end);
}

/* Returns the input row after which an output is complete. It is the output's last row, except that
 * each row completes only one output: outputs that end with the picture wait for rows after it,
 * which add nothing. `before` is the row that completes the previous output, or -1. */
static int completion_of(int end, int before)
{
    return end - 1 > before ? end - 1 : before + 1;
}

/* Returns the largest number of outputs that are incomplete at the same time; with `gathers`
 * (enlarging), the largest number of inputs of an output. */
static int reach_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                    bool gathers)
{
    int most = 0, unfinished = 0, before = -1;
    for (int i = 0; i < axis->out; i++) {
        int start, end;
        window_of(kernel, axis, i, &start, &end);
        most = gathers && end - start > most ? end - start : most;
        while (!gathers) {
            int its_start, its_end;
            window_of(kernel, axis, unfinished, &its_start, &its_end);
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

static int groups_of(const struct gf_resample_axis *axis, int group)
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

static size_t take(size_t *used, size_t count)
{
    const size_t at = *used;
    *used += (count * sizeof(float) + 15) / 16 * 16;
    return at;
}

/* Plans the columns for a reach of 2, 4 or 6, which is the reach of the rows. In a low picture it
 * can be less than the columns need; HALVES is then impossible. */
static void plan_columns(const struct gf_resample *resample, struct gf_format format,
                         struct gf_resample_walk *walk)
{
    const struct gf_resample_axis *const axis = &resample->column_axis;
    const bool halves = !walk->gathers && axis->scale == 2 && axis->offset == 0 &&
                        resample->columns.taps <= 2 * walk->reach;
    const bool is_small = format.channels * format.bits == 24 && halves && walk->reach == 2;
    walk->group = format.channels == 1 || is_small ? 4 : 2;
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

struct gf_resample_walk gf_resample_walk_plan(const struct gf_resample *resample,
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
    const size_t groups = (size_t)groups_of(columns, walk.group);
    const size_t stride = (size_t)gf_resample_walk_stride(walk.reach);
    walk.column_start = take(used, groups);
    walk.column_weight =
        take(used, (size_t)(walk.window + 3) / 4 * 4 * groups * (size_t)walk.group);
    if (!walk.gathers)
        walk.row_first = take(used, (size_t)(rows->in + walk.reach));
    walk.row_weight =
        take(used, (size_t)(walk.gathers ? rows->out : rows->in + walk.reach) * stride);
    if (resample->linear)
        walk.encode = take(used, GF_RESAMPLE_ENCODE_CELLS);
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
    const int group = walk->group, groups = groups_of(axis, group);
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

/* Returns the bits of the first float (see GF_RESAMPLE_ENCODE_CELLS) whose sample is v + 1 instead
 * of v. */
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
    for (int i = 0; i < GF_RESAMPLE_ENCODE_CELLS; i++, start += width) {
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

void gf_resample_walk_fill(const struct gf_resample *resample, int bits, char *block)
{
    if (!resample->walk.group)
        return;
    fill_columns(resample, block);
    fill_rows(resample, resample->linear ? 1.0f : (float)(1 << bits), block);
    if (resample->linear)
        fill_encode((uint32_t *)(block + resample->walk.encode));
}
