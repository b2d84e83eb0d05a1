/* convolve, which correlates the picture with a kernel that the user gives; and emboss and laplace,
 * which consist of convolve. */
#include "filters/convolve/convolve.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/image.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"
#include "stage/picture.h"
#include "stage/stage.h"

static enum gf_status convolve_check(const void *params, struct gf_error *error)
{
    const struct gf_matrix *const kernel = &((const struct gf_convolve_params *)params)->kernel;
    if (kernel->width % 2 && kernel->height % 2)
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "kernel is %dx%d; both sides must be odd", kernel->width,
                   kernel->height);
}

static int convolve_radius(const void *params)
{
    return ((const struct gf_convolve_params *)params)->kernel.height / 2;
}

static int convolve_columns(const void *params)
{
    return ((const struct gf_convolve_params *)params)->kernel.width / 2;
}

static enum gf_status convolve_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_convolve_params *const params = stage->params;
    const struct gf_matrix *const kernel = &params->kernel;
    struct gf_convolve *const convolve = stage->constants;
    double sum = 0;
    for (int i = 0; i < kernel->width * kernel->height; i++) {
        convolve->weight[i] = kernel->value[i];
        sum += (double)kernel->value[i];
    }
    if (fabs(sum) < 1e-6) /* decimal weights whose sum is 0 may miss it by rounding */
        sum = 0;
    const double divisor = params->divisor != 0 ? params->divisor : sum != 0 ? sum : 1;
    convolve->width = kernel->width;
    convolve->height = kernel->height;
    convolve->border = params->border;
    convolve->divisor = (float)divisor;
    convolve->bias = (float)(params->bias * gf_sample_max(stage->in) / 255);
    convolve->keep_alpha = gf_has_alpha(stage->in) && fabs(sum / divisor - 1) > 1e-3;
    return GF_OK;
}

/* The picture is processed in strips of columns, so that the ring does not grow with its width. */
enum {
    STRETCH = 768, /* samples whose sums are computed at a time: whole pixels and whole vectors */
    STRIP = 8192
};

struct strip {
    int first, columns;
};

/* Memory for a strip: a ring of its rows as floats, with room for the border on both sides, and the
 * sums of STRETCH samples. */
struct work {
    unsigned char *zeros;
    float *ring;
    size_t ring_pitch;  /* the distance between rows of the ring, in floats */
    const float **taps; /* for each weight other than 0 the samples that it multiplies */
    float *weights;
    float *sums;
};

static size_t carve(struct work *work, void *base, struct gf_format format,
                    const struct gf_matrix *kernel)
{
    struct gf_carver carver = {.base = base};
    const size_t count = (size_t)(kernel->width * kernel->height);
    const int columns = format.width < STRIP ? format.width : STRIP;
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->ring_pitch = (size_t)(columns + kernel->width - 1) * (size_t)format.channels;
    work->ring = gf_carve(&carver, (size_t)kernel->height * work->ring_pitch * sizeof(float));
    work->taps = gf_carve(&carver, count * sizeof *work->taps);
    work->weights = gf_carve(&carver, count * sizeof *work->weights);
    work->sums = gf_carve(&carver, STRETCH * sizeof *work->sums);
    return carver.used;
}

static size_t convolve_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    const size_t plain =
        carve(&work, NULL, stage->in, &((const struct gf_convolve_params *)stage->params)->kernel);
    const size_t bytes = gf_convolve_bytes_scratch(stage);
    return plain > bytes ? plain : bytes;
}

/* Converts `count` columns of a row, from `first` on, to floats. All of them are inside the
 * picture. */
static void widen(const unsigned char *row, struct gf_format format, int first, int count,
                  float *to)
{
    const size_t pixel_bytes = gf_pixel_bytes(format);
    gf_samples_to_floats(row + (size_t)first * pixel_bytes, format.bits,
                         (size_t)count * (size_t)format.channels, to);
}

/* Copies the columns of a row that the strip needs, with the border on both sides, to a slot of the
 * ring. */
