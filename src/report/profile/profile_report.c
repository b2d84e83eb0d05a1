/* Sums up the spans of a run, which say when what kind of work ran, as rows, and writes these as a
 * table and as JSON. */
#include "report/profile/profile_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "batch/log/batch_log.h"
#include "gpufilter/pipeline.h"
#include "report/text.h"

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

/* A stage that reaches so many per cent of the bandwidth of a copy is limited by memory, and gains
 * little from faster arithmetic. */
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

/* Finds the row that limits the run. */
static void judge(struct gf_profile_report *report, const struct gf_profile *profile)
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
    /* fmax() is needed because rounding may make the sum a little less than the union. */
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
        return gf_fail_memory(error);
    }
    add_rows(profile, interval, report);
    add_start(profile, report);
    add_totals(profile, interval, report);
    judge(report, profile);
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

static void print_row(const struct gf_profile_report_row *row, int width, FILE *file)
{
    char bytes[32], rate[32], percent[32];
    gf_text_bytes(row->bytes, bytes, sizeof bytes);
    gf_text_number(row->rate > 0 ? row->rate * 1e-9 : NAN, 2, "", rate, sizeof rate);
    gf_text_number(row->percent, 1, "", percent, sizeof percent);
    fprintf(file, "%-*s %7d %11.3f %9s %9s %7s\n", width, row->name, row->calls, row->busy_s * 1e3,
            bytes, rate, percent);
}

/* The file of one picture, and what a search for its quality has led to. */
static void print_written(const struct gf_profile *profile, FILE *file)
{
    if (profile->out_bytes <= 0)
        return;
    char fit[GF_FIT_FOUND_SIZE];
    gf_batch_fit_text(profile, fit);
    fprintf(file, "file       %lld bytes%s\n", profile->out_bytes, fit);
}

static void print_summary(const struct gf_profile_report *report, const struct gf_profile *profile,
                          FILE *file)
{
    char in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    if (report->pictures > 1)
        fprintf(file,
                "pictures   %zu in %.3f ms: %.1f pictures/s; the figures below are their sums, the "
                "wall time %.3f ms\n",
                report->pictures, report->elapsed_s * 1e3,
                (double)report->pictures / report->elapsed_s, profile->wall_s * 1e3);
    else
        fprintf(file, "wall time  %.3f ms, %s to %s\n", profile->wall_s * 1e3,
                gf_text_format(profile->in, in), gf_text_format(profile->out, out));
    if (report->pictures == 1)
        print_written(profile, file);
    if ((size_t)profile->frames > report->pictures)
        fprintf(file, "frames     %d: %.1f frames/s\n", profile->frames,
                profile->frames / report->elapsed_s);
    if (report->read_s > 0)
        fprintf(file, "film       read in %.3f ms, written in %.3f ms\n", report->read_s * 1e3,
                report->write_s * 1e3);
    fprintf(file, "device     %s (%s)\nbands      of %d rows on %d lane%s, in %d segment%s\n",
            profile->device, profile->reason, profile->band_rows, profile->lanes,
            gf_text_plural(profile->lanes), profile->segments, gf_text_plural(profile->segments));
    fprintf(file, "overlap    %.0f %%: %.3f ms of work in %.3f ms\n", 100 * report->overlap,
            report->sum_s * 1e3, report->union_s * 1e3);
    const double start_s = report->start_end_s - report->start_begin_s;
    if (report->advice && start_s > report->row[report->bound].busy_s)
        fprintf(file,
                "bound by   CUDA start: %.0f %% of the wall time; of the stages %s is busy "
                "longest, %.0f %%\n",
                100 * start_s / profile->wall_s, report->row[report->bound].name,
                report->bound_percent);
    else if (report->advice)
        fprintf(file, "bound by   %s: busy for %.0f %% of the wall time\n",
                report->row[report->bound].name, report->bound_percent);
    if (report->advice)
        fprintf(file, "held by    %s\n", report->advice->why);
    if (report->advice && report->advice->guide)
        fprintf(file, "guide      Best Practices %s\n", report->advice->guide);
    if (start_s > 0)
        fprintf(file, "CUDA start %.1f ms, over at %.1f ms\n", start_s * 1e3,
                report->start_end_s * 1e3);
}

