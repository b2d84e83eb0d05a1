/* Thresholds that differ from pixel to pixel: the mean of a window, less an offset, and Sauvola's.
 * The picture is gray; its alpha is kept, and does not count. */
#include "filters/threshold/threshold.h"

#include <string.h>

#include "base/target_clones.h"
#include "pixel/sample.h"
#include "pixel/window_sums.h"

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
    .cost = {.pixel = 2},
    .radius = mean_radius,
    .prepare = mean_prepare,
    .cpu_scratch = mean_scratch,
    .cuda_scratch = mean_device_scratch,
    .cpu = mean_cpu,
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
