/* guided: smooths, and keeps edges, in a time that does not depend on the radius. */
#include "filters/guided/guided.h"

#include <string.h>

#include "base/target_clones.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"

struct guided {
    int radius;
    double sigma;
    int border;
};

static const struct gf_param params[] = {
    GF_PARAM_INT(struct guided, radius, 4, 1, GF_GUIDED_RADIUS_MAX, "radius of the windows"),
    GF_PARAM(
        struct guided, sigma, 0.1, 0.001, 10,
        "contrast that counts as an edge: a standard deviation in the window, as a part of the "
        "full scale"),
    GF_PARAM_BORDER(struct guided),
    {0},
};

/* Returns the rows that a result depends on above and below: twice the window's radius, because a
 * result is a mean of lines, and each line is computed from means. */
static int reach(const void *params_)
{
    return 2 * ((const struct guided *)params_)->radius;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct guided *const asked = stage->params;
    struct gf_guided *const guided = stage->constants;
    const double side = 2 * asked->radius + 1, max = gf_sample_max(stage->in);
    const double count = side * side, step = ((1 << GF_GUIDED_BITS) - 1) / (max + 1);
    guided->radius = asked->radius;
    guided->border = asked->border;
    guided->count = count;
    guided->edge = (float)(asked->sigma * asked->sigma * max * max * count * count);
    guided->mean = (float)(1 / count);
    guided->step = (float)floor(step);
    guided->mean_slope = (float)(1 / (count * (1 << GF_GUIDED_BITS)));
    guided->mean_base = (float)(1 / (count * floor(step)));
    return GF_OK;
}

/* Arrays of a row's samples. An array with `room` in its name has 2 radius more pixels, half of
 * them in front of the row, and one more pixel in front of these, so that the sample before any
 * window can be read. */
struct work {
    const struct gf_guided *guided;
    const struct gf_view *in;
    /* row: the middle row of the columns' sums; -1: there are no sums yet */
    int channels, samples, row;
    int32_t *column, *column_room, *sum;    /* sums of samples */
    double *square, *square_room, *squares; /* sums of squared samples */
    int32_t *slope, *base, *base_sum;       /* sums of lines over the window's rows */
    int32_t *slope_room, *base_room, *slope_sum;
    int32_t *line; /* a ring of rows of lines: [2 radius + 1][slopes, bases] */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    const int radius = gf_stage_radius(stage) / 2;
    const size_t samples = gf_samples(stage->in);
    const size_t room = samples + (size_t)(2 * radius + 2) * (size_t)stage->in.channels;
    *work = (struct work){.guided = stage->constants,
                          .channels = stage->in.channels,
                          .samples = (int)samples,
                          .row = -1};
    work->column = gf_carve(&carver, samples * sizeof(int32_t));
    work->column_room = gf_carve(&carver, room * sizeof(int32_t));
    work->sum = gf_carve(&carver, samples * sizeof(int32_t));
    work->square = gf_carve(&carver, samples * sizeof(double));
    work->square_room = gf_carve(&carver, room * sizeof(double));
    work->squares = gf_carve(&carver, samples * sizeof(double));
    work->slope = gf_carve(&carver, samples * sizeof(int32_t));
    work->base = gf_carve(&carver, samples * sizeof(int32_t));
    work->slope_room = gf_carve(&carver, room * sizeof(int32_t));
    work->base_room = gf_carve(&carver, room * sizeof(int32_t));
    work->slope_sum = gf_carve(&carver, samples * sizeof(int32_t));
    work->base_sum = gf_carve(&carver, samples * sizeof(int32_t));
    work->line = gf_carve(&carver, (size_t)(2 * radius + 1) * 2 * samples * sizeof(int32_t));
    return carver.used;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage);
}

/* Adds a row to the columns' sums (sign 1) or subtracts it (sign -1). */
GF_TARGET_CLONES static void add_samples(const unsigned char *row, int bits, int sign, int samples,
                                         int32_t *restrict column, double *restrict square)
{
    if (bits == 8) {
        for (int i = 0; i < samples; i++) {
            const int v = row[i];
            column[i] += sign * v;
            square[i] += (double)(sign * v * v);
        }
    } else {
        for (int i = 0; i < samples; i++) {
            const int v = ((const gf_u16_any *)row)[i];
            column[i] += sign * v;
            square[i] += (double)sign * v * v;
        }
    }
}

static void add_row(struct work *work, int row, int sign)
{
    const int from = gf_border_index(row, work->in->format.height, work->guided->border);
    if (from >= 0)
        add_samples(gf_view_row(work->in, from), work->in->format.bits, sign, work->samples,
                    work->column, work->square);
}

/* Computes the columns' sums around a row. If the sums of a neighbouring row are there, one row is
 * added and one subtracted. */
static void go_to_row(struct work *work, int row)
{
    const int radius = work->guided->radius;
    if (work->row >= 0 && row == work->row + 1) {
        add_row(work, row + radius, 1);
        add_row(work, row - radius - 1, -1);
    } else if (work->row >= 0 && row == work->row - 1) {
        add_row(work, row - radius, 1);
        add_row(work, row + radius + 1, -1);
    } else if (row != work->row) {
        memset(work->column, 0, (size_t)work->samples * sizeof *work->column);
        memset(work->square, 0, (size_t)work->samples * sizeof *work->square);
        for (int i = -radius; i <= radius; i++)
            add_row(work, row + i, 1);
    }
    work->row = row;
}

/* Computes the sums of windows along a row, over samples that are `channels` apart. The first sum
 * is added up; each later sum is the sum before it, plus one column and minus one column. */
