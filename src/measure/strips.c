#include "measure/strips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "pixel/colour.h"
#include "pixel/sample.h"

enum { COLOURS = 3, LEVELS = UINT16_MAX + 1, SIDE = GF_PSNR_HVS_M_SIDE, BLOCK = SIDE * SIDE };

/* Two pictures, and what is found of them. Threads share the strips. */
struct strips {
    const struct gf_image *image[2];
    int rows; /* of a strip */
    /* Returns by how much a strip of both pictures differs. */
    double (*error)(const struct strips *strips, const double *a, const double *b);
    double gray;       /* what pictures with alpha are blended on */
    double *sample;    /* [threads][2][rows][width][COLOURS], 0..1 */
    double *sum;       /* the errors of the strips */
    double *linear;    /* for CIEDE2000: [LEVELS], linear light */
    double dct[BLOCK]; /* for PSNR-HVS-M: the matrix of the cosine transform */
};

/* Reads a row as RGB, and returns the end of it. */
static double *read_row(const struct gf_image *image, int y, double gray, double *to)
{
    const struct gf_format format = image->format;
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    const uint16_t *const wide = (const uint16_t *)(const void *)row;
    const size_t channels = (size_t)format.channels, end = channels * (size_t)format.width;
    const size_t step = gf_colour_channels(format) == 1 ? 0 : 1;
    const double max = gf_sample_max(format);
    for (size_t at = 0; at < end; at += channels) {
        const size_t last = at + channels - 1;
        const double alpha =
            gf_has_alpha(format) ? (format.bits == 8 ? row[last] : wide[last]) / max : 1;
        for (size_t c = 0; c < COLOURS; c++) {
            const double v = (format.bits == 8 ? row[at + c * step] : wide[at + c * step]) / max;
            *to++ = alpha * v + (1 - alpha) * gray;
        }
    }
    return to;
}

uint64_t gf_strips_bytes(int width, int threads)
{
    return LEVELS * sizeof(double) +
           (uint64_t)threads * 2 * SIDE * (uint64_t)width * sizeof(double[COLOURS]);
}

static enum gf_status measure_strip(void *context, int thread, int strip, struct gf_error *error)
{
    const struct strips *const strips = context;
    const size_t width = (size_t)strips->image[0]->format.width;
    const size_t samples = (size_t)strips->rows * width * COLOURS;
    double *const first = strips->sample + (size_t)thread * 2 * samples, *to = first;
    for (int i = 0; i < 2; i++) {
        for (int y = 0; y < strips->rows; y++)
            to = read_row(strips->image[i], strip * strips->rows + y, strips->gray, to);
    }
    strips->sum[strip] = strips->error(strips, first, first + samples);
    return gf_time_check(error);
}

/* Adds the errors of all whole strips; the larger sum of both blends. */
static enum gf_status sum_strips(struct strips *strips, int threads, double *sum,
                                 struct gf_error *error)
{
    const struct gf_format format = strips->image[0]->format;
    const int count = format.height / strips->rows;
    const size_t samples = (size_t)strips->rows * (size_t)format.width * COLOURS;
    strips->sample = malloc((size_t)threads * 2 * samples * sizeof *strips->sample);
    strips->sum = malloc((size_t)count * sizeof *strips->sum);
    enum gf_status status = strips->sample && strips->sum ? GF_OK : gf_fail_memory(error);
    *sum = 0;
    for (int i = 0; i <= (gf_has_alpha(format) ? 1 : 0) && !status; i++) {
        double of_blend = 0;
        strips->gray = i ? 0.9 : 0.1;
        status = gf_ordered_run(threads, count, measure_strip, strips, error);
        for (int k = 0; k < count && !status; k++)
            of_blend += strips->sum[k];
        *sum = of_blend > *sum ? of_blend : *sum;
    }
    free(strips->sample);
    free(strips->sum);
    return status;
}

/* ---- CIEDE2000 ---- */

/* A factor that is 0 for grays and nears 1 for chromas above 25. */
static double share_of_strong(double chroma)
{
    const double cube = chroma * chroma * chroma, seventh = cube * cube * chroma;
    return sqrt(seventh / (seventh + 6103515625.0)); /* 25^7 */
}

/* Returns 30 exp(-((h - 275) / 25)^2) in degrees, h = 0..360 being the angle of a unit vector. */
static double blue_rotation(double x, double y)
{
    const double cos_275 = 0.08715574274765817, sin_275 = -0.9961946980917455;
    const double along = x * cos_275 + y * sin_275, across = y * cos_275 - x * sin_275;
    /* Far away, and from 0 on, where h - 275 is below -180, it is below 1e-15. */
    if (along < -0.9 || (along < cos_275 && across > 0))
        return 0;
    double t = across / (1 + along); /* the tangent of half the angle */
    for (int i = 0; i < 2; i++)
        t /= 1 + sqrt(1 + t * t);
    double sum = 0; /* of the series of atan(t) / t, |t| < 0.4 */
    for (int n = 31; n > 0; n -= 2)
        sum = 1.0 / n - t * t * sum;
    const double steps = 8 * t * sum * (180 / 3.14159265358979323846) / 25;
    return 30 * gf_exp_double(-steps * steps);
}

