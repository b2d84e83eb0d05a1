/* guided of floats. Running sums would carry a NaN out of its windows, so that sums of windows are
 * made anew: of rows, from the uppermost on, then of columns by runs of 2^k. Samples and their
 * squares are added up in double precision, since a variance is a small difference of large
 * numbers. */
#include <string.h>

#include "base/cpu.h"
#include "filters/guided/guided.h"
#include "pixel/stencil.h"
#include "stage/border.h"

/* Two planes of a row of samples or of lines, with a border on both sides, in one array: samples
 * and their squares, or slopes and bases. */
struct work {
    const struct gf_guided *guided;
    struct gf_format format;
    size_t channels, samples, pad, plane;
    double *columns, *sums; /* of rows, then of windows, which have no border */
    float *line_columns, *line_sums;
    float *lines; /* a ring of the lines of 2 radius + 1 rows */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    const size_t radius = (size_t)gf_stage_radius(stage) / 2;
    *work = (struct work){.guided = stage->constants, .format = stage->in};
    work->channels = (size_t)stage->in.channels;
    work->samples = gf_samples(stage->in);
    work->pad = radius * work->channels;
    work->plane = work->samples + 2 * work->pad;
    work->columns = gf_carve(&carver, 2 * work->plane * sizeof(double));
    work->sums = gf_carve(&carver, 2 * work->plane * sizeof(double));
    work->line_columns = gf_carve(&carver, 2 * work->plane * sizeof(float));
    work->line_sums = gf_carve(&carver, 2 * work->plane * sizeof(float));
    work->lines = gf_carve(&carver, (2 * radius + 1) * 2 * work->plane * sizeof(float));
    return carver.used;
}

size_t gf_guided_floats_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage);
}

/* Defines a function that sums windows of a row, whose first one begins at column[0]. The columns
 * become sums of runs of 1, 2, 4 .. columns; a window consists of those that its width has as
 * powers of two. */
#define WINDOWS(name, type) \
    GF_TARGET_CLONES static void name(type *column, int window, size_t channels, size_t count, \
                                      type *restrict sums) \
    { \
        size_t length = count + (size_t)(window - 1) * channels, at = 0; \
        for (size_t i = 0; i < count; i++) \
            sums[i] = 0; \
        for (int run = 1; run <= window; run *= 2) { \
            const size_t step = (size_t)run * channels; \
            if (window & run) { \
                for (size_t i = 0; i < count; i++) \
                    sums[i] = sums[i] + column[at + i]; \
                at += step; \
            } \
            if (2 * run > window) \
                break; \
            length -= step; \
            GF_INDEPENDENT for (size_t i = 0; i < length; i++) column[i] = \
                column[i] + column[i + step]; \
        } \
    }
WINDOWS(sum_windows, float)
WINDOWS(sum_windows_double, double)

GF_TARGET_CLONES static void add_samples(const float *row, size_t samples, double *restrict sum,
                                         double *restrict squares)
{
    for (size_t i = 0; i < samples; i++) {
        const double v = (double)row[i];
        sum[i] = sum[i] + v;
        squares[i] = squares[i] + v * v;
    }
}

GF_TARGET_CLONES static void add_line(const float *line, size_t count, float *restrict columns)
{
    for (size_t i = 0; i < count; i++)
        columns[i] = columns[i] + line[i];
}

GF_TARGET_CLONES static void find_lines(const struct work *work, float *restrict slope,
                                        float *restrict base)
{
    const double *const sum = work->sums, *const squares = sum + work->plane;
    const double count = work->guided->count, edge = (double)work->guided->edge;
    const size_t samples = work->samples;
    for (size_t i = 0; i < samples; i++) {
        const double difference = count * squares[i] - sum[i] * sum[i],
                     variance = difference < 0.0 ? 0.0 : difference;
        slope[i] = (float)(variance / (variance + edge));
        base[i] = (float)(sum[i] / count * (edge / (variance + edge)));
    }
}

GF_TARGET_CLONES static void put_row(const struct work *work, const float *in, float *restrict out)
{
    const float *const slopes = work->line_sums, *const bases = slopes + work->plane;
    const float count = (float)work->guided->count;
    const size_t samples = work->samples;
    for (size_t i = 0; i < samples; i++)
        out[i] = slopes[i] / count * in[i] + bases[i] / count;
}

/* Fills the borders of two planes of numbers of `size` bytes. */
static void pad(const struct work *work, void *columns, size_t size)
{
    for (size_t plane = 0; plane < 2; plane++)
        gf_stencil_pad((char *)columns + (plane * work->plane + work->pad) * size,
                       work->format.width, work->guided->radius, work->channels * size,
                       work->guided->border);
}

static float *line_of(const struct work *work, int row)
{
    const int side = 2 * work->guided->radius + 1;
    return work->lines + (size_t)((row + side) % side) * 2 * work->plane;
}

/* Finds the lines of a row, which may be outside of the picture. */
static void enter_row(const struct work *work, const struct gf_view *in, int row)
{
    const int radius = work->guided->radius, border = work->guided->border;
    const int from = gf_border_index(row, work->format.height, border);
    double *const columns = work->columns + work->pad;
    float *const line = line_of(work, row) + work->pad;
    memset(line_of(work, row), 0, 2 * work->plane * sizeof *line);
    if (from < 0)
        return;
    memset(work->columns, 0, 2 * work->plane * sizeof *columns);
    for (int i = -radius; i <= radius; i++) {
        const int at = gf_border_index(from + i, work->format.height, border);
        if (at >= 0)
            add_samples((const float *)gf_view_row(in, at), work->samples, columns,
                        columns + work->plane);
    }
    pad(work, work->columns, sizeof *columns);
    sum_windows_double(work->columns, 2 * radius + 1, work->channels, work->plane + work->samples,
                       work->sums);
    find_lines(work, line, line + work->plane);
}

void gf_guided_floats(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    struct work work;
    carve(&work, scratch, stage);
    const int radius = work.guided->radius;
    for (int row = out->y - radius; row < out->y + radius; row++)
        enter_row(&work, in, row);
    for (int y = out->y; y < out->y + out->rows; y++) {
        enter_row(&work, in, y + radius);
        memset(work.line_columns, 0, 2 * work.plane * sizeof(float));
        for (int i = -radius; i <= radius; i++)
            add_line(line_of(&work, y + i), 2 * work.plane, work.line_columns);
        pad(&work, work.line_columns, sizeof(float));
        sum_windows(work.line_columns, 2 * radius + 1, work.channels, work.plane + work.samples,
                    work.line_sums);
        put_row(&work, (const float *)gf_view_row(in, y), (float *)gf_view_row(out, y));
    }
}
