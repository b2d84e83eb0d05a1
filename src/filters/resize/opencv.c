/* Resizing with OpenCV's very samples: the weights, and the passes on the CPU. */
#include "filters/resize/opencv.h"

#include <float.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "filters/resize/resize.h"
#include "pixel/stencil.h"

/* ---- the weights ---- */

/* What an output is made of: two inputs, any number of them with floats as weights, or the inputs
 * of a block whose side is a whole number. */
enum kind { LINEAR, AREA, BLOCKS };

/* One axis. OpenCV has the ratio of the sides as `inverse`, and computes `scale` from it. */
struct axis {
    enum kind kind;
    bool is_rows, enlarges_area;
    int in, out;
    double inverse, scale;
};

struct axes {
    struct axis columns, rows;
};

static struct axes axes_of(const struct gf_opencv_params *resize, struct gf_format in)
{
    const double x = (double)resize->width / in.width, y = (double)resize->height / in.height;
    const double columns = 1 / x, rows = 1 / y;
    const bool whole =
        fabs(columns - rint(columns)) < DBL_EPSILON && fabs(rows - rint(rows)) < DBL_EPSILON;
    const bool by_area =
        resize->area ? columns >= 1 && rows >= 1 : whole && rint(columns) == 2 && rint(rows) == 2;
    const enum kind kind = !by_area ? LINEAR : whole ? BLOCKS : AREA;
    return (struct axes){{kind, false, resize->area, in.width, resize->width, x, columns},
                         {kind, true, resize->area, in.height, resize->height, y, rows}};
}

/* Columns beyond the picture are the nearest ones: the weight of the last one is a second weight,
 * so that each output has two inputs. */
static int linear_inputs(const struct axis *axis, int i, int *first, float weight[2])
{
    float part;
    if (axis->enlarges_area) {
        *first = (int)floor(i * axis->scale);
        part = (float)((i + 1) - (*first + 1) * axis->inverse);
        part = part <= 0 ? 0 : part - floorf(part);
    } else {
        const float at = (float)((i + 0.5) * axis->scale - 0.5);
        *first = (int)floorf(at);
        part = at - (float)*first;
    }
    if (!axis->is_rows && (*first < 0 || *first >= axis->in - 1)) {
        part = *first > 0;
        *first = *first > 0 ? axis->in - 2 : 0;
    }
    weight[0] = rintf((1 - part) * (1 << GF_OPENCV_BITS));
    weight[1] = rintf(part * (1 << GF_OPENCV_BITS));
    return !axis->is_rows && axis->in == 1 ? 1 : 2;
}

static int area_inputs(const struct axis *axis, int i, int *first, float *weight)
{
    const double from = i * axis->scale, to = from + axis->scale;
    const double size = fmin(axis->scale, axis->in - from);
    const int end = (int)fmin(floor(to), axis->in - 1), begin = (int)fmin(ceil(from), end);
    const bool has_left = begin - from > 1e-3, has_right = to - end > 1e-3;
    const int count = has_left + end - begin + has_right;
    *first = begin - has_left;
    for (int k = 0; weight && k < count; k++)
        weight[k] = (float)((k == 0 && has_left            ? begin - from
                             : k == count - 1 && has_right ? fmin(fmin(to - end, 1), size)
                                                           : 1) /
                            size);
    return count;
}

/* Finds the inputs of output i, and their weights unless `weights` is NULL; it has room for the
 * most. Returns how many they are. */
static int inputs_of(const struct axis *axis, int i, int *first, void *weights)
{
    float two[2];
    int32_t *const whole = weights;
    if (axis->kind == AREA)
        return area_inputs(axis, i, first, weights);
    const int count = axis->kind == LINEAR ? linear_inputs(axis, i, first, two) : (int)axis->scale;
    if (axis->kind == BLOCKS)
        *first = i * count;
    for (int k = 0; whole && k < count; k++)
        whole[k] = axis->kind == LINEAR ? (int32_t)two[k] : 1;
    return count;
}

static int most_inputs(const struct axis *axis)
{
    return axis->kind == LINEAR ? 2 : (int)ceil(axis->scale) + 1;
}

