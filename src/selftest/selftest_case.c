/* Tests one chain on one picture: runs its stages and histograms on the device, whole and in bands,
 * in buffers between guard bytes, and compares the results with the CPU's. */
#include "selftest/selftest_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "chain/plan.h"
#include "pixel/float_rows.h"
#include "pixel/float_stage.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/fused.h"

static int row_difference8(const unsigned char *a, const unsigned char *b, size_t count)
{
    unsigned char worst = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

static int row_difference16(const uint16_t *a, const uint16_t *b, size_t count)
{
    uint16_t worst = 0;
    for (size_t i = 0; i < count; i++) {
        const uint16_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* Any NaN equals any other: devices make NaNs of different bits. */
static bool floats_differ(const void *a, const void *b, struct gf_format format, size_t count)
{
    if (!memcmp(a, b, gf_row_bytes(format)))
        return false;
    for (size_t i = 0; i < count; i++) {
        float p, q;
        const size_t at = i * (size_t)(format.bits / 8);
        gf_floats_of_row((const char *)a + at, format, 1, &p);
        gf_floats_of_row((const char *)b + at, format, 1, &q);
        if (memcmp(&p, &q, sizeof p) && !(isnan(p) && isnan(q)))
            return true;
    }
    return false;
}

int gf_view_difference(const struct gf_view *a, const struct gf_view *b)
{
    const size_t samples = (size_t)a->format.width * (size_t)a->format.channels;
    int worst = 0;
    for (int y = a->y; y < a->y + a->rows; y++) {
        const void *const p = gf_view_row(a, y), *const q = gf_view_row(b, y);
        const int d = gf_is_float(a->format) ? floats_differ(p, q, a->format, samples)
                      : a->format.bits == 8  ? row_difference8(p, q, samples)
                                             : row_difference16(p, q, samples);
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* Finds the lowest and the highest level that occur in a histogram; -1 and -1 if none occurs. */
static void find_extremes(const uint64_t *count, int bins, int extreme[2])
{
    extreme[0] = extreme[1] = -1;
    for (int i = 0; i < bins; i++) {
        if (!count[i])
            continue;
        extreme[0] = extreme[0] < 0 ? i : extreme[0];
        extreme[1] = i;
    }
}

double gf_histogram_difference(const struct gf_histogram *a, const struct gf_histogram *b,
                               bool extremes_only)
{
    double worst =
        memcmp(a->low, b->low, sizeof a->low) || memcmp(a->high, b->high, sizeof a->high);
    for (size_t i = (size_t)a->channels * (size_t)a->bins; i < gf_histogram_counters(a); i++)
        worst = fmax(worst, a->count[i] != b->count[i]);
    for (int c = 0; c < a->channels; c++) {
        const uint64_t *const p = a->count + (size_t)c * (size_t)a->bins;
        const uint64_t *const q = b->count + (size_t)c * (size_t)a->bins;
        int x[2], y[2];
        find_extremes(p, a->bins, x);
        find_extremes(q, a->bins, y);
        for (int i = 0; extremes_only && i < 2; i++)
            worst = fmax(worst, abs(x[i] - y[i]));
        for (int i = 0; !extremes_only && i < a->bins; i++)
            worst = fmax(worst, p[i] > q[i] ? (double)(p[i] - q[i]) : (double)(q[i] - p[i]));
    }
    return worst;
}

enum { GUARD_BYTE = 0xa5 };

static void selftest_guarded_free(struct gf_lane *lane, struct gf_selftest_guarded *buffer)
{
    free(buffer->host);
    if (buffer->device)
        lane->backend->calls->release(lane->backend, buffer->device, buffer->bytes);
    *buffer = (struct gf_selftest_guarded){0};
}

/* Allocates a buffer with guard bytes. The caller frees it, even after a failure. */
static GF_CHECKED enum gf_status selftest_guarded_alloc(struct gf_lane *lane, size_t bytes,
                                                        struct gf_selftest_guarded *buffer,
                                                        struct gf_error *error)
{
    buffer->bytes = bytes + 2 * GF_SELFTEST_GUARD;
    buffer->host = malloc(buffer->bytes);
    buffer->device = lane->backend->calls->alloc(lane->backend, buffer->bytes);
    GF_ALLOCATED(buffer->host && buffer->device, error);
    memset(buffer->host, GUARD_BYTE, buffer->bytes);
    return GF_OK;
}

/* Returns a view of the bytes as a picture of one row, for copying. */
static struct gf_view flat(unsigned char *data, size_t bytes)
{
    return (struct gf_view){.data = data,
                            .pitch = bytes,
                            .format = {.width = (int)bytes, .height = 1, .channels = 1, .bits = 8},
                            .rows = 1};
}

/* Copies the whole buffer to the device, or from it. */
static GF_CHECKED enum gf_status selftest_copy(struct gf_lane *lane,
                                               struct gf_selftest_guarded *buffer, bool to_device,
                                               struct gf_error *error)
{
    const struct gf_backend_calls *const calls = lane->backend->calls;
    const struct gf_view device = flat(buffer->device, buffer->bytes);
    const struct gf_view host = flat(buffer->host, buffer->bytes);
    if (!calls->unified)
        return to_device ? calls->upload(lane, &device, &host, error)
                         : calls->download(lane, &host, &device, error);
    memcpy(to_device ? buffer->device : buffer->host, to_device ? buffer->host : buffer->device,
           buffer->bytes);
    return GF_OK;
}

static size_t selftest_padded_pitch(struct gf_format format)
{
    return (gf_row_bytes(format) + 15) / 16 * 16 + 32;
}

/* Returns a view of rows y0 .. y1 - 1 of a picture, which begin after the guard bytes of the buffer
 * at `base`. */
static struct gf_view selftest_view_in(unsigned char *base, struct gf_format format, int y0, int y1)
{
    return (struct gf_view){.data = base ? base + GF_SELFTEST_GUARD : NULL,
                            .pitch = selftest_padded_pitch(format),
                            .format = format,
                            .y = y0,
                            .rows = y1 - y0};
}

static bool all_guard(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

/* Whether the guard bytes of the buffer, and the padding after every row of the view, are
 * unchanged. `view` is NULL if the buffer holds no rows. */
static bool selftest_guards_hold(const struct gf_selftest_guarded *buffer,
                                 const struct gf_view *view)
{
    if (!all_guard(buffer->host, GF_SELFTEST_GUARD) ||
        !all_guard(buffer->host + buffer->bytes - GF_SELFTEST_GUARD, GF_SELFTEST_GUARD))
        return false;
    const size_t row_bytes = view ? gf_row_bytes(view->format) : 0;
    for (int row = 0; view && row < view->rows; row++) {
        if (!all_guard(buffer->host + GF_SELFTEST_GUARD + (size_t)row * view->pitch + row_bytes,
                       view->pitch - row_bytes))
            return false;
    }
    return true;
}

enum { INPUT, OUTPUT, SCRATCH, BUFFERS };

static void note_failure(struct gf_selftester *test, const char *text)
{
    if (!test->failures++)
        snprintf(test->first_failure, sizeof test->first_failure, "%s", text);
}

/* Compares a band's result with the CPU's, and notes a failure if they differ or if a kernel wrote
 * outside the buffers. */
static void judge_band(struct gf_selftester *test, const struct gf_stage *stage,
                       const struct gf_view *result, const struct gf_view *expected,
                       bool guards_hold)
{
    const int worst = gf_view_difference(result, expected);
    char text[280], where[200];
    snprintf(where, sizeof where, "%s: %dx%d rows %d..%d", stage->filter->name, stage->in.width,
             stage->in.height, result->y, result->y + result->rows - 1);
    test->worst = worst > test->worst ? worst : test->worst;
    if (!guards_hold)
        snprintf(text, sizeof text, "%s: wrote outside its buffer", where);
    else if (worst >
             (gf_selftest_on_cpu(test) ? 0 : gf_variant_tolerance(test->variant, stage->out.bits)))
        snprintf(text, sizeof text, "%s: differs by %d", where, worst);
    else
        return;
    note_failure(test, text);
}

/* Copies the buffers to the device, runs the stage there, and copies them back. */
static enum gf_status run_on_device(struct gf_selftester *test, const struct gf_stage *stage,
                                    const void *constants, struct gf_selftest_guarded *buffer,
                                    const struct gf_view *in, const struct gf_view *out,
                                    struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    for (int i = 0; i < BUFFERS; i++)
        GF_TRY(selftest_copy(test->lane, &buffer[i], true, error));
    GF_TRY(calls->run(test->lane, stage, constants, in, out,
                      buffer[SCRATCH].device + GF_SELFTEST_GUARD, error));
    for (int i = 0; i < BUFFERS; i++)
        GF_TRY(selftest_copy(test->lane, &buffer[i], false, error));
    return calls->wait(test->lane, error);
}

/* Computes rows y0 .. y1 - 1 of the stage's result on the device, with only those rows of `in` in
 * its memory that they need, and judges them. */
static enum gf_status run_band(struct gf_selftester *test, const struct gf_stage *stage,
                               const void *constants, const struct gf_view *in,
                               const struct gf_view *expected, int y0, int y1,
                               struct gf_error *error)
{
    struct gf_selftest_guarded buffer[BUFFERS] = {0};
    int first, end;
    gf_stage_input_rows(stage, y0, y1, &first, &end);
    const size_t bytes[BUFFERS] = {[INPUT] =
                                       selftest_padded_pitch(stage->in) * (size_t)(end - first),
                                   [OUTPUT] = selftest_padded_pitch(stage->out) * (size_t)(y1 - y0),
                                   [SCRATCH] = test->backend->calls->scratch(stage, y1 - y0)};
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < BUFFERS; i++)
        status = selftest_guarded_alloc(test->lane, bytes[i], &buffer[i], error);
    if (!status) {
        const struct gf_view host = selftest_view_in(buffer[INPUT].host, stage->in, first, end);
        for (int y = first; y < end; y++)
            memcpy(gf_view_row(&host, y), gf_view_row(in, y), gf_row_bytes(stage->in));
        const struct gf_view in_band =
            selftest_view_in(buffer[INPUT].device, stage->in, first, end);
        const struct gf_view out_band = selftest_view_in(buffer[OUTPUT].device, stage->out, y0, y1);
        status = run_on_device(test, stage, constants, buffer, &in_band, &out_band, error);
    }
    if (!status) {
        const struct gf_view result = selftest_view_in(buffer[OUTPUT].host, stage->out, y0, y1);
        judge_band(test, stage, &result, expected,
                   selftest_guards_hold(&buffer[INPUT], NULL) &&
                       selftest_guards_hold(&buffer[OUTPUT], &result) &&
                       selftest_guards_hold(&buffer[SCRATCH], NULL));
    }
    for (int i = 0; i < BUFFERS; i++)
        selftest_guarded_free(test->lane, &buffer[i]);
    return status;
}

/* Allocates memory for the CPU's run of the whole stage. The caller frees it. */
static void *alloc_cpu_scratch(const struct gf_stage *stage)
{
    enum { ALIGNMENT = 64 };
    const size_t bytes = gf_stage_cpu_scratch(stage, stage->out.height);
    return aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
}

/* Tests a stage on the whole picture and in three bands. */
static enum gf_status run_bands(struct gf_selftester *test, const struct gf_stage *stage,
                                const void *constants, const struct gf_view *in,
                                const struct gf_view *expected, struct gf_error *error)
{
    const int height = stage->out.height;
    GF_TRY(run_band(test, stage, constants, in, expected, 0, height, error));
    for (int i = 0; height > 2 && i < 3; i++)
        GF_TRY(run_band(test, stage, constants, in, expected, height * i / 3, height * (i + 1) / 3,
                        error));
    return GF_OK;
}

/* Tests a stage or, if it has several filters, one after the other. *picture, the input, becomes
 * the CPU's result. */
static enum gf_status run_stage(struct gf_selftester *test, struct gf_stage *stage,
                                struct gf_image *picture, const struct gf_histogram *histogram,
                                struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    struct gf_image result;
    const void *constants = NULL;
    stage->histogram = histogram;
    GF_TRY(gf_image_alloc(&result, stage->out, error));
    void *const scratch = alloc_cpu_scratch(stage);
    enum gf_status status = scratch ? gf_stage_prepare(stage, error) : gf_fail_memory(error);
    const struct gf_view in = gf_image_view(picture), out = gf_image_view(&result);
    if (!status) {
        gf_stage_cpu(stage, &in, &out, scratch);
        status = calls->load(test->backend, NULL, stage, &constants, error);
    }
    GF_THEN(status, run_bands(test, stage, constants, &in, &out, error));
    if (!status && stage->filter == &gf_fused) {
        stage->variant = gf_filter_variant_at(&gf_fused, 1);
        status = run_bands(test, stage, constants, &in, &out, error);
    }
    if (constants)
        calls->unload(test->backend, constants);
    free(scratch);
    gf_image_free(picture);
    *picture = result;
    return status;
}

/* Counts the picture on the device, from a buffer with padded rows. */
static enum gf_status count_on_device(struct gf_selftester *test, const struct gf_stage *stage,
                                      const struct gf_image *picture,
                                      struct gf_selftest_guarded *buffer,
                                      struct gf_histogram *histogram, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    const struct gf_format format = picture->format;
    const struct gf_view from = gf_image_view(picture);
    const struct gf_view host = selftest_view_in(buffer->host, format, 0, format.height);
    const struct gf_view device = selftest_view_in(buffer->device, format, 0, format.height);
    for (int y = 0; y < format.height; y++)
        memcpy(gf_view_row(&host, y), gf_view_row(&from, y), gf_row_bytes(format));
    enum gf_status status = calls->statistic_open(test->lane, stage, error);
    GF_THEN(status, selftest_copy(test->lane, buffer, true, error));
    GF_THEN(status, calls->statistic_add(test->lane, &device, error));
    GF_THEN(status, calls->statistic_take(test->lane, histogram, error));
    calls->statistic_close(test->lane);
    return status;
}

/* Compares the device's histogram of the picture with the CPU's, which *histogram becomes. */
static enum gf_status run_statistic(struct gf_selftester *test, const struct gf_stage *stage,
                                    const struct gf_image *picture, struct gf_histogram *histogram,
                                    struct gf_error *error)
{
    const enum gf_statistic statistic = gf_stage_statistic(stage);
    const struct gf_format format = picture->format;
    const size_t bytes = selftest_padded_pitch(format) * (size_t)format.height;
    const struct gf_view view = gf_image_view(picture);
    struct gf_histogram other = {0};
    struct gf_selftest_guarded buffer = {0};
    enum gf_status status = gf_histogram_alloc(histogram, statistic, format, error);
    GF_THEN(status, gf_histogram_alloc(&other, statistic, format, error));
    GF_THEN(status, selftest_guarded_alloc(test->lane, bytes, &buffer, error));
    if (!status) {
        gf_histogram_add(&view, statistic, histogram);
        status = count_on_device(test, stage, picture, &buffer, &other, error);
    }
    const bool extremes =
        gf_selftest_on_cpu(test) ? gf_stage_needs_extremes(stage) : gf_stage_marks_extremes(stage);
    if (!status && gf_histogram_difference(histogram, &other, extremes) > 0)
        note_failure(test, "its histogram differs");
    free(other.count);
    selftest_guarded_free(test->lane, &buffer);
    return status;
}

/* Returns v or, at a few places, -0, an infinity or a NaN. What a sum must not have from beyond its
 * window shows there, even if it is times 0. */
static float made_odd(float v, int x, int y)
{
    return y % 11 == 7 && x % 23 == 5    ? NAN
           : y % 13 == 5 && x % 29 == 3  ? INFINITY
           : y % 17 == 4 || y % 17 == 14 ? -0.0f
                                         : v;
}

/* Fills a picture of floats with noise of -0.25..2, with some flat rows, and with alpha of 0..1. */
static void fill_floats(struct gf_image *picture)
{
    const struct gf_format format = picture->format;
    const int samples = format.width * format.channels;
    uint32_t state = 2463534242u + (uint32_t)(format.width * 31 + format.height);
    for (int y = 0; y < format.height; y++) {
        for (int i = 0; i < samples; i++) {
            state = state * 1664525u + 1013904223u;
            const bool alpha = gf_has_alpha(format) && i % format.channels == format.channels - 1;
            const float part = (float)(state >> 8) / 16777216.0f;
            const float v = alpha        ? (part < 0.25f   ? 0.0f
                                            : part > 0.75f ? 1.0f
                                                           : part)
                            : y % 7 == 3 ? 1.0f
                                         : made_odd(2.25f * part - 0.25f, i, y);
            gf_floats_to_row(&v, format, 1,
                             picture->data + (size_t)y * picture->pitch +
                                 (size_t)i * (size_t)(format.bits / 8));
        }
    }
}

/* Fills the picture with a ramp with noise, with some flat rows, and with alpha that is often 0 or
 * full. */
static void fill_picture(struct gf_image *picture)
{
    const struct gf_format format = picture->format;
    if (gf_is_float(format)) {
        fill_floats(picture);
        return;
    }
    const int most = format.bits == 8 ? 255 : 65535;
    uint32_t state = 2463534242u + (uint32_t)(format.width * 31 + format.height);
    for (int y = 0; y < format.height; y++) {
        unsigned char *const row = picture->data + (size_t)y * picture->pitch;
        for (int i = 0; i < format.width * format.channels; i++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            const bool alpha = gf_has_alpha(format) && i % format.channels == format.channels - 1;
            const int ramp = most / 2 * (i + y) / (format.width * format.channels + format.height);
            int value = ramp + (int)(state % (uint32_t)(most / 2));
            if (alpha)
                value = state % 4 == 0 ? 0 : state % 4 == 1 ? most : (int)(state % (uint32_t)most);
            else if (y % 7 == 3)
                value = most;
            if (format.bits == 8)
                row[i] = (unsigned char)value;
            else
                ((uint16_t *)(void *)row)[i] = (uint16_t)value;
        }
    }
}

/* Whether a stage makes a picture too large to test: an aspect of 10000, the greatest, makes
 * gigabytes of a large picture, and small pictures show the same. */
static bool makes_much_of(const struct gf_plan *plan)
{
    enum { PIXELS_MOST = 1 << 22 };
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_format out = plan->stage[i].out;
        if ((int64_t)out.width * out.height > PIXELS_MOST)
            return true;
    }
    return false;
}

enum gf_status gf_selftest_case(struct gf_selftester *test, const struct gf_chain *chain,
                                struct gf_format format, struct gf_error *error)
{
    struct gf_plan plan;
    struct gf_error refusal;
    const struct gf_plan_request request = {.orientation = 1,
                                            .on_device = !gf_selftest_on_cpu(test)};
    if (gf_plan_make_for(chain, format, &request, &plan, &refusal))
        return GF_OK; /* the chain or the variant does not accept this format */
    if (makes_much_of(&plan)) {
        gf_plan_free(&plan);
        return GF_OK;
    }
    struct gf_image picture;
    enum gf_status status = gf_image_alloc(&picture, format, error);
    if (!status)
        fill_picture(&picture);
    for (int s = 0; !status && s < plan.segment_count; s++) {
        const struct gf_segment *const segment = &plan.segment[s];
        struct gf_histogram histogram = {0};
        if (s && plan.segment[s - 1].statistic)
            status = run_statistic(test, &plan.stage[segment->first], &picture, &histogram, error);
        for (int i = 0; !status && i < segment->count; i++)
            status = run_stage(test, &plan.stage[segment->first + i], &picture,
                               i ? NULL : &histogram, error);
        free(histogram.count);
    }
    gf_image_free(&picture);
    gf_plan_free(&plan);
    if (status == GF_ERROR_UNAVAILABLE && test->variant)
        return GF_OK; /* the device has too little shared memory for the variant */
    test->cases++;
    return status;
}
