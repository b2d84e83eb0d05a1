/* threshold: makes the picture black and white. */
#include "filters/threshold/threshold.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "pixel/point/point.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

const struct gf_param gf_threshold_params[] = {
    GF_PARAM_WORD(
        struct gf_threshold, value, 0.5, 0, 1, GF_WORDS("otsu", "adaptive", "gaussian", "sauvola"),
        "a part of the full scale; otsu, the level that separates dark from light pixels best; or "
        "a threshold for each pixel by the pixels around it: adaptive, their mean; gaussian, their "
        "mean that weighs near ones more; sauvola, their mean and deviation"),
    GF_PARAM_INT(struct gf_threshold, radius, 12, 1, GF_THRESHOLD_RADIUS_MAX,
                 "of the window around a pixel, 2 radius + 1 on a side: larger than the strokes"),
    GF_PARAM(struct gf_threshold, offset, 0.03, -1, 1,
             "how far below the mean the threshold lies (adaptive, gaussian), as a part of the "
             "full scale: 3%"),
    GF_PARAM(struct gf_threshold, k, 0.2, 0, 1,
             "how much the deviation counts (sauvola): the threshold lies k below the mean where "
             "all pixels are alike"),
    GF_PARAM_BORDER(struct gf_threshold),
    {0},
};

/* Thresholds that differ from pixel to pixel: the mean of a window, less an offset, and Sauvola's.
 * The picture is gray; its alpha is kept, and does not count. */

/* ---- the mean of a window ---- */

extern const struct gf_filter gf_boxblur_filter, gf_blur_filter;

void gf_threshold_means_of(const struct gf_stage *stage, struct gf_threshold_means *means)
{
    const struct gf_threshold *const threshold = stage->params;
    means->stage = *stage;
    means->stage.params = &means->params;
    if (gf_param_word(gf_threshold_params, threshold->value) == GF_THRESHOLD_GAUSSIAN) {
        means->stage.filter = &gf_blur_filter;
        means->params.blur =
            (struct gf_blur_params){.sigma = gf_gauss_window_sigma(threshold->radius),
                                    .border = threshold->border,
                                    .window = threshold->radius};
    } else {
        means->stage.filter = &gf_boxblur_filter;
        means->params.box =
            (struct gf_boxblur_params){.radius = threshold->radius, .border = threshold->border};
    }
}

int gf_threshold_offset(const struct gf_stage *stage)
{
    const struct gf_threshold *const threshold = stage->params;
    return (int)ceil(threshold->offset * gf_sample_max(stage->in));
}

static int mean_radius(const void *params)
{
    const struct gf_stage stage = {.params = params};
    struct gf_threshold_means means;
    gf_threshold_means_of(&stage, &means);
    return gf_stage_radius(&means.stage);
}

static enum gf_status mean_prepare(struct gf_stage *stage, struct gf_error *error)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    const enum gf_status status =
        gf_stage_constants(stage, means.stage.filter->constants_size, error);
    means.stage.constants = stage->constants;
    return status ? status : means.stage.filter->prepare(&means.stage, error);
}

static size_t mean_scratch(const struct gf_stage *stage, int rows)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    return means.stage.filter->cpu_scratch(&means.stage, rows);
}

static size_t mean_device_scratch(const struct gf_stage *stage, int rows)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    return means.stage.filter->cuda_scratch(&means.stage, rows);
}

/* Compares the samples of a row with the means, which the result replaces. */
GF_TARGET_CLONES static void compare_row(const unsigned char *in, int bits, size_t count,
                                         int offset, unsigned char *restrict out)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            out[i] = (unsigned char)gf_threshold_above(in[i], out[i], offset, 255);
    } else {
        gf_u16_any *const to = (gf_u16_any *)out;
        for (size_t i = 0; i < count; i++)
            to[i] = (uint16_t)gf_threshold_above(((const gf_u16_any *)in)[i], to[i], offset, 65535);
    }
}

/* Does what compare_row() does, for floats. A NaN stays as it is. */
GF_TARGET_CLONES static void compare_floats(const float *in, size_t count, float offset,
                                            float *restrict out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] != in[i] ? in[i] : in[i] > out[i] - offset ? 1.0f : 0.0f;
}

static void mean_floats(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *scratch)
{
    const struct gf_threshold *const threshold = stage->params;
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    means.stage.filter->floats(&means.stage, in, out, scratch);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, y);
        unsigned char *const to = gf_view_row(out, y);
        compare_floats((const float *)from, gf_samples(in->format), (float)threshold->offset,
                       (float *)to);
        if (gf_has_alpha(in->format))
            gf_keep_alpha(from, to, in->format, gf_row_bytes(in->format));
    }
}

static size_t mean_floats_scratch(const struct gf_stage *stage, int rows)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    return means.stage.filter->floats_scratch(&means.stage, rows);
}

static void mean_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(stage, &means);
    means.stage.filter->cpu(&means.stage, in, out, scratch);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, y);
        unsigned char *const to = gf_view_row(out, y);
        compare_row(from, in->format.bits, gf_samples(in->format), gf_threshold_offset(stage), to);
        if (gf_has_alpha(in->format))
            gf_keep_alpha(from, to, in->format, gf_row_bytes(in->format));
    }
}

extern gf_launcher gf_threshold_local_cuda, gf_threshold_sauvola_cuda;

