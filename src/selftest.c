/* Every filter, size and depth on every device of the machine against the CPU backend. Each buffer lies
 * between guard bytes and each row is followed by padding: what a kernel writes outside its rows is found
 * here. On the CPU itself, bands are held against the whole picture. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "plan.h"

enum { GUARD = 256, GUARD_BYTE = 0xa5, TEXT = 16384 };

struct test {
    void (*line)(void *context, const char *text);
    void *context;
    struct gf_selftest_counts *counts;
    struct gf_backend *backend;
    struct gf_lane *lane;
    struct gf_spans spans;
    char device[96];
    bool small_only;
    int architecture;        /* of the GPU, 90 for 9.0 */
    const char *filters; /* names of those to test, between commas; empty: all */
    const struct gf_kernel *kernel; /* the variant under test; NULL: the default, or the CPU's */
    /* Of the line under way: a filter at one depth and number of channels. */
    int cases, failures, worst;
    char first_failure[300];
};

/* A buffer in the backend's memory with its image in host memory. */
struct guarded {
    unsigned char *host, *device;
    size_t bytes; /* guards included */
};

static bool on_cpu(const struct test *test)
{
    return test->backend->calls->unified;
}

static void guarded_free(struct test *test, struct guarded *buffer)
{
    free(buffer->host);
    if (buffer->device)
        test->backend->calls->release(test->backend, buffer->device, buffer->bytes);
    *buffer = (struct guarded){0};
}

static enum gf_status guarded_alloc(struct test *test, size_t bytes, struct guarded *buffer,
                                    struct gf_error *error)
{
    buffer->bytes = bytes + 2 * GUARD;
    buffer->host = malloc(buffer->bytes);
    buffer->device = test->backend->calls->alloc(test->backend, buffer->bytes);
    if (!buffer->host || !buffer->device)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(buffer->host, GUARD_BYTE, buffer->bytes);
    return GF_OK;
}

static struct gf_view flat(unsigned char *data, size_t bytes)
{
    return (struct gf_view){.data = data,
                            .pitch = bytes,
                            .format = {.width = (int)bytes, .height = 1, .channels = 1, .bits = 8},
                            .rows = 1};
}

static enum gf_status to_device(struct test *test, struct guarded *buffer, struct gf_error *error)
{
    if (on_cpu(test)) {
        memcpy(buffer->device, buffer->host, buffer->bytes);
        return GF_OK;
    }
    const struct gf_view device = flat(buffer->device, buffer->bytes);
    const struct gf_view host = flat(buffer->host, buffer->bytes);
    return test->backend->calls->upload(test->lane, &device, &host, error);
}

static enum gf_status from_device(struct test *test, struct guarded *buffer, struct gf_error *error)
{
    if (on_cpu(test)) {
        memcpy(buffer->host, buffer->device, buffer->bytes);
        return GF_OK;
    }
    const struct gf_view device = flat(buffer->device, buffer->bytes);
    const struct gf_view host = flat(buffer->host, buffer->bytes);
    return test->backend->calls->download(test->lane, &host, &device, error);
}

static size_t padded_pitch(struct gf_format format)
{
    return (gf_row_bytes(format) + 15) / 16 * 16 + 32;
}

static struct gf_view view_in(unsigned char *base, struct gf_format format, int y0, int y1)
{
    return (struct gf_view){.data = base + GUARD,
                            .pitch = padded_pitch(format),
                            .format = format,
                            .y = y0,
                            .rows = y1 - y0};
}

static void note_failure(struct test *test, const char *text)
{
    if (!test->failures++)
        snprintf(test->first_failure, sizeof test->first_failure, "%s", text);
}

