/* equalize: equalises the histogram. */
#include <stdlib.h>

#include "pixel/histogram/histogram_counters.h"
#include "pixel/point/point.h"

struct equalize {
    int mode;
    int smooth;
};

enum { BY_LUMA, BY_CHANNEL, JOINTLY, BY_LIGHTNESS };

static const char *const mode_names[] = {"luma", "channel", "joint", "lightness", NULL};

static const struct gf_param params[] = {
    GF_PARAM_CHOICE(struct equalize, mode, BY_LUMA, mode_names,
                    "luma: one table from the luma; channel: a table for each channel; joint: one "
                    "table from all samples; lightness: CIELAB L*, and the colour is kept"),
    GF_PARAM_SMOOTH(struct equalize),
    {0},
};

static enum gf_statistic statistic(const void *params_)
{
    static const enum gf_statistic statistics[] = {
        [BY_LUMA] = GF_STATISTIC_LUMA,
        [BY_CHANNEL] = GF_STATISTIC_CHANNELS,
        [JOINTLY] = GF_STATISTIC_JOINT,
        [BY_LIGHTNESS] = GF_STATISTIC_LIGHTNESS,
    };
    const struct equalize *const equalize = params_;
    return statistics[equalize->mode];
}

/* Returns the new value of a level. For 8 bits the arithmetic is the same as in OpenCV's
 * equalizeHist, so that both give the same bits: the scale is rounded to single precision, and a
 * half is rounded to even. For 16 bits the arithmetic is exact, and a half is rounded up. */
static double level(uint64_t passed, uint64_t total, int bins)
{
    if (bins == 256)
        return fmin(rint((float)passed * (255.0f / (float)total)), 255);
    return (double)((passed * 2 * 65535 + total) / (2 * total));
}

/* Fills the table. Returns false if it is the identity, since the picture has at most one level. */
static bool fill_table(const uint64_t *count, int bins, double *table)
{
    int first = 0;
    while (first < bins - 1 && !count[first])
        first++;
    uint64_t total = 0; /* pixels above the lowest level */
    for (int v = first + 1; v < bins; v++)
        total += count[v];
    uint64_t passed = 0; /* pixels above the lowest level, up to level v */
    for (int v = 0; v < bins; v++) {
        passed += v > first ? count[v] : 0;
        table[v] = total ? level(passed, total, bins) : v;
    }
    return total;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct equalize *const equalize = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    double *const table = malloc((size_t)(histogram->channels * histogram->bins) * sizeof *table);
    if (!table)
        return gf_point_fail_memory(builder);
    bool changed = false;
    for (int c = 0; c < histogram->channels; c++) {
        const int at = c * histogram->bins;
        changed |= fill_table(histogram->count + at, histogram->bins, table + at);
    }
    if (changed && equalize->mode == BY_LIGHTNESS)
        gf_point_lightness(builder, table);
    else if (changed)
        gf_point_levels(builder, histogram->channels, table);
    free(table);
}

extern gf_launcher gf_point_powf_cuda, gf_point_cbrtf_cuda;

static const char *refuses_roots(const struct gf_stage *stage)
{
    const struct gf_point_run *const run = stage->params;
    const struct equalize *const equalize = run->item[0].params;
    return equalize->mode == BY_LIGHTNESS ? gf_point_refuses_gray(stage)
                                          : "takes mode=lightness only";
}

const struct gf_filter gf_equalize_filter = {
    .name = "equalize",
    .names = "equalise histeq histequal",
    .summary = "histogram equalisation",
    .definition =
        "With c the cumulative histogram of N pixels and c0 its first value that is not zero:\n"
        "round((c[v] - c0) M / (N - c0)); the identity where N = c0. Pixels of zero alpha are not "
        "counted.",
    .example = "equalize=luma",
    GF_PARAMS(struct equalize, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1.2},
    .statistic = statistic,
    .point = point,
    .cuda = GF_CUDA(
        GF_HISTOGRAM_COUNTERS(NULL, gf_counter_8_bits, gf_counter_16_bits),
        {GF_STUDIED("powf", gf_point_powf_cuda, "lightness: roots by powf (Best Practices 11.1.5)"),
         .tolerance = 1, .tolerance_16 = 8, .refuses = refuses_roots},
        {GF_STUDIED("cbrtf", gf_point_cbrtf_cuda,
                    "lightness: roots by cbrtf (Best Practices 11.1.5)"),
         .tolerance = 1, .tolerance_16 = 8, .refuses = refuses_roots}),
};
