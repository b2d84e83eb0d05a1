/* Runs one stencil on the CPU, and computes references in double precision to compare it with. */
#ifndef GF_TEST_CONV_REFERENCE_H
#define GF_TEST_CONV_REFERENCE_H

#include <math.h>

#include "support.h"
#include "chain/chain.h"

/* ---- running one filter ---- */

/* Copies only the rows that the stage asks for into a block of their own at an odd address, so that
 * a sanitizer sees any other access. */
static inline void run_band(const struct gf_stage *stage, const struct gf_image *in,
                            const struct gf_image *out, int y, int rows)
{
    int first, end;
    gf_stage_input_rows(stage, y, y + rows, &first, &end);
    assert_true(0 <= first && first < end && end <= in->format.height);
    const size_t bytes = gf_row_bytes(in->format), pitch = bytes + 3;
    unsigned char *const block = malloc(pitch * (size_t)(end - first) - 3 + 1);
    const size_t size = stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, rows) : 0;
    void *const scratch = aligned_alloc(64, (size + 64) / 64 * 64);
    assert_true(block && scratch);
    for (int i = first; i < end; i++)
        memcpy(block + 1 + (size_t)(i - first) * pitch, in->data + (size_t)i * in->pitch, bytes);
    const struct gf_view from = {block + 1, pitch, in->format, first, end - first};
    const struct gf_view to = {out->data + (size_t)y * out->pitch, out->pitch, out->format, y,
                               rows};
    stage->filter->cpu(stage, &from, &to, scratch);
    free(scratch);
    free(block);
}

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
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    const struct gf_image out = picture_new(stage.out, padding);
    const int height = in->format.height;
    for (int y = 0; y < height; y += band_rows)
        run_band(&stage, in, &out, y, height - y < band_rows ? height - y : band_rows);
    gf_stage_release(&stage);
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

/* Columns, then rows, each one line at a time. */
static inline struct reference reference_blur(const struct gf_image *in, double sigma, int border)
{
    const struct gf_format f = in->format;
    const struct reference result = reference_new(f);
    const int radius = (int)ceil(3 * sigma), longest = f.width > f.height ? f.width : f.height;
    double *const tap = malloc((size_t)(radius + 1) * sizeof *tap);
    double *const line = malloc((size_t)longest * sizeof *line);
    double sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += tap[abs(k)] = exp(-k * k / (2 * sigma * sigma));
    for (int k = 0; k <= radius; k++)
        tap[k] /= sum;
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

#endif
