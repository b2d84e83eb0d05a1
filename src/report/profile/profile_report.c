#include "report/profile/profile_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/spans.h"

static double peak_of(const struct gf_profile *profile, enum gf_span_kind kind)
{
    switch (kind) {
    case GF_SPAN_UPLOAD:
        return profile->upload_peak;
    case GF_SPAN_DOWNLOAD:
        return profile->download_peak;
    case GF_SPAN_STAGE:
    case GF_SPAN_STATISTIC:
        return profile->device_copy_peak;
    default:
        return 0;
    }
}

static bool stage_known(const struct gf_profile *profile, int stage)
{
    return stage >= 0 && stage < profile->stage_count;
}

void gf_profile_span_name(const struct gf_profile *profile, enum gf_span_kind kind, int stage,
                          char *name, size_t size)
{
    const bool known = stage_known(profile, stage);
    snprintf(name, size, "%s%s", known ? profile->stages[stage].name : gf_span_kind_name(kind),
             known && kind == GF_SPAN_STATISTIC ? " histogram" : "");
}

/* Appends the row of one kind and stage, if it has any spans. `interval` is scratch memory for all
 * spans. */
static void add_row(const struct gf_profile *profile, enum gf_span_kind kind, int stage,
                    struct gf_interval *interval, struct gf_profile_report *report)
{
    struct gf_profile_report_row *const row = &report->row[report->count];
    size_t count = 0;
    *row = (struct gf_profile_report_row){.kind = kind, .stage = stage, .percent = NAN};
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind != kind || span->stage != stage)
            continue;
        interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
        row->bytes += (double)span->bytes;
    }
    if (!count)
        return;
    row->calls = (int)count;
    row->busy_s = gf_intervals_union(interval, count);
    const double peak = peak_of(profile, kind);
    if (row->busy_s > 0)
        row->rate = row->bytes / row->busy_s;
    if (peak > 0)
        row->percent = 100 * row->rate / peak;
    gf_profile_span_name(profile, kind, stage, row->name, sizeof row->name);
    row->segment = stage_known(profile, stage) ? profile->stages[stage].segment : -1;
    report->count++;
}

static void add_rows(const struct gf_profile *profile, struct gf_interval *interval,
                     struct gf_profile_report *report)
{
    add_row(profile, GF_SPAN_DECODE, -1, interval, report);
    add_row(profile, GF_SPAN_UPLOAD, -1, interval, report);
    for (int stage = 0; stage < profile->stage_count; stage++) {
        add_row(profile, GF_SPAN_STATISTIC, stage, interval, report);
        add_row(profile, GF_SPAN_STAGE, stage, interval, report);
    }
    add_row(profile, GF_SPAN_DOWNLOAD, -1, interval, report);
    add_row(profile, GF_SPAN_ENCODE, -1, interval, report);
}

static void add_start(const struct gf_profile *profile, struct gf_profile_report *report)
{
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind == GF_SPAN_START && span->end_s > span->begin_s) {
            report->start_begin_s = span->begin_s;
            report->start_end_s = span->end_s;
        }
    }
}

/* A stage that reaches this part of a copy's bandwidth is limited by memory, and gains little from
 * faster arithmetic. */
static const double memory_bound_percent = 60;

static const struct gf_bound_advice *advice_on(const struct gf_profile_report *report, bool on_gpu)
{
    static const struct gf_bound_advice
        codec = {"a codec, which no filter makes faster: several pictures side by side, or another "
                 "format, do",
                 "3.1.3.1, Strong Scaling and Amdahl's Law"},
        start = {"the start of CUDA, which is the same for one picture and for a thousand",
                 "3.1.3.1, Strong Scaling and Amdahl's Law"},
        slow_copy = {"copies over PCIe that do not reach its bandwidth: pinned memory, and fewer, "
                     "larger ones",
                     "9.1.1, Pinned Memory"},
        copy = {"copies over PCIe at its full bandwidth: only fewer bytes, or kernels meanwhile, "
                "help",
                "9.1.2, Asynchronous and Overlapping Transfers with Computation"},
        memory = {"memory: it moves its bytes about as fast as a copy does, so that only fewer "
                  "bytes help, as by fusion",
                  "9.2, Device Memory Spaces"},
        arithmetic = {"instructions or latency: memory could give more than it takes",
                      "10.1, Occupancy, and 11, Instruction Optimization"},
        cpu_memory = {"memory: it moves its bytes about as fast as a copy does", NULL},
        cpu_arithmetic = {"instructions: memory could give more than it takes", NULL};
    const struct gf_profile_report_row *const row = &report->row[report->bound];
    if (report->start_end_s - report->start_begin_s > row->busy_s)
        return &start;
    if (row->kind == GF_SPAN_DECODE || row->kind == GF_SPAN_ENCODE)
        return &codec;
    const bool fast = row->percent >= memory_bound_percent;
    if (row->kind == GF_SPAN_UPLOAD || row->kind == GF_SPAN_DOWNLOAD)
        return fast ? &copy : &slow_copy;
    if (!on_gpu)
        return fast ? &cpu_memory : &cpu_arithmetic;
    return fast ? &memory : &arithmetic;
}

void gf_profile_report_judge(struct gf_profile_report *report, const struct gf_profile *profile)
{
    report->bound = -1;
    report->bound_percent = NAN;
    report->advice = NULL;
    for (int i = 0; i < report->count; i++) {
        if (report->bound < 0 || report->row[i].busy_s > report->row[report->bound].busy_s)
            report->bound = i;
    }
    if (report->bound >= 0 && profile->wall_s > 0) {
        report->bound_percent = 100 * report->row[report->bound].busy_s / profile->wall_s;
        report->advice = advice_on(report, strncmp(profile->device, "cpu", 3) != 0);
    }
}

static void add_totals(const struct gf_profile *profile, struct gf_interval *interval,
                       struct gf_profile_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind != GF_SPAN_START)
            interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
    }
    report->union_s = gf_intervals_union(interval, count);
    for (int i = 0; i < report->count; i++)
        report->sum_s += report->row[i].busy_s;
    /* Rounding may make the sum a little less than the union. */
    if (report->sum_s > 0)
        report->overlap = fmax(0, 1 - report->union_s / report->sum_s);
}

enum gf_status gf_profile_report_make(const struct gf_profile *profile,
                                      struct gf_profile_report *report, struct gf_error *error)
{
    const size_t rows = 4 + 2 * (size_t)profile->stage_count;
    struct gf_interval *const interval = malloc((profile->span_count + 1) * sizeof *interval);
    *report = (struct gf_profile_report){.pictures = 1, .elapsed_s = profile->wall_s, .bound = -1};
    /* The array has one more row than can be used, because add_row() fills a row before it knows
     * whether the row stays. */
    report->row = malloc((rows + 1) * sizeof *report->row);
    if (!interval || !report->row) {
        free(interval);
        gf_profile_report_free(report);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    add_rows(profile, interval, report);
    add_start(profile, report);
    add_totals(profile, interval, report);
    gf_profile_report_judge(report, profile);
    free(interval);
    return GF_OK;
}

int gf_profile_report_row_of(const struct gf_profile_report *report, const struct gf_span *span)
{
    int row = report->count - 1;
    while (row >= 0 &&
           (report->row[row].kind != span->kind || report->row[row].stage != span->stage))
        row--;
    return row;
}

void gf_profile_report_free(struct gf_profile_report *report)
{
    free(report->row);
    report->row = NULL;
    report->count = 0;
}
