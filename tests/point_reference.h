/* Point filters by their definitions, pixel by pixel in double precision, unrounded. */
#pragma once

#include <math.h>

#include "pixel/colour.h"
#include "support.h"
#include "pixel/histogram/histogram.h"

struct reference {
    struct gf_format format;
    double *v; /* unrounded samples */
};

static double max_of(struct gf_format format)
{
    return format.bits == 8 ? 255 : 65535;
}

static double clamped(double v, double max)
{
    return fmin(fmax(v, 0), max);
}

static int pixels_of(struct gf_format format)
{
    return format.width * format.height;
}

static double *pixel(const struct reference *r, int i)
{
    return r->v + (ptrdiff_t)i * r->format.channels;
}

static double luma(const double *p, int channels, const double weight[3])
{
    return channels < 3 ? p[0] : p[0] * weight[0] + p[1] * weight[1] + p[2] * weight[2];
}

static const double bt601_of[2][3] = {{77 / 256.0, 150 / 256.0, 29 / 256.0},
                                      {19595 / 65536.0, 38470 / 65536.0, 7471 / 65536.0}};
static const double *bt601(const struct reference *r)
{
    return bt601_of[r->format.bits == 16];
}

static const double bt709[3] = {13933 / 65536.0, 46871 / 65536.0, 4732 / 65536.0};

static void to_gray(struct reference *r, const double weight[3])
{
    const int channels = r->format.channels, left = channels < 3 ? channels : channels - 2;
    for (int i = 0; i < pixels_of(r->format); i++) {
        const double *const from = pixel(r, i);
        double *const to = r->v + (ptrdiff_t)i * left;
        const double y = luma(from, channels, weight), alpha = from[channels - 1];
        to[0] = y;
        if (left == 2)
            to[1] = alpha;
    }
    r->format.channels = left;
}

static double value_of(const char *name, double v, double max, double x)
{
    if (!strcmp(name, "invert"))
        return max - v;
    if (!strcmp(name, "gamma"))
        return max * pow(v / max, 1 / x);
    if (!strcmp(name, "brightness"))
        return v + x * max;
    return (v - max / 2) * x + max / 2; /* contrast */
}

static void each_sample(struct reference *r, const char *name, double x)
{
    const double max = max_of(r->format);
    for (int i = 0; i < pixels_of(r->format); i++) {
        for (int c = 0; c < gf_colour_channels(r->format); c++)
            pixel(r, i)[c] = clamped(value_of(name, pixel(r, i)[c], max, x), max);
    }
}

/* CIELAB as scikit-image computes it: its matrix, its white, its constants. */
static const double to_xyz[3][3] = {
    {0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169}, {0.019334, 0.119193, 0.950227}};
static const double from_xyz[3][3] = {{3.240481343, -1.537151516, -0.498536326},
                                      {-0.969254949, 1.875990001, 0.041555926},
                                      {0.055646639, -0.204041338, 1.057311069}};
static const double white[3] = {0.95047, 1, 1.08883};

static void lab_of(const double *rgb, double max, double f[3])
{
    double linear[3];
    for (int c = 0; c < 3; c++) {
        const double v = rgb[c] / max;
        linear[c] = v > 0.04045 ? pow((v + 0.055) / 1.055, 2.4) : v / 12.92;
    }
    for (int i = 0; i < 3; i++) {
        const double t =
            (to_xyz[i][0] * linear[0] + to_xyz[i][1] * linear[1] + to_xyz[i][2] * linear[2]) /
            white[i];
        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16 / 116.0;
    }
}

static void rgb_of(const double f[3], double max, double *rgb)
{
    double xyz[3];
    for (int i = 0; i < 3; i++) {
        const double g = i == 2 ? fmax(f[i], 0) : f[i];
        xyz[i] = white[i] * (g > 0.2068966 ? g * g * g : (g - 16 / 116.0) / 7.787);
    }
    for (int i = 0; i < 3; i++) {
        const double x =
            from_xyz[i][0] * xyz[0] + from_xyz[i][1] * xyz[1] + from_xyz[i][2] * xyz[2];
        const double v = x > 0.0031308 ? 1.055 * pow(x, 1 / 2.4) - 0.055 : 12.92 * x;
        rgb[i] = clamped(v * max, max);
    }
}

static void saturate(struct reference *r, double factor)
{
    const double max = max_of(r->format);
    for (int i = 0; i < pixels_of(r->format) && r->format.channels >= 3; i++) {
        double f[3];
        lab_of(pixel(r, i), max, f);
        f[0] = f[1] + factor * (f[0] - f[1]);
        f[2] = f[1] + factor * (f[2] - f[1]);
        rgb_of(f, max, pixel(r, i));
    }
}

