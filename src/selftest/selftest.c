/* Runs every filter at every size and depth on every device of the machine, and compares the
 * results with the CPU backend's. On the CPU itself it compares bands with the whole picture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "chain/variants.h"
#include "engine/backend.h"
#include "pixel/fused.h"
#include "pixel/histogram.h"
#include "selftest/difference.h"
#include "selftest/selftest_buffers.h"
#include "selftest/selftest_chains.h"

enum { INPUT, OUTPUT, SCRATCH, BUFFERS };

struct test {
    void (*line)(void *context, const char *text);
    void *context;
    struct gf_selftest_counts *counts;
    struct gf_backend *backend;
    struct gf_lane *lane;
    struct gf_spans spans;
    char device[96];
    bool small_only;
    int architecture;                 /* of the GPU, 90 for 9.0 */
    const char *filters;              /* names of those to test, separated by commas; empty: all */
    const struct gf_variant *variant; /* the variant under test; NULL: the default, or the CPU's */
    /* Of the line being made: a filter at one depth and number of channels. */
    int cases, failures, worst;
    char first_failure[300];
};

static bool on_cpu(const struct test *test)
{
    return test->backend->calls->unified;
}

static void note_failure(struct test *test, const char *text)
{
    if (!test->failures++)
        snprintf(test->first_failure, sizeof test->first_failure, "%s", text);
}

/* Compares the band's result with the CPU's, and looks for writes outside the buffers. */
static void judge_band(struct test *test, const struct gf_stage *stage,
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
    else if (worst > (on_cpu(test) ? 0 : gf_variant_tolerance(test->variant, stage->out.bits)))
        snprintf(text, sizeof text, "%s: differs by %d", where, worst);
    else
        return;
    note_failure(test, text);
}

/* Copies the buffers to the device, runs the stage and copies them back. */
static enum gf_status run_on_device(struct test *test, const struct gf_stage *stage,
                                    const void *constants, struct gf_selftest_guarded *buffer,
                                    const struct gf_view *in, const struct gf_view *out,
                                    struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < BUFFERS; i++)
        status = gf_selftest_to_device(test->lane, &buffer[i], error);
    if (!status)
        status = calls->run(test->lane, stage, constants, in, out,
                            buffer[SCRATCH].device + GF_SELFTEST_GUARD, error);
    for (int i = 0; !status && i < BUFFERS; i++)
        status = gf_selftest_from_device(test->lane, &buffer[i], error);
    return status ? status : calls->wait(test->lane, error);
}

/* Makes rows y0..y1-1 of the stage's result on the device, from only those rows of `in` that they
 * need. */
static enum gf_status run_band(struct test *test, const struct gf_stage *stage,
                               const void *constants, const struct gf_view *in,
                               const struct gf_view *expected, int y0, int y1,
                               struct gf_error *error)
{
    struct gf_selftest_guarded buffer[BUFFERS] = {0};
    int first, end;
    gf_stage_input_rows(stage, y0, y1, &first, &end);
    const size_t bytes[BUFFERS] = {
        [INPUT] = gf_selftest_padded_pitch(stage->in) * (size_t)(end - first),
        [OUTPUT] = gf_selftest_padded_pitch(stage->out) * (size_t)(y1 - y0),
        [SCRATCH] = test->backend->calls->scratch(stage, y1 - y0)};
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < BUFFERS; i++)
        status = gf_selftest_guarded_alloc(test->lane, bytes[i], &buffer[i], error);
    if (!status) {
        const struct gf_view host = gf_selftest_view_in(buffer[INPUT].host, stage->in, first, end);
        for (int y = first; y < end; y++)
            memcpy(gf_view_row(&host, y), gf_view_row(in, y), gf_row_bytes(stage->in));
        const struct gf_view in_band =
            gf_selftest_view_in(buffer[INPUT].device, stage->in, first, end);
        const struct gf_view out_band =
            gf_selftest_view_in(buffer[OUTPUT].device, stage->out, y0, y1);
        status = run_on_device(test, stage, constants, buffer, &in_band, &out_band, error);
    }
    if (!status) {
        const struct gf_view result = gf_selftest_view_in(buffer[OUTPUT].host, stage->out, y0, y1);
        judge_band(test, stage, &result, expected,
                   gf_selftest_guards_hold(&buffer[INPUT], NULL) &&
                       gf_selftest_guards_hold(&buffer[OUTPUT], &result) &&
                       gf_selftest_guards_hold(&buffer[SCRATCH], NULL));
    }
    for (int i = 0; i < BUFFERS; i++)
        gf_selftest_guarded_free(test->lane, &buffer[i]);
    return status;
}