static struct gf_pillow_axis lay_out(const struct axis *axis, size_t *used)
{
    const size_t outputs = (size_t)axis->out, ints = (outputs + 3) / 4 * 16;
    const struct gf_pillow_axis table = {.taps = (most_inputs(axis) + 3) / 4 * 4, /* as pillow's */
                                         .start = *used,
                                         .count = *used + ints,
                                         .weight = *used + 2 * ints};
    *used += (2 + (size_t)table.taps) * ints;
    return table;
}

static void fill(const struct axis *axis, const struct gf_pillow_axis *table, char *block)
{
    int *const start = (int *)(block + table->start), *const count = (int *)(block + table->count);
    int32_t *weights = (int32_t *)(block + table->weight);
    for (int i = 0; i < axis->out; i++, weights += table->taps)
        count[i] = inputs_of(axis, i, &start[i], weights);
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct axes axes = axes_of(stage->params, stage->in);
    const float pixels = (float)(axes.columns.scale * axes.rows.scale);
    const bool is_half = axes.columns.scale == 2 && axes.rows.scale == 2;
    size_t used = (sizeof(struct gf_opencv) + 15) / 16 * 16;
    struct gf_opencv opencv = {.floats = axes.rows.kind == AREA};
    opencv.dropped = axes.rows.kind == LINEAR ? 4 : 0;
    opencv.shift = axes.rows.kind == LINEAR ? 16 : 0;
    /* OpenCV's own code for halves does not know two channels. */
    if (axes.rows.kind == BLOCKS && (!is_half || stage->in.channels == 2))
        opencv.factor = 1 / pixels;
    opencv.columns = lay_out(&axes.columns, &used);
    opencv.rows = lay_out(&axes.rows, &used);
    GF_TRY(gf_stage_constants(stage, used, error));
    memcpy(stage->constants, &opencv, sizeof opencv);
    fill(&axes.columns, &opencv.columns, stage->constants);
    fill(&axes.rows, &opencv.rows, stage->constants);
    return GF_OK;
}

/* ---- the declaration's answers ---- */

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_opencv_params *const resize = params;
    if (in.bits != 8)
        return gf_fail(error, GF_ERROR_USAGE, "like=opencv takes samples of 8 bits only");
    if (resize->width > GF_RESIZE_SIDE_MAX || resize->height > GF_RESIZE_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%dx%d is larger than %d pixels a side",
                       resize->width, resize->height, GF_RESIZE_SIDE_MAX);
    const struct axes axes = axes_of(resize, in);
    const double pixels = axes.columns.scale * axes.rows.scale;
    if (axes.rows.kind == BLOCKS && pixels > INT32_MAX / 255)
        return gf_fail(error, GF_ERROR_USAGE,
                       "OpenCV's sums of blocks of %.0f pixels overflow: like=none", pixels);
    out->width = resize->width;
    out->height = resize->height;
    return GF_OK;
}

static void input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct axis rows = axes_of(stage->params, stage->in).rows;
    int last;
    const int count = inputs_of(&rows, y1 - 1, &last, NULL);
    inputs_of(&rows, y0, first, NULL);
    *first = *first < 0 ? 0 : *first;
    *end = last + count < rows.in ? last + count : rows.in;
}

static int input_rows_most(const struct gf_stage *stage, int count)
{
    const struct axis rows = axes_of(stage->params, stage->in).rows;
    return (int)fmin(ceil((count - 1) * rows.scale) + 1 + most_inputs(&rows), rows.in);
}

/* ---- the passes on the CPU ---- */

/* A sum of floats or of integers: both take the same room. */
union sum {
    float wide;
    int32_t whole;
};

/* Rows of sums, of which the first two are of columns. */
enum { EVEN, ODD, RESULT, BUFFERS };

static size_t carve(union sum *rows[BUFFERS], void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    for (int i = 0; i < BUFFERS; i++)
        rows[i] = gf_carve(&carver, gf_samples(stage->out) * sizeof(union sum));
    return carver.used;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    union sum *buffers[BUFFERS];
    return carve(buffers, NULL, stage);
}

