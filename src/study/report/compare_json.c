/* Writes a comparison as JSON. The manual prints this list of keys. */
#include <math.h>

#include "gpufilter/pipeline.h"
#include "study/report/compare_report.h"
#include "report/json_parts.h"

const struct gf_key_help gf_compare_keys[] = {
    {"version", "of the program, a string"},
    {"device", "what was measured: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"reason", "why that device"},
    {"cpu_threads", "threads of the CPU backend, which over_cpu refers to"},
    {"in", "the picture: width, height, channels, bits"},
    {"out", "the chain's result, likewise"},
    {"peaks", "device_copy_gb_s, upload_gb_s, download_gb_s, measured in this run, or null"},
    {"wall_s", "duration of the whole comparison"},
    {"stages", "a list in the order of the chain, with the histograms that stages want; of each:"},
    {"stages.name", "\"blur\", \"equalize histogram\""},
    {"stages.kind", "stage or statistic"},
    {"stages.segment", "from 0"},
    {"stages.in", "its input, as above"},
    {"stages.out", "its result"},
    {"stages.bytes", "the least that it must move: the input once and the result once"},
    {"stages.cpu_ms", "time of the CPU backend on cpu_threads threads"},
    {"stages.variants", "a list: the default, then from the naive one up; of each:"},
    {"stages.variants.name", "as in variant=NAME; without a GPU \"2 threads\""},
    {"stages.variants.summary", "the technique"},
    {"stages.variants.chosen", "whether the chain runs this one"},
    {"stages.variants.refused", "why it did not run, or null"},
    {"stages.variants.runs", "number of timed runs; 0: none"},
    {"stages.variants.warm_ms", "median; with warm_least_ms and warm_most_ms"},
    {"stages.variants.cold_ms",
     "with the second-level cache flushed before each run; with cold_least_ms and "
     "cold_most_ms"},
    {"stages.variants.gb_s", "bytes / warm_ms, in 10^9 bytes a second"},
    {"stages.variants.copy_percent", "gb_s in percent of peaks.device_copy_gb_s"},
    {"stages.variants.over_naive",
     "speed-up over the naive variant (without a GPU: over the first row)"},
    {"stages.variants.over_cpu", "speed-up over cpu_ms"},
    {"stages.variants.difference",
     "the largest difference from the CPU's picture, in steps of a sample or in counts"},
    {"stages.variants.tolerance", "the largest difference that the variant declares"},
    {"stages.variants.kernels", "a list in the order of their launch; of each:"},
    {"stages.variants.kernels.name", "name of the function"},
    {"stages.variants.kernels.grid", "blocks: x, y, z"},
    {"stages.variants.kernels.block", "threads: x, y, z"},
    {"stages.variants.kernels.cluster", "blocks of a cluster; 1: none"},
    {"stages.variants.kernels.registers", "registers of a thread"},
    {"stages.variants.kernels.shared_bytes", "shared memory of a block, static and dynamic"},
    {"stages.variants.kernels.local_bytes",
     "local memory of a thread: spills, and arrays indexed at run time"},
    {"stages.variants.kernels.occupancy_percent", "theoretical occupancy"},
    {"pipeline", "a list: the whole chain from memory to memory, by setting; of each:"},
    {"pipeline.name", "the setting that differs from the first row's, which is as asked"},
    {"pipeline.refused", "why it did not run, or null"},
    {"pipeline.lanes", "bands in flight"},
    {"pipeline.band_rows", "rows of a band of the first segment"},
    {"pipeline.host_memory", "pinned or pageable"},
    {"pipeline.transfer", "copy or zero-copy"},
    {"pipeline.fused", "whether adjacent point filters are fused"},
    {"pipeline.runs", "number of timed runs"},
    {"pipeline.total_ms", "from call to return, median; with total_least_ms and total_most_ms"},
    {"pipeline.window_ms", "from the first copy's or stage's beginning to the last one's end"},
    {"pipeline.overlap",
     "1 - (time during which any stage was busy) / (sum of the stages' busy times)"},
    {"pipeline.kernels_ms", "tE: the kernels' time where nothing overlaps"},
    {"pipeline.transfers_ms", "tT: the copies' time, likewise"},
    {"pipeline.estimate_ms",
     "the longer of both + the shorter / lanes (Best Practices Guide 9.1.2)"},
    {0},
};

static void put_ms(struct gf_json *json, const char *key, const struct gf_timing *timing,
                   double seconds)
{
    gf_json_number(json, key, timing->runs ? seconds * 1e3 : NAN, 6);
}

static void put_timing(struct gf_json *json, const char *name, const struct gf_timing *timing)
{
    char key[40];
    snprintf(key, sizeof key, "%s_ms", name);
    put_ms(json, key, timing, timing->median_s);
    snprintf(key, sizeof key, "%s_least_ms", name);
    put_ms(json, key, timing, timing->least_s);
    snprintf(key, sizeof key, "%s_most_ms", name);
    put_ms(json, key, timing, timing->most_s);
}

static void put_size(struct gf_json *json, const char *key, const int size[3])
{
    gf_json_array(json, key, GF_JSON_INLINE);
    for (int i = 0; i < 3; i++)
        gf_json_number(json, NULL, size[i], 0);
    gf_json_end(json);
}

static void put_kernel(struct gf_json *json, const struct gf_kernel_info *kernel)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", kernel->name);
    put_size(json, "grid", kernel->grid);
    put_size(json, "block", kernel->block);
    gf_json_number(json, "cluster", kernel->cluster, 0);
    gf_json_number(json, "registers", kernel->registers, 0);
    gf_json_number(json, "shared_bytes", (double)kernel->shared_bytes, 0);
    gf_json_number(json, "local_bytes", (double)kernel->local_bytes, 0);
    gf_json_number(json, "occupancy_percent", 100 * kernel->occupancy, 6);
    gf_json_end(json);
}