/* Memory for the CPU's run of the whole stage; free it. */
static void *alloc_cpu_scratch(const struct gf_stage *stage)
{
    enum { ALIGNMENT = 64 };
    const size_t bytes =
        stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, stage->out.height) : 0;
    return aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
}

/* Runs a stage on the whole picture and in three bands. */
static enum gf_status run_bands(struct test *test, const struct gf_stage *stage,
                                const void *constants, const struct gf_view *in,
                                const struct gf_view *expected, struct gf_error *error)
{
    const int height = stage->out.height;
    enum gf_status status = run_band(test, stage, constants, in, expected, 0, height, error);
    for (int i = 0; !status && height > 2 && i < 3; i++)
        status = run_band(test, stage, constants, in, expected, height * i / 3,
                          height * (i + 1) / 3, error);
    return status;
}

/* Runs a stage and, where it is several filters, these one after the other; *picture becomes the
 * CPU's result. */
static enum gf_status run_stage(struct test *test, struct gf_stage *stage, struct gf_image *picture,
                                const struct gf_histogram *histogram, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    struct gf_image result;
    const void *constants = NULL;
    stage->histogram = histogram;
    enum gf_status status = gf_image_alloc(&result, stage->out, error);
    if (status)
        return status;
    void *const scratch = alloc_cpu_scratch(stage);
    status =
        scratch ? gf_stage_prepare(stage, error) : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const struct gf_view in = gf_image_view(picture), out = gf_image_view(&result);
    if (!status) {
        stage->filter->cpu(stage, &in, &out, scratch);
        status = calls->load(test->backend, NULL, stage, &constants, error);
    }
    if (!status)
        status = run_bands(test, stage, constants, &in, &out, error);
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

/* The device's histogram of the picture, from a buffer with padded rows. */
static enum gf_status count_on_device(struct test *test, const struct gf_stage *stage,
                                      const struct gf_image *picture,
                                      struct gf_selftest_guarded *buffer,
                                      struct gf_histogram *histogram, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    const struct gf_format format = picture->format;
    const struct gf_view from = gf_image_view(picture);
    const struct gf_view host = gf_selftest_view_in(buffer->host, format, 0, format.height);
    const struct gf_view device = gf_selftest_view_in(buffer->device, format, 0, format.height);
    for (int y = 0; y < format.height; y++)
        memcpy(gf_view_row(&host, y), gf_view_row(&from, y), gf_row_bytes(format));
    enum gf_status status = calls->statistic_open(test->lane, stage, error);
    if (!status)
        status = gf_selftest_to_device(test->lane, buffer, error);
    if (!status)
        status = calls->statistic_add(test->lane, &device, error);
    if (!status)
        status = calls->statistic_take(test->lane, histogram, error);
    calls->statistic_close(test->lane);
    return status;
}

/* *histogram becomes the CPU's, which the device's is compared with. */
static enum gf_status run_statistic(struct test *test, const struct gf_stage *stage,
                                    const struct gf_image *picture, struct gf_histogram *histogram,
                                    struct gf_error *error)
{
    const enum gf_statistic statistic = gf_stage_statistic(stage);
    const struct gf_format format = picture->format;
    const size_t bytes = gf_selftest_padded_pitch(format) * (size_t)format.height;
    const struct gf_view view = gf_image_view(picture);
    struct gf_histogram other = {0};
    struct gf_selftest_guarded buffer = {0};
    enum gf_status status = gf_histogram_alloc(histogram, statistic, format, error);
    if (!status)
        status = gf_histogram_alloc(&other, statistic, format, error);
    if (!status)
        status = gf_selftest_guarded_alloc(test->lane, bytes, &buffer, error);
    if (!status) {
        gf_histogram_add(&view, statistic, histogram);
        status = count_on_device(test, stage, picture, &buffer, &other, error);
    }
    const struct gf_variant *const counting = on_cpu(test) ? NULL : gf_stage_counting(stage);
    const bool extremes =
        on_cpu(test) ? gf_stage_needs_extremes(stage) : counting && counting->count_extremes;
    if (!status && gf_histogram_difference(histogram, &other, extremes) > 0)
        note_failure(test, "its histogram differs");
    free(other.count);
    gf_selftest_guarded_free(test->lane, &buffer);
    return status;
}

/* Noise over a ramp, with some flat rows, and with alpha that is often 0 or full. */
static void fill_picture(struct gf_image *picture)
{
    const struct gf_format format = picture->format;
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

/* Runs a chain on one picture. The input of each stage is the CPU's result of the stage before. */
static enum gf_status run_case(struct test *test, const struct gf_chain *chain,
                               struct gf_format format, struct gf_error *error)
{
    struct gf_plan plan;
    struct gf_error refusal;
    if (gf_plan_make(chain, format, 1, &plan, &refusal))
        return GF_OK; /* the chain or the variant does not take this format */
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
    test->cases++;
    gf_image_free(&picture);
    gf_plan_free(&plan);
    return status;
}

static const struct {
    int width, height;
    bool small; /* part of the short test, too, which also runs under slow checking tools */
    bool
        large; /* left out with the greatest parameters, whose cost grows with the radius squared */
} sizes[] = {
    {1, 1, false, false},    {1, 19, false, false}, {19, 1, false, false}, {3, 3, true, false},
    {33, 17, true, false},   {77, 55, true, true},  {90, 70, true, true}, /* has an exact half */
    {517, 131, false, true},
};

static enum gf_status run_sizes(struct test *test, const struct gf_chain *chain, int set,
                                int channels, int bits, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (size_t i = 0; !status && i < sizeof sizes / sizeof *sizes; i++) {
        const bool slow =
            sizes[i].large || (test->small_only && (sizes[i].width > 3 || channels != 3));
        if ((test->small_only && !sizes[i].small) || (slow && set == GF_SELFTEST_GREATEST))
            continue;
        const struct gf_format format = {sizes[i].width, sizes[i].height, channels, bits};
        status = run_case(test, chain, format, error);
    }
    return status;
}

static void report(struct test *test, const struct gf_filter *filter, int channels, int bits)
{
    char text[480];
    /* A filter that becomes others, such as thumbnail, has no kernels of its own. */
    const struct gf_variant *const first = gf_filter_variant_at(filter, 0);
    const char *const variant = on_cpu(test)    ? "bands"
                                : test->variant ? test->variant->name
                                : first         ? first->name
                                                : "default";
    if (!test->cases)
        return; /* the variant takes no picture of this kind */
    snprintf(text, sizeof text,
             "%-8.60s %-11s %-12s %2d bits x %d: %3d cases, largest difference %d: %s%s",
             test->device, filter->name, variant, bits, channels, test->cases, test->worst,
             test->failures ? "FAILED: " : "ok", test->failures ? test->first_failure : "");
    test->line(test->context, text);
    test->counts->passed +=
        test->cases - (test->failures < test->cases ? test->failures : test->cases);
    test->counts->failed += test->failures < test->cases ? test->failures : test->cases;
}

/* A stencil alone, or, if it takes such tables, between two that change black. */
static enum gf_status run_chain(struct test *test, int set, int fused, int channels, int bits,
                                char *text, struct gf_error *error)
{
    static const char before[] = "contrast=0.7,", after[] = ",gamma=0.45";
    struct gf_chain chain;
    struct gf_error refusal = {0};
    if (fused & GF_FUSES_AFTER)
        strcat(text, after);
    if (fused & GF_FUSES_BEFORE) {
        memmove(text + sizeof before - 1, text, strlen(text) + 1);
        memcpy(text, before, sizeof before - 1);
    }
    if (gf_chain_parse(text, &chain, &refusal))
        return GF_OK; /* the filter refuses this combination of values */
    if (!fused)
        chain.item[0].variant = test->variant;
    const enum gf_status status = run_sizes(test, &chain, set, channels, bits, error);
    gf_chain_free(&chain);
    return status;
}

static enum gf_status run_filter(struct test *test, const struct gf_filter *filter, int channels,
                                 int bits, char *text, struct gf_error *error)
{
    const bool fuses = filter->fuses && !test->variant && bits == 8 && channels % 2;
    enum gf_status status = GF_OK;
    test->cases = test->failures = test->worst = 0;
    for (int set = 0; !status && gf_selftest_chain(filter, set, text); set++) {
        for (int fused = 0; !status && fused <= (fuses ? GF_FUSES_BOTH : 0); fused++) {
            gf_selftest_chain(filter, set, text);
            status = run_chain(test, set, fused, channels, bits, text, error);
        }
    }
    if (!status)
        report(test, filter, channels, bits);
    return status;
}

static bool is_named(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && !strncmp(name, text, length);
}

static bool is_chosen(const struct test *test, const struct gf_filter *filter)
{
    const char *at = test->filters;
    for (size_t length; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        if (is_named(filter->name, at, length) ||
            (filter->alias && is_named(filter->alias, at, length)))
            return true;
    }
    return !*test->filters;
}

/* Runs the default and, on a GPU, the variants that this GPU can run. */
static enum gf_status run_variants(struct test *test, const struct gf_filter *filter, char *text,
                                   struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int v = 0; !status && (v == 0 || (!on_cpu(test) && gf_filter_variant_at(filter, v)));
         v++) {
        test->variant = v ? gf_filter_variant_at(filter, v) : NULL;
        if (test->variant && test->variant->architecture > test->architecture) {
            char line[200];
            snprintf(line, sizeof line,
                     "%-8.60s %-11s %-12s skipped: needs compute capability %d.%d", test->device,
                     filter->name, test->variant->name, test->variant->architecture / 10,
                     test->variant->architecture % 10);
            test->line(test->context, line);
            test->counts->skipped++;
            continue;
        }
        for (int format = 0; !status && format < 8; format++)
            status = run_filter(test, filter, format % 4 + 1, format < 4 ? 8 : 16, text, error);
    }
    test->variant = NULL;
    return status;
}

static enum gf_status run_backend(struct test *test, struct gf_error *error)
{
    char *const text = malloc(GF_SELFTEST_TEXT + 64); /* and tables on either side */
    if (!text)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status =
        test->backend->calls->lane_open(test->backend, 0, &test->spans, &test->lane, error);
    if (!status)
        test->backend->calls->lane_enter(test->lane);
    for (int i = 0; !status && gf_filter_at(i); i++) {
        if (is_chosen(test, gf_filter_at(i)))
            status = run_variants(test, gf_filter_at(i), text, error);
    }
    if (test->lane)
        test->backend->calls->lane_close(test->lane);
    test->lane = NULL;
    free(text);
    return status;
}

static enum gf_status test_device(struct test *test, int device, struct gf_error *error)
{
    const struct gf_cuda_options options = {.device = device};
    enum gf_status status =
        device < 0 ? gf_backend_cpu_open(1, &test->backend, error)
                   : gf_backend_cuda_open(&options, &test->spans, &test->backend, error);
    if (status)
        return status;
    status = test->backend->calls->ready(test->backend, error);
    snprintf(test->device, sizeof test->device, device < 0 ? "cpu" : "cuda:%d", device);
    struct gf_device_info info = {0};
    if (!status && device >= 0)
        status = gf_device_describe(device, &info, error);
    test->architecture = info.code_architecture;
    if (!status)
        status = run_backend(test, error);
    test->backend->calls->close(test->backend);
    return status;
}

static enum gf_status check_names(const char *names, struct gf_error *error)
{
    char name[64];
    while (*names) {
        const size_t length = strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 names);
        if (!gf_filter_find(name))
            return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%s' (gf_filter_at lists them)",
                           name);
        names += length + (names[length] == ',');
    }
    return GF_OK;
}

enum gf_status gf_selftest(bool small_only, const char *filters,
                           void (*line)(void *context, const char *text), void *context,
                           struct gf_selftest_counts *counts, struct gf_error *error)
{
    GF_NOT_NULL(line, error);
    GF_NOT_NULL(counts, error);
    *counts = (struct gf_selftest_counts){0};
    struct test test = {.line = line,
                        .context = context,
                        .counts = counts,
                        .small_only = small_only,
                        .filters = filters ? filters : ""};
    enum gf_status status = check_names(test.filters, error);
    if (status)
        return status;
    gf_spans_init(&test.spans);
    const char *why = "";
    const int devices = gf_device_count(&why);
    status = test_device(&test, -1, error);
    for (int device = 0; !status && device < devices; device++)
        status = test_device(&test, device, error);
    if (!devices) {
        char text[240];
        snprintf(text, sizeof text, "cuda     skipped: %s", why);
        line(context, text);
        counts->skipped++;
    }
    gf_spans_free(&test.spans);
    if (!status && counts->failed)
        status = gf_fail(error, GF_ERROR_DEVICE, "%d of %d cases failed", counts->failed,
                         counts->failed + counts->passed);
    return status;
}
