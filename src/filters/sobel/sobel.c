/* sobel: computes the magnitude of the gradient. */
#include "filters/sobel/sobel.h"

#include <string.h>

#include "base/cpu.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

struct sobel {
    double scale;
    int border, kernel;
};

static int sobel_radius(const void *params)
{
    return 1;
}

static enum gf_status sobel_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct sobel *const params = stage->params;
    *(struct gf_sobel *)stage->constants = (struct gf_sobel){
        .scale = (float)params->scale, .border = params->border, .kernel = params->kernel};
    return GF_OK;
}

struct work {
    unsigned char *zeros;
    void *smooth; /* above + 2 here + below, with one more pixel on each side */
    void *slope;  /* below - above, with one more pixel on each side */
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
    return carve(&work, NULL, stage->in);
}

/* Defines a function that computes `smooth` and `slope` of a row. Each caller passes constant
 * weights. */
#define COLUMNS(name, type, sum) \
    GF_INLINE void name##_by(int side, int middle, const type *above, const type *here, \
                             const type *below, sum *restrict smooth, sum *restrict slope, \
                             size_t count) \
    { \
        for (size_t i = 0; i < count; i++) { \
            smooth[i] = (sum)(side * above[i] + middle * here[i] + side * below[i]); \
            slope[i] = (sum)(below[i] - above[i]); \
        } \
    } \
    GF_TARGET_CLONES static void name(int kernel, const type *above, const type *here, \
                                      const type *below, sum *restrict smooth, \
                                      sum *restrict slope, size_t count) \
    { \
        if (kernel == GF_GRADIENT_SOBEL) \
            name##_by(1, 2, above, here, below, smooth, slope, count); \
        else if (kernel == GF_GRADIENT_SCHARR) \
            name##_by(3, 10, above, here, below, smooth, slope, count); \
        else \
            name##_by(1, 1, above, here, below, smooth, slope, count); \
    }
COLUMNS(columns8, uint8_t, int16_t)
COLUMNS(columns16, gf_u16_any, int32_t)
COLUMNS(columns32, float, float)

/* Computes a row of magnitudes. smooth and slope point to the row's first sample; the border begins
 * `channels` samples before it. The sum of squares is rounded once for 8-bit samples, and three
 * times for 16-bit samples. */
GF_INLINE void magnitudes8_by(int side, int middle, const int16_t *smooth, const int16_t *slope,
                              ptrdiff_t channels, float scale, unsigned char *restrict out,
                              ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        const int x = smooth[i + channels] - smooth[i - channels];
        const int y = side * slope[i - channels] + middle * slope[i] + side * slope[i + channels];
        const float v = sqrtf((float)(x * x + y * y)) * scale;
        out[i] = (unsigned char)gf_round_flat(v, 255.0f);
    }
}

GF_TARGET_CLONES static void magnitudes8(int kernel, const int16_t *smooth, const int16_t *slope,
                                         ptrdiff_t channels, float scale,
                                         unsigned char *restrict out, ptrdiff_t count)
{
    if (kernel == GF_GRADIENT_SOBEL)
        magnitudes8_by(1, 2, smooth, slope, channels, scale, out, count);
    else if (kernel == GF_GRADIENT_SCHARR)
        magnitudes8_by(3, 10, smooth, slope, channels, scale, out, count);
    else
        magnitudes8_by(1, 1, smooth, slope, channels, scale, out, count);
}

#define MAGNITUDES(name, sum, type, result) \
    GF_TARGET_CLONES static void name(int kernel, const sum *smooth, const sum *slope, \
                                      ptrdiff_t channels, float scale, type *restrict out, \
                                      ptrdiff_t count) \
    { \
        const int side = gf_gradient_side(kernel), middle = gf_gradient_middle(kernel); \
        for (ptrdiff_t i = 0; i < count; i++) { \
            const float x = (float)(smooth[i + channels] - smooth[i - channels]); \
            const float y = \
                (float)(side * (slope[i - channels] + slope[i + channels]) + middle * slope[i]); \
            const float v = sqrtf(x * x + y * y) * scale; \
            out[i] = result; \
        } \
    }
