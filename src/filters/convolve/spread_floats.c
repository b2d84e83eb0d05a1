/* spread of floats. A running sum would carry a NaN out of its windows, so that every result adds
 * up all rows of its shape, from the uppermost on. In a row of the shape, a stretch of equal
 * weights is divided into runs of 2^level samples; the sums of runs of a row of the picture serve
 * all results. */
#include <string.h>

#include "base/cpu.h"
#include "filters/convolve/spread.h"
#include "pixel/stencil.h"
#include "stage/border.h"
#include "stage/stage.h"

enum { STRIP = 256, LEVELS = 8 }; /* columns computed together; 2^7 <= GF_SPREAD_SIDE_MAX < 2^8 */

/* A weight, and the run that it multiplies: its level and its first column. */
struct tap {
    short level, column, weight;
};

struct work {
    const struct gf_spread_weights *weights;
    int border, levels;
    float *run[LEVELS]; /* for each pixel the sum of the 2^level pixels from it on */
    struct tap *taps;
    int *first; /* the first tap of each row of the shape, and the number of all */
};

static size_t carve(struct work *work, void *base, struct gf_format format,
                    const struct gf_spread_weights *weights, int width, int height)
{
    struct gf_carver carver = {.base = base};
    *work = (struct work){.weights = weights};
    for (int k = 0; k < LEVELS; k++)
        work->run[k] = gf_carve(&carver, (size_t)(STRIP + width - 1) * (size_t)format.channels *
                                             sizeof **work->run);
    work->taps = gf_carve(&carver, (size_t)(width * height) * sizeof *work->taps);
    work->first = gf_carve(&carver, (size_t)(height + 1) * sizeof *work->first);
    return carver.used;
}

size_t gf_spread_floats_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    const struct gf_coverage *const shape =
        &((const struct gf_spread_params *)stage->params)->coverage;
    return carve(&work, NULL, stage->in, NULL, 2 * gf_coverage_columns(shape) + 1,
                 2 * gf_coverage_rows(shape) + 1);
}

static void list_taps(struct work *work)
{
    const struct gf_spread_weights *const weights = work->weights;
    int count = 0;
    for (int row = 0; row < weights->height; row++) {
        work->first[row] = count;
        for (int x = 0, level; x < weights->width; x += 1 << level) {
            const int weight = gf_spread_weight(weights, row, x);
            int equal = 1;
            level = 0;
            if (!weight)
                continue;
            while (gf_spread_weight(weights, row, x + equal) == weight)
                equal++;
            while (2 << level <= equal)
                level++;
            work->levels = level >= work->levels ? level + 1 : work->levels;
            work->taps[count++] = (struct tap){(short)level, (short)x, (short)weight};
        }
    }
    work->first[weights->height] = count;
}

GF_TARGET_CLONES static void add_pairs(const float *half, size_t offset, size_t count,
                                       float *restrict to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = half[i] + half[i + offset];
}

/* Makes the sums of runs of a row of the picture, for `columns` results from x0 on. */
static void make_runs(const struct work *work, const struct gf_view *in, int row, int x0,
                      int columns)
{
    const size_t channels = (size_t)in->format.channels;
    const int width = work->weights->width;
    size_t count = (size_t)(columns + width - 1) * channels;
    const int from = gf_border_index(row, in->format.height, work->border);
    memset(work->run[0], 0, count * sizeof **work->run);
    if (from >= 0)
        gf_stencil_columns(gf_view_row(in, from), in->format, x0 - width / 2, columns + width - 1,
                           work->border, (unsigned char *)work->run[0]);
    for (int level = 1; level < work->levels; level++) {
        const size_t offset = channels << (level - 1);
        count -= offset;
        add_pairs(work->run[level - 1], offset, count, work->run[level]);
    }
}

/* Adds the products of `count` taps and of sums of runs, four at a time. */
GF_TARGET_CLONES static void add_taps(float *const *run, const struct tap *taps, int count,
                                      size_t channels, size_t samples, float *restrict sums)
{
    int k = 0;
#define RUN(k_) (run[taps[k_].level] + (size_t)taps[k_].column * channels)
    for (; k + 3 < count; k += 4) {
        const float *const a = RUN(k), *const b = RUN(k + 1), *const c = RUN(k + 2),
                           *const d = RUN(k + 3);
        const float p = taps[k].weight, q = taps[k + 1].weight, r = taps[k + 2].weight,
                    s = taps[k + 3].weight;
        for (size_t i = 0; i < samples; i++)
            sums[i] = sums[i] + (((p * a[i] + q * b[i]) + r * c[i]) + s * d[i]);
    }
    for (; k < count; k++) {
        const float *const a = RUN(k);
        const float p = taps[k].weight;
        for (size_t i = 0; i < samples; i++)
            sums[i] = sums[i] + p * a[i];
    }
#undef RUN
}

void gf_spread_floats(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    const struct gf_spread *const spread = stage->constants;
    const struct gf_spread_weights *const weights = &spread->weights;
    const size_t channels = (size_t)in->format.channels;
    const int height = weights->height, width = in->format.width;
    struct work work;
    float sum = 0;
    carve(&work, scratch, in->format, weights, weights->width, height);
    work.border = spread->border;
    list_taps(&work);
    for (int i = 0; i < weights->width * height; i++)
        sum += (float)weights->weight[i];
    for (int x = 0; x < width; x += STRIP) {
        const int columns = width - x < STRIP ? width - x : STRIP;
        const size_t samples = (size_t)columns * channels, at = (size_t)x * channels;
        for (int y = 0; y < out->rows; y++)
            memset((float *)gf_view_row(out, out->y + y) + at, 0, samples * sizeof(float));
        for (int row = 0; row < out->rows + height - 1; row++) {
            make_runs(&work, in, out->y - height / 2 + row, x, columns);
            for (int y = row < height ? 0 : row - height + 1; y <= row && y < out->rows; y++) {
                const int first = work.first[row - y];
                add_taps(work.run, work.taps + first, work.first[row - y + 1] - first, channels,
                         samples, (float *)gf_view_row(out, out->y + y) + at);
            }
        }
        for (int y = 0; y < out->rows; y++) {
            float *const sums = (float *)gf_view_row(out, out->y + y) + at;
            for (size_t i = 0; i < samples; i++)
                sums[i] = sums[i] / sum;
        }
    }
}
