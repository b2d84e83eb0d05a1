/* Point filters by the histogram of the whole picture: equalize and normalize. */
#include <stdlib.h>

#include "pixel/point/point.h"

/* equalize: equalises the histogram. */

struct equalize {
    int mode, smooth;
};

enum { EQUALIZE_BY_LUMA, EQUALIZE_BY_CHANNEL, JOINTLY, BY_LIGHTNESS };

static enum gf_statistic equalize_statistic(const void *params)
{
    static const enum gf_statistic statistics[] = {
        [EQUALIZE_BY_LUMA] = GF_STATISTIC_LUMA,
        [EQUALIZE_BY_CHANNEL] = GF_STATISTIC_CHANNELS,
        [JOINTLY] = GF_STATISTIC_JOINT,
        [BY_LIGHTNESS] = GF_STATISTIC_LIGHTNESS,
    };
    const struct equalize *const equalize = params;
    return statistics[equalize->mode];
}

static enum gf_status equalize_shape(const void *params, struct gf_format in, struct gf_format *out,
                                     struct gf_error *error)
{
    const struct equalize *const equalize = params;
    return gf_is_float(in) && equalize->mode == BY_LIGHTNESS
               ? gf_fail(error, GF_ERROR_USAGE,
                         "mode=lightness takes no floats; the filter integer before it makes "
                         "samples of 16 bits")
               : GF_OK;
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

static void equalize_point(const struct gf_stage *stage, struct gf_point_builder *builder)
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

const struct gf_filter gf_equalize_filter = {
    .name = "equalize",
    .names = "equalise histeq histequal",
    .summary = "histogram equalisation",
    .definition =
        "With c the cumulative histogram of N pixels and c0 its first value that is not zero:\n"
        "round((c[v] - c0) M / (N - c0)); the identity where N = c0. Pixels of zero alpha are not "
        "counted. Of floats, values are interpolated between levels and flat beyond 0..1, and "
        "lightness is refused.",
    .example = "equalize=luma",
    GF_TAKES(struct equalize,
             GF_PARAM_CHOICE(
                 struct equalize, mode, EQUALIZE_BY_LUMA,
                 GF_WORDS("luma", "channel", "joint", "lightness"),
                 "luma: one table from the luma; channel: a table for each channel; joint: one "
                 "table from all samples; lightness: CIELAB L*, and the colour is kept"),
             GF_PARAM_SMOOTH(struct equalize)),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1.2},
    .shape = equalize_shape,
    .statistic = equalize_statistic,
    .point = equalize_point,
};

/* normalize: stretches the picture's levels over the whole scale. */

struct normalize {
    double clip;
    int mode, smooth;
};

enum { NORMALIZE_BY_CHANNEL, NORMALIZE_BY_LUMA };

static enum gf_statistic normalize_statistic(const void *params)
{
    const struct normalize *const normalize = params;
    return normalize->mode == NORMALIZE_BY_LUMA ? GF_STATISTIC_LUMA : GF_STATISTIC_CHANNELS;
}

/* Finds the lowest level with more than clip_percent per cent of the pixels at or below it, and the
 * highest with more than as many at or above it. */
static void find_range(const uint64_t *count, int bins, double clip_percent, int *low, int *high)
{
    uint64_t total = 0;
    for (int v = 0; v < bins; v++)
        total += count[v];
    const double clip = (double)total * clip_percent / 100;
    uint64_t below = 0, above = 0;
    for (*low = 0; *low < bins - 1; (*low)++) {
        below += count[*low];
        if ((double)below > clip)
            break;
    }
    for (*high = bins - 1; *high > 0; (*high)--) {
        above += count[*high];
        if ((double)above > clip)
            break;
    }
}

/* Stretches floats: by the extremes or, if pixels are clipped, by levels of 0..1. */
static void stretch(const struct normalize *normalize, const struct gf_histogram *histogram,
                    struct gf_point_builder *builder)
{
    for (int c = 0; c < histogram->channels; c++) {
        double low = (double)histogram->low[c], high = (double)histogram->high[c];
        if (normalize->clip > 0) {
            int first, last;
            find_range(histogram->count + c * histogram->bins, histogram->bins, normalize->clip,
                       &first, &last);
            low = (double)first / (histogram->bins - 1);
            high = (double)last / (histogram->bins - 1);
        }
        if (histogram->channels == 3)
            gf_point_only(builder, 1u << c);
        if (high > low)
            gf_point_linear(builder, low, 1 / (high - low), 0);
    }
}

static void normalize_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct normalize *const normalize = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    const int bins = histogram->bins;
    if (gf_is_float(stage->in)) {
        stretch(normalize, histogram, builder);
        return;
    }
    double *const value = malloc((size_t)(histogram->channels * bins) * sizeof *value);
    if (!value)
        return gf_point_fail_memory(builder);
    for (int c = 0; c < histogram->channels; c++) {
        int low, high;
        find_range(histogram->count + c * bins, bins, normalize->clip, &low, &high);
        for (int v = 0; v < bins; v++) {
            const double stretched = (double)(v - low) * (bins - 1) / (high - low);
            value[c * bins + v] = high <= low ? v : fmin(fmax(stretched, 0), bins - 1);
        }
    }
    gf_point_levels(builder, histogram->channels, value);
    free(value);
}

static bool extremes(const void *params)
{
    const struct normalize *const normalize = params;
    return normalize->clip == 0;
}

const struct gf_filter gf_normalize_filter = {
    .name = "normalize",
    .names = "normalise autolevel autolevels autocontrast",
    .synonyms = "stretch contraststretch linearstretch autogamma",
    .summary = "stretches the levels to the full scale",
    .definition =
        "(v - low) M / (high - low), clamped. low and high are the first levels, counted "
        "from either end, by which more than clip % of the pixels have been passed. "
        "Pixels of zero alpha are not counted. Of floats, low and high are the extremes of "
        "all finite numbers if clip is 0.",
    .example = "normalize=clip=1",
    GF_TAKES(struct normalize,
             GF_PARAM(struct normalize, clip, 0, 0, 49.9,
                      "per cent of the pixels to clip at either end"),
             GF_PARAM_CHOICE(
                 struct normalize, mode, NORMALIZE_BY_CHANNEL, GF_WORDS("channel", "luma"),
                 "channel: each channel by its own levels; luma: all by the levels of the luma"),
             GF_PARAM_SMOOTH(struct normalize)),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 2.2},
    .statistic = normalize_statistic,
    .extremes = extremes,
    .point = normalize_point,
};
