#include "pixel/resample/resample.h"

#include "base/fail.h"
#include "pixel/colour.h"

static void fill_nearest(const struct gf_resample_axis *axis, int *start)
{
    /* The position is a sum of steps, as in Pillow. The product would sometimes round to another
     * neighbour. */
    double at = (axis->offset + 0.5) * axis->scale;
    for (int i = 0; i < axis->out; i++, at += axis->scale)
        start[i] = gf_at_most(at, axis->in - 1);
}

/* Returns the nearest number with 16 significant bits. */
static float shortened(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0x80) & ~(uint32_t)0xff;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Rounds the weights to 16 significant bits. Each rounding error is added to the next weight, so
 * that the sum does not change, and flat areas stay the same. */
static void shorten_weights(float *weight, int count)
{
    double owed = 0;
    for (int k = 0; k < count; k++) {
        const double whole = weight[k] + owed;
        weight[k] = shortened((float)whole);
        owed = whole - weight[k];
    }
}

/* Finds the inputs first .. end - 1 of group g, widened to multiples of `step`. */
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
    /* If the scale is an integer, positions are exact, and outputs with equal fractions of their
     * position have equal weights. */
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
        gf_resample_weights(kernel, axis, i, own);
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
    const int samples = 1 << stage->in.bits;
    size_t used = (sizeof resample + 15) / 16 * 16;
    resample.columns = lay_out(kernel, column_axis, &used);
    resample.rows = lay_out(kernel, row_axis, &used);
    resample.walk = gf_resample_walk_plan(&resample, stage->in, &used);
    /* A variant may need the groups although the default kernel walks down the rows. */
    const bool has_groups =
        kernel != GF_RESAMPLE_NEAREST && (!resample.walk.group || stage->variant);
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
    gf_resample_walk_fill(&resample, stage->in.bits, block);
    for (int i = 0; resample.linear && i < samples; i++)
        ((float *)(block + resample.decode))[i] =
            (float)gf_srgb_decode_exact((double)i / (samples - 1));
    return GF_OK;
}
