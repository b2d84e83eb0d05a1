/* Runs one filter on the CPU: on the whole picture, in bands, and with padded rows. */
#pragma once

#include "support.h"
#include "chain/chain.h"

/* Copies only the rows that the stage asks for into a block of their own at an odd address, so that
 * a sanitizer sees any other access. */
static inline void stage_band(const struct gf_stage *stage, const struct gf_image *in,
                              const struct gf_image *out, int y, int rows)
{
    int first, end;
    gf_stage_input_rows(stage, y, y + rows, &first, &end);
    assert_true(0 <= first && first < end && end <= in->format.height);
    const size_t bytes = gf_row_bytes(in->format), pitch = bytes + 5;
    unsigned char *const block = malloc(pitch * (size_t)(end - first) - 5 + 1);
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

/* band_rows: 0 for the whole result at once. */
static inline struct gf_image stage_run(const char *label, struct gf_stage *stage,
                                        const struct gf_image *in, int band_rows, size_t padding)
{
    struct gf_error error = {0};
    assert_ok(label, gf_stage_prepare(stage, &error), &error);
    const struct gf_image out = picture_new(stage->out, padding);
    const int height = stage->out.height, step = band_rows ? band_rows : height;
    for (int y = 0; y < height; y += step)
        stage_band(stage, in, &out, y, height - y < step ? height - y : step);
    gf_stage_release(stage);
    return out;
}

/* The result of a bound stage, after checking that bands and padding do not matter. */
static inline struct gf_image stage_result(const char *label, struct gf_stage *stage,
                                           const struct gf_image *in)
{
    const struct gf_image whole = stage_run(label, stage, in, 0, 0);
    static const int bands[] = {1, 7, 64};
    for (int i = 0; i < 3; i++) {
        if (bands[i] >= stage->out.height)
            continue;
        struct gf_image banded = stage_run(label, stage, in, bands[i], 9);
        assert_same(label, &banded, &whole);
        picture_free(&banded);
    }
    return whole;
}

static inline struct gf_image chain_result(const char *text, const struct gf_image *in)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_int_equal(chain.count, 1);
    assert_ok(text,
              gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in->format, &error),
              &error);
    const struct gf_image out = stage_result(text, &stage, in);
    gf_chain_free(&chain);
    return out;
}

/* Asserts that the chain of one filter refuses pictures of that size with that text. */
static inline void assert_refused(const char *text, int width, int height, const char *message)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    enum gf_status status = gf_chain_parse(text, &chain, &error);
    if (!status)
        status = gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params,
                               format_of(width, height, 3, 8), &error);
    assert_int_equal(status, GF_ERROR_USAGE);
    assert_string_equal(error.text, message);
    gf_chain_free(&chain);
}

/* ---- every size, depth and number of channels ---- */

static const int stage_sizes[][2] = {{1, 1}, {1, 9}, {13, 1}, {3, 3}, {77, 55}, {261, 131}};
enum { STAGE_SIZES = sizeof stage_sizes / sizeof *stage_sizes };

/* Calls check with pictures of noise of at most that many samples. */
static inline void each_stage_picture(double samples_most,
                                      void (*check)(const struct gf_image *in, const void *context),
                                      const void *context)
{
    for (int i = 0; i < STAGE_SIZES; i++) {
        for (int k = 0; k < 8; k++) {
            const struct gf_format format =
                format_of(stage_sizes[i][0], stage_sizes[i][1], 1 + k % 4, k < 4 ? 8 : 16);
            if ((double)format.width * format.height * format.channels > samples_most)
                continue;
            struct gf_image in = picture_random(format, 0, (uint64_t)(8 * i + k));
            check(&in, context);
            picture_free(&in);
        }
    }
}

/* ---- beyond the picture ---- */

static const char *const border_names[] = {"edge", "reflect", "wrap", "constant"};

/* Step by step, not by division. -1: beyond a constant border. */
static inline int beyond(int i, int n, int border)
{
    while (i < 0 || i >= n) {
        if (border == 3)
            return -1;
        if (border == 0 || n == 1)
            i = i < 0 ? 0 : n - 1;
        else if (border == 1)
            i = i < 0 ? -i : 2 * (n - 1) - i;
        else
            i += i < 0 ? n : -n;
    }
    return i;
}

static inline int sample_beyond(const struct gf_image *image, int x, int y, int channel, int border)
{
    x = beyond(x, image->format.width, border);
    y = beyond(y, image->format.height, border);
    return x < 0 || y < 0 ? 0 : sample_at(image, x, y, channel);
}
