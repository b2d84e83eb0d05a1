/* sobel: the magnitude of the gradient. */
#include "filters/sobel.h"

#include <string.h>

#include "base/target_clones.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

struct sobel {
    double scale;
    int border;
};

static const struct gf_param sobel_params[] = {
    GF_PARAM(struct sobel, scale, 1, 0, 100, "multiplies the magnitude"),
    GF_PARAM_BORDER(struct sobel),
    {0},
};

static int sobel_radius(const void *params)
{
    (void)params;
    return 1;
}

static enum gf_status sobel_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct sobel *const params = stage->params;
    const enum gf_status status = gf_stage_constants(stage, sizeof(struct gf_sobel), error);
    if (!status)
        *(struct gf_sobel *)stage->constants =
            (struct gf_sobel){.scale = (float)params->scale, .border = params->border};
    return status;
}

struct work {
    unsigned char *zeros;
    void *smooth; /* above + 2 here + below, a pixel wider on either side */
    void *slope;  /* below - above, likewise */
};

static size_t carve(struct work *work, void *base, struct gf_format format)
{
    struct gf_carver carver = {.base = base};
    const size_t samples = gf_samples(format) + 2 * (size_t)format.channels;
    const size_t size = samples * (format.bits == 8 ? sizeof(int16_t) : sizeof(int32_t));
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->smooth = gf_carve(&carver, size);
    work->slope = gf_carve(&carver, size);
    return carver.used;
}

static size_t sobel_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    (void)rows;
    return carve(&work, NULL, stage->in);
}

GF_TARGET_CLONES static void columns8(const unsigned char *above, const unsigned char *here,
                                      const unsigned char *below, int16_t *restrict smooth,
                                      int16_t *restrict slope, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        smooth[i] = (int16_t)(above[i] + 2 * here[i] + below[i]);
        slope[i] = (int16_t)(below[i] - above[i]);
    }
}

GF_TARGET_CLONES static void columns16(const gf_u16_any *above, const gf_u16_any *here,
                                       const gf_u16_any *below, int32_t *restrict smooth,
                                       int32_t *restrict slope, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        smooth[i] = above[i] + 2 * here[i] + below[i];
        slope[i] = below[i] - above[i];
    }
}

/* smooth and slope point at the row's first sample; the border stands `channels` samples before it.
 */
GF_TARGET_CLONES static void magnitudes8(const int16_t *smooth, const int16_t *slope,
                                         ptrdiff_t channels, float scale,
                                         unsigned char *restrict out, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        const int x = smooth[i + channels] - smooth[i - channels];
        const int y = slope[i - channels] + 2 * slope[i] + slope[i + channels];
        const float v = sqrtf((float)(x * x + y * y)) * scale; /* the square is below 2^24: exact */
        out[i] = (unsigned char)gf_round_flat(v, 255.0f);
    }
}

GF_TARGET_CLONES static void magnitudes16(const int32_t *smooth, const int32_t *slope,
                                          ptrdiff_t channels, float scale, gf_u16_any *restrict out,
                                          ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        const float x = (float)(smooth[i + channels] - smooth[i - channels]);
        const float y = (float)(slope[i - channels] + 2 * slope[i] + slope[i + channels]);
        const float v = sqrtf(x * x + y * y) * scale;
        out[i] = (uint16_t)gf_round_flat(v, 65535.0f);
    }
}

static void sobel_row(const struct gf_sobel *sobel, const struct work *work,
                      const unsigned char *const *rows, struct gf_format format, unsigned char *to)
{
    const size_t samples = gf_samples(format);
    const ptrdiff_t channels = format.channels;
    const bool narrow = format.bits == 8;
    const size_t pixel = (size_t)channels * (narrow ? sizeof(int16_t) : sizeof(int32_t));
    unsigned char *const smooth = (unsigned char *)work->smooth + pixel;
    unsigned char *const slope = (unsigned char *)work->slope + pixel;
    if (narrow)
        columns8(rows[0], rows[1], rows[2], (int16_t *)smooth, (int16_t *)slope, samples);
    else
        columns16((const gf_u16_any *)rows[0], (const gf_u16_any *)rows[1],
                  (const gf_u16_any *)rows[2], (int32_t *)smooth, (int32_t *)slope, samples);
    gf_stencil_pad(smooth, format.width, 1, pixel, sobel->border);
    gf_stencil_pad(slope, format.width, 1, pixel, sobel->border);
    if (narrow)
        magnitudes8((const int16_t *)smooth, (const int16_t *)slope, channels, sobel->scale, to,
                    (ptrdiff_t)samples);
    else
        magnitudes16((const int32_t *)smooth, (const int32_t *)slope, channels, sobel->scale,
                     (gf_u16_any *)to, (ptrdiff_t)samples);
}

static void sobel_cpu(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    const struct gf_sobel *const sobel = stage->constants;
    struct work work;
    carve(&work, scratch, in->format);
    memset(work.zeros, 0, gf_row_bytes(in->format));
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *rows[3];
        gf_stencil_rows(in, y - 1, 3, sobel->border, work.zeros, rows);
        sobel_row(sobel, &work, rows, in->format, gf_view_row(out, y));
        if (gf_has_alpha(in->format))
            gf_keep_alpha(gf_view_row(in, y), gf_view_row(out, y), in->format,
                          gf_row_bytes(in->format));
    }
}

static enum gf_fusing sobel_fuses(const void *params)
{
    (void)params;
    return GF_FUSES_BOTH;
}

extern gf_launcher gf_sobel_cuda, gf_sobel_fused_cuda, gf_sobel_global_cuda, gf_sobel_sqrtf_cuda;

const struct gf_filter gf_sobel_filter = {
    .name = "sobel",
    .synonyms = "edge edges edgedetect",
    .summary = "magnitude of the gradient",
    .definition =
        "scale * sqrt(gx^2 + gy^2) of each colour channel, gx and gy the 3x3 Sobel differences. "
        "Alpha is kept.",
    .params = sobel_params,
    .params_size = sizeof(struct sobel),
    .kind = GF_STENCIL,
    .cost = {.pixel = 0.8},
    .radius = sobel_radius,
    .prepare = sobel_prepare,
    .cpu_scratch = sobel_scratch,
    .cpu = sobel_cpu,
    .cuda = GF_CUDA(
        {GF_VARIANT(
            "rolling", gf_sobel_cuda,
            "three rows rolling through registers, rsqrtf corrected (Best Practices 11.1.3)")},
        {GF_VARIANT("global", gf_sobel_global_cuda,
                    "one thread a sample, its neighbours from global memory (Best Practices "
                    "9.2.1), rsqrtf")},
        {GF_VARIANT("sqrtf", gf_sobel_sqrtf_cuda,
                    "as rolling, with sqrtf instead of rsqrtf (Best Practices 11.1.3)")}),
    .fuses = sobel_fuses,
    .cuda_fused = GF_LAUNCHER(gf_sobel_fused_cuda),
};