static bool all_guard(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

/* Guards and the padding behind every row are as they were. */
static bool guards_hold(const struct guarded *buffer, const struct gf_view *view)
{
    if (!all_guard(buffer->host, GUARD) || !all_guard(buffer->host + buffer->bytes - GUARD, GUARD))
        return false;
    const size_t row_bytes = view ? gf_row_bytes(view->format) : 0;
    for (int row = 0; view && row < view->rows; row++) {
        if (!all_guard(buffer->host + GUARD + (size_t)row * view->pitch + row_bytes,
                       view->pitch - row_bytes))
            return false;
    }
    return true;
}

static int sample(const unsigned char *row, int bits, int i)
{
    return bits == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

/* The largest difference between rows of two views. */
static int difference(const struct gf_view *a, const struct gf_view *b)
{
    const int samples = a->format.width * a->format.channels;
    int worst = 0;
    for (int y = a->y; y < a->y + a->rows; y++) {
        const unsigned char *const p = gf_view_row(a, y), *const q = gf_view_row(b, y);
        for (int i = 0; i < samples; i++) {
            const int d = abs(sample(p, a->format.bits, i) - sample(q, a->format.bits, i));
            worst = d > worst ? d : worst;
        }
    }
    return worst;
}

/* Rows y0..y1-1 of the stage's result on the device, from the rows of `in` that they need and no others. */
static enum gf_status run_band(struct test *test, const struct gf_stage *stage, const void *constants,
                               const struct gf_view *in, const struct gf_view *expected, int y0, int y1,
                               struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    struct guarded input = {0}, output = {0}, scratch = {0};
    int first, end;
    gf_stage_needs(stage, y0, y1, &first, &end);
    struct gf_view in_band = view_in(NULL, stage->in, first, end);
    struct gf_view out_band = view_in(NULL, stage->out, y0, y1);
    const size_t scratch_bytes = calls->scratch(stage, y1 - y0);
    enum gf_status status = guarded_alloc(test, in_band.pitch * (size_t)in_band.rows, &input, error);
    if (!status)
        status = guarded_alloc(test, out_band.pitch * (size_t)out_band.rows, &output, error);
    if (!status)
        status = guarded_alloc(test, scratch_bytes, &scratch, error);
    for (int y = first; !status && y < end; y++)
        memcpy(input.host + GUARD + (size_t)(y - first) * in_band.pitch, gf_view_row(in, y),
               gf_row_bytes(stage->in));
    in_band = view_in(input.device, stage->in, first, end);
    out_band = view_in(output.device, stage->out, y0, y1);
    struct guarded *const all[] = {&input, &output, &scratch};
    for (int i = 0; !status && i < 3; i++)
        status = to_device(test, all[i], error);
    if (!status)
        status = calls->run(test->lane, stage, constants, &in_band, &out_band, scratch.device + GUARD, error);
    for (int i = 0; !status && i < 3; i++)
        status = from_device(test, all[i], error);
    if (!status)
        status = calls->wait(test->lane, error);
    if (!status) {
        const struct gf_view result = view_in(output.host, stage->out, y0, y1);
        const int worst = difference(&result, expected);
        test->worst = worst > test->worst ? worst : test->worst;
        char text[200] = "";
        if (!guards_hold(&input, NULL) || !guards_hold(&output, &result) || !guards_hold(&scratch, NULL))
            snprintf(text, sizeof text, "wrote outside its buffer");
        else if (worst > (on_cpu(test) ? 0 : stage->filter->tolerance))
            snprintf(text, sizeof text, "differs by %d", worst);
        if (*text) {
            char where[280];
            snprintf(where, sizeof where, "%s: %dx%d rows %d..%d: %s", stage->filter->name,
                     stage->in.width, stage->in.height, y0, y1 - 1, text);
            note_failure(test, where);
        }
    }
    for (int i = 0; i < 3; i++)
        guarded_free(test, all[i]);
    return status;
}

/* A stage on the whole picture and in three bands; *picture becomes its result. */
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
    void *const scratch =
        aligned_alloc(64, ((stage->filter->cpu_scratch
                                ? stage->filter->cpu_scratch(stage, stage->out.height)
                                : 0) / 64 + 1) * 64);
    status = scratch ? gf_stage_prepare(stage, error) : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const int height = stage->out.height;
    const struct gf_view in = {picture->data, picture->pitch, picture->format, 0, picture->format.height};
    const struct gf_view out = {result.data, result.pitch, result.format, 0, height};
    if (!status) {
        stage->filter->cpu(stage, &in, &out, scratch);
        status = calls->load(test->backend, stage, &constants, error);
    }
    if (!status)
        status = run_band(test, stage, constants, &in, &out, 0, height, error);
    for (int i = 0; !status && height > 2 && i < 3; i++)
        status = run_band(test, stage, constants, &in, &out, height * i / 3, height * (i + 1) / 3, error);
    if (constants)
        calls->unload(test->backend, constants);
    free(scratch);
    gf_image_free(picture);
    *picture = result;
    return status;
}

/* The lowest and the highest level that are there; -1, -1: none. */
static void find_extremes(const uint64_t *count, int bins, int *low, int *high)
{
    *low = *high = -1;
    for (int i = 0; i < bins; i++) {
        if (!count[i])
            continue;
        *low = *low < 0 ? i : *low;
        *high = i;
    }
}

static bool same_histogram(const struct gf_histogram *a, const struct gf_histogram *b, bool extremes_only)
{
    const size_t counters = (size_t)a->channels * (size_t)a->bins;
    if (!extremes_only)
        return !memcmp(a->count, b->count, counters * sizeof *a->count);
    for (int c = 0; c < a->channels; c++) {
        int low[2], high[2];
        find_extremes(a->count + c * a->bins, a->bins, &low[0], &high[0]);
        find_extremes(b->count + c * a->bins, a->bins, &low[1], &high[1]);
        if (low[0] != low[1] || high[0] != high[1])
            return false;
    }
    return true;
}

/* The histogram of the picture by the CPU, held against the device's. */
static enum gf_status run_statistic(struct test *test, const struct gf_stage *stage,
                                    const struct gf_image *picture, struct gf_histogram *histogram,
                                    struct gf_error *error)
{
    const struct gf_backend_calls *const calls = test->backend->calls;
    const enum gf_statistic statistic = gf_stage_statistic(stage);
    const struct gf_format format = picture->format;
    *histogram = (struct gf_histogram){.channels = gf_statistic_channels(statistic, format),
                                       .bins = 1 << format.bits};
    const size_t counters = (size_t)histogram->channels * (size_t)histogram->bins;
    struct gf_histogram other = *histogram;
    histogram->count = calloc(counters, sizeof(uint64_t));
    other.count = calloc(counters, sizeof(uint64_t));
    struct guarded buffer = {0};
    enum gf_status status = histogram->count && other.count
                                ? guarded_alloc(test, padded_pitch(format) * (size_t)format.height, &buffer,
                                                error)
                                : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status) {
        for (int y = 0; y < format.height; y++)
            memcpy(buffer.host + GUARD + (size_t)y * padded_pitch(format),
                   picture->data + (size_t)y * picture->pitch, gf_row_bytes(format));
        const struct gf_view host = view_in(buffer.host, format, 0, format.height);
        gf_histogram_add(&host, statistic, histogram);
        status = calls->statistic_open(test->lane, stage, error);
    }
    const struct gf_view view = view_in(buffer.device, format, 0, format.height);
    if (!status)
        status = to_device(test, &buffer, error);
    if (!status)
        status = calls->statistic_add(test->lane, &view, error);
    if (!status)
        status = calls->statistic_take(test->lane, &other, error);
    calls->statistic_close(test->lane);
    const struct gf_kernel *const counting = on_cpu(test) ? NULL : gf_stage_counting(stage);
    if (!status && !same_histogram(histogram, &other, counting && counting->count_extremes))
        note_failure(test, "its histogram differs");
    free(other.count);
    guarded_free(test, &buffer);
    return status;
}

