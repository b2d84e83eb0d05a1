/* bilateral: smooths, and keeps edges. */
#include "filters/bilateral/bilateral.h"

#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"

struct bilateral {
    double sigma_s, sigma_r;
    int border;
};

static int bilateral_radius(const void *params)
{
    return (int)ceil(2 * ((const struct bilateral *)params)->sigma_s);
}

/* Bounds the difference between two means of 8-bit samples: the CPU's mean, and the mean of the
 * first sums of the kernel in cuda/filters/bilateral/bilateral.cu, which are only close to
 * the CPU's. Both add n terms row by row. The relative error of a sum of weights is at most n units
 * of 2^-24. The error of a sum of weighted values is at most n 2^-24 times the sum of their
 * magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). The CPU's values
 * are differences from the centre. Their mean magnitude is at most `far`, because the weight of a
 * difference d is at most S 2^(colour d^2) for all taps together, and the centre's weight is 1. The
 * kernel's values are samples minus 128. The kernel's weights differ from the CPU's by at most
 * WEIGHT: 2.9e-6 for the polynomial of gf_exp2_coarse(), 2^-22 for the GPU's power, and the rest
 * for exponents that are rounded differently. Weights with exponents below -16 differ by more, but
 * are smaller than 2^-16; SMALL is added for them. Each of the two final roundings has an error
 * below 2^-15. */
static float margin_of(const struct gf_bilateral_weights *weights)
{
    const double WEIGHT = 5e-6, SMALL = 1e-5, unit = 0x1p-24, ends = 0x1p-15;
    double side = 0, far = 0;
    for (int i = -weights->radius; i <= weights->radius; i++)
        side += exp2(weights->space[i < 0 ? -i : i]);
    const double others = side * side - 1;
    for (int d = 1; d <= 255; d++) {
        const double sum = others * exp2((double)weights->colour * d * d);
        far = fmax(far, d * sum / (1 + sum));
    }
    const double sums = (2 * (2 * weights->radius + 1) + 4) * unit;
    const double apart = fmin(2 * far, 127.5); /* bounds the samples' mean distance from their
                                                * mean */
    const double cpu = 2 * sums * far + ends, kernel = 2 * sums * 128 + 128 * 0x1p-22 + ends;
    return (float)(1.1 * (cpu + kernel + WEIGHT * apart + SMALL));
}

static enum gf_status bilateral_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct bilateral *const bilateral = stage->params;
    struct gf_bilateral_weights *const weights = stage->constants;
    const double log2_e = 1.4426950408889634, max = gf_sample_max(stage->in);
    weights->radius = gf_stage_radius(stage);
    weights->border = bilateral->border;
    const double range = bilateral->sigma_r * max;
    weights->colour = (float)(-log2_e / (2 * range * range));
    for (int i = 0; i <= weights->radius; i++)
        weights->space[i] =
            (float)(-log2_e * i * i / (2 * bilateral->sigma_s * bilateral->sigma_s));
    if (stage->in.bits == 8 && weights->radius <= GF_BILATERAL_NEAR_MAX) {
        for (int i = 0; i <= weights->radius; i++)
            weights->factor[i] = (float)exp2(weights->space[i]);
        weights->margin = margin_of(weights);
    }
    return GF_OK;
}

/* The picture is processed in strips of COLUMNS columns. A strip's rows are floats, a plane for
 * each channel, in a ring of as many rows as the window has. STRETCH results of a row are computed
 * at a time. */
enum { COLUMNS = 1024, STRETCH = 64 };

struct work {
    const struct gf_bilateral_weights *weights;
    struct gf_format format;
    int sides;          /* 2 radius + 1 */
    size_t plane, slot; /* floats in one channel's row; floats in a row of all channels */
    float *slots;
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage, int radius)
{
    struct gf_carver carver = {.base = base};
    *work =
        (struct work){.weights = stage->constants, .format = stage->in, .sides = 2 * radius + 1};
    work->plane = ((size_t)COLUMNS + STRETCH + 2 * (size_t)radius + 15) / 16 * 16;
    work->slot = work->plane * (size_t)work->format.channels;
    work->slots = gf_carve(&carver, work->slot * (size_t)work->sides * sizeof(float));
    return carver.used;
}

static size_t bilateral_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage, gf_stage_radius(stage));
}

static float *slot(const struct work *work, int row)
{
    return work->slots + (size_t)((row + work->weights->radius) % work->sides) * work->slot;
}

static inline float sample(const unsigned char *row, size_t at, int bits)
{
    return bits == 8    ? row[at]
           : bits == 32 ? ((const float *)row)[at]
                        : ((const gf_u16_any *)row)[at];
}

