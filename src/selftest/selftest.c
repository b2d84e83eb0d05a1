/* Runs every filter at every size and depth on every device of the machine, and compares the
 * results with the CPU backend's. On the CPU it compares bands with the whole picture. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "gpufilter/options.h"
#include "chain/region.h"
#include "selftest/selftest_case.h"

GF_PRINTF(3, 4)
static size_t append(char *text, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(text + length, GF_SELFTEST_TEXT - length, format, arguments);
    va_end(arguments);
    const size_t end = length + (size_t)(added > 0 ? added : 0);
    return end < GF_SELFTEST_TEXT ? end : GF_SELFTEST_TEXT - 1;
}

static size_t append_matrix(char *text, size_t length, int side)
{
    for (int i = 0; i < side * side; i++)
        length = append(text, length, "%s%d", !i ? "" : i % side ? " " : "/", (i * 7 + 3) % 11 - 4);
    return length;
}

static size_t append_value(char *text, size_t length, const struct gf_param *param,
                           enum gf_selftest_set set)
{
    int choices = 0;
    switch (param->type) {
    case GF_TYPE_WORD:
        while (param->choices[choices])
            choices++;
        if (set >= GF_SELFTEST_CHOICES)
            return append(text, length, "%s",
                          param->choices[((int)set - GF_SELFTEST_CHOICES) % choices]);
        /* fallthrough */
    case GF_TYPE_FLOAT:
    case GF_TYPE_INT:
    case GF_TYPE_RELATIVE:
        return append(text, length, "%.9g",
                      set == GF_SELFTEST_LEAST ? param->least : param->greatest);
    case GF_TYPE_MATRIX:
        if (!param->choices)
            return append_matrix(text, length,
                                 set == GF_SELFTEST_GREATEST ? GF_MATRIX_SIDE_MAX : 3);
        /* fallthrough */
    case GF_TYPE_CHOICE:
        while (param->choices[choices])
            choices++;
        return append(text, length, "%s", param->choices[((int)set + choices - 1) % choices]);
    case GF_TYPE_LENGTH:
        return append(text, length, "%s",
                      set == GF_SELFTEST_LEAST      ? "40%"
                      : set == GF_SELFTEST_GREATEST ? "70%"
                                                    : "50%");
    case GF_TYPE_COLOUR:
        while (param->choices && param->choices[choices])
            choices++;
        if (set >= GF_SELFTEST_CHOICES && choices)
            return append(text, length, "%s", param->choices[((int)set + choices - 1) % choices]);
        return append(text, length, "%s", set == GF_SELFTEST_GREATEST ? "#fedcba" : "#123456");
    case GF_TYPE_TEXT:
        return append(text, length, "'%s'", set == GF_SELFTEST_GREATEST ? "Ag\\n{1, 2}" : "gp");
    case GF_TYPE_FILE:
        while (param->choices && param->choices[choices])
            choices++;
        if (choices)
            return append(text, length, "%s", param->choices[((int)set + 1) % choices]);
        break;
    }
    return length;
}

/* Returns the set of numbers that stands beside a word. Numbers may matter only beside one word, so
 * that each word is tried with the default numbers, then with the least, then with the greatest. */
static enum gf_selftest_set numbers_beside_words(int set, int words)
{
    return (enum gf_selftest_set)(set < GF_SELFTEST_CHOICES ? set
                                                            : (set - GF_SELFTEST_CHOICES) / words);
}

static bool is_number(const struct gf_param *param)
{
    return param->type == GF_TYPE_INT || param->type == GF_TYPE_FLOAT;
}

/* Writes a chain such as "blur=sigma=0.1:border=edge" with set number `set` of values: the
 * defaults, all parameters at their least or at their greatest, and from GF_SELFTEST_CHOICES on
 * each word in turn. `text` has room for GF_SELFTEST_TEXT bytes. Returns false if there is no such
 * set, nor a later one. */
static bool selftest_chain(const struct gf_filter *filter, int set, char *text)
{
    const struct gf_param *const list = gf_filter_params(filter);
    size_t length = append(text, 0, "%s", gf_filter_name(filter));
    bool more = set <= GF_SELFTEST_GREATEST;
    char separator = '=';
    enum gf_selftest_set numbers = (enum gf_selftest_set)set;
    for (int i = 0; list[i].name; i++) {
        int choices = 0;
        while (list[i].choices && list[i].choices[choices])
            choices++;
        if (list[i].type == GF_TYPE_WORD && choices > 1) {
            more |= set < GF_SELFTEST_CHOICES + choices * GF_SELFTEST_CHOICES;
            numbers = numbers_beside_words(set, choices);
        }
        more |= set < choices + 1;
        const bool wanted = list[i].required || numbers == GF_SELFTEST_LEAST ||
                            numbers == GF_SELFTEST_GREATEST ||
                            (list[i].type == GF_TYPE_LENGTH && i == 0) ||
                            (set >= GF_SELFTEST_CHOICES &&
                             (list[i].type == GF_TYPE_CHOICE || list[i].type == GF_TYPE_WORD ||
                              list[i].type == GF_TYPE_COLOUR || list[i].choices));
        if (!wanted || list[i].type == GF_TYPE_FILE)
            continue;
        length = append(text, length, "%c%s=", separator, list[i].name);
        length = append_value(text, length, &list[i],
                              is_number(&list[i]) ? numbers : (enum gf_selftest_set)set);
        separator = ':';
    }
    return more;
}

