#include "measure/ssim.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "pixel/sample.h"

enum {
    RADIUS = GF_SSIM_SIDE / 2,
    STRIP = 32, /* number of rows of windows that a thread takes at a time */
    LANES = 8,  /* number of windows that one vector loop computes together */
    ROOM = 2 * LANES
};

/* Sums over the windows of a strip: `whole` adds the SSIM, and `contrast` the SSIM without its
 * factor for the means, which the finer scales of MS-SSIM use. */
struct sums {
    double whole, contrast;
};

/* Two planes of samples, a and b, at one scale of MS-SSIM. Threads share their strips. */
struct scale {
    const float *a, *b;
    int width, columns, rows; /* width of the planes; columns and rows of windows */
    double c1, c2;
    double tap[GF_SSIM_SIDE];
    double *work;      /* buffer [threads][4][width + ROOM] for sum_columns(); 0 beyond the width */
    struct sums *sums; /* the sums of each strip */
};

static void find_taps(double *tap)
{
    double sum = 0;
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        sum += tap[i] = gf_exp_double(-(i - RADIUS) * (i - RADIUS) / (2 * 1.5 * 1.5));
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        tap[i] /= sum;
}

/* Computes for each column the weighted sums over 11 rows: of a, of b, of their squares, and of
 * their product. */
GF_TARGET_CLONES static void sum_columns(const struct scale *scale, const float *restrict a,
                                         const float *restrict b, double *restrict sum)
{
    const int width = scale->width;
    const size_t stride = (size_t)width + ROOM;
    double *restrict const mean_a = sum, *restrict const mean_b = sum + stride,
                           *restrict const squares = sum + 2 * stride,
                           *restrict const product = sum + 3 * stride;
    for (int x = 0; x < width; x++) {
        double of_a = 0, of_b = 0, of_squares = 0, of_product = 0;
#pragma GCC unroll 11
        for (int i = 0; i < GF_SSIM_SIDE; i++) {
            const double va = a[x + (ptrdiff_t)i * width], vb = b[x + (ptrdiff_t)i * width];
            const double ta = scale->tap[i] * va, tb = scale->tap[i] * vb;
            of_a += ta;
            of_b += tb;
            of_squares += ta * va + tb * vb;
            of_product += ta * vb;
        }
        mean_a[x] = of_a;
        mean_b[x] = of_b;
        squares[x] = of_squares;
        product[x] = of_product;
    }
}

static inline double across(const double *sum, const double *tap)
{
    double total = 0;
#pragma GCC unroll 11
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        total += tap[i] * sum[i];
    return total;
}

/* Returns the sums over the windows of a row. Windows that are LANES apart are added first,
 * whatever the width of the processor's vectors, so that every processor rounds alike. */
GF_TARGET_CLONES static struct sums sum_windows(const struct scale *scale, const double *sum)
{
    const size_t stride = (size_t)scale->width + ROOM;
    double whole[LANES] = {0}, contrast[LANES] = {0};
    for (int x = 0; x < scale->columns; x += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            const double *const at = sum + x + lane;
            const double counts = x + lane < scale->columns ? 1 : 0;
            const double a = across(at, scale->tap), b = across(at + stride, scale->tap);
            const double squares = across(at + 2 * stride, scale->tap);
            const double product = across(at + 3 * stride, scale->tap);
            const double of_means = a * a + b * b;
            const double c = (2 * (product - a * b) + scale->c2) / (squares - of_means + scale->c2);
            contrast[lane] += counts * c;
            whole[lane] += counts * c * (2 * a * b + scale->c1) / (of_means + scale->c1);
        }
    }
    struct sums sums = {0, 0};
    for (int lane = 0; lane < LANES; lane++) {
        sums.whole += whole[lane];
        sums.contrast += contrast[lane];
    }
    return sums;
}

static enum gf_status sum_strip(void *context, int thread, int strip, struct gf_error *error)
{
    const struct scale *const scale = context;
    double *const work = scale->work + (size_t)thread * 4 * ((size_t)scale->width + ROOM);
    struct sums sums = {0, 0};
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < scale->rows; y++) {
        const size_t at = (size_t)y * (size_t)scale->width;
        sum_columns(scale, scale->a + at, scale->b + at, work);
        const struct sums row = sum_windows(scale, work);
        sums.whole += row.whole;
        sums.contrast += row.contrast;
    }
    scale->sums[strip] = sums;
    return gf_time_check(error);
}

