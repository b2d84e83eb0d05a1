/* A comparison as a table, as JSON, and on the page. */
#include <math.h>
#include <string.h>

#include "gpufilter/pipeline.h"
#include "report/text.h"
#include "study/report/study_report.h"

enum { NAME_LEAST = 8 };

const struct gf_kernel_info *gf_compare_kernel(const struct gf_compare_row *row)
{
    const struct gf_kernel_info *worst = NULL;
    for (int i = 0; i < row->kernels && i < GF_COMPARE_KERNELS; i++) {
        if (!worst || row->kernel[i].occupancy < worst->occupancy)
            worst = &row->kernel[i];
    }
    return worst;
}

static void put_field(FILE *file, int width, const char *text)
{
    fprintf(file, " %*s", width, text);
}

static void put_number(FILE *file, int width, int decimals, double value, const char *unit)
{
    char text[40];
    gf_text_number(value, decimals, unit, text, sizeof text);
    put_field(file, width, text);
}

static void put_ms(FILE *file, int width, const struct gf_timing *timing)
{
    const double ms = timing->median_s * 1e3;
    put_number(file, width, gf_text_decimals(ms), timing->runs ? ms : NAN, "");
}

static void put_spread(FILE *file, int width, const struct gf_timing *timing)
{
    char text[48] = "-";
    const int decimals = gf_text_decimals(timing->median_s * 1e3);
    if (timing->runs > 1)
        snprintf(text, sizeof text, "%.*f..%.*f", decimals, timing->least_s * 1e3, decimals,
                 timing->most_s * 1e3);
    put_field(file, width, text);
}

static void put_speed_up(FILE *file, double factor)
{
    put_number(file, 7, factor < 10 ? 2 : factor < 1000 ? 1 : 0, factor, "x");
}

static void put_kernel(FILE *file, const struct gf_compare_row *row)
{
    const struct gf_kernel_info *const kernel = gf_compare_kernel(row);
    char text[40];
    if (!kernel) {
        fprintf(file, " %5s %7s %6s %5s %11s %7s", "-", "-", "-", "-", "-", "-");
        return;
    }
    fprintf(file, " %5d %7zu %6zu %4.0f%%", kernel->registers, kernel->shared_bytes,
            kernel->local_bytes, 100 * kernel->occupancy);
    snprintf(text, sizeof text,
             kernel->block[2] > 1   ? "%dx%dx%d"
             : kernel->block[1] > 1 ? "%dx%d"
                                    : "%d",
             kernel->block[0], kernel->block[1], kernel->block[2]);
    put_field(file, 11, text);
    fprintf(file, " %7d", row->kernels);
}

static void put_row(FILE *file, const struct gf_comparison *comparison,
                    const struct gf_compare_row *row, int width)
{
    fprintf(file, "%c %-*s", row->chosen ? '*' : ' ', width, row->name);
    if (*row->refused) {
        fprintf(file, " not run: %s\n", row->refused);
        return;
    }
    put_ms(file, 9, &row->warm);
    put_spread(file, 18, &row->warm);
    if (comparison->on_cuda)
        put_ms(file, 9, &row->cold);
    put_number(file, 8, 1, row->rate * 1e-9, "");
    put_number(file, 6, 1, row->copy_percent, "");
    put_speed_up(file, row->over_naive);
    put_speed_up(file, row->over_cpu);
    if (comparison->on_cuda)
        put_kernel(file, row);
    put_number(file, 5, 0, row->difference, row->difference > row->tolerance ? "!" : "");
    putc('\n', file);
}

static int name_width(const struct gf_comparison *comparison)
{
    int width = NAME_LEAST;
    for (int g = 0; g < comparison->groups; g++) {
        for (int i = 0; i < comparison->group[g].rows; i++)
            width = gf_text_widest(width, comparison->group[g].row[i].name);
    }
    return width;
}

static void put_group(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group, int width)
{
    char bytes[32], format[GF_TEXT_FORMAT_SIZE];
    gf_text_bytes(group->bytes, bytes, sizeof bytes);
    fprintf(file, "\n%s: %s", group->name, gf_text_format(group->in, format));
    if (!group->statistic && memcmp(&group->in, &group->out, sizeof group->in))
        fprintf(file, " to %s", gf_text_format(group->out, format));
    fprintf(file, "; at least %s; CPU, %d thread%s: %.3f ms\n", bytes, comparison->threads,
            gf_text_plural(comparison->threads), group->cpu.median_s * 1e3);
    fprintf(file, "  %-*s %9s %18s", width, comparison->on_cuda ? "variant" : "threads",
            comparison->on_cuda ? "warm ms" : "ms", "least..most");
    if (comparison->on_cuda)
        fprintf(file, " %9s", "cold ms");
    fprintf(file, " %8s %6s %7s %7s", "GB/s", "% copy",
            group->naive < 0      ? ""
            : comparison->on_cuda ? "x naive"
                                  : "x first",
            "x CPU");
    if (comparison->on_cuda)
        fprintf(file, " %5s %7s %6s %5s %11s %7s", "regs", "shared", "spills", "occ.", "block",
                "kernels");
    fprintf(file, " %5s\n", "diff.");
    for (int i = 0; i < group->rows; i++)
        put_row(file, comparison, &group->row[i], width);
}

