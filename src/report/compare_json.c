/* The comparison for scripts: JSON and CSV. Every key and column is described here once: the manual
 * prints the lists. */
#include <math.h>

#include "bench/compare.h"
#include "gpufilter/pipeline.h"
#include "report/compare_report.h"
#include "report/json.h"
#include "report/report.h"

static const struct gf_report_key keys[] = {
    {"version", "of the program, a string"},
    {"device", "what was measured: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"reason", "why that device"},
    {"cpu_threads", "of the CPU backend, which speed-ups are over"},
    {"in", "the picture: width, height, channels, bits"},
    {"out", "the chain's result, likewise"},
    {"peaks", "device_copy_gb_s, upload_gb_s, download_gb_s, measured in this run, or null"},
    {"wall_s", "that all of it took"},
    {"stages", "a list in the order of the chain, with the histograms that stages want; of each:"},
    {"stages.name", "\"blur\", \"equalize histogram\""},
    {"stages.kind", "stage or statistic"},
    {"stages.segment", "from 0"},
    {"stages.in", "its input, as above"},
    {"stages.out", "its result"},
    {"stages.bytes", "least that it must move: the input once and the result once"},
    {"stages.tolerance", "difference from the CPU's picture that the filter declares"},
    {"stages.cpu_ms", "of the CPU backend on cpu_threads threads"},
    {"stages.variants", "a list: the default, then from the naive one up; of each:"},
    {"stages.variants.name", "as in variant=NAME; without a GPU \"2 threads\""},
    {"stages.variants.summary", "the technique"},
    {"stages.variants.chosen", "whether the chain runs it"},
    {"stages.variants.refused", "why it did not run, or null"},
    {"stages.variants.runs", "number of timed runs; 0: none"},
    {"stages.variants.warm_ms", "median; with warm_least_ms and warm_most_ms"},
    {"stages.variants.cold_ms",
     "with the second-level cache flushed before each run; with cold_least_ms and "
     "cold_most_ms"},
    {"stages.variants.gb_s", "bytes / warm_ms, in 10^9 bytes a second"},
    {"stages.variants.copy_percent", "of peaks.device_copy_gb_s"},
    {"stages.variants.over_naive",
     "speed-up over the naive variant (without a GPU: over the first row)"},
    {"stages.variants.over_cpu", "speed-up over cpu_ms"},
    {"stages.variants.difference",
     "the largest from the CPU's picture, in steps of a sample, or in counts"},
    {"stages.variants.kernels", "a list in the order of their launch; of each:"},
    {"stages.variants.kernels.name", "of the function"},
    {"stages.variants.kernels.grid", "blocks: x, y, z"},
    {"stages.variants.kernels.block", "threads: x, y, z"},
    {"stages.variants.kernels.cluster", "blocks of a cluster; 1: none"},
    {"stages.variants.kernels.registers", "of a thread"},
    {"stages.variants.kernels.shared_bytes", "of a block, static and dynamic"},
    {"stages.variants.kernels.local_bytes", "of a thread: spills, and arrays indexed at run time"},
    {"stages.variants.kernels.occupancy_percent", "theoretical"},
    {"pipeline", "a list: the whole chain from memory to memory, by setting; of each:"},
    {"pipeline.name", "the setting that differs from the first's, which is as asked"},
    {"pipeline.refused", "why it did not run, or null"},
    {"pipeline.lanes", "bands in flight"},
    {"pipeline.band_rows", "rows of a band of the first segment"},
    {"pipeline.host_memory", "pinned or pageable"},
    {"pipeline.transfer", "copy or zero-copy"},
    {"pipeline.fused", "whether adjacent point filters are"},
    {"pipeline.runs", "number of timed runs"},
    {"pipeline.total_ms", "from call to return, median; with total_least_ms and total_most_ms"},
    {"pipeline.window_ms", "from the first copy's or stage's beginning to the last one's end"},
    {"pipeline.overlap",
     "1 - (time during which any stage was busy) / (sum of the stages' busy times)"},
    {"pipeline.kernels_ms", "tE: the kernels' time where nothing overlaps"},
    {"pipeline.transfers_ms", "tT: the copies', likewise"},
    {"pipeline.estimate_ms",
     "the longer of both + the shorter / lanes (Best Practices Guide 9.1.2)"},
};

static const struct gf_report_key columns[] = {
    {"kind", "stage, statistic or pipeline"},
    {"name", "of the stage; the chain's rows have none"},
    {"variant", "or the pipeline's setting"},
    {"chosen", "1: what the chain runs"},
    {"refused", "why it did not run"},
    {"runs", "number of timed runs"},
    {"median_ms", "of warm runs"},
    {"least_ms", "of warm runs"},
    {"most_ms", "of warm runs"},
    {"cold_ms", "median with the cache flushed"},
    {"bytes", "least that must be moved"},
    {"gb_s", "by median_ms"},
    {"copy_percent", "of the copy bandwidth measured in the same run"},
    {"over_naive", "speed-up"},
    {"over_cpu", "speed-up"},
    {"difference", "the largest from the CPU's picture"},
    {"kernels", "launched; what follows is of the one of least occupancy"},
    {"kernel", "name"},
    {"grid", "x x y x z blocks"},
    {"block", "x x y x z threads"},
    {"cluster", "blocks"},
    {"registers", "of a thread"},
    {"shared_bytes", "of a block"},
    {"local_bytes", "of a thread"},
    {"occupancy_percent", "theoretical"},
    {"lanes", "pipeline rows: bands in flight"},
    {"band_rows", "pipeline rows"},
    {"host_memory", "pipeline rows: pinned or pageable"},
    {"transfer", "pipeline rows: copy or zero-copy"},
    {"fused", "pipeline rows: 1, 0"},
    {"window_ms", "pipeline rows: from the first copy to the last"},
    {"overlap", "pipeline rows"},
    {"estimate_ms", "pipeline rows: the guide's"},
};

const struct gf_report_key *gf_compare_key_at(int index)
{
    return index >= 0 && index < (int)(sizeof keys / sizeof *keys) ? &keys[index] : NULL;
}

const struct gf_report_key *gf_compare_column_at(int index)
{
    return index >= 0 && index < (int)(sizeof columns / sizeof *columns) ? &columns[index] : NULL;
}

static const char *host_memory_name(const struct gf_options *options)
{
    return options->host_memory == GF_HOST_PAGEABLE ? "pageable" : "pinned";
}

static const char *transfer_name(const struct gf_options *options)
{
    return options->transfer == GF_TRANSFER_ZERO_COPY ? "zero-copy" : "copy";
}

static double ms_of(const struct gf_timing *times, double seconds)
{
    return times->runs ? seconds * 1e3 : NAN;
}

/* ---- JSON ---- */

/* Each key is preceded by what separates it from the one before. */
static void put_key(FILE *file, const char *before, const char *key)
{
    fprintf(file, "%s\"%s\": ", before, key);
}

static void put_text(FILE *file, const char *before, const char *key, const char *text)
{
    put_key(file, before, key);
    if (text)
        gf_json_string(file, text);
    else
        fputs("null", file);
}

static void put_number(FILE *file, const char *before, const char *key, double value)
{
    put_key(file, before, key);
    if (isfinite(value))
        fprintf(file, "%.6f", value);
    else
        fputs("null", file);
}

static void put_whole(FILE *file, const char *before, const char *key, double value)
{
    put_key(file, before, key);
    if (isfinite(value))
        fprintf(file, "%.0f", value);
    else
        fputs("null", file);
}

static void put_bool(FILE *file, const char *before, const char *key, bool value)
{
    put_key(file, before, key);
    fputs(value ? "true" : "false", file);
}

static void put_format(FILE *file, const char *before, const char *key, struct gf_format format)
{
    put_key(file, before, key);
    fprintf(file, "{\"width\": %d, \"height\": %d, \"channels\": %d, \"bits\": %d}", format.width,
            format.height, format.channels, format.bits);
}

static void put_times(FILE *file, const char *name, const struct gf_timing *times)
{
    char key[40];
    snprintf(key, sizeof key, "%s_ms", name);
    put_number(file, ", ", key, ms_of(times, times->median_s));
    snprintf(key, sizeof key, "%s_least_ms", name);
    put_number(file, ", ", key, ms_of(times, times->least_s));
    snprintf(key, sizeof key, "%s_most_ms", name);
    put_number(file, ", ", key, ms_of(times, times->most_s));
}

static void put_sizes(FILE *file, const char *key, const int *size)
{
    put_key(file, ", ", key);
    fprintf(file, "[%d, %d, %d]", size[0], size[1], size[2]);
}

static void put_kernels(FILE *file, const struct gf_compare_row *row)
{
    put_key(file, ", ", "kernels");
    putc('[', file);
    for (int i = 0; i < row->kernels && i < GF_COMPARE_KERNELS; i++) {
        const struct gf_variant_info *const use = &row->kernel[i];
        put_text(file, i ? ", {" : "{", "name", use->name);
        put_sizes(file, "grid", use->grid);
        put_sizes(file, "block", use->block);
        put_whole(file, ", ", "cluster", use->cluster);
        put_whole(file, ", ", "registers", use->registers);
        put_whole(file, ", ", "shared_bytes", (double)use->shared_bytes);
        put_whole(file, ", ", "local_bytes", (double)use->local_bytes);
        put_number(file, ", ", "occupancy_percent", 100 * use->occupancy);
        putc('}', file);
    }
    putc(']', file);
}

static void put_row(FILE *file, const struct gf_compare_row *row)
{
    put_text(file, "      {", "name", row->name);
    put_text(file, ", ", "summary", row->summary);
    put_bool(file, ", ", "chosen", row->chosen);
    put_text(file, ", ", "refused", *row->refused ? row->refused : NULL);
    put_whole(file, ", ", "runs", row->warm.runs);
    put_times(file, "warm", &row->warm);
    put_times(file, "cold", &row->cold);
    put_number(file, ", ", "gb_s", row->rate * 1e-9);
    put_number(file, ", ", "copy_percent", row->copy_percent);
    put_number(file, ", ", "over_naive", row->over_naive);
    put_number(file, ", ", "over_cpu", row->over_cpu);
    put_whole(file, ", ", "difference", row->difference);
    put_kernels(file, row);
    putc('}', file);
}

static const char *kind_name(const struct gf_compare_group *group)
{
    return group->statistic ? "statistic" : "stage";
}

static void put_group(FILE *file, const struct gf_compare_group *group)
{
    put_text(file, "    {", "name", group->name);
    put_text(file, ", ", "kind", kind_name(group));
    put_whole(file, ", ", "segment", group->segment);
    put_format(file, ", ", "in", group->in);
    put_format(file, ", ", "out", group->out);
    put_whole(file, ", ", "bytes", group->bytes);
    put_whole(file, ", ", "tolerance", group->tolerance);
    put_number(file, ", ", "cpu_ms", ms_of(&group->cpu, group->cpu.median_s));
    put_key(file, ", ", "variants");
    fputs("[\n", file);
    for (int i = 0; i < group->rows; i++) {
        put_row(file, &group->row[i]);
        fputs(i + 1 < group->rows ? ",\n" : "\n", file);
    }
    fputs("    ]}", file);
}

static void put_run(FILE *file, const struct gf_compare_run *run)
{
    put_text(file, "    {", "name", run->name);
    put_text(file, ", ", "refused", *run->refused ? run->refused : NULL);
    put_whole(file, ", ", "lanes", run->total.runs ? run->lanes : NAN);
    put_whole(file, ", ", "band_rows", run->total.runs ? run->band_rows : NAN);
    put_text(file, ", ", "host_memory", host_memory_name(&run->options));
    put_text(file, ", ", "transfer", transfer_name(&run->options));
    put_bool(file, ", ", "fused", !run->options.no_fuse);
    put_whole(file, ", ", "runs", run->total.runs);
    put_times(file, "total", &run->total);
    put_number(file, ", ", "window_ms", ms_of(&run->window, run->window.median_s));
    put_number(file, ", ", "overlap", run->overlap);
    put_number(file, ", ", "kernels_ms", run->kernels_s * 1e3);
    put_number(file, ", ", "transfers_ms", run->transfers_s * 1e3);
    put_number(file, ", ", "estimate_ms", run->estimate_s * 1e3);
    putc('}', file);
}

static double peak_gb_s(double peak)
{
    return peak > 0 ? peak * 1e-9 : NAN;
}

static void put_head(FILE *file, const struct gf_comparison *compare)
{
    put_text(file, "{\n  ", "version", gf_version());
    put_text(file, ",\n  ", "device", compare->device);
    put_text(file, ",\n  ", "reason", compare->reason);
    put_whole(file, ",\n  ", "cpu_threads", compare->threads);
    put_format(file, ",\n  ", "in", compare->in);
    put_format(file, ",\n  ", "out", compare->out);
    put_number(file, ",\n  \"peaks\": {", "device_copy_gb_s", peak_gb_s(compare->copy_peak));
    put_number(file, ", ", "upload_gb_s", peak_gb_s(compare->upload_peak));
    put_number(file, ", ", "download_gb_s", peak_gb_s(compare->download_peak));
    put_number(file, "},\n  ", "wall_s", compare->wall_s);
}

void gf_compare_json(const struct gf_comparison *compare, FILE *file)
{
    put_head(file, compare);
    put_key(file, ",\n  ", "stages");
    fputs("[\n", file);
    for (int g = 0; g < compare->groups; g++) {
        put_group(file, &compare->group[g]);
        fputs(g + 1 < compare->groups ? ",\n" : "\n", file);
    }
    put_key(file, "  ],\n  ", "pipeline");
    fputs("[\n", file);
    for (int i = 0; i < compare->runs; i++) {
        put_run(file, &compare->run[i]);
        fputs(i + 1 < compare->runs ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
}
