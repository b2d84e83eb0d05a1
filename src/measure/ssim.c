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
#include "measure/ssim_formula.h"
#include "pixel/sample.h"

/* Two planes of samples, a and b, at one scale of MS-SSIM. Threads share their rows of tiles. */
struct scale {
    const float *a, *b;
    int width, height;
    struct gf_ssim_constants constants;
    struct gf_ssim_sums *tiles; /* the sums of each */
};

/* Weighs the quantities of each column over 11 rows. */
GF_TARGET_CLONES static void weigh_columns(const struct scale *scale, size_t at, int columns,
                                           double sum[GF_SSIM_QUANTITIES][GF_SSIM_ACROSS])
{
    const float *const plane_a = scale->a + at, *const plane_b = scale->b + at;
    for (int x = 0; x < columns; x++) {
        double a[GF_SSIM_SIDE], b[GF_SSIM_SIDE], squares[GF_SSIM_SIDE], product[GF_SSIM_SIDE];
#pragma GCC unroll 11
        for (int i = 0; i < GF_SSIM_SIDE; i++) {
            a[i] = plane_a[x + (ptrdiff_t)i * scale->width];
            b[i] = plane_b[x + (ptrdiff_t)i * scale->width];
            squares[i] = gf_ssim_squares(a[i], b[i]);
            product[i] = a[i] * b[i];
        }
        sum[0][x] = gf_ssim_weigh(&scale->constants, a);
        sum[1][x] = gf_ssim_weigh(&scale->constants, b);
        sum[2][x] = gf_ssim_weigh(&scale->constants, squares);
        sum[3][x] = gf_ssim_weigh(&scale->constants, product);
    }
}

/* Adds a row of windows to the sums of their columns. */
GF_TARGET_CLONES static void add_windows(const struct scale *scale, int columns,
                                         const double sum[GF_SSIM_QUANTITIES][GF_SSIM_ACROSS],
                                         double *restrict whole, double *restrict contrast)
{
    const struct gf_ssim_constants *const constants = &scale->constants;
    for (int x = 0; x < columns; x++) {
        const struct gf_ssim_sums window = gf_ssim_window(
            constants, gf_ssim_weigh(constants, &sum[0][x]), gf_ssim_weigh(constants, &sum[1][x]),
            gf_ssim_weigh(constants, &sum[2][x]), gf_ssim_weigh(constants, &sum[3][x]));
        whole[x] += window.whole;
        contrast[x] += window.contrast;
    }
}

static double fold(double *columns)
{
    for (int n = GF_SSIM_ACROSS / 2; n; n /= 2) {
        for (int i = 0; i < n; i++)
            columns[i] = columns[2 * i] + columns[2 * i + 1];
    }
    return columns[0];
}

static struct gf_ssim_sums sum_tile(const struct scale *scale, int left, int top)
{
    const int rest = scale->width - left, across = rest < GF_SSIM_ACROSS ? rest : GF_SSIM_ACROSS;
    double sum[GF_SSIM_QUANTITIES][GF_SSIM_ACROSS];
    double whole[GF_SSIM_ACROSS] = {0}, contrast[GF_SSIM_ACROSS] = {0};
    for (int y = top; y < top + GF_SSIM_ROWS && y + GF_SSIM_SIDE <= scale->height; y++) {
        weigh_columns(scale, (size_t)y * (size_t)scale->width + (size_t)left, across, sum);
        add_windows(scale, across - GF_SSIM_SIDE + 1, sum, whole, contrast);
    }
    return (struct gf_ssim_sums){fold(whole), fold(contrast)};
}

/* Makes the sums of the tiles beside one another. */
static enum gf_status sum_tiles(void *context, int thread, int row, struct gf_error *error)
{
    const struct scale *const scale = context;
    const int count = gf_ssim_tiles_across(scale->width);
    (void)thread;
    for (int i = 0; i < count; i++)
        scale->tiles[row * count + i] = sum_tile(scale, i * GF_SSIM_COLUMNS, row * GF_SSIM_ROWS);
    return gf_time_check(error);
}