/* Noise over a ramp, with stretches that are flat, and alpha that is often 0 or full. */
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

/* One chain on one picture: each stage of its plan, fed with the CPU's result of the one before. */
static enum gf_status run_case(struct test *test, const struct gf_chain *chain, struct gf_format format,
                               struct gf_error *error)
{
    struct gf_plan plan;
    struct gf_error refusal;
    if (gf_plan_make(chain, format, 1, &plan, &refusal))
        return GF_OK; /* not for this format: crop of 17 columns from 3, or a variant that refuses it */
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
            status = run_stage(test, &plan.stage[segment->first + i], &picture, i ? NULL : &histogram,
                               error);
        free(histogram.count);
    }
    test->cases++;
    gf_image_free(&picture);
    gf_plan_free(&plan);
    return status;
}

/* ---- parameters, from the declarations ---- */

enum set { SET_DEFAULT, SET_LEAST, SET_GREATEST, SET_CHOICES };

static size_t append(char *text, size_t length, const char *format, ...) GF_PRINTF(3, 4);
static size_t append(char *text, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(text + length, TEXT - length, format, arguments);
    va_end(arguments);
    const size_t end = length + (size_t)(added > 0 ? added : 0);
    return end < TEXT ? end : TEXT - 1;
}

static size_t append_matrix(char *text, size_t length, int side)
{
    for (int i = 0; i < side * side; i++)
        length = append(text, length, "%s%d", !i ? "" : i % side ? " " : "/", (i * 7 + 3) % 11 - 4);
    return length;
}