static void put_run(FILE *file, const struct gf_compare_run *run)
{
    fprintf(file, "  %-22s", run->name);
    if (*run->refused) {
        fprintf(file, " not run: %s\n", run->refused);
        return;
    }
    fprintf(file, " %5d %9d", run->lanes, run->band_rows);
    put_ms(file, 10, &run->total);
    put_spread(file, 18, &run->total);
    put_ms(file, 10, &run->window);
    put_number(file, 8, 0, 100 * run->overlap, "%");
    put_number(file, 11, 3, run->kernels_s * 1e3, "");
    put_number(file, 12, 3, run->copies_s * 1e3, "");
    put_number(file, 11, 3, run->estimate_s * 1e3, "");
    putc('\n', file);
}

static void put_runs(FILE *file, const struct gf_comparison *comparison)
{
    fputs("\nthe whole chain, from memory to memory\n", file);
    fprintf(file, "  %-22s %5s %9s %10s %18s %10s %8s %11s %12s %11s\n", "setting", "lanes",
            "band rows", "total ms", "least..most", "window ms", "overlap", "kernels ms",
            "transfers ms", "estimate ms");
    for (int i = 0; i < comparison->runs; i++)
        put_run(file, &comparison->run[i]);
}

static void put_head(FILE *file, const struct gf_comparison *comparison)
{
    char in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    fprintf(file, "picture    %s to %s\n", gf_text_format(comparison->in, in),
            gf_text_format(comparison->out, out));
    fprintf(file, "device     %s (%s)\nCPU        %d thread%s\n", comparison->device,
            comparison->reason, comparison->threads, gf_text_plural(comparison->threads));
    fprintf(file, "copy       %.1f GB/s, read and written", comparison->copy_peak * 1e-9);
    if (comparison->upload_peak > 0)
        fprintf(file, "; upload %.1f GB/s, download %.1f GB/s", comparison->upload_peak * 1e-9,
                comparison->download_peak * 1e-9);
    putc('\n', file);
}

static void put_legend(FILE *file, const struct gf_comparison *comparison)
{
    fputs("\n* what the chain runs. diff.: the largest difference from the CPU's picture or counts "
          "(!: more than the "
          "filter declares).\n",
          file);
    if (comparison->on_cuda)
        fputs("regs, spills (bytes of local memory), occ. (theoretical occupancy) of a thread or "
              "block of the kernel "
              "of least occupancy;\nshared in bytes a block. cold: the second-level cache was "
              "flushed before each "
              "run.\nestimate: the longer of kernels and transfers + the shorter / lanes (Best "
              "Practices 9.1.2), "
              "from one lane's; of the window.\n",
              file);
    else
        fputs(
            "no intrinsics: without the filter's hand-written vector instructions; the compiler's "
            "remain. x first: over the first row.\n",
            file);
    fprintf(file, "all of this took %.1f s\n", comparison->wall_s);
}

void gf_compare_table(const struct gf_comparison *comparison, FILE *file)
{
    const int width = name_width(comparison);
    put_head(file, comparison);
    for (int g = 0; g < comparison->groups; g++)
        put_group(file, comparison, &comparison->group[g], width);
    put_runs(file, comparison);
    put_legend(file, comparison);
}

/* ---- as JSON; the manual prints this list of keys ---- */

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

static void put_json_ms(struct gf_json *json, const char *key, const struct gf_timing *timing,
                        double seconds)
{
    gf_json_number(json, key, timing->runs ? seconds * 1e3 : NAN, 6);
}

static void put_json_timing(struct gf_json *json, const char *name, const struct gf_timing *timing)
{
    char key[40];
    snprintf(key, sizeof key, "%s_ms", name);
    put_json_ms(json, key, timing, timing->median_s);
    snprintf(key, sizeof key, "%s_least_ms", name);
    put_json_ms(json, key, timing, timing->least_s);
    snprintf(key, sizeof key, "%s_most_ms", name);
    put_json_ms(json, key, timing, timing->most_s);
}

static void put_json_size(struct gf_json *json, const char *key, const int size[3])
{
    gf_json_array(json, key, GF_JSON_INLINE);
    for (int i = 0; i < 3; i++)
        gf_json_number(json, NULL, size[i], 0);
    gf_json_end(json);
}

static void put_json_kernel(struct gf_json *json, const struct gf_kernel_info *kernel)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", kernel->name);
    put_json_size(json, "grid", kernel->grid);
    put_json_size(json, "block", kernel->block);
    gf_json_number(json, "cluster", kernel->cluster, 0);
    gf_json_number(json, "registers", kernel->registers, 0);
    gf_json_number(json, "shared_bytes", (double)kernel->shared_bytes, 0);
    gf_json_number(json, "local_bytes", (double)kernel->local_bytes, 0);
    gf_json_number(json, "occupancy_percent", 100 * kernel->occupancy, 6);
    gf_json_end(json);
}