struct gf_ssim_constants gf_ssim_constants_make(double max)
{
    struct gf_ssim_constants made = {.c1 = 0.01 * max * 0.01 * max, .c2 = 0.03 * max * 0.03 * max};
    double sum = 0;
    for (int i = -GF_SSIM_RADIUS; i <= GF_SSIM_RADIUS; i++)
        sum += made.tap[abs(i)] = gf_exp_double(-i * i / (2 * 1.5 * 1.5));
    for (int i = 0; i <= GF_SSIM_RADIUS; i++)
        made.tap[i] /= sum;
    return made;
}

struct gf_ssim_sums gf_ssim_means(const struct gf_ssim_sums *tiles, int width, int height)
{
    const double windows = (double)(width - GF_SSIM_SIDE + 1) * (height - GF_SSIM_SIDE + 1);
    struct gf_ssim_sums sums = {0, 0};
    for (int i = 0; i < gf_ssim_tiles(width, height); i++) {
        sums.whole += tiles[i].whole;
        sums.contrast += tiles[i].contrast;
    }
    return (struct gf_ssim_sums){sums.whole / windows, sums.contrast / windows};
}

int gf_ssim_scales(int width, int height, bool ms_ssim)
{
    const int least = width < height ? width : height;
    return least < GF_SSIM_SIDE ? 0 : least < GF_MS_SSIM_SIDE || !ms_ssim ? 1 : GF_SSIM_SCALES;
}

void gf_ssim_add_channel(const struct gf_ssim_sums *mean, int scales, int channels, double *ssim,
                         double *ms_ssim)
{
    static const double exponent[GF_SSIM_SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
    double product = 1;
    for (int i = 0; i < scales; i++) {
        const double part = i == GF_SSIM_SCALES - 1 ? mean[i].whole : mean[i].contrast;
        product *= pow(fmax(part, 0), exponent[i]);
    }
    *ssim += (scales ? mean[0].whole : NAN) / channels;
    *ms_ssim += (scales == GF_SSIM_SCALES ? product : NAN) / channels;
}

/* Computes the means over all windows of two planes, whose width and height are at least 11. */
static enum gf_status mean_of(const float *a, const float *b, int width, int height, double max,
                              int threads, struct gf_ssim_sums *mean, struct gf_error *error)
{
    const size_t tiles = (size_t)gf_ssim_tiles(width, height);
    struct scale scale = {.a = a,
                          .b = b,
                          .width = width,
                          .height = height,
                          .constants = gf_ssim_constants_make(max),
                          .tiles = malloc(tiles * sizeof *scale.tiles)};
    GF_ALLOCATED(scale.tiles, error);
    const enum gf_status status =
        gf_ordered_run(threads, gf_ssim_tiles_down(height), sum_tiles, &scale, error);
    if (!status)
        *mean = gf_ssim_means(scale.tiles, width, height);
    free(scale.tiles);
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
            *to++ = gf_ssim_mean(above[x], above[beside], below[x], below[beside]);
        }
    }
}

/* Computes the means of all scales of two planes, which are overwritten. */
static enum gf_status compare_planes(float *a, float *b, struct gf_format format, int scales,
                                     int threads, struct gf_ssim_sums *mean, struct gf_error *error)
{
    int width = format.width, height = format.height;
    for (int i = 0; i < scales; i++) {
        if (i > 0) {
            halve(a, width, height);
            halve(b, width, height);
            width = (width + 1) / 2;
            height = (height + 1) / 2;
        }
        GF_TRY(mean_of(a, b, width, height, gf_sample_max(format), threads, &mean[i], error));
    }
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
    const int scales = gf_ssim_scales(format.width, format.height, ms_ssim);
    const size_t pixels = (size_t)format.width * (size_t)format.height;
    float *const planes = malloc(2 * pixels * sizeof *planes);
    double unused;
    enum gf_status status = planes ? GF_OK : gf_fail_memory(error);
    ms_ssim = ms_ssim ? ms_ssim : &unused;
    *ssim = *ms_ssim = 0;
    for (int c = 0; !status && c < format.channels; c++) {
        struct gf_ssim_sums mean[GF_SSIM_SCALES];
        take_plane(a, format, c, planes);
        take_plane(b, format, c, planes + pixels);
        status = compare_planes(planes, planes + pixels, format, scales, threads, mean, error);
        if (!status)
            gf_ssim_add_channel(mean, scales, format.channels, ssim, ms_ssim);
    }
    free(planes);
    return status;
}