/* Writes the filter with its defaults, within a region that has shapes of both kinds and soft
 * edges. Returns false if the filter takes no region. */
static bool selftest_region(const struct gf_filter *filter, char *text)
{
    if (!gf_filter_takes_region(filter))
        return false;
    selftest_chain(filter, GF_SELFTEST_DEFAULT, text);
    append(text, strlen(text),
           "%cregion=20%% 10%% 40%% 50%%/ellipse 50%% 40%% 60%% 50%%/-3 80%% 9 9:feather=5",
           strchr(text, '=') ? ':' : '=');
    return true;
}

static const struct {
    int width, height;
    bool small; /* the size is part of the short test, which slow checking tools run */
    bool large; /* not used with the greatest parameters, whose cost grows with the square of the
                 * radius */
} sizes[] = {
    {1, 1, false, false},    {1, 19, false, false}, {19, 1, false, false}, {3, 3, true, false},
    {33, 17, true, false},   {77, 55, true, true},  {34, 70, true, true}, /* its middle lies between
                                                                           * pixels */
    {517, 131, false, true},
};

static enum gf_status run_sizes(struct gf_selftester *test, const struct gf_chain *chain, int set,
                                int channels, int bits, struct gf_error *error)
{
    const bool floats = bits >= GF_DEPTH_FLOAT16;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const bool slow =
            sizes[i].large || (test->small_only && (sizes[i].width > 3 || channels != 3));
        if ((test->small_only && !sizes[i].small) || (slow && set == GF_SELFTEST_GREATEST))
            continue;
        const struct gf_format format = {sizes[i].width, sizes[i].height, channels,
                                         floats ? bits - (GF_DEPTH_FLOAT16 - 16) : bits,
                                         floats ? GF_SAMPLES_FLOAT : GF_SAMPLES_INTEGER};
        GF_TRY(gf_selftest_case(test, chain, format, error));
    }
    return GF_OK;
}

static void report(struct gf_selftester *test, const struct gf_filter *filter, int channels,
                   int bits)
{
    char text[480];
    /* A filter that others do the work of, such as thumbnail, has no kernels of its own. */
    const struct gf_variant *const first = gf_filter_variant_at(filter, 0);
    const char *const variant = gf_selftest_on_cpu(test) ? "bands"
                                : test->variant          ? test->variant->name
                                : first                  ? first->name
                                                         : "default";
    if (!test->cases)
        return; /* the variant accepts no picture of this kind */
    snprintf(
        text, sizeof text,
        "%-8.60s %-11s %-12s %2d %s x %d: %3d cases, largest difference %d: %s%s", test->device,
        filter->name, variant, bits < GF_DEPTH_FLOAT16 ? bits : bits - (GF_DEPTH_FLOAT16 - 16),
        bits < GF_DEPTH_FLOAT16 ? "bits" : "bits of floats", channels, test->cases, test->worst,
        test->failures ? "FAILED: " : "ok", test->failures ? test->first_failure : "");
    test->line(test->context, text);
    test->counts->passed +=
        test->cases - (test->failures < test->cases ? test->failures : test->cases);
    test->counts->failed += test->failures < test->cases ? test->failures : test->cases;
}

/* Tests a filter alone or, with `fused`, a stencil between two tables that it can apply. */
static enum gf_status run_chain(struct gf_selftester *test, int set, int fused, int channels,
                                int bits, char *text, struct gf_error *error)
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

/* Chains of one filter with words that the sets do not have together. */
static const char *const more_chains[] = {
    "resize=70%:130%:linear:like=opencv",
    "resize=130%:110%:area:like=opencv",
    "resize=60%:30%:area:like=opencv",
};