static size_t append_value(char *text, size_t length, const struct gf_param *param, enum set set)
{
    int choices = 0;
    switch (param->type) {
    case GF_TYPE_FLOAT:
    case GF_TYPE_INT:
    case GF_TYPE_WORD:
        if (set == SET_CHOICES && param->type == GF_TYPE_WORD)
            return append(text, length, "%s", param->choices[0]);
        return append(text, length, "%.9g", set == SET_LEAST ? param->least : param->greatest);
    case GF_TYPE_CHOICE:
        while (param->choices[choices])
            choices++;
        return append(text, length, "%s", param->choices[((int)set - 1) % choices]);
    case GF_TYPE_LENGTH:
        return append(text, length, "%s", set == SET_LEAST ? "40%" : "70%");
    case GF_TYPE_MATRIX:
        return append_matrix(text, length, set == SET_GREATEST ? GF_MATRIX_SIDE_MAX : 3);
    case GF_TYPE_FILE:
        break;
    }
    return length;
}

/* "blur=sigma=0.1:border=edge": all parameters at their least or greatest, or each choice in turn. */
static bool make_chain(const struct gf_filter *filter, int set, char *text)
{
    const struct gf_param *const list = gf_filter_params(filter);
    size_t length = append(text, 0, "%s", gf_filter_name(filter));
    bool more = set <= SET_GREATEST;
    char separator = '=';
    for (int i = 0; list[i].name; i++) {
        int choices = 0;
        while (list[i].choices && list[i].choices[choices])
            choices++;
        more |= set < choices + 1;
        const bool wanted = list[i].required || set == SET_LEAST || set == SET_GREATEST ||
                            (list[i].type == GF_TYPE_LENGTH && i == 0) ||
                            (set >= SET_CHOICES && (list[i].type == GF_TYPE_CHOICE ||
                                                    list[i].type == GF_TYPE_WORD));
        if (!wanted)
            continue;
        length = append(text, length, "%c%s=", separator, list[i].name);
        length = append_value(text, length, &list[i], (enum set)set);
        separator = ':';
    }
    return more;
}

/* ---- what is run ---- */

static const struct {
    int width, height;
    bool small; /* of the short test too: what a run under a checking tool has time for */
    bool large; /* not with the greatest parameters, whose cost grows with the radius squared */
} sizes[] = {
    {1, 1, false, false}, {1, 19, false, false},  {19, 1, false, false}, {3, 3, true, false},
    {33, 17, true, false}, {77, 55, true, true}, {517, 131, false, true},
};

static enum gf_status run_sizes(struct test *test, const struct gf_chain *chain, int set, int channels,
                                int bits, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (size_t i = 0; !status && i < sizeof sizes / sizeof *sizes; i++) {
        const bool dear = sizes[i].large || (test->small_only && (sizes[i].width > 3 || channels != 3));
        if ((test->small_only && !sizes[i].small) || (dear && set == SET_GREATEST))
            continue;
        const struct gf_format format = {sizes[i].width, sizes[i].height, channels, bits};
        status = run_case(test, chain, format, error);
    }
    return status;
}