/* The hues are unit vectors, so that sums of angles become products, and the mean hue is that of
 * the vectors' sum. */
double gf_ciede2000(const double a[3], const double b[3])
{
    const double *const lab[2] = {a, b};
    const double mean_ab = (sqrt(a[1] * a[1] + a[2] * a[2]) + sqrt(b[1] * b[1] + b[2] * b[2])) / 2;
    const double stretch = 1 + (1 - share_of_strong(mean_ab)) / 2;
    double chroma[2], x[2], y[2];
    for (int i = 0; i < 2; i++) {
        const double of_a = stretch * lab[i][1], of_b = lab[i][2];
        chroma[i] = sqrt(of_a * of_a + of_b * of_b);
        x[i] = chroma[i] > 0 ? of_a / chroma[i] : 0;
        y[i] = chroma[i] > 0 ? of_b / chroma[i] : 0;
    }
    const double cross = x[0] * y[1] - y[0] * x[1], dx = x[1] - x[0], dy = y[1] - y[0];
    double c = x[0] + x[1], s = y[0] + y[1], length = sqrt(c * c + s * s);
    if (length <= 1e-12) { /* opposite hues: a quarter turn from the one below 180 degrees */
        const int low = y[0] > 0 || (y[0] >= 0 && x[0] > 0) ? 0 : 1;
        c = -y[low];
        s = x[low];
        length = 1;
    }
    c /= length;
    s /= length;
    const double c2 = c * c - s * s, s2 = 2 * c * s, c3 = c2 * c - s2 * s, s3 = s2 * c + c2 * s;
    const double c4 = c2 * c2 - s2 * s2, s4 = 2 * c2 * s2;
    const double t = 1 - 0.17 * (c * 0.8660254037844386 + s * 0.5) + 0.24 * c2 +
                     0.32 * (c3 * 0.9945218953682733 - s3 * 0.10452846326765347) -
                     0.20 * (c4 * 0.45399049973954675 + s4 * 0.8910065241883679);
    const double light = (a[0] + b[0]) / 2 - 50, mean = (chroma[0] + chroma[1]) / 2;
    const double of_light = 1 + 0.015 * light * light / sqrt(20 + light * light);
    const double hue = sqrt(chroma[0] * chroma[1] * (dx * dx + dy * dy)) * (cross < 0 ? -1 : 1);
    const double l = (b[0] - a[0]) / of_light, d = (chroma[1] - chroma[0]) / (1 + 0.045 * mean);
    const double h = hue / (1 + 0.015 * mean * t);
    const double turn = 2 * share_of_strong(mean) * gf_sin_pi_double(2 * blue_rotation(c, s) / 180);
    return sqrt(fmax(l * l + d * d + h * h - turn * d * h, 0));
}

/* Returns CIELAB's f(t), with a relative error of 1e-12. */
static double lab_f(double t)
{
    const double root = gf_cbrt((float)t);
    return t > 216.0 / 24389 ? root - (root - t / (root * root)) / 3 : t * 841 / 108 + 4.0 / 29;
}