GF_INLINE void columns(const struct gf_opencv *opencv, const unsigned char *row, int width,
                       const bool floats, const int channels, union sum *to)
{
    const struct gf_pillow_axis *const axis = &opencv->columns;
    const int *const start = (const int *)((const char *)opencv + axis->start);
    const int *const count = (const int *)((const char *)opencv + axis->count);
    const union sum *weight = (const union sum *)((const char *)opencv + axis->weight);
    for (int x = 0; x < width; x++, weight += axis->taps, to += channels) {
        const unsigned char *pixel = row + (size_t)start[x] * (size_t)channels;
        union sum sum[4] = {{0}};
        for (int k = 0; k < count[x]; k++, pixel += channels)
            for (int c = 0; c < channels; c++) {
                if (floats)
                    sum[c].wide += pixel[c] * weight[k].wide;
                else
                    sum[c].whole += pixel[c] * weight[k].whole;
            }
        for (int c = 0; c < channels; c++) {
            to[c] = sum[c];
            if (!floats)
                to[c].whole >>= opencv->dropped;
        }
    }
}

static void make_row(const struct gf_stage *stage, const unsigned char *row, union sum *to)
{
    const struct gf_opencv *const opencv = stage->constants;
    const int width = stage->out.width;
    if (opencv->floats)
        GF_BY_CHANNELS(stage->in.channels, channels,
                       columns(opencv, row, width, true, channels, to))
    else
        GF_BY_CHANNELS(stage->in.channels, channels,
                       columns(opencv, row, width, false, channels, to))
}

GF_TARGET_CLONES static void add_row(const struct gf_opencv *opencv, const union sum *row,
                                     union sum weight, size_t samples, union sum *restrict sums)
{
    const int shift = opencv->shift;
    for (size_t i = 0; opencv->floats && i < samples; i++)
        sums[i].wide += weight.wide * row[i].wide;
    for (size_t i = 0; !opencv->floats && i < samples; i++)
        sums[i].whole += (row[i].whole * weight.whole) >> shift;
}

GF_TARGET_CLONES static void round_sums(const struct gf_opencv *opencv, const union sum *sums,
                                        size_t samples, unsigned char *restrict to)
{
    const float factor = opencv->factor;
    for (size_t i = 0; opencv->floats && i < samples; i++)
        to[i] = (unsigned char)gf_opencv_rounded(sums[i].wide);
    for (size_t i = 0; !opencv->floats && i < samples; i++)
        to[i] = (unsigned char)gf_opencv_result(sums[i].whole, factor);
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_opencv *const opencv = stage->constants;
    const char *const block = stage->constants;
    const int *const start = (const int *)(block + opencv->rows.start);
    const int *const count = (const int *)(block + opencv->rows.count);
    const union sum *const weights = (const union sum *)(block + opencv->rows.weight);
    const size_t samples = gf_samples(stage->out);
    union sum *buffers[BUFFERS];
    int made[] = {-1, -1}; /* the numbers of the rows in the first two buffers */
    carve(buffers, scratch, stage);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const union sum *const weight = weights + (size_t)y * (size_t)opencv->rows.taps;
        memset(buffers[RESULT], 0, samples * sizeof(union sum));
        for (int k = 0; k < count[y]; k++) {
            const int at = start[y] + k, last = stage->in.height - 1;
            const int row = at < 0 ? 0 : at < last ? at : last;
            if (made[row % 2] != row)
                make_row(stage, gf_view_row(in, row), buffers[row % 2]);
            made[row % 2] = row;
            add_row(opencv, buffers[row % 2], weight[k], samples, buffers[RESULT]);
        }
        round_sums(opencv, buffers[RESULT], samples, gf_view_row(out, y));
    }
}

extern gf_launcher gf_opencv_cuda, gf_opencv_stacked_cuda;

const struct gf_filter gf_opencv_filter = {
    .name = "opencv",
    .params_size = sizeof(struct gf_opencv_params),
    .kind = GF_STRAIGHT,
    .takes_no_region = true,
    .cost = {.pixel = 2, .row = 1.1},
    .shape = shape,
    .input_rows = input_rows,
    .input_rows_most = input_rows_most,
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
    .cuda = GF_CUDA(
        {GF_VARIANT("tiled", gf_opencv_cuda, "both passes at once, by tiles in shared memory")}),
    .cuda_stacked = GF_LAUNCHER(gf_opencv_stacked_cuda),
};