/* ---- with a histogram: of samples, so at the start of a run ---- */

static bool counted(const struct reference *r, int i)
{
    return !gf_has_alpha(r->format) || pixel(r, i)[r->format.channels - 1] > 0;
}

/* L* in bins 0..M. */
static double lightness_of(const struct reference *r, int i)
{
    const double *const p = pixel(r, i);
    const double gray[3] = {p[0], p[0], p[0]};
    double f[3];
    lab_of(r->format.channels >= 3 ? p : gray, max_of(r->format), f);
    return (116 * f[1] - 16) / 100 * max_of(r->format);
}

/* The bin, by the function that both backends share; it must be the nearest, or the next where L*
 * lies between two. */
static int lightness_bin(const struct reference *r, int i)
{
    size_t size;
    static struct gf_lightness *tables[17];
    const int bits = r->format.bits, green = r->format.channels >= 3 ? 1 : 0;
    if (!tables[bits])
        tables[bits] = gf_lightness_tables(bits, &size);
    assert_non_null(tables[bits]);
    const float *const linear = tables[bits]->linear;
    const double *const p = pixel(r, i);
    const struct gf_rgb rgb = {linear[(int)p[0]], linear[(int)p[green]], linear[(int)p[2 * green]]};
    const int bin = gf_lightness_bin(rgb, tables[bits]->curve);
    if (fabs(bin - lightness_of(r, i)) > (bits == 8 ? 0.51 : 1))
        fail_msg("L* of %g is in bin %d", lightness_of(r, i), bin);
    return bin;
}

static void count(const struct reference *r, enum gf_statistic statistic, uint64_t *bins)
{
    const int colours = gf_colour_channels(r->format), size = 1 << r->format.bits;
    memset(bins, 0, 3 * (size_t)size * sizeof *bins);
    for (int i = 0; i < pixels_of(r->format); i++) {
        if (!counted(r, i))
            continue;
        const double *const p = pixel(r, i);
        if (statistic == GF_STATISTIC_LUMA)
            bins[(int)floor(luma(p, r->format.channels, bt601(r)) + 0.5)]++;
        else if (statistic == GF_STATISTIC_LIGHTNESS)
            bins[lightness_bin(r, i)]++;
        for (int c = 0; c < colours && statistic == GF_STATISTIC_CHANNELS; c++)
            bins[c * size + (int)p[c]]++;
        for (int c = 0; c < colours && statistic == GF_STATISTIC_JOINT; c++)
            bins[(int)p[c]]++;
    }
}

static void equalizing_table(const uint64_t *bins, int size, double *table)
{
    double total = 0, passed = 0, first = 0;
    for (int v = 0; v < size; v++) {
        total += (double)bins[v];
        first = first > 0 ? first : total;
    }
    for (int v = 0; v < size; v++) {
        passed += (double)bins[v];
        table[v] = total > first
                       ? fmax(floor((passed - first) * (size - 1) / (total - first) + 0.5), 0)
                       : v;
    }
}

static void normalizing_table(const uint64_t *bins, int size, double clip, double *table)
{
    double total = 0, passed = 0;
    int low = -1, high = -1;
    for (int v = 0; v < size; v++)
        total += (double)bins[v];
    for (int v = 0; v < size; v++) {
        const double before = passed;
        passed += (double)bins[v];
        if (low < 0 && passed > total * clip / 100)
            low = v;
        if (total - before > total * clip / 100)
            high = v;
    }
    for (int v = 0; v < size; v++)
        table[v] =
            low < high ? clamped((double)(v - low) * (size - 1) / (high - low), size - 1) : v;
}

static void apply_tables(struct reference *r, const double *table, int tables)
{
    const int size = 1 << r->format.bits;
    for (int i = 0; i < pixels_of(r->format); i++) {
        for (int c = 0; c < gf_colour_channels(r->format); c++)
            pixel(r, i)[c] = table[(tables == 1 ? 0 : c * size) + (int)pixel(r, i)[c]];
    }
}

static void relight(struct reference *r, const double *table)
{
    const double max = max_of(r->format);
    for (int i = 0; i < pixels_of(r->format); i++) {
        double *const p = pixel(r, i), rgb[3], f[3];
        const bool colour = r->format.channels >= 3;
        for (int c = 0; c < 3; c++)
            rgb[c] = p[colour ? c : 0];
        lab_of(rgb, max, f);
        const double fy = (table[lightness_bin(r, i)] * 100 / max + 16) / 116;
        const double moved[3] = {f[0] + fy - f[1], fy, f[2] + fy - f[1]};
        rgb_of(moved, max, rgb);
        for (int c = 0; c < gf_colour_channels(r->format); c++)
            p[c] = rgb[c];
    }
}