static void put_row(struct gf_json *json, const struct gf_compare_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", row->name);
    gf_json_string(json, "summary", row->summary);
    gf_json_bool(json, "chosen", row->chosen);
    gf_json_string(json, "refused", *row->refused ? row->refused : NULL);
    gf_json_number(json, "runs", row->warm.runs, 0);
    put_timing(json, "warm", &row->warm);
    put_timing(json, "cold", &row->cold);
    gf_json_number(json, "gb_s", row->rate * 1e-9, 6);
    gf_json_number(json, "copy_percent", row->copy_percent, 6);
    gf_json_number(json, "over_naive", row->over_naive, 6);
    gf_json_number(json, "over_cpu", row->over_cpu, 6);
    gf_json_number(json, "difference", row->difference, 0);
    gf_json_number(json, "tolerance", row->tolerance, 0);
    gf_json_array(json, "kernels", GF_JSON_INLINE);
    for (int i = 0; i < row->kernels && i < GF_COMPARE_KERNELS; i++)
        put_kernel(json, &row->kernel[i]);
    gf_json_end(json);
    gf_json_end(json);
}

static void put_group(struct gf_json *json, const struct gf_compare_group *group)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", group->name);
    gf_json_string(json, "kind", gf_compare_kind_name(group));
    gf_json_number(json, "segment", group->segment, 0);
    gf_json_format(json, "in", group->in);
    gf_json_format(json, "out", group->out);
    gf_json_number(json, "bytes", group->bytes, 0);
    put_ms(json, "cpu_ms", &group->cpu, group->cpu.median_s);
    gf_json_array(json, "variants", GF_JSON_LINES);
    for (int i = 0; i < group->rows; i++)
        put_row(json, &group->row[i]);
    gf_json_end(json);
    gf_json_end(json);
}

static void put_run(struct gf_json *json, const struct gf_compare_run *run)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", run->name);
    gf_json_string(json, "refused", *run->refused ? run->refused : NULL);
    gf_json_number(json, "lanes", run->total.runs ? run->lanes : NAN, 0);
    gf_json_number(json, "band_rows", run->total.runs ? run->band_rows : NAN, 0);
    gf_json_string(json, "host_memory", gf_compare_host_memory_name(run));
    gf_json_string(json, "transfer", gf_compare_transfer_name(run));
    gf_json_bool(json, "fused", !run->options.no_fuse);
    gf_json_number(json, "runs", run->total.runs, 0);
    put_timing(json, "total", &run->total);
    put_ms(json, "window_ms", &run->window, run->window.median_s);
    gf_json_number(json, "overlap", run->overlap, 6);
    gf_json_number(json, "kernels_ms", run->kernels_s * 1e3, 6);
    gf_json_number(json, "transfers_ms", run->transfers_s * 1e3, 6);
    gf_json_number(json, "estimate_ms", run->estimate_s * 1e3, 6);
    gf_json_end(json);
}

void gf_compare_json(const struct gf_comparison *comparison, FILE *file)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "version", gf_version());
    gf_json_string(&json, "device", comparison->device);
    gf_json_string(&json, "reason", comparison->reason);
    gf_json_number(&json, "cpu_threads", comparison->threads, 0);
    gf_json_format(&json, "in", comparison->in);
    gf_json_format(&json, "out", comparison->out);
    gf_json_peaks(&json, comparison->copy_peak, comparison->upload_peak, comparison->download_peak);
    gf_json_number(&json, "wall_s", comparison->wall_s, 6);
    gf_json_array(&json, "stages", GF_JSON_LINES);
    for (int g = 0; g < comparison->groups; g++)
        put_group(&json, &comparison->group[g]);
    gf_json_end(&json);
    gf_json_array(&json, "pipeline", GF_JSON_LINES);
    for (int i = 0; i < comparison->runs; i++)
        put_run(&json, &comparison->run[i]);
    gf_json_end(&json);
    gf_json_end(&json);
}