GF_TARGET_CLONES static void convert(const unsigned char *row, int bits, int channels, size_t first,
                                     int count, float *restrict plane)
{
    if (bits == 8) {
        for (int i = 0; i < count; i++)
            plane[i] = row[first + (size_t)i * (size_t)channels];
    } else if (bits == 32) {
        for (int i = 0; i < count; i++)
            plane[i] = ((const float *)row)[first + (size_t)i * (size_t)channels];
    } else {
        for (int i = 0; i < count; i++)
            plane[i] = ((const gf_u16_any *)row)[first + (size_t)i * (size_t)channels];
    }
}

/* Copies columns x0 - radius .. x0 + count + radius - 1 of a row into its slot. */
static void fill_slot(const struct work *work, const struct gf_view *in, int row, int x0, int count)
{
    const struct gf_format format = work->format;
    const int radius = work->weights->radius, border = work->weights->border;
    const int from = gf_border_index(row, format.height, border);
    const int left = x0 < radius ? radius - x0 : 0; /* columns outside of the picture on the left */
    const int right = x0 + count + radius > format.width ? x0 + count + radius - format.width : 0;
    const int total = count + 2 * radius;
    for (int c = 0; c < format.channels; c++) {
        float *const plane = slot(work, row) + (size_t)c * work->plane;
        memset(plane, 0, work->plane * sizeof *plane);
        if (from < 0)
            continue;
        const unsigned char *const samples = gf_view_row(in, from);
        const size_t first = (size_t)(x0 - radius + left) * (size_t)format.channels + (size_t)c;
        convert(samples, format.bits, format.channels, first, total - left - right, plane + left);
        for (int i = 0; i < total; i++) {
            if (i == left)
                i = total - right;
            const int x = i < total ? gf_border_index(x0 - radius + i, format.width, border) : -1;
            if (x >= 0)
                plane[i] =
                    sample(samples, (size_t)x * (size_t)format.channels + (size_t)c, format.bits);
        }
    }
}

/* Sums of weights, and of weights times differences from the centre. Differences are smaller than
 * samples, so that the sums lose fewer bits. */
struct sums {
    float weight[STRETCH], colour[4][STRETCH];
};

/* Adds one tap for STRETCH pixels. Each caller passes constants for colours and channels, and for
 * `floats`: there a weight below 2^-126 is 0, which no difference makes more of, and a NaN in a
 * difference has that weight. */
GF_INLINE void add_tap(int colours, int channels, bool floats, float space, float colour,
                       const float *centre, const float *tap, size_t plane,
                       struct sums *restrict sums)
{
    for (int i = 0; i < STRETCH; i++) {
        float difference[4], distance = 0.0f;
#pragma GCC unroll 4
        for (int c = 0; c < channels; c++)
            difference[c] =
                tap[(size_t)c * plane + (size_t)i] - centre[(size_t)c * plane + (size_t)i];
#pragma GCC unroll 4
        for (int c = 0; c < colours; c++)
            distance = fmaf(difference[c], difference[c], distance);
        const float power = fmaf(distance, colour, space);
        float weight = gf_exp2_coarse(power);
        weight = floats ? gf_select(power, -126.0f, weight, 0.0f) : weight;
#pragma GCC unroll 4
        for (int c = 0; floats && c < channels; c++)
            difference[c] = gf_select(power, -126.0f, difference[c], 0.0f);
        sums->weight[i] += weight;
#pragma GCC unroll 4
        for (int c = 0; c < channels; c++)
            sums->colour[c][i] = fmaf(weight, difference[c], sums->colour[c][i]);
    }
}

GF_INLINE void add_taps(const int channels, const bool floats,
                        const struct gf_bilateral_weights *weights, int dy, const float *centre,
                        const float *row, size_t plane, struct sums *restrict sums)
{
    const int radius = weights->radius;
    for (int dx = -radius; dx <= radius; dx++)
        add_tap(channels >= 3 ? 3 : 1, channels, floats,
                weights->space[dx < 0 ? -dx : dx] + weights->space[dy], weights->colour, centre,
                row + radius + dx, plane, sums);
}

GF_TARGET_CLONES static void add_row(struct gf_format format,
                                     const struct gf_bilateral_weights *weights, int dy,
                                     const float *centre, const float *row, size_t plane,
                                     struct sums *restrict sums)
{
    if (gf_is_float(format))
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       add_taps(CHANNELS, true, weights, dy, centre, row, plane, sums))
    else
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       add_taps(CHANNELS, false, weights, dy, centre, row, plane, sums));
}

/* Adds the sums of one row of the window to the total. Adding row by row has smaller rounding
 * errors than one long sum of floats. */
static void add_sums(struct sums *restrict total, struct sums *restrict row, int channels)
{
    for (int i = 0; i < STRETCH; i++)
        total->weight[i] += row->weight[i];
    for (int c = 0; c < channels; c++) {
        for (int i = 0; i < STRETCH; i++)
            total->colour[c][i] += row->colour[c][i];
    }
}