const struct gf_filter gf_threshold_local = {
    .name = "threshold-local",
    GF_PARAMS(struct gf_threshold, gf_threshold_params),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .cost = {.pixel = 2},
    .radius = mean_radius,
    .prepare = mean_prepare,
    .cpu_scratch = mean_scratch,
    .cuda_scratch = mean_device_scratch,
    .cpu = mean_cpu,
    .floats = mean_floats,
    .floats_scratch = mean_floats_scratch,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("means", gf_threshold_local_cuda,
                                "the kernels of boxblur or blur, and one that compares")}),
};

/* ---- Sauvola's threshold ---- */

static int sauvola_radius(const void *params)
{
    return ((const struct gf_threshold *)params)->radius;
}

static enum gf_status sauvola_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_threshold *const threshold = stage->params;
    const double side = 2 * threshold->radius + 1, count = side * side;
    const double scale = threshold->k / (count * (gf_sample_max(stage->in) / 2.0));
    *(struct gf_sauvola *)stage->constants = (struct gf_sauvola){.radius = threshold->radius,
                                                                 .border = threshold->border,
                                                                 .count = count,
                                                                 .part = 1 - threshold->k,
                                                                 .scale = scale * scale};
    return GF_OK;
}

struct work {
    struct gf_column_sums sums;
    uint32_t *column_room, *sum;
    double *square_room, *squares;
};

GF_WINDOW_SLIDE(slide, uint32_t)
GF_WINDOW_SLIDE(slide_squares, double)

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    const int radius = gf_stage_radius(stage);
    const size_t samples = gf_samples(stage->in), room = gf_window_room(stage->in, radius);
    work->sums = gf_column_sums_carve(&carver, stage->in, radius, gf_stage_border(stage));
    work->column_room = gf_carve(&carver, room * sizeof *work->column_room);
    work->sum = gf_carve(&carver, samples * sizeof *work->sum);
    work->square_room = gf_carve(&carver, room * sizeof *work->square_room);
    work->squares = gf_carve(&carver, samples * sizeof *work->squares);
    return carver.used;
}

static size_t sauvola_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage);
}

GF_TARGET_CLONES static void sauvola_row(const struct gf_sauvola sauvola, const unsigned char *in,
                                         int bits, int samples, const uint32_t *restrict sum,
                                         const double *restrict squares,
                                         unsigned char *restrict out)
{
    if (bits == 8) {
        for (int i = 0; i < samples; i++)
            out[i] = (unsigned char)(0 - gf_sauvola_above(&sauvola, in[i], sum[i], squares[i]));
    } else {
        for (int i = 0; i < samples; i++)
            ((gf_u16_any *)out)[i] =
                (uint16_t)(0 - gf_sauvola_above(&sauvola, ((const gf_u16_any *)in)[i], sum[i],
                                                squares[i]));
    }
}

static void sauvola_cpu(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *scratch)
{
    struct work work;
    carve(&work, scratch, stage);
    work.sums.in = in;
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, y);
        unsigned char *const to = gf_view_row(out, y);
        gf_column_sums_go_to(&work.sums, y);
        slide(&work.sums, (const uint32_t *)work.sums.column, work.column_room, work.sum);
        slide_squares(&work.sums, work.sums.square, work.square_room, work.squares);
        sauvola_row(*(const struct gf_sauvola *)stage->constants, from, in->format.bits,
                    work.sums.samples, work.sum, work.squares, to);
        if (gf_has_alpha(in->format))
            gf_keep_alpha(from, to, in->format, gf_row_bytes(in->format));
    }
}

const struct gf_filter gf_threshold_sauvola = {
    .name = "threshold-sauvola",
    GF_PARAMS(struct gf_threshold, gf_threshold_params),
    .kind = GF_STRAIGHT,
    .cost = {.pixel = 6},
    .radius = sauvola_radius,
    .constants_size = sizeof(struct gf_sauvola),
    .prepare = sauvola_prepare,
    .cpu_scratch = sauvola_scratch,
    .cpu = sauvola_cpu,
    .cuda = GF_CUDA({GF_VARIANT("scan", gf_threshold_sauvola_cuda,
                                "sums of windows by prefix sums of a block's columns")}),
};

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

/* For each split of the levels first..last into first..v and v + 1..last: the numbers of pixels and
 * the mean levels of both classes. Element v of `above` and `mean_above` is of v..last. The
 * arithmetic is scikit-image's, so that ties have the same result: weights in single precision,
 * summed from both ends. */
struct classes {
    float *below, *above; /* numbers of pixels in the class */
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

/* Returns the highest dark level by N. Otsu's method, or -1 when out of memory. */
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
    const bool floats = gf_is_float(stage->in);
    double least = threshold->value * gf_sample_max(stage->in);
    least = floats ? least : ceil(least);
    if (isnan(threshold->value)) {
        const int split = find_otsu(stage->histogram);
        if (split < 0)
            return gf_point_fail_memory(builder);
        least = floats ? (split + 0.5) / (GF_FLOAT_LEVELS - 1) : split + 1;
    }
    gf_point_luma(builder);
    gf_point_step(builder, least);
}

static void gray_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_luma(builder);
}

static const struct gf_filter gray = {
    .name = "threshold-gray",
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = shape,
    .point = gray_point,
};

extern const struct gf_filter gf_threshold_filter;

/* Appends a point filter if all pixels have the same threshold, otherwise a stencil. */
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
        "threshold_sauvola (which has border=reflect). It takes no floats.",
    .example = "threshold=adaptive",
    GF_PARAMS(struct gf_threshold, gf_threshold_params),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 0.7},
    .shape = shape,
    .statistic = statistic,
    .expand = expand,
    .point = point,
};