static enum gf_status run_filter(struct gf_selftester *test, const struct gf_filter *filter,
                                 int channels, int bits, char *text, struct gf_error *error)
{
    const bool fuses = filter->fuses && !test->variant && bits == 8 && channels % 2;
    test->cases = test->failures = test->worst = 0;
    const bool in_region = !test->variant && (!test->small_only || channels == 3);
    if (in_region && selftest_region(filter, text))
        GF_TRY(run_chain(test, GF_SELFTEST_DEFAULT, GF_FUSES_NOTHING, channels, bits, text, error));
    for (int set = 0; selftest_chain(filter, set, text); set++) {
        for (int fused = 0; fused <= (fuses ? GF_FUSES_BOTH : 0); fused++) {
            selftest_chain(filter, set, text);
            GF_TRY(run_chain(test, set, fused, channels, bits, text, error));
        }
    }
    for (size_t i = 0; i < sizeof more_chains / sizeof *more_chains; i++) {
        if (strncmp(more_chains[i], gf_filter_name(filter), strcspn(more_chains[i], "=")))
            continue;
        strcpy(text, more_chains[i]);
        GF_TRY(run_chain(test, GF_SELFTEST_DEFAULT, 0, channels, bits, text, error));
    }
    report(test, filter, channels, bits);
    return GF_OK;
}

static bool is_chosen(const struct gf_selftester *test, const struct gf_filter *filter)
{
    const char *at = test->filters;
    char name[64];
    for (size_t length; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (gf_filter_find(name) == filter)
            return true;
    }
    return !*test->filters;
}

static void report_skipped(struct gf_selftester *test, const struct gf_filter *filter,
                           const char *variant, const char *why)
{
    char line[300];
    snprintf(line, sizeof line, "%-8.60s %-11s %-12s skipped: %.120s", test->device, filter->name,
             variant, why);
    test->line(test->context, line);
    test->counts->skipped++;
}

/* Tests the default kernels and, on a GPU, all variants of the filter that this GPU can run. */
static enum gf_status run_variants(struct gf_selftester *test, const struct gf_filter *filter,
                                   char *text, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    struct gf_error lacks = {0};
    if (!gf_selftest_on_cpu(test) && gf_filter_check_kernels(filter, &lacks)) {
        report_skipped(test, filter, "default", lacks.text);
        return GF_OK;
    }
    for (int v = 0;
         !status && (v == 0 || (!gf_selftest_on_cpu(test) && gf_filter_variant_at(filter, v)));
         v++) {
        test->variant = v ? gf_filter_variant_at(filter, v) : NULL;
        if (test->variant && test->variant->architecture > test->architecture) {
            char why[60];
            snprintf(why, sizeof why, "needs compute capability %d.%d",
                     test->variant->architecture / 10, test->variant->architecture % 10);
            report_skipped(test, filter, test->variant->name, why);
            continue;
        }
        static const int depths[] = {8, 16, GF_DEPTH_FLOAT16, GF_DEPTH_FLOAT32};
        for (int format = 0; !status && format < 16; format++)
            if (format < 8 || !test->small_only || format == 8 + 2 || format == 12 + 3)
                status = run_filter(test, filter, format % 4 + 1, depths[format / 4], text, error);
    }
    test->variant = NULL;
    return status;
}

static enum gf_status run_backend(struct gf_selftester *test, struct gf_error *error)
{
    /* Room for a chain and for the filters before and after it. */
    char *const text = malloc(GF_SELFTEST_TEXT + 64);
    GF_ALLOCATED(text, error);
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

static enum gf_status test_device(struct gf_selftester *test, int device, struct gf_error *error)
{
    const struct gf_cuda_options options = {.device = device};
    GF_TRY(device < 0 ? gf_backend_cpu_open(1, &test->backend, error)
                      : gf_backend_cuda_open(&options, &test->spans, &test->backend, error));
    enum gf_status status = test->backend->calls->ready(test->backend, error);
    snprintf(test->device, sizeof test->device, device < 0 ? "cpu" : "cuda:%d", device);
    struct gf_device_info info = {0};
    if (!status && device >= 0)
        status = gf_device_describe(device, &info, error);
    test->architecture = info.code_architecture;
    GF_THEN(status, run_backend(test, error));
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
        const struct gf_filter *filter;
        GF_TRY(gf_filter_named(name, "", &filter, error));
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
    struct gf_selftester test = {.line = line,
                                 .context = context,
                                 .counts = counts,
                                 .small_only = small_only,
                                 .filters = filters ? filters : ""};
    GF_TRY(check_names(test.filters, error));
    gf_spans_init(&test.spans);
    const char *why = "";
    const int devices = gf_device_count(&why);
    enum gf_status status = test_device(&test, -1, error);
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
        status = gf_fail(error, GF_ERROR_DIFFERENT, "%d of %d cases failed", counts->failed,
                         counts->failed + counts->passed);
    return status;
}