/* Computes the means over all windows of two planes, whose width and height are at least 11. */
static enum gf_status mean_of(const float *a, const float *b, int width, int height, double max,
                              int threads, struct sums *mean, struct gf_error *error)
{
    const int rows = height - GF_SSIM_SIDE + 1, strips = (rows + STRIP - 1) / STRIP;
    struct scale scale = {.a = a,
                          .b = b,
                          .width = width,
                          .columns = width - GF_SSIM_SIDE + 1,
                          .rows = rows,
                          .c1 = 0.01 * max * 0.01 * max,
                          .c2 = 0.03 * max * 0.03 * max};
    find_taps(scale.tap);
    scale.work = calloc((size_t)threads * 4, ((size_t)width + ROOM) * sizeof *scale.work);
    scale.sums = malloc((size_t)strips * sizeof *scale.sums);
    enum gf_status status = scale.work && scale.sums
                                ? gf_ordered_run(threads, strips, sum_strip, &scale, error)
                                : gf_fail_memory(error);
    *mean = (struct sums){0, 0};
    for (int i = 0; i < strips && !status; i++) {
        mean->whole += scale.sums[i].whole;
        mean->contrast += scale.sums[i].contrast;
    }
    mean->whole /= (double)scale.columns * rows;
    mean->contrast /= (double)scale.columns * rows;
    free(scale.work);
    free(scale.sums);
    return status;
}

/* Halves the plane in place: each 2x2 pixels become their mean, which is written over samples that
 * were already read. */
static void halve(float *plane, int width, int height)
{
    float *to = plane;
    for (int y = 0; y < height; y += 2) {
        const float *const above = plane + (size_t)y * (size_t)width;
        const float *const below = y + 1 < height ? above + width : above;
        for (int x = 0; x < width; x += 2) {
            const int beside = x + 1 < width ? x + 1 : x;
            *to++ = 0.25f * ((above[x] + above[beside]) + (below[x] + below[beside]));
        }
    }
}

/* Computes SSIM and, unless ms_ssim is NULL, MS-SSIM of two planes. MS-SSIM overwrites the
 * planes. */
static enum gf_status compare_planes(float *a, float *b, int width, int height, double max,
                                     int threads, double *ssim, double *ms_ssim,
                                     struct gf_error *error)
{
    static const double exponent[GF_SSIM_SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
    const int least = width < height ? width : height;
    *ssim = NAN;
    const int scales = least < GF_SSIM_SIDE                  ? 0
                       : least < GF_MS_SSIM_SIDE || !ms_ssim ? 1
                                                             : GF_SSIM_SCALES;
    double product = 1;
    for (int i = 0; i < scales; i++) {
        struct sums mean;
        GF_TRY(mean_of(a, b, width, height, max, threads, &mean, error));
        if (i == 0)
            *ssim = mean.whole;
        const double part = i == GF_SSIM_SCALES - 1 ? mean.whole : mean.contrast;
        product *= pow(fmax(part, 0), exponent[i]);
        if (i + 1 == scales)
            break;
        halve(a, width, height);
        halve(b, width, height);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    if (ms_ssim)
        *ms_ssim = scales == GF_SSIM_SCALES ? product : NAN;
    return GF_OK;
}

/* Copies a channel of the image, as converted to the format `to`, to a plane of floats. */
static void take_plane(const struct gf_image *image, struct gf_format to, int channel, float *plane)
{
    const struct gf_format from = image->format;
    const int colours = gf_colour_channels(from), max = gf_sample_max(to);
    const bool is_alpha = channel >= gf_colour_channels(to);
    const int source = is_alpha ? from.channels - 1 : channel < colours ? channel : 0;
    for (int y = 0; y < from.height; y++) {
        const unsigned char *const row = image->data + (size_t)y * image->pitch;
        const uint16_t *const wide = (const uint16_t *)(const void *)row;
        for (int x = 0; x < from.width; x++) {
            const size_t at = (size_t)x * (size_t)from.channels + (size_t)source;
            int value = from.bits == 8 ? row[at] : wide[at];
            if (from.bits > to.bits)
                value = (value * max + UINT16_MAX / 2) / UINT16_MAX;
            else if (from.bits < to.bits)
                value *= UINT16_MAX / UINT8_MAX;
            *plane++ = (float)(is_alpha && !gf_has_alpha(from) ? max : value);
        }
    }
}

enum gf_status gf_ssim(const struct gf_image *a, const struct gf_image *b, int threads,
                       double *ssim, double *ms_ssim, struct gf_error *error)
{
    const struct gf_format format = b->format;
    const size_t pixels = (size_t)format.width * (size_t)format.height;
    float *const planes = malloc(2 * pixels * sizeof *planes);
    enum gf_status status = planes ? GF_OK : gf_fail_memory(error);
    *ssim = 0;
    if (ms_ssim)
        *ms_ssim = 0;
    for (int c = 0; !status && c < format.channels; c++) {
        double of_plane, of_scales;
        take_plane(a, format, c, planes);
        take_plane(b, format, c, planes + pixels);
        status = compare_planes(planes, planes + pixels, format.width, format.height,
                                gf_sample_max(format), threads, &of_plane,
                                ms_ssim ? &of_scales : NULL, error);
        *ssim += status ? 0 : of_plane / format.channels;
        if (ms_ssim && !status)
            *ms_ssim += of_scales / format.channels;
    }
    free(planes);
    return status;
}