void gf_profile_report_table(const struct gf_profile_report *report,
                             const struct gf_profile *profile, FILE *file)
{
    int width = 16;
    for (int i = 0; i < report->count; i++)
        width = gf_text_widest(width, report->row[i].name);
    fprintf(file, "%-*s %7s %11s %9s %9s %7s\n", width, "stage", "calls", "busy ms", "bytes",
            "GB/s", "% copy");
    for (int i = 0; i < report->count; i++)
        print_row(&report->row[i], width, file);
    for (int i = 0; i < profile->written_levels; i++) {
        const struct gf_profile_level *const level = &profile->written[i];
        char name[40], bytes[32];
        snprintf(name, sizeof name, "tiles of %dx%d", level->width, level->height);
        gf_text_bytes((double)level->bytes, bytes, sizeof bytes);
        fprintf(file, "%-*s %7lld %11s %9s\n", width, name, level->tiles, "-", bytes);
    }
    print_summary(report, profile, file);
}

/* The keys of a profile as JSON, which the manual lists. */

const struct gf_key_help gf_profile_report_keys[] = {
    {"version", "of the program, a string"},
    {"device", "what ran: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"reason", "why that device"},
    {"lanes", "bands in flight"},
    {"segments", "runs of stages that went band by band"},
    {"band_rows", "rows of a band of the first segment"},
    {"in", "the input: width, height, channels, bits"},
    {"out", "the output, likewise"},
    {"pictures", "how many; times and bytes are their sums"},
    {"pictures_per_s", "pictures by the time from the first one's start to the last one's end"},
    {"frames", "of all pictures: an animation has several"},
    {"frames_per_s", "frames by the same time"},
    {"wall_ms", "from the start to the renamed output"},
    {"start_ms", "duration of the CUDA start-up, or null"},
    {"busy_ms", "time during which at least one stage was busy"},
    {"work_ms", "sum of the stages' busy times"},
    {"out_bytes", "of the file, or null"},
    {"quality", "that a limit or target led to, or null"},
    {"tries", "encodings for it"},
    {"score", "of the target's measure"},
    {"overlap", "1 - busy_ms / work_ms: 0 is one after the other"},
    {"bound_by", "name of the stage with the largest busy time"},
    {"bound_guide", "section of the Best Practices Guide on such a bound, or null"},
    {"bound_why", "what bounds that stage, or null"},
    {"peaks", "device_copy_gb_s, upload_gb_s, download_gb_s, measured in this run, or null"},
    {"levels", "of a pyramid written: width, height, tiles, bytes"},
    {"stages", "in the order of the data; of each:"},
    {"stages.name", "decode, upload, the name of a stage, download or encode"},
    {"stages.kind", "decode, upload, stage, statistic, download or encode"},
    {"stages.segment", "the stage's segment, from 0; null for the others"},
    {"stages.calls", "bands, copies or calls of the codec"},
    {"stages.busy_ms", "time during which at least one lane was in the stage"},
    {"stages.bytes", "moved: samples of a codec, copied, or read and written by a stage"},
    {"stages.gb_s", "bytes / busy time, in 10^9 bytes a second"},
    {"stages.peak_percent", "gb_s in percent of the peak of what the stage uses, or null"},
    {"spans",
     "what ran when; null of more than 4096. Of each, a list: index in stages (-1: CUDA's start), "
     "lane (-1: reader or writer), begin and end in ms, bytes"},
    {0},
};

static void put_row(struct gf_json *json, const struct gf_profile_report_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", row->name);
    gf_json_string(json, "kind", gf_span_kind_name(row->kind));
    gf_json_number(json, "segment", row->segment >= 0 ? row->segment : NAN, 0);
    gf_json_number(json, "calls", row->calls, 0);
    gf_json_number(json, "busy_ms", row->busy_s * 1e3, 6);
    gf_json_number(json, "bytes", row->bytes, 0);
    gf_json_number(json, "gb_s", row->rate * 1e-9, 6);
    gf_json_number(json, "peak_percent", row->percent, 6);
    gf_json_end(json);
}

/* Of several pictures nothing is known, since their profile is a sum. */
static void put_written(struct gf_json *json, const struct gf_profile_report *report,
                        const struct gf_profile *profile)
{
    const bool one = report->pictures == 1, searched = one && profile->quality;
    gf_json_number(json, "out_bytes",
                   one && profile->out_bytes > 0 ? (double)profile->out_bytes : NAN, 0);
    gf_json_number(json, "quality", searched ? profile->quality : NAN, 0);
    gf_json_number(json, "tries", searched ? profile->tries : NAN, 0);
    gf_json_number(json, "score", searched && profile->score != 0 ? profile->score : NAN, 6);
}

static void put_levels(struct gf_json *json, const struct gf_profile *profile)
{
    gf_json_array(json, "levels", GF_JSON_LINES);
    for (int i = 0; i < profile->written_levels; i++) {
        const struct gf_profile_level *const level = &profile->written[i];
        gf_json_object(json, NULL, GF_JSON_INLINE);
        gf_json_number(json, "width", level->width, 0);
        gf_json_number(json, "height", level->height, 0);
        gf_json_number(json, "tiles", (double)level->tiles, 0);
        gf_json_number(json, "bytes", (double)level->bytes, 0);
        gf_json_end(json);
    }
    gf_json_end(json);
}

static void put_spans(struct gf_json *json, const struct gf_profile_report *report,
                      const struct gf_profile *profile)
{
    if (profile->span_count > GF_PROFILE_SPANS_SAVED) {
        gf_json_string(json, "spans", NULL);
        return;
    }
    gf_json_array(json, "spans", GF_JSON_LINES);
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        gf_json_array(json, NULL, GF_JSON_COMPACT);
        gf_json_number(json, NULL, gf_profile_report_row_of(report, span), 0);
        gf_json_number(json, NULL, span->lane, 0);
        gf_json_number(json, NULL, span->begin_s * 1e3, 4);
        gf_json_number(json, NULL, span->end_s * 1e3, 4);
        gf_json_number(json, NULL, (double)span->bytes, 0);
        gf_json_end(json);
    }
    gf_json_end(json);
}