static void copy_columns(const struct gf_convolve *convolve, const struct work *work,
                         const struct gf_view *in, struct strip strip, int row, int slot)
{
    const struct gf_format format = in->format;
    const int pad = convolve->width / 2, begin = strip.first - pad;
    const int end = strip.first + strip.columns + pad;
    const int first = begin < 0 ? 0 : begin, last = end < format.width ? end : format.width;
    const size_t channels = (size_t)format.channels;
    const unsigned char *from;
    gf_stencil_rows(in, row, 1, convolve->border, work->zeros, &from);
    float *const to = work->ring + (size_t)slot * work->ring_pitch;
    widen(from, format, first, last - first, to + (size_t)(first - begin) * channels);
    for (int x = begin; x < end; x++) {
        if (x == first)
            x = last;
        if (x == end)
            break;
        const int inside = gf_border_index(x, format.width, convolve->border);
        float *const pixel = to + (size_t)(x - begin) * channels;
        if (inside < 0)
            memset(pixel, 0, channels * sizeof *pixel);
        else
            widen(from, format, inside, 1, pixel);
    }
}

/* Adds the products of the taps to the sums, in the order of the taps; each loop adds four of
 * them. */
GF_TARGET_CLONES static void correlate(const float *const *taps, const float *weights, int count,
                                       size_t first, float *restrict sums, size_t stretch)
{
    for (size_t i = 0; i < stretch; i++)
        sums[i] = 0;
    int k = 0;
    for (; k + 3 < count; k += 4) {
        const float *const a = taps[k] + first, *const b = taps[k + 1] + first;
        const float *const c = taps[k + 2] + first, *const d = taps[k + 3] + first;
        for (size_t i = 0; i < stretch; i++) {
            float sum = sums[i];
            sum = sum + weights[k] * a[i];
            sum = sum + weights[k + 1] * b[i];
            sum = sum + weights[k + 2] * c[i];
            sum = sum + weights[k + 3] * d[i];
            sums[i] = sum;
        }
    }
    for (; k < count; k++) {
        const float *const a = taps[k] + first;
        for (size_t i = 0; i < stretch; i++)
            sums[i] = sums[i] + weights[k] * a[i];
    }
}

GF_TARGET_CLONES static void round_sums(const float *sums, int bits, unsigned char *restrict out,
                                        size_t count, float divisor, float bias)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            out[i] =
                (unsigned char)gf_round_flat(gf_convolve_finish(sums[i], divisor, bias), 255.0f);
    } else if (bits == 32) {
        for (size_t i = 0; i < count; i++)
            ((float *)out)[i] = gf_convolve_finish(sums[i], divisor, bias);
    } else {
        for (size_t i = 0; i < count; i++)
            ((gf_u16_any *)out)[i] =
                (uint16_t)gf_round_flat(gf_convolve_finish(sums[i], divisor, bias), 65535.0f);
    }
}

/* Adds the bias. Where there is alpha, colours are premultiplied, and the bias is multiplied by the
 * pixel's alpha. */
static void add_bias(float bias, float *sums, const unsigned char *in, size_t count,
                     struct gf_format format)
{
    const size_t channels = (size_t)format.channels;
    for (size_t i = 0; i < count; i += channels) {
        const size_t at = i + channels - 1;
        const float alpha = format.bits == 8    ? (float)in[at] / 255.0f
                            : format.bits == 32 ? ((const float *)in)[at]
                                                : (float)((const gf_u16_any *)in)[at] / 65535.0f;
        for (size_t c = i; c < at; c++)
            sums[c] = sums[c] + bias * alpha;
    }
}

static void finish(const struct gf_convolve *convolve, const struct work *work,
                   const struct gf_view *in, const struct gf_view *out, int y, size_t first,
                   size_t count)
{
    const struct gf_format format = in->format;
    const size_t offset = first * (size_t)(format.bits / 8);
    const unsigned char *const from = gf_view_row(in, y) + offset;
    unsigned char *const to = gf_view_row(out, y) + offset;
    float bias = convolve->bias, divisor = convolve->divisor;
    if (gf_has_alpha(format) && bias != 0.0f) {
        for (size_t i = 0; i < count; i++)
            work->sums[i] = gf_convolve_finish(work->sums[i], divisor, 0.0f);
        add_bias(bias, work->sums, from, count, format);
        bias = 0.0f;
        divisor = 1.0f;
    }
    round_sums(work->sums, format.bits, to, count, divisor, bias);
    if (convolve->keep_alpha)
        gf_keep_alpha(from, to, format, count * (size_t)(format.bits / 8));
}