#define GF_GUIDED_SLIDE(name, type) \
    static void name(const struct work *work, const type *column, type *room, type *sum) \
    { \
        const int channels = work->channels, radius = work->guided->radius; \
        type *const first = room + (radius + 1) * channels; \
        const int border = work->guided->border; \
        memcpy(first, column, (size_t)work->samples * sizeof *column); \
        gf_stencil_pad(first, work->samples / channels, radius, (size_t)channels * sizeof *column, \
                       border); \
        for (int c = 0; c < channels; c++) { \
            type total = 0; \
            for (int i = -radius; i < radius; i++) \
                total += first[i * channels + c]; \
            const type *ahead = first + radius * channels + c, \
                       *behind = first - radius * channels + c; \
            for (int i = c; i < work->samples; i += channels) { \
                total += *ahead; \
                sum[i] = total; \
                total -= *behind; \
                ahead += channels; \
                behind += channels; \
            } \
        } \
    }
GF_GUIDED_SLIDE(slide, int32_t)
GF_GUIDED_SLIDE(slide_squares, double)

GF_TARGET_CLONES static void find_lines(const struct gf_guided guided, const int32_t *restrict sum,
                                        const double *restrict squares, int samples,
                                        int32_t *restrict slope, int32_t *restrict base)
{
    for (int i = 0; i < samples; i++) {
        const struct gf_guided_line line = gf_guided_line_of(&guided, sum[i], squares[i]);
        slope[i] = line.slope;
        base[i] = line.base;
    }
}

GF_TARGET_CLONES static void add_lines(int sign, const int32_t *restrict line, int samples,
                                       int32_t *restrict slope, int32_t *restrict base)
{
    for (int i = 0; i < samples; i++) {
        slope[i] += sign * line[i];
        base[i] += sign * line[samples + i];
    }
}

/* Computes the lines of a row, which may be outside of the picture. They replace the lines of the
 * oldest row. */
static void enter_row(struct work *work, int row, bool replaces)
{
    const int side = 2 * work->guided->radius + 1, samples = work->samples;
    const int from = gf_border_index(row, work->in->format.height, work->guided->border);
    int32_t *const line = work->line + (size_t)((row + side) % side) * 2 * (size_t)samples;
    if (replaces)
        add_lines(-1, line, samples, work->slope, work->base);
    if (from < 0) {
        memset(line, 0, 2 * (size_t)samples * sizeof *line);
        return;
    }
    if (from != work->row) {
        go_to_row(work, from);
        slide(work, work->column, work->column_room, work->sum);
        slide_squares(work, work->square, work->square_room, work->squares);
    }
    find_lines(*work->guided, work->sum, work->squares, samples, line, line + samples);
    add_lines(1, line, samples, work->slope, work->base);
}

GF_TARGET_CLONES static void put_row(const struct gf_guided guided, const int32_t *restrict slopes,
                                     const int32_t *restrict bases, const unsigned char *in,
                                     int bits, int samples, unsigned char *out)
{
    if (bits == 8) {
        for (int i = 0; i < samples; i++)
            out[i] = (unsigned char)gf_round_flat(gf_guided_of(&guided, slopes[i], bases[i], in[i]),
                                                  255.0f);
    } else {
        for (int i = 0; i < samples; i++)
            ((gf_u16_any *)out)[i] = (uint16_t)gf_round_flat(
                gf_guided_of(&guided, slopes[i], bases[i], ((const gf_u16_any *)in)[i]), 65535.0f);
    }
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    struct work work;
    carve(&work, scratch, stage);
    work.in = in;
    const int radius = work.guided->radius;
    memset(work.slope, 0, (size_t)work.samples * sizeof *work.slope);
    memset(work.base, 0, (size_t)work.samples * sizeof *work.base);
    for (int row = out->y - radius; row < out->y + radius; row++)
        enter_row(&work, row, false);
    for (int y = out->y; y < out->y + out->rows; y++) {
        enter_row(&work, y + radius, y > out->y);
        slide(&work, work.slope, work.slope_room, work.slope_sum);
        slide(&work, work.base, work.base_room, work.base_sum);
        put_row(*work.guided, work.slope_sum, work.base_sum, gf_view_row(in, y), stage->in.bits,
                work.samples, gf_view_row(out, y));
    }
}

/* Returns the device's bytes for the lines of all rows that `rows` result rows need: a struct
 * gf_guided_line for each sample. */
static size_t device_bytes(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->in) * (size_t)(rows + gf_stage_radius(stage)) *
           sizeof(struct gf_guided_line);
}

extern gf_launcher gf_guided_cuda;

const struct gf_filter gf_guided_filter = {
    .name = "guided",
    .synonyms = "guidedfilter edge-preserving",
    .summary = "smoothing that keeps edges, as fast for every radius",
    .definition =
        "The guided filter of a channel by itself (K. He, J. Sun and X. Tang, Guided Image "
        "Filtering, 2013): mean(a) v + mean(b),\n"
        "a = var / (var + sigma^2 M^2), b = (1 - a) mean(v); means and variance over windows of "
        "(2 radius + 1)^2 pixels, a in\n"
        "steps of 2^-17, b of 2^-9 (2^-1 in 16 bits).",
    GF_PARAMS(struct guided, params),
    .kind = GF_STENCIL,
    .cost = {.pixel = 24},
    .radius = reach,
    .columns = reach,
    .constants_size = sizeof(struct gf_guided),
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cuda_scratch = device_bytes,
    .cpu = cpu,
    .cuda =
        GF_CUDA({GF_VARIANT("scan", gf_guided_cuda,
                            "sums of windows by prefix sums of a block's columns, by shuffles")}),
};