static void report(struct test *test, const struct gf_filter *filter, int channels, int bits)
{
    char text[480];
    const char *const variant = on_cpu(test)   ? "bands"
                                : test->kernel ? test->kernel->name
                                               : gf_filter_kernel(filter, 0)->name;
    if (!test->cases)
        return; /* a variant that takes no picture of this kind */
    snprintf(text, sizeof text, "%-8.60s %-11s %-12s %2d bits x %d: %3d cases, largest difference %d: %s%s",
             test->device, filter->name, variant, bits, channels, test->cases, test->worst,
             test->failures ? "FAILED: " : "ok", test->failures ? test->first_failure : "");
    test->line(test->context, text);
    test->counts->passed += test->cases - (test->failures < test->cases ? test->failures : test->cases);
    test->counts->failed += test->failures < test->cases ? test->failures : test->cases;
}

static enum gf_status run_filter(struct test *test, const struct gf_filter *filter, int channels, int bits,
                                 char *text, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    test->cases = test->failures = test->worst = 0;
    for (int set = 0; !status && make_chain(filter, set, text); set++) {
        struct gf_chain chain;
        struct gf_error refusal = {0};
        if (gf_chain_parse(text, &chain, &refusal))
            continue; /* a combination that the filter refuses by itself */
        chain.item[0].kernel = test->kernel;
        status = run_sizes(test, &chain, set, channels, bits, error);
        gf_chain_free(&chain);
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
        if (is_named(filter->name, at, length) || (filter->alias && is_named(filter->alias, at, length)))
            return true;
    }
    return !*test->filters;
}

/* The default and, on a GPU, the variants that this one can run. */
static enum gf_status run_variants(struct test *test, const struct gf_filter *filter, char *text,
                                   struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int v = 0; !status && (v == 0 || (!on_cpu(test) && gf_filter_kernel(filter, v))); v++) {
        test->kernel = v ? gf_filter_kernel(filter, v) : NULL;
        if (test->kernel && test->kernel->architecture > test->architecture) {
            char line[200];
            snprintf(line, sizeof line, "%-8.60s %-11s %-12s skipped: needs compute capability %d.%d",
                     test->device, filter->name, test->kernel->name, test->kernel->architecture / 10,
                     test->kernel->architecture % 10);
            test->line(test->context, line);
            test->counts->skipped++;
            continue;
        }
        for (int format = 0; !status && format < 8; format++)
            status = run_filter(test, filter, format % 4 + 1, format < 4 ? 8 : 16, text, error);
    }
    test->kernel = NULL;
    return status;
}

static enum gf_status run_backend(struct test *test, struct gf_error *error)
{
    char *const text = malloc(TEXT);
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
    enum gf_status status = device < 0 ? gf_backend_cpu_open(1, &test->backend, error)
                                       : gf_backend_cuda_open(&options, &test->spans, &test->backend, error);
    if (status)
        return status;
    status = test->backend->calls->ready(test->backend, error);
    snprintf(test->device, sizeof test->device, device < 0 ? "cpu" : "cuda:%d", device);
    struct gf_device_info info = {0};
    if (!status && device >= 0)
        status = gf_device_describe(device, &info, error);
    test->architecture = 10 * info.major + info.minor;
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
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), names);
        if (!gf_filter_find(name))
            return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%s' (--list shows them)", name);
        names += length + (names[length] == ',');
    }
    return GF_OK;
}

enum gf_status gf_selftest(bool small_only, const char *filters, void (*line)(void *context, const char *text), void *context,
                           struct gf_selftest_counts *counts, struct gf_error *error)
{
    *counts = (struct gf_selftest_counts){0};
    struct test test = {.line = line, .context = context, .counts = counts, .small_only = small_only, .filters = filters ? filters : ""};
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
