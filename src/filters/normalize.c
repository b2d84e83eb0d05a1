/* normalize: stretches the picture's levels over the whole scale. */
#include <stdlib.h>

#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"

struct normalize {
    double clip;
    int mode;
    int smooth;
};

enum { BY_CHANNEL, BY_LUMA };

static const char *const mode_names[] = {"channel", "luma", NULL};

static const struct gf_param params[] = {
    GF_PARAM(struct normalize, clip, 0, 0, 49.9, "per cent of the pixels to clip at either end"),
    GF_PARAM_CHOICE(struct normalize, mode, BY_CHANNEL, mode_names,
                    "channel: each channel by its own levels; luma: all by the levels of the luma"),
    GF_PARAM_SMOOTH(struct normalize),
    {0},
};

static enum gf_statistic statistic(const void *params_)
{
    const struct normalize *const normalize = params_;
    return normalize->mode == BY_LUMA ? GF_STATISTIC_LUMA : GF_STATISTIC_CHANNELS;
}

/* Finds the lowest level with more than `clip` pixels at or below it, and the highest with more
 * than `clip` at or above it. */
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

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct normalize *const normalize = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    const int bins = histogram->bins;
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

extern gf_counter gf_extremes_shared_cuda, gf_extremes_warp_cuda, gf_extremes_groups_cuda;

static bool extremes(const void *params_)
{
    const struct normalize *const normalize = params_;
    return normalize->clip == 0;
}

static const char *only_without_clip(const struct gf_stage *stage)
{
    const struct gf_point_run *const run = stage->params;
    return extremes(run->item[0].params)
               ? NULL
               : "takes clip=0 only: it finds the lowest and the highest level, and counts nothing";
}

#define EXTREMES(name_, counter_, summary_) \
    GF_COUNTER(name_, counter_, summary_), .count_extremes = true, .refuses = only_without_clip

const struct gf_filter gf_normalize_filter = {
    .name = "normalize",
    .names = "normalise autolevel autolevels autocontrast",
    .synonyms = "stretch contraststretch linearstretch autogamma",
    .summary = "stretches the levels to the full scale",
    .definition = "(v - low) M / (high - low), clamped. low and high are the first levels, counted "
                  "from either end, by which more than clip % of the pixels have been passed. "
                  "Pixels of zero alpha are not counted.",
    .example = "normalize=clip=1",
    GF_PARAMS(struct normalize, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.2},
    .statistic = statistic,
    .extremes = extremes,
    .point = point,
    .cuda =
        GF_CUDA({EXTREMES("shared", gf_extremes_shared_cuda,
                          "lowest and highest level, in place of a histogram, by a tree in each "
                          "block's shared memory (Best Practices 9.2.3)")},
                {EXTREMES("warp", gf_extremes_warp_cuda,
                          "by shuffles within each warp, then one warp over what the warps found "
                          "(Programming Guide 2.2.6)")},
                {EXTREMES("groups", gf_extremes_groups_cuda,
                          "the same by cooperative groups' reduce (Programming Guide 2.2.6)")},
                {EXTREMES("atomic-ref", gf_extremes_cuda,
                          "by cuda::atomic_ref of block scope, each thread for itself: the default "
                          "where clip=0 (Programming Guide 2.2.5)")}),
};