static bool changes(const double *table, int size)
{
    for (int v = 0; v < size; v++) {
        if (table[v] != v)
            return true;
    }
    return false;
}

static void by_histogram(struct reference *r, const char *name, const char *mode, double clip)
{
    const enum gf_statistic statistic = !strcmp(mode, "channel")     ? GF_STATISTIC_CHANNELS
                                        : !strcmp(mode, "joint")     ? GF_STATISTIC_JOINT
                                        : !strcmp(mode, "lightness") ? GF_STATISTIC_LIGHTNESS
                                                                     : GF_STATISTIC_LUMA;
    const int size = 1 << r->format.bits;
    const int tables = gf_statistic_channels(statistic, r->format);
    uint64_t *const bins = malloc(3 * (size_t)size * sizeof *bins);
    double *const table = malloc(3 * (size_t)size * sizeof *table);
    count(r, statistic, bins);
    for (int c = 0; c < tables; c++) {
        if (!strcmp(name, "equalize"))
            equalizing_table(bins + c * size, size, table + c * size);
        else
            normalizing_table(bins + c * size, size, clip, table + c * size);
    }
    if (statistic != GF_STATISTIC_LIGHTNESS)
        apply_tables(r, table, tables);
    else if (changes(table, size))
        relight(r, table);
    free(table);
    free(bins);
}

/* The lowest level of those with the largest variance between the classes up to it and above it. */
static double otsu(const struct reference *r)
{
    const int size = 1 << r->format.bits;
    uint64_t *const bins = malloc(3 * (size_t)size * sizeof *bins);
    double total = 0, sum = 0, below = 0, sum_below = 0, best = 0;
    int split = size - 1;
    count(r, GF_STATISTIC_LUMA, bins);
    for (int v = 0; v < size; v++) {
        total += (double)bins[v];
        sum += (double)bins[v] * v;
    }
    for (int v = 0; v < size; v++) {
        below += (double)bins[v];
        sum_below += (double)bins[v] * v;
        const double above = total - below;
        const double distance =
            below > 0 && above > 0 ? sum_below / below - (sum - sum_below) / above : 0;
        if (below * above * distance * distance > best * (1 + 1e-9)) {
            best = below * above * distance * distance;
            split = v;
        }
    }
    free(bins);
    return split + 1;
}

static void threshold(struct reference *r, const char *value)
{
    const double max = max_of(r->format);
    const double least = !strcmp(value, "otsu") ? otsu(r) : *value ? atof(value) * max : 0.5 * max;
    to_gray(r, bt601(r));
    for (int i = 0; i < pixels_of(r->format); i++)
        pixel(r, i)[0] = floor(pixel(r, i)[0] + 0.5) >= least ? max : 0;
}

/* "name=value" or "name=clip:mode" */
static void apply_filter(struct reference *r, const char *item)
{
    char name[32], value[64] = "";
    assert_true(sscanf(item, "%31[^=]=%63s", name, value) >= 1);
    if (!strcmp(name, "grayscale"))
        to_gray(r, strcmp(value, "bt709") ? bt601(r) : bt709);
    else if (!strcmp(name, "threshold"))
        threshold(r, value);
    else if (!strcmp(name, "saturation"))
        saturate(r, *value ? atof(value) : 1);
    else if (!strcmp(name, "equalize"))
        by_histogram(r, name, *value ? value : "luma", 0);
    else if (!strcmp(name, "normalize"))
        by_histogram(r, name, strchr(value, ':') ? strchr(value, ':') + 1 : "channel", atof(value));
    else
        each_sample(r, name, *value ? atof(value) : !strcmp(name, "brightness") ? 0 : 1);
}

static struct reference reference_of(const struct gf_image *image, const char *chain)
{
    struct reference r = {.format = image->format};
    const int samples = pixels_of(r.format) * r.format.channels;
    r.v = malloc((size_t)samples * sizeof *r.v);
    for (int i = 0; i < samples; i++)
        r.v[i] = sample_at(image, i / r.format.channels % r.format.width,
                           i / r.format.channels / r.format.width, i % r.format.channels);
    char items[200], *rest = items;
    snprintf(items, sizeof items, "%s", chain);
    for (char *item; (item = strtok_r(rest, ",", &rest));)
        apply_filter(&r, item);
    return r;
}