static void to_lab(const double *linear, const double *rgb, double lab[3])
{
    static const double matrix[3][COLOURS] = {
        {GF_X_R, GF_X_G, GF_X_B}, {GF_Y_R, GF_Y_G, GF_Y_B}, {GF_Z_R, GF_Z_G, GF_Z_B}};
    static const double white[3] = {GF_WHITE_X, 1, GF_WHITE_Z};
    double light[COLOURS], f[3];
    for (int c = 0; c < COLOURS; c++)
        light[c] = linear[(int)(rgb[c] * UINT16_MAX + 0.5)];
    for (int i = 0; i < 3; i++)
        f[i] = lab_f(white[i] *
                     (matrix[i][0] * light[0] + matrix[i][1] * light[1] + matrix[i][2] * light[2]));
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static double colour_error(const struct strips *strips, const double *a, const double *b)
{
    double sum = 0, of_a[3], of_b[3];
    for (int x = 0; x < strips->image[0]->format.width; x++, a += COLOURS, b += COLOURS) {
        if (!memcmp(a, b, COLOURS * sizeof *a))
            continue;
        to_lab(strips->linear, a, of_a);
        to_lab(strips->linear, b, of_b);
        sum += gf_ciede2000(of_a, of_b);
    }
    return sum;
}

enum gf_status gf_deltae2000(const struct gf_image *a, const struct gf_image *b, int threads,
                             double *mean, struct gf_error *error)
{
    struct strips strips = {.image = {a, b}, .rows = 1, .error = colour_error};
    strips.linear = malloc(LEVELS * sizeof *strips.linear);
    if (!strips.linear)
        return gf_fail_memory(error);
    for (int i = 0; i < LEVELS; i++)
        strips.linear[i] = gf_srgb_decode_exact((double)i / UINT16_MAX);
    const enum gf_status status = sum_strips(&strips, threads, mean, error);
    *mean /= (double)a->format.width * a->format.height;
    free(strips.linear);
    return status;
}

/* ---- PSNR-HVS-M ---- */

/* How little a frequency is seen: the quantisers of luma that the JPEG standard's annex K found by
 * tests. An amplitude is seen as LEAST_SEEN / coarse, and masks others by 10 / coarse. */
static const unsigned char coarse[BLOCK] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
#define LEAST_SEEN 25.73509

/* Takes the cosine transform down the columns, and transposes the result. */
static void transform(const double *dct, const double *from, double *to)
{
    for (int i = 0; i < BLOCK; i++) {
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
            sum += dct[i / SIDE * SIDE + k] * from[k * SIDE + i % SIDE];
        to[i % SIDE * SIDE + i / SIDE] = sum;
    }
}

/* Returns the sample variance of a square part of a block, times its pixels. */
static double spread(const double *v, int side)
{
    const int count = side * side;
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++)
        sum += v[i / side * SIDE + i % side];
    for (int i = 0; i < count; i++) {
        const double d = v[i / side * SIDE + i % side] - sum / count;
        squares += d * d;
    }
    return squares * count / (count - 1);
}

/* Returns how much the block hides differences, less where it has an edge. */
static double masking(const double *v, const double *frequency)
{
    const double whole = spread(v, SIDE), parts = spread(v, 4) + spread(v + 4, 4) +
                                                  spread(v + 4 * SIDE, 4) +
                                                  spread(v + 4 * SIDE + 4, 4);
    double energy = 0;
    for (int i = 1; i < BLOCK; i++)
        energy += frequency[i] * frequency[i] * (100.0 / (coarse[i] * coarse[i]));
    return whole > 0 ? sqrt(energy * parts / whole) / 32 : 0;
}

static double seen_error(const struct strips *strips, const double *a, const double *b)
{
    const double *const rows[2] = {a, b};
    const int width = strips->image[0]->format.width;
    double sum = 0;
    for (int x = 0; x + SIDE <= width; x += SIDE) {
        double v[2][BLOCK], half[BLOCK], frequency[2][BLOCK], mask[2];
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < BLOCK; i++) {
                const double *const rgb = rows[k] + COLOURS * (i / SIDE * width + x + i % SIDE);
                v[k][i] = 255 * (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
            }
            transform(strips->dct, v[k], half);
            transform(strips->dct, half, frequency[k]);
            mask[k] = masking(v[k], frequency[k]);
        }
        const double most = mask[0] > mask[1] ? mask[0] : mask[1];
        for (int i = 0; i < BLOCK; i++) {
            const double hidden = i ? most * (coarse[i] * coarse[i] / 100.0) : 0;
            const double seen = fabs(frequency[0][i] - frequency[1][i]) - hidden;
            const double weighted = seen > 0 ? seen * (LEAST_SEEN / coarse[i]) : 0;
            sum += weighted * weighted;
        }
    }
    return sum;
}

enum gf_status gf_psnr_hvs_m(const struct gf_image *a, const struct gf_image *b, int threads,
                             double *psnr, struct gf_error *error)
{
    struct strips strips = {.image = {a, b}, .rows = SIDE, .error = seen_error};
    const int across = a->format.width / SIDE, down = a->format.height / SIDE;
    double sum;
    *psnr = NAN;
    if (!across || !down)
        return GF_OK;
    for (int i = 0; i < BLOCK; i++) /* cos((2 n + 1) k pi / 16) */
        strips.dct[i] = (i < SIDE ? sqrt(0.125) : 0.5) *
                        gf_sin_pi_double((2 * (i % SIDE) + 1) * (i / SIDE) / 16.0 + 0.5);
    GF_TRY(sum_strips(&strips, threads, &sum, error));
    const double decibels = 10 / 2.302585092994046; /* of a natural logarithm */
    *psnr =
        sum > 0 ? decibels * gf_log_double(255.0 * 255 * BLOCK * across * down / sum) : INFINITY;
    return GF_OK;
}