/* Computes the sums of STRETCH results in row y that begin at column x of the strip. */
static void stretch(const struct work *work, int y, int x, struct sums *total)
{
    const int radius = work->weights->radius, channels = work->format.channels;
    const float *const centre = slot(work, y) + radius + x;
    memset(total, 0, sizeof *total);
    for (int dy = -radius; dy <= radius; dy++) {
        struct sums sums = {0};
        add_row(work->format, work->weights, dy < 0 ? -dy : dy, centre, slot(work, y + dy) + x,
                work->plane, &sums);
        add_sums(total, &sums, channels);
    }
}

/* Rounds the means of a channel to samples. */
GF_TARGET_CLONES static void round_means(const float *restrict centre, const float *restrict colour,
                                         const float *restrict weight, float max,
                                         uint16_t *restrict to)
{
    for (int i = 0; i < STRETCH; i++)
        to[i] = (uint16_t)gf_round_flat(centre[i] + colour[i] / weight[i], max);
}

static void strip_row(const struct work *work, const struct gf_view *out, int y, int x0, int count)
{
    const int channels = work->format.channels, bits = work->format.bits;
    const float max = (float)gf_sample_max(work->format);
    const float *const centre = slot(work, y) + work->weights->radius;
    unsigned char *const row = gf_view_row(out, y);
    for (int x = 0; x < count; x += STRETCH) {
        const int made = count - x < STRETCH ? count - x : STRETCH;
        struct sums total;
        uint16_t mean[4][STRETCH];
        stretch(work, y, x, &total);
        const size_t at = (size_t)(x0 + x) * (size_t)channels;
        for (int i = 0; bits == 32 && i < made * channels; i++) {
            const int c = i % channels, k = i / channels;
            ((float *)row)[at + (size_t)i] = centre[(size_t)c * work->plane + (size_t)(x + k)] +
                                             total.colour[c][k] / total.weight[k];
        }
        if (bits == 32)
            continue;
        for (int c = 0; c < channels; c++)
            round_means(centre + (size_t)c * work->plane + x, total.colour[c], total.weight, max,
                        mean[c]);
        GF_BY_CHANNELS(
            channels, CHANNELS, for (int i = 0; i < made * CHANNELS; i++) {
                if (bits == 8)
                    row[at + (size_t)i] = (unsigned char)mean[i % CHANNELS][i / CHANNELS];
                else
                    ((gf_u16_any *)row)[at + (size_t)i] = mean[i % CHANNELS][i / CHANNELS];
            });
    }
}

static void bilateral_cpu(const struct gf_stage *stage, const struct gf_view *in,
                          const struct gf_view *out, void *scratch)
{
    struct work work;
    carve(&work, scratch, stage, gf_stage_radius(stage));
    const int radius = work.weights->radius, width = out->format.width;
    for (int x0 = 0; x0 < width; x0 += COLUMNS) {
        const int count = width - x0 < COLUMNS ? width - x0 : COLUMNS;
        for (int row = out->y - radius; row < out->y + radius; row++)
            fill_slot(&work, in, row, x0, count);
        for (int y = out->y; y < out->y + out->rows; y++) {
            fill_slot(&work, in, y + radius, x0, count);
            strip_row(&work, out, y, x0, count);
        }
    }
}

const char *gf_bilateral_near_refuses(const struct gf_stage *stage)
{
    return stage->in.bits != 8 || gf_has_alpha(stage->in) ||
                   gf_stage_radius(stage) > GF_BILATERAL_NEAR_MAX
               ? "takes pictures of 8 bits without alpha, and sigma_s up to 3"
               : NULL;
}

extern gf_launcher gf_bilateral_cuda, gf_bilateral_floats_cuda;

const struct gf_filter gf_bilateral_filter = {
    .name = "bilateral",
    .synonyms = "denoise smooth",
    .summary = "smoothing that keeps edges",
    .definition =
        "Mean of a square window of radius r = ceil(2 sigma_s) with weights exp(-d^2 / 2 sigma_s^2 "
        "- |dc|^2 / 2 sigma_r^2), where d is the distance of two pixels, and dc the Euclidean "
        "distance of their colours in 0..1; alpha is averaged with the same weights.",
    GF_TAKES(
        struct bilateral,
        GF_PARAM(struct bilateral, sigma_s, 2, 0.1, 50, "standard deviation in space, in pixels"),
        GF_PARAM(struct bilateral, sigma_r, 0.1, 0.001, 10,
                 "standard deviation in colour, as a part of the full scale"),
        GF_PARAM_BORDER(struct bilateral)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 7, .row = 1.4, .tap = 0.6},
    .radius = bilateral_radius,
    .columns = bilateral_radius,
    .constants_size = sizeof(struct gf_bilateral_weights),
    .prepare = bilateral_prepare,
    .cpu_scratch = bilateral_scratch,
    .cpu = bilateral_cpu,
    .floats = bilateral_cpu,
    .floats_scratch = bilateral_scratch,
    .cuda = GF_CUDA(
        {GF_VARIANT("best", gf_bilateral_cuda, "near where it takes the picture, else tiled")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_bilateral_floats_cuda, NULL),
};
