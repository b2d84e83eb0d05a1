/* The arithmetic of the profile and its two forms. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/spans.h"
#include "gpufilter/pipeline.h"

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

void gf_report_name(const struct gf_profile *profile, enum gf_span_kind kind, int stage, char *name,
                    size_t size)
{
    const bool known = stage_known(profile, stage);
    snprintf(name, size, "%s%s", known ? profile->stages[stage].name : gf_span_kind_name(kind),
             known && kind == GF_SPAN_STATISTIC ? " histogram" : "");
}

/* Appends the row of one kind and stage, if it has any spans. The intervals are scratch. */
static void add_row(const struct gf_profile *profile, enum gf_span_kind kind, int stage,
                    struct gf_interval *interval, struct gf_report *report)
{
    struct gf_report_row *const row = &report->row[report->count];
    size_t count = 0;
    *row = (struct gf_report_row){.kind = kind, .percent = NAN};
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
    gf_report_name(profile, kind, stage, row->name, sizeof row->name);
    row->segment = stage_known(profile, stage) ? profile->stages[stage].segment : -1;
    report->count++;
}

static void add_rows(const struct gf_profile *profile, struct gf_interval *interval,
                     struct gf_report *report)
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

static void add_start(const struct gf_profile *profile, struct gf_report *report)
{
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind == GF_SPAN_START && span->end_s > span->begin_s) {
            report->start_begin_s = span->begin_s;
            report->start_end_s = span->end_s;
        }
    }
}

static void add_totals(const struct gf_profile *profile, struct gf_interval *interval,
                       struct gf_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind != GF_SPAN_START)
            interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
    }
    report->union_s = gf_intervals_union(interval, count);
    report->bound = -1;
    for (int i = 0; i < report->count; i++) {
        report->sum_s += report->row[i].busy_s;
        if (report->bound < 0 || report->row[i].busy_s > report->row[report->bound].busy_s)
            report->bound = i;
    }
    /* Sums of rounded times may fall a hair below their union. */
    if (report->sum_s > 0)
        report->overlap = fmax(0, 1 - report->union_s / report->sum_s);
}

enum gf_status gf_report_make(const struct gf_profile *profile, struct gf_report *report,
                              struct gf_error *error)
{
    const size_t rows = 4 + 2 * (size_t)profile->stage_count;
    struct gf_interval *const interval = malloc((profile->span_count + 1) * sizeof *interval);
    *report = (struct gf_report){.bound = -1};
    /* One more than can be filled: a row is tried in place. */
    report->row = malloc((rows + 1) * sizeof *report->row);
    if (!interval || !report->row) {
        free(interval);
        gf_report_free(report);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    add_rows(profile, interval, report);
    add_start(profile, report);
    add_totals(profile, interval, report);
    free(interval);
    return GF_OK;
}

void gf_report_free(struct gf_report *report)
{
    free(report->row);
    report->row = NULL;
    report->count = 0;
}

const char *gf_channels_name(int channels)
{
    static const char *const names[] = {"gray", "gray and alpha", "RGB", "RGBA"};
    return channels >= 1 && channels <= 4 ? names[channels - 1] : "?";
}

void gf_report_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, size, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
}

static void format_percent(double percent, char *text, size_t size)
{
    if (isnan(percent))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.1f", percent);
}

static void print_row(const struct gf_report_row *row, int width, FILE *file)
{
    char bytes[32], rate[32] = "-", percent[32];
    gf_report_bytes(row->bytes, bytes, sizeof bytes);
    if (row->rate > 0)
        snprintf(rate, sizeof rate, "%.2f", row->rate * 1e-9);
    format_percent(row->percent, percent, sizeof percent);
    fprintf(file, "%-*s %7d %11.3f %9s %9s %7s\n", width, row->name, row->calls, row->busy_s * 1e3,
            bytes, rate, percent);
}

static void print_format(const struct gf_format *format, FILE *file)
{
    fprintf(file, "%dx%d %s, %d bits", format->width, format->height,
            gf_channels_name(format->channels), format->bits);
}

static void print_summary(const struct gf_report *report, const struct gf_profile *profile,
                          FILE *file)
{
    fprintf(file, "wall time  %.3f ms, ", profile->wall_s * 1e3);
    print_format(&profile->in, file);
    fprintf(file, " to ");
    print_format(&profile->out, file);
    fprintf(file, "\ndevice     %s (%s)\n", profile->device, profile->reason);
    fprintf(file, "bands      of %d rows on %d lane%s, in %d segment%s\n", profile->band_rows,
            profile->lanes, profile->lanes == 1 ? "" : "s", profile->segments,
            profile->segments == 1 ? "" : "s");
    fprintf(file, "overlap    %.0f %%: %.3f ms of work in %.3f ms\n", 100 * report->overlap,
            report->sum_s * 1e3, report->union_s * 1e3);
    if (report->bound >= 0 && profile->wall_s > 0) {
        const struct gf_report_row *const bound = &report->row[report->bound];
        fprintf(file, "bound by   %s: busy for %.0f %% of the wall time\n", bound->name,
                100 * bound->busy_s / profile->wall_s);
    }
    if (report->start_end_s > report->start_begin_s)
        fprintf(file, "CUDA start %.1f ms, over at %.1f ms\n",
                (report->start_end_s - report->start_begin_s) * 1e3, report->start_end_s * 1e3);
}

void gf_report_table(const struct gf_report *report, const struct gf_profile *profile, FILE *file)
{
    int width = 16;
    for (int i = 0; i < report->count; i++) {
        const int length = (int)strlen(report->row[i].name);
        width = length > width ? length : width;
    }
    fprintf(file, "%-*s %7s %11s %9s %9s %7s\n", width, "stage", "calls", "busy ms", "bytes",
            "GB/s", "% peak");
    for (int i = 0; i < report->count; i++)
        print_row(&report->row[i], width, file);
    print_summary(report, profile, file);
}
