/* threshold: makes the picture black and white. */
#include "filters/threshold/threshold.h"

#include <stdlib.h>

#include "pixel/histogram/histogram_counters.h"
#include "pixel/point/point.h"

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    out->channels = gf_has_alpha(in) ? 2 : 1;
    return GF_OK;
}

static enum gf_statistic statistic(const void *params_)
{
    const struct gf_threshold *const threshold = params_;
    return isnan(threshold->value) ? GF_STATISTIC_LUMA : GF_STATISTIC_NONE;
}

/* The two classes of levels, v..split and split + 1.., and the variance between them for each
 * split. The arithmetic is scikit-image's, so that ties have the same result: weights in single
 * precision, summed from both ends. */
struct classes {
    float *below, *above; /* numbers of pixels */
    double *mean_below, *mean_above;
};

static int best_split(const uint64_t *count, int first, int last, const struct classes *classes)
{
    float weight = 0;
    double sum = 0;
    for (int v = first; v <= last; v++) {
        weight += (float)count[v];
        sum += (double)(float)count[v] * v;
        classes->below[v] = weight;
        classes->mean_below[v] = sum / (double)weight;
    }
    weight = 0;
    sum = 0;
    for (int v = last; v >= first; v--) {
        weight += (float)count[v];
        sum += (double)(float)count[v] * v;
        classes->above[v] = weight;
        classes->mean_above[v] = sum / (double)weight;
    }
    double best = -1;
    int split = last;
    for (int v = first; v < last; v++) {
        const float weights = classes->below[v] * classes->above[v + 1];
        const double distance = classes->mean_below[v] - classes->mean_above[v + 1];
        const double variance = (double)weights * (distance * distance);
        if (variance > best) {
            best = variance;
            split = v;
        }
    }
    return split;
}

/* Returns the split, or -1 when out of memory. */
static int find_otsu(const struct gf_histogram *histogram)
{
    int first = 0, last = histogram->bins - 1;
    while (first < last && !histogram->count[first])
        first++;
    while (last > first && !histogram->count[last])
        last--;
    const size_t bins = (size_t)histogram->bins;
    double *const memory = malloc(3 * bins * sizeof *memory);
    if (!memory)
        return -1;
    const struct classes classes = {.below = (float *)memory,
                                    .above = (float *)memory + bins,
                                    .mean_below = memory + bins,
                                    .mean_above = memory + 2 * bins};
    const int split = best_split(histogram->count, first, last, &classes);
    free(memory);
    return split;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_threshold *const threshold = stage->params;
    double least = ceil(threshold->value * gf_sample_max(stage->in));
    if (isnan(threshold->value)) {
        const int split = find_otsu(stage->histogram);
        if (split < 0)
            return gf_point_fail_memory(builder);
        least = split + 1;
    }
    gf_point_luma(builder);
    gf_point_step(builder, least);
}

static void gray_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_luma(builder);
}

static const struct gf_filter gray = {
    .name = "threshold-gray", .kind = GF_POINT, .shape = shape, .point = gray_point};

extern const struct gf_filter gf_threshold_filter;

/* One threshold for all pixels is a point filter; a threshold for each pixel takes a stencil. */
static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct gf_threshold *const threshold = params_;
    const int word = gf_param_word(gf_threshold_params, threshold->value);
    if (word <= GF_THRESHOLD_OTSU) {
        gf_parts_add(parts, &gf_threshold_filter, threshold, sizeof *threshold);
        return;
    }
    gf_parts_add(parts, &gray, NULL, 0);
    gf_parts_add(parts, word == GF_THRESHOLD_SAUVOLA ? &gf_threshold_sauvola : &gf_threshold_local,
                 threshold, sizeof *threshold);
}

extern gf_launcher gf_threshold_branch_cuda, gf_threshold_predicated_cuda,
    gf_threshold_branch_free_cuda;
/* The function refuses() of the variants that count levels. */
static const char *only_otsu(const struct gf_stage *stage)
{
    const struct gf_point_run *const run = stage->params;
    return statistic(run->item[0].params) ? NULL : "counts levels, which only value=otsu asks for";
}

static const char *only_otsu_of_8_bits(const struct gf_stage *stage)
{
    const char *const why = only_otsu(stage);
    return why ? why : gf_counter_8_bits(stage);
}

static const char *only_otsu_of_16_bits(const struct gf_stage *stage)
{
    const char *const why = only_otsu(stage);
    return why ? why : gf_counter_16_bits(stage);
}

const struct gf_filter gf_threshold_filter = {
    .name = "threshold",
    .synonyms = "binarize binarise bilevel adaptive adaptivethreshold lat local sauvola",
    .summary = "black and white by a threshold",
    .definition =
        "M where the luma, rounded to a sample, is value M or more, else 0; in one channel. Alpha "
        "is kept.\n"
        "otsu: M above the level that makes the variance between the two classes largest.\n"
        "adaptive, gaussian: M where the luma is above m - ceil(offset M), else 0; m is the luma "
        "after boxblur=radius, or after a Gaussian blur by 2 radius + 1 weights with sigma = 0.3 "
        "radius + 0.5 (up to radius 4 those of OpenCV's tables), rounded to a sample, a half up. "
        "OpenCV's adaptiveThreshold with blockSize = 2 radius + 1 and C = offset M is the same "
        "but for Gaussian means about halfway between two samples.\n"
        "sauvola: M where the luma is above m (1 + k (s / (M / 2) - 1)), with the mean m and the "
        "standard deviation s of the window, which are not rounded, as in scikit-image's "
        "threshold_sauvola (which has border=reflect).",
    .example = "threshold=adaptive",
    GF_PARAMS(struct gf_threshold, gf_threshold_params),
    .kind = GF_POINT,
    .cost = {.pixel = 0.7},
    .shape = shape,
    .statistic = statistic,
    .expand = expand,
    .point = point,
    .cuda = GF_CUDA(
        GF_HISTOGRAM_COUNTERS(only_otsu, only_otsu_of_8_bits, only_otsu_of_16_bits),
        {GF_STUDIED("branch", gf_threshold_branch_cuda,
                    "one thread a pixel, two ways to go (Best Practices 12.1)")},
        {GF_STUDIED("predicated", gf_threshold_predicated_cuda,
                    "a condition so short that the compiler predicates it (Best Practices 12.2)")},
        {GF_STUDIED("branch-free", gf_threshold_branch_free_cuda,
                    "the sign of a difference as a mask, no condition (Best Practices 12.1)")}),
};