MAGNITUDES(magnitudes16, int32_t, gf_u16_any, (uint16_t)gf_round_flat(v, 65535.0f))
MAGNITUDES(magnitudes32, float, float, v)

static void sobel_row(const struct gf_sobel *sobel, const struct work *work,
                      const unsigned char *const *rows, struct gf_format format, unsigned char *to)
{
    const size_t samples = gf_samples(format);
    const ptrdiff_t channels = format.channels;
    const bool narrow = format.bits == 8;
    const int kernel = sobel->kernel;
    const size_t pixel = (size_t)channels * (narrow ? sizeof(int16_t) : sizeof(int32_t));
    unsigned char *const smooth = (unsigned char *)work->smooth + pixel;
    unsigned char *const slope = (unsigned char *)work->slope + pixel;
    if (narrow)
        columns8(kernel, rows[0], rows[1], rows[2], (int16_t *)smooth, (int16_t *)slope, samples);
    else if (format.bits == 32)
        columns32(kernel, (const float *)rows[0], (const float *)rows[1], (const float *)rows[2],
                  (float *)smooth, (float *)slope, samples);
    else
        columns16(kernel, (const gf_u16_any *)rows[0], (const gf_u16_any *)rows[1],
                  (const gf_u16_any *)rows[2], (int32_t *)smooth, (int32_t *)slope, samples);
    gf_stencil_pad(smooth, format.width, 1, pixel, sobel->border);
    gf_stencil_pad(slope, format.width, 1, pixel, sobel->border);
    if (narrow)
        magnitudes8(kernel, (const int16_t *)smooth, (const int16_t *)slope, channels, sobel->scale,
                    to, (ptrdiff_t)samples);
    else if (format.bits == 32)
        magnitudes32(kernel, (const float *)smooth, (const float *)slope, channels, sobel->scale,
                     (float *)to, (ptrdiff_t)samples);
    else
        magnitudes16(kernel, (const int32_t *)smooth, (const int32_t *)slope, channels,
                     sobel->scale, (gf_u16_any *)to, (ptrdiff_t)samples);
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
    const int tables =
        ((const struct sobel *)params)->kernel == GF_GRADIENT_SOBEL ? GF_FUSES_BOTH : 0;
    return (enum gf_fusing)(tables | GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA);
}

extern gf_launcher gf_sobel_cuda, gf_sobel_fused_cuda, gf_sobel_floats_cuda;

const struct gf_filter gf_sobel_filter = {
    .name = "sobel",
    .synonyms = "edge edges edgedetect scharr prewitt gradient",
    .summary = "magnitude of the gradient",
    .definition = "scale * sqrt(gx^2 + gy^2) of each colour channel, where gx and gy are the "
                  "weighted differences over 3x3 pixels. Alpha is kept.",
    GF_TAKES(struct sobel, GF_PARAM(struct sobel, scale, 1, 0, 100, "multiplies the magnitude"),
             GF_PARAM_BORDER(struct sobel),
             GF_PARAM_CHOICE(struct sobel, kernel, GF_GRADIENT_SOBEL,
                             GF_WORDS("sobel", "scharr", "prewitt"),
                             "weights of the three differences: 1 2 1, 3 10 3 or 1 1 1")),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .cost = {.pixel = 0.8},
    .radius = sobel_radius,
    .columns = sobel_radius,
    .constants_size = sizeof(struct gf_sobel),
    .prepare = sobel_prepare,
    .cpu_scratch = sobel_scratch,
    .cpu = sobel_cpu,
    .floats = sobel_cpu,
    .floats_scratch = sobel_scratch,
    .cuda = GF_CUDA({GF_VARIANT(
        "rolling", gf_sobel_cuda,
        "three rows rolling through registers, rsqrtf corrected (Best Practices 11.1.3)")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_sobel_floats_cuda, NULL),
    .fuses = sobel_fuses,
    .cuda_fused = GF_LAUNCHER(gf_sobel_fused_cuda),
};
