#include <math.h>
#include <string.h>

#include "study/report/compare_report.h"
#include "report/text.h"

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

const char *gf_compare_kind_name(const struct gf_compare_group *group)
{
    return group->statistic ? "statistic" : "stage";
}

const char *gf_compare_host_memory_name(const struct gf_compare_run *run)
{
    return run->options.host_memory == GF_HOST_PAGEABLE ? "pageable" : "pinned";
}

const char *gf_compare_transfer_name(const struct gf_compare_run *run)
{
    return run->options.transfer == GF_TRANSFER_ZERO_COPY ? "zero-copy" : "copy";
}

static void put_cell(FILE *file, int width, const char *text)
{
    fprintf(file, " %*s", width, text);
}

static void put_number(FILE *file, int width, int decimals, double value, const char *unit)
{
    char text[40];
    gf_text_number(value, decimals, unit, text, sizeof text);
    put_cell(file, width, text);
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
    put_cell(file, width, text);
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
    put_cell(file, 11, text);
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
    put_number(file, 12, 3, run->transfers_s * 1e3, "");
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
