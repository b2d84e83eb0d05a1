/* Runs one stencil on the CPU, and computes references in double precision to compare it with. */
#pragma once

#include <math.h>

#include "one_stage.h"

/* ---- running one filter ---- */

static inline struct gf_image run(const char *text, const struct gf_image *in, int band_rows,
                                  size_t padding)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_int_equal(chain.count, 1);
    assert_ok(text,
              gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in->format, &error),
              &error);
    const struct gf_image out = stage_run(text, &stage, in, band_rows, padding);
    gf_chain_free(&chain);
    return out;
}

/* ---- references ---- */

static const char *const borders[] = {"edge", "reflect", "wrap", "constant"};
enum { BORDERS = 4 };

/* Step by step, not by division. -1: beyond a constant border. */
static inline int place(int i, int n, int border)
{
    while (i < 0 || i >= n) {
        if (border == 0)
            i = i < 0 ? 0 : n - 1;
        else if (border == 1)
            i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
        else if (border == 2)
            i += i < 0 ? n : -n;
        else
            return -1;
    }
    return i;
}

static inline double sample(const struct gf_image *image, int x, int y, int c, int border)
{
    x = place(x, image->format.width, border);
    y = place(y, image->format.height, border);
    return x < 0 || y < 0 ? 0 : sample_at(image, x, y, c);
}

static inline int most(const struct gf_image *image)
{
    return (1 << image->format.bits) - 1;
}

/* The reference of one picture: as many doubles as the result has samples. */
struct reference {
    struct gf_format format;
    double *value;
};

static inline struct reference reference_new(struct gf_format format)
{
    const size_t count = (size_t)format.width * (size_t)format.height * (size_t)format.channels;
    const struct reference reference = {format, malloc(count * sizeof *reference.value)};
    assert_non_null(reference.value);
    return reference;
}

static inline double *at(const struct reference *reference, int x, int y, int c)
{
    const struct gf_format f = reference->format;
    return &reference
                ->value[((size_t)y * (size_t)f.width + (size_t)x) * (size_t)f.channels + (size_t)c];
}

static inline double weighted_line(const double *line, int n, int centre, const double *tap,
                                   int radius, int border)
{
    double sum = 0;
    for (int k = -radius; k <= radius; k++) {
        const int i = place(centre + k, n, border);
        sum += i < 0 ? 0 : tap[abs(k)] * line[i];
    }
    return sum;
}

/* The sum over a window whose weights are tap[|j|] tap[|i|]: columns, then rows, each one line at a
 * time. */
static inline struct reference reference_sum(const struct gf_image *in, const double *tap,
                                             int radius, int border)
{
    const struct gf_format f = in->format;
    const struct reference result = reference_new(f);
    const int longest = f.width > f.height ? f.width : f.height;
    double *const line = malloc((size_t)longest * sizeof *line);
    for (int c = 0; c < f.channels; c++) {
        for (int x = 0; x < f.width; x++) {
            for (int y = 0; y < f.height; y++)
                line[y] = sample_at(in, x, y, c);
            for (int y = 0; y < f.height; y++)
                *at(&result, x, y, c) = weighted_line(line, f.height, y, tap, radius, border);
        }
        for (int y = 0; y < f.height; y++) {
            for (int x = 0; x < f.width; x++)
                line[x] = *at(&result, x, y, c);
            for (int x = 0; x < f.width; x++)
                *at(&result, x, y, c) = weighted_line(line, f.width, x, tap, radius, border);
        }
    }
    free(line);
    return result;
}

static inline struct reference reference_blur(const struct gf_image *in, double sigma, int border)
{
    const int radius = (int)ceil(3 * sigma);
    double *const tap = malloc((size_t)(radius + 1) * sizeof *tap);
    double sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += tap[abs(k)] = exp(-k * k / (2 * sigma * sigma));
    for (int k = 0; k <= radius; k++)
        tap[k] /= sum;
    const struct reference result = reference_sum(in, tap, radius, border);
    free(tap);
    return result;
}

static inline double clamped(double v, const struct gf_image *image)
{
    return fmin(fmax(v, 0), most(image));
}

/* No result differs from the reference by more than half a step and `slack`. */
static inline void assert_near(const char *text, const struct gf_image *out,
                               const struct reference *reference, double slack)
{
    const struct gf_format f = reference->format;
    assert_true(same_format(out->format, f));
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            for (int c = 0; c < f.channels; c++) {
                const double expected = clamped(*at(reference, x, y, c), out);
                const int is = sample_at(out, x, y, c);
                if (!(fabs(is - expected) <= 0.5 + slack))
                    fail_msg("%s: %d instead of %.3f at %d,%d channel %d (%dx%dx%d, %d bits)", text,
                             is, expected, x, y, c, f.width, f.height, f.channels, f.bits);
            }
        }
    }
    if (!guards_intact(out))
        fail_msg("%s: bytes outside the rows were written", text);
}