static int list_taps(const struct gf_convolve *convolve, const struct work *work, int top_slot,
                     int channels)
{
    int count = 0;
    for (int j = 0; j < convolve->height; j++) {
        const float *const row =
            work->ring + (size_t)((top_slot + j) % convolve->height) * work->ring_pitch;
        for (int i = 0; i < convolve->width; i++) {
            const float weight = convolve->weight[j * convolve->width + i];
            if (weight == 0)
                continue;
            work->weights[count] = weight;
            work->taps[count++] = row + i * channels;
        }
    }
    return count;
}

static void convolve_strip(const struct gf_convolve *convolve, const struct work *work,
                           const struct gf_view *in, const struct gf_view *out, struct strip strip)
{
    const size_t channels = (size_t)in->format.channels;
    const size_t start = (size_t)strip.first * channels, samples = (size_t)strip.columns * channels;
    const int reach = convolve->height / 2;
    int slot = 0;
    for (int row = out->y - reach; row < out->y + reach; row++)
        copy_columns(convolve, work, in, strip, row, slot++);
    for (int y = out->y; y < out->y + out->rows; y++) {
        slot %= convolve->height;
        copy_columns(convolve, work, in, strip, y + reach, slot++);
        const int count = list_taps(convolve, work, slot, in->format.channels);
        for (size_t x = 0; x < samples; x += STRETCH) {
            const size_t n = samples - x < STRETCH ? samples - x : STRETCH;
            correlate(work->taps, work->weights, count, x, work->sums, n);
            finish(convolve, work, in, out, y, start + x, n);
        }
    }
}

static void convolve_cpu(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch)
{
    const int width = in->format.width;
    struct gf_convolve_bytes bytes;
    struct work work;
    if (in->format.bits == 8 && !gf_has_alpha(in->format) &&
        gf_convolve_bytes_of(stage->constants, &bytes)) {
        gf_convolve_bytes_cpu(stage->constants, &bytes, in, out, scratch);
        return;
    }
    carve(&work, scratch, in->format, &((const struct gf_convolve_params *)stage->params)->kernel);
    memset(work.zeros, 0, gf_row_bytes(in->format));
    for (int x = 0; x < width; x += STRIP) {
        const struct strip strip = {x, width - x < STRIP ? width - x : STRIP};
        convolve_strip(stage->constants, &work, in, out, strip);
    }
}

/* The kernels for small matrices can apply tables, and convert straight RGBA if nothing is added
 * to its colour. */
static enum gf_fusing convolve_fuses(const void *params)
{
    const struct gf_convolve_params *const convolve = params;
    return convolve->kernel.width > 5 || convolve->kernel.height > 5 ? GF_FUSES_NOTHING
           : convolve->bias != 0
               ? GF_FUSES_BOTH
               : (enum gf_fusing)(GF_FUSES_BOTH | GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA);
}

extern gf_launcher gf_convolve_cuda, gf_convolve_fused_cuda, gf_convolve_floats_cuda;

const struct gf_filter gf_convolve_filter = {
    .name = "convolve",
    .synonyms = "kernel conv filter2d",
    .summary = "correlation with a kernel of your own",
    .definition =
        "Sum of weight * sample over the kernel laid over the pixel, not flipped, divided by "
        "divisor, plus bias.\nAlpha is filtered with the colour where the weights sum to the "
        "divisor (smoothing, sharpening), else kept.",
    .example = "convolve=0 -1 0/-1 5 -1/0 -1 0",
    GF_TAKES(
        struct gf_convolve_params,
        GF_PARAM_MATRIX(
            struct gf_convolve_params, kernel,
            "weights in rows of equal length, such as 0 -1 0/-1 5 -1/0 -1 0; the sides are "
            "odd and at most 31"),
        GF_PARAM(struct gf_convolve_params, divisor, 0, -1e9, 1e9,
                 "divides the sum; 0 stands for the sum of the weights, or for 1 if that sum is 0"),
        GF_PARAM(struct gf_convolve_params, bias, 0, -255, 255,
                 "added to the result, in 8-bit steps at every depth: 128 is middle gray"),
        GF_PARAM_BORDER(struct gf_convolve_params)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .cost = {.pixel = 0.5, .tap = 0.08},
    .check = convolve_check,
    .radius = convolve_radius,
    .columns = convolve_columns,
    .constants_size = sizeof(struct gf_convolve),
    .prepare = convolve_prepare,
    .cpu_scratch = convolve_scratch,
    .cpu = convolve_cpu,
    .floats = convolve_cpu,
    .floats_scratch = convolve_scratch,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("best", gf_convolve_cuda,
                    "tensor where it takes the picture and is known to be faster: on compute "
                    "capability 9.0, and on 8.x and 12.0 for large matrices; fractions by whole "
                    "numbers near them; else tiled")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_convolve_floats_cuda, NULL),
    .fuses = convolve_fuses,
    .cuda_fused = GF_LAUNCHER(gf_convolve_fused_cuda),
};