void gf_profile_report_json(const struct gf_profile_report *report,
                            const struct gf_profile *profile, FILE *file)
{
    const double start_s = report->start_end_s - report->start_begin_s;
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "version", gf_version());
    gf_json_string(&json, "device", profile->device);
    gf_json_string(&json, "reason", profile->reason);
    gf_json_number(&json, "lanes", profile->lanes, 0);
    gf_json_number(&json, "segments", profile->segments, 0);
    gf_json_number(&json, "band_rows", profile->band_rows, 0);
    gf_json_format(&json, "in", profile->in);
    gf_json_format(&json, "out", profile->out);
    gf_json_number(&json, "pictures", (double)report->pictures, 0);
    gf_json_number(&json, "pictures_per_s",
                   report->elapsed_s > 0 ? (double)report->pictures / report->elapsed_s : NAN, 3);
    gf_json_number(&json, "frames", profile->frames, 0);
    gf_json_number(&json, "frames_per_s",
                   report->elapsed_s > 0 ? profile->frames / report->elapsed_s : NAN, 3);
    gf_json_number(&json, "wall_ms", profile->wall_s * 1e3, 6);
    gf_json_number(&json, "start_ms", start_s > 0 ? start_s * 1e3 : NAN, 6);
    gf_json_number(&json, "busy_ms", report->union_s * 1e3, 6);
    gf_json_number(&json, "work_ms", report->sum_s * 1e3, 6);
    put_written(&json, report, profile);
    gf_json_number(&json, "overlap", report->overlap, 6);
    gf_json_string(&json, "bound_by", report->bound >= 0 ? report->row[report->bound].name : "");
    gf_json_string(&json, "bound_guide", report->advice ? report->advice->guide : NULL);
    gf_json_string(&json, "bound_why", report->advice ? report->advice->why : NULL);
    gf_json_peaks(&json, profile->device_copy_peak, profile->upload_peak, profile->download_peak);
    put_levels(&json, profile);
    gf_json_array(&json, "stages", GF_JSON_LINES);
    for (int i = 0; i < report->count; i++)
        put_row(&json, &report->row[i]);
    gf_json_end(&json);
    put_spans(&json, report, profile);
    gf_json_end(&json);
}