static void put_json_row(struct gf_json *json, const struct gf_compare_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", row->name);
    gf_json_string(json, "summary", row->summary);
    gf_json_bool(json, "chosen", row->chosen);
    gf_json_string(json, "refused", *row->refused ? row->refused : NULL);
    gf_json_number(json, "runs", row->warm.runs, 0);
    put_json_timing(json, "warm", &row->warm);
    put_json_timing(json, "cold", &row->cold);
    gf_json_number(json, "gb_s", row->rate * 1e-9, 6);
    gf_json_number(json, "copy_percent", row->copy_percent, 6);
    gf_json_number(json, "over_naive", row->over_naive, 6);
    gf_json_number(json, "over_cpu", row->over_cpu, 6);
    gf_json_number(json, "difference", row->difference, 0);
    gf_json_number(json, "tolerance", row->tolerance, 0);
    gf_json_array(json, "kernels", GF_JSON_INLINE);
    for (int i = 0; i < row->kernels && i < GF_COMPARE_KERNELS; i++)
        put_json_kernel(json, &row->kernel[i]);
    gf_json_end(json);
    gf_json_end(json);
}

static void put_json_group(struct gf_json *json, const struct gf_compare_group *group)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", group->name);
    gf_json_string(json, "kind", group->statistic ? "statistic" : "stage");
    gf_json_number(json, "segment", group->segment, 0);
    gf_json_format(json, "in", group->in);
    gf_json_format(json, "out", group->out);
    gf_json_number(json, "bytes", group->bytes, 0);
    put_json_ms(json, "cpu_ms", &group->cpu, group->cpu.median_s);
    gf_json_array(json, "variants", GF_JSON_LINES);
    for (int i = 0; i < group->rows; i++)
        put_json_row(json, &group->row[i]);
    gf_json_end(json);
    gf_json_end(json);
}

static void put_json_run(struct gf_json *json, const struct gf_compare_run *run)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", run->name);
    gf_json_string(json, "refused", *run->refused ? run->refused : NULL);
    gf_json_number(json, "lanes", run->total.runs ? run->lanes : NAN, 0);
    gf_json_number(json, "band_rows", run->total.runs ? run->band_rows : NAN, 0);
    gf_json_string(json, "host_memory",
                   run->options.host_memory == GF_HOST_PAGEABLE ? "pageable" : "pinned");
    gf_json_string(json, "transfer",
                   run->options.transfer == GF_TRANSFER_ZERO_COPY ? "zero-copy" : "copy");
    gf_json_bool(json, "fused", !run->options.no_fuse);
    gf_json_number(json, "runs", run->total.runs, 0);
    put_json_timing(json, "total", &run->total);
    put_json_ms(json, "window_ms", &run->window, run->window.median_s);
    gf_json_number(json, "overlap", run->overlap, 6);
    gf_json_number(json, "kernels_ms", run->kernels_s * 1e3, 6);
    gf_json_number(json, "transfers_ms", run->copies_s * 1e3, 6);
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
        put_json_group(&json, &comparison->group[g]);
    gf_json_end(&json);
    gf_json_array(&json, "pipeline", GF_JSON_LINES);
    for (int i = 0; i < comparison->runs; i++)
        put_json_run(&json, &comparison->run[i]);
    gf_json_end(&json);
    gf_json_end(&json);
}

/* ---- on the page ---- */

/* Writes RGB as hexadecimal digits. */
static void put_pixels(struct gf_json *json, const char *key, const struct gf_compare_spot *spot,
                       const unsigned char *rgb)
{
    char digits[2 * 3 * GF_SPOT_SIDE * GF_SPOT_SIDE + 1] = "";
    for (int i = 0; i < 3 * spot->width * spot->height; i++)
        snprintf(digits + 2 * i, 3, "%02x", rgb[i]);
    gf_json_string(json, key, digits);
}

static void put_spot(struct gf_json *json, int stage, int row, const struct gf_compare_spot *spot)
{
    gf_json_object(json, NULL, GF_JSON_COMPACT);
    gf_json_number(json, "stage", stage, 0);
    gf_json_number(json, "row", row, 0);
    gf_json_number(json, "x", spot->x, 0);
    gf_json_number(json, "y", spot->y, 0);
    gf_json_number(json, "width", spot->width, 0);
    gf_json_number(json, "height", spot->height, 0);
    put_pixels(json, "expected", spot, spot->expected);
    put_pixels(json, "found", spot, spot->found);
    put_pixels(json, "difference", spot, spot->difference);
    gf_json_end(json);
}

void gf_compare_page(struct gf_page *page, const struct gf_comparison *comparison)
{
    gf_compare_json(comparison, gf_page_part(page, "comparison", ""));
    struct gf_json json = gf_json_begin(gf_page_part(page, "spots", ""));
    gf_json_array(&json, NULL, GF_JSON_LINES);
    for (int g = 0; g < comparison->groups; g++) {
        for (int i = 0; i < comparison->group[g].rows; i++) {
            if (comparison->group[g].row[i].spot)
                put_spot(&json, g, i, comparison->group[g].row[i].spot);
        }
    }
    gf_json_end(&json);
}