/* emboss: shows the picture as a relief with light from one side. */

struct emboss {
    double angle, strength;
    int on, border;
};

enum { ON_GRAY, ON_PICTURE };

static void emboss_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    static const int smooth[3] = {1, 2, 1}, slope[3] = {-1, 0, 1};
    const struct emboss *const emboss = params;
    const double x = gf_sin_pi_double(emboss->angle / 180 + 0.5);
    const double y = -gf_sin_pi_double(emboss->angle / 180);
    struct gf_convolve_params convolve = {.kernel = {3, 3, {0}},
                                          .divisor = 1,
                                          .bias = emboss->on == ON_GRAY ? 128 : 0,
                                          .border = emboss->border};
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, column = i % 3;
        const double towards = x * smooth[row] * slope[column] + y * slope[row] * smooth[column];
        convolve.kernel.value[i] = (float)(-emboss->strength / 4 * towards);
    }
    if (emboss->on == ON_PICTURE)
        convolve.kernel.value[4] += 1;
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_emboss_filter = {
    .name = "emboss",
    .synonyms = "relief bump",
    .summary = "a relief in light from one side",
    .definition =
        "128 (on=gray) or v (on=picture), minus strength * (gx cos a - gy sin a) / 4; gx and gy "
        "are the 3x3 Sobel differences, rightwards and downwards, and a is the angle.",
    GF_TAKES(struct emboss,
             GF_PARAM(struct emboss, angle, 135, -360, 360,
                      "where the light comes from, in degrees from the right, counter-clockwise"),
             GF_PARAM(struct emboss, strength, 1, 0, 100, "multiplies the slope"),
             GF_PARAM_CHOICE(struct emboss, on, ON_GRAY, GF_WORDS("gray", "picture"),
                             "what the relief is added to"),
             GF_PARAM_BORDER(struct emboss)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = emboss_expand,
};

/* laplace: computes how much a pixel's neighbours differ from it. */

struct laplace {
    double scale, bias;
    int neighbours, border;
};

static void laplace_expand(const void *params, const struct gf_extent *extent,
                           struct gf_parts *parts)
{
    const struct laplace *const laplace = params;
    struct gf_convolve_params convolve = {
        .kernel = {3, 3, {0}}, .divisor = 1, .bias = laplace->bias, .border = laplace->border};
    for (int i = 0; i < 9; i++) {
        const bool is_corner = i % 2 == 0;
        if (i != 4 && (!is_corner || laplace->neighbours))
            convolve.kernel.value[i] = (float)laplace->scale;
    }
    convolve.kernel.value[4] = (float)(laplace->scale * (laplace->neighbours ? -8 : -4));
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_laplace_filter = {
    .name = "laplace",
    .synonyms = "laplacian edge edges",
    .summary = "sum of the differences from the neighbours",
    .example = "laplace=1:128",
    .definition = "scale * the sum of v' - v over the 4 or 8 neighbours v', plus bias, clamped. "
                  "With 4 neighbours it is OpenCV's Laplacian of ksize 1. Alpha is kept.",
    GF_TAKES(struct laplace, GF_PARAM(struct laplace, scale, 1, -100, 100, "multiplies the sum"),
             GF_PARAM(struct laplace, bias, 0, -255, 255,
                      "added to the result, in 8-bit steps at every depth: 128 shows both signs"),
             GF_PARAM_CHOICE(struct laplace, neighbours, 0, GF_WORDS("4", "8"),
                             "4: without the diagonal neighbours; 8: with them"),
             GF_PARAM_BORDER(struct laplace)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = laplace_expand,
};
