/* guided: smooths, and keeps edges, in a time that does not depend on the radius. */
#include "filters/guided/guided.h"

#include <string.h>

#include "base/cpu.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"

struct guided {
    int radius;
    double sigma;
    int border;
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
    const double most = stage->in.bits == 8 ? GF_GUIDED_MOST8 : GF_GUIDED_MOST16;
    const double count = side * side, step = floor((most - 1) / (max + 1));
    guided->radius = asked->radius;
    guided->border = asked->border;
    guided->count = count;
    guided->edge = (float)(asked->sigma * asked->sigma * max * max * count * count);
    guided->mean = (float)(1 / count);
    guided->most = (float)most;
    guided->unit = (float)(1 / most);
    guided->step = (float)step;
    guided->mean_slope = (float)(1 / (count * most));
    guided->mean_base = (float)(1 / (count * step));
    return GF_OK;
}

/* Arrays of a row's samples. An array with `room` in its name has gf_window_room() numbers. */
struct work {
    const struct gf_guided *guided;
    struct gf_column_sums sums;
    int samples;
    int32_t *column_room, *sum;       /* sum: sums of the samples of windows */
    double *square_room, *squares;    /* squares: sums of the squared samples of windows */
    int32_t *slope, *base, *base_sum; /* slope, base: sums of the lines in one column of a window;
                                         base_sum: sums over windows */
    int32_t *slope_room, *base_room, *slope_sum;
    int32_t *line; /* a ring of the lines of 2 radius + 1 rows; the slopes of a row come before its
                      bases */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    const int radius = gf_stage_radius(stage) / 2;
    const size_t samples = gf_samples(stage->in), room = gf_window_room(stage->in, radius);
    *work = (struct work){.guided = stage->constants, .samples = (int)samples};
    work->sums = gf_column_sums_carve(&carver, stage->in, radius, gf_stage_border(stage));
    work->column_room = gf_carve(&carver, room * sizeof(int32_t));
    work->sum = gf_carve(&carver, samples * sizeof(int32_t));
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

GF_WINDOW_SLIDE(slide, int32_t)
GF_WINDOW_SLIDE(slide_squares, double)

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
    const int from = gf_border_index(row, work->sums.in->format.height, work->guided->border);
    int32_t *const line = work->line + (size_t)((row + side) % side) * 2 * (size_t)samples;
    if (replaces)
        add_lines(-1, line, samples, work->slope, work->base);
    if (from < 0) {
        memset(line, 0, 2 * (size_t)samples * sizeof *line);
        return;
    }
    if (from != work->sums.row) {
        gf_column_sums_go_to(&work->sums, from);
        slide(&work->sums, work->sums.column, work->column_room, work->sum);
        slide_squares(&work->sums, work->sums.square, work->square_room, work->squares);
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
    work.sums.in = in;
    const int radius = work.guided->radius;
    memset(work.slope, 0, (size_t)work.samples * sizeof *work.slope);
    memset(work.base, 0, (size_t)work.samples * sizeof *work.base);
    for (int row = out->y - radius; row < out->y + radius; row++)
        enter_row(&work, row, false);
    for (int y = out->y; y < out->y + out->rows; y++) {
        enter_row(&work, y + radius, y > out->y);
        slide(&work.sums, work.slope, work.slope_room, work.slope_sum);
        slide(&work.sums, work.base, work.base_room, work.base_sum);
        put_row(*work.guided, work.slope_sum, work.base_sum, gf_view_row(in, y), stage->in.bits,
                work.samples, gf_view_row(out, y));
    }
}

/* Returns the device's bytes for the lines of all rows that `rows` result rows need: for each
 * sample a word, in 16 bits a struct gf_guided_line. */
static size_t device_bytes(const struct gf_stage *stage, int rows)
{
    return (size_t)gf_guided_pitch(stage->in.width) * (size_t)stage->in.channels *
           (size_t)(rows + gf_stage_radius(stage)) *
           (stage->in.bits == 8 ? sizeof(uint32_t) : sizeof(struct gf_guided_line));
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
        "steps of 2^-15, b of 2^-7; in 16 bits of 2^-17 and 1.",
    GF_TAKES(
        struct guided,
        GF_PARAM_INT(struct guided, radius, 4, 1, GF_GUIDED_RADIUS_MAX, "radius of the windows"),
        GF_PARAM(
            struct guided, sigma, 0.1, 0.001, 10,
            "contrast that counts as an edge: a standard deviation in the window, as a part of the "
            "full scale"),
        GF_PARAM_BORDER(struct guided)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .cost = {.pixel = 24},
    .radius = reach,
    .columns = reach,
    .constants_size = sizeof(struct gf_guided),
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cuda_scratch = device_bytes,
    .cpu = cpu,
    .floats = gf_guided_floats,
    .floats_scratch = gf_guided_floats_scratch,
    .cuda =
        GF_CUDA({GF_VARIANT("scan", gf_guided_cuda,
                            "sums of windows by prefix sums of a block's columns, by shuffles")}),
};
