#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static double peak_rate(const struct bench_report *report)
{
    return (double)report->copy_bytes / report->copy_ms * 1e-6; /* GB/s */
}

static double rate(double ms, size_t bytes)
{
    return (double)bytes / ms * 1e-6;
}

void report_head(const struct bench_report *report)
{
    printf("%s, driver %s, CUDA driver %d.%d, runtime %d.%d, NPP %s\n", report->device.name,
           report->driver, report->device.driver_version / 1000,
           report->device.driver_version % 1000 / 10, report->device.runtime_version / 1000,
           report->device.runtime_version % 1000 / 10,
           *report->npp_version ? report->npp_version : "not in this build");
    printf("%s, commit %s\nframe: %s\n", report->date, report->commit, report->frame);
    if (report->start_cuda.median_ms >= 0)
        printf("cold start of the program on a small picture: %.0f ms (the first %.0f), on the CPU "
               "%.0f ms\n",
               report->start_cuda.median_ms, report->start_cuda.first_ms,
               report->start_cpu.median_ms);
    fflush(stdout);
}

void report_rows_head(const struct bench_report *report)
{
    printf("\nkernels alone, medians of %d; bytes: input once + output once; copy on the device "
           "%.4f ms, "
           "%.0f GB/s\n",
           BENCH_SAMPLES, report->copy_ms, peak_rate(report));
    printf("%-36s %-6s %8s %7s %6s %7s %8s %6s\n", "chain", "format", "ms", "GB/s", "% copy", "bar",
           "NPP ms", "x ours");
}

void report_row(const struct bench_report *report, const struct bench_row *row)
{
    char name[96], bar[16] = "", npp[40] = "";
    snprintf(name, sizeof name, "%s%s%s%s", row->name, *row->note ? " (" : "", row->note,
             *row->note ? ")" : "");
    if (row->bar_ms > 0)
        snprintf(bar, sizeof bar, "%.3f", row->bar_ms);
    if (row->npp_ms > 0 && row->ms > 0)
        snprintf(npp, sizeof npp, "%8.4f %6.2f", row->npp_ms, row->npp_ms / row->ms);
    else if (row->npp_ms > 0)
        snprintf(npp, sizeof npp, "%8.4f", row->npp_ms);
    if (*row->fault) {
        printf("%-36.36s %-6s FAILED: %s\n", name, row->format, row->fault);
    } else if (!(row->ms > 0) && !bench_profiled()) {
        printf("%-36.36s %-6s %8s %7s %6s %7s %s\n", name, row->format, "-", "", "", bar, npp);
    } else {
        const double gb_s = rate(row->ms, row->bytes);
        printf("%-36.36s %-6s %8.4f %7.0f %6.1f %7s %s\n", name, row->format, row->ms, gb_s,
               100 * gb_s / peak_rate(report), bar, npp);
        for (int i = 0; row->steps > 1 && i < row->steps; i++)
            printf("    %-32.32s %-6s %8.4f %7.0f %6.1f\n", row->step[i].name, "", row->step[i].ms,
                   rate(row->step[i].ms, row->step[i].bytes),
                   100 * rate(row->step[i].ms, row->step[i].bytes) / peak_rate(report));
    }
    fflush(stdout);
}

void report_runs_head(const struct bench_report *report)
{
    printf("\nfrom memory to memory; pinned copies of the frame: up %.3f ms, down %.3f, both at "
           "once %.3f: %.2f x upload is the least that bands can take\n",
           report->up_ms, report->down_ms, report->both_ms,
           report->up_ms > 0 ? report->both_ms / report->up_ms : 0);
    printf("%-20s %5s %9s %8s %8s %10s %8s  %s\n", "chain", "lanes", "band rows", "ms", "x upload",
           "x up+down", "wall ms", "");
}

void report_run(const struct bench_report *report, const struct bench_run *run)
{
    if (*run->fault)
        printf("%-20s %5d %9d FAILED: %s\n", run->chain, run->lanes, run->band_rows, run->fault);
    else
        printf("%-20s %5d %9d %8.3f %8.2f %10.2f %8.2f  %s\n", run->chain, run->lanes,
               run->band_rows, run->ms, run->ms / report->up_ms,
               run->ms / (report->up_ms + report->down_ms), run->wall_ms, run->note);
    fflush(stdout);
}

/* ---- the bars ---- */

void report_add_bar(struct bench_report *report, const char *name, double bar, double measured,
                    const char *unit)
{
    if (report->bars == BENCH_BARS)
        return;
    struct bench_bar *const added = &report->bar[report->bars++];
    *added = (struct bench_bar){.bar = bar, .measured = measured};
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->unit, sizeof added->unit, "%s", unit);
}

void report_collect_bars(struct bench_report *report)
{
    for (int i = 0; i < report->rows; i++) {
        const struct bench_row *const row = &report->row[i];
        const double ms = *row->fault ? -1 : row->ms;
        char name[80];
        if (!(row->bar_ms > 0))
            continue;
        const bool usual = !strcmp(row->format, "RGB8");
        snprintf(name, sizeof name, "%s%s%s, kernels alone", row->name, usual ? "" : " ",
                 usual ? "" : row->format);
        report_add_bar(report, name, row->bar_ms, ms, "ms");
        if (row->npp_ms > 0) {
            snprintf(name, sizeof name, "%s, faster than NPP", row->name);
            report_add_bar(report, name, row->npp_ms, ms, "ms");
        }
    }
}

static const char *verdict(const struct bench_bar *bar)
{
    return bar->measured < 0 ? "NOT MEASURED" : bar->measured <= bar->bar ? "ok" : "MISSED";
}

void report_summary(const struct bench_report *report)
{
    int met = 0;
    printf("\n%-52s %12s %12s\n", "bar, for an H200", "at most", "measured");
    for (int i = 0; i < report->bars; i++) {
        const struct bench_bar *const bar = &report->bar[i];
        if (bar->measured < 0)
            printf("%-52s %9.4f %-2s %12s  %s\n", bar->name, bar->bar, bar->unit, "-",
                   verdict(bar));
        else
            printf("%-52s %9.4f %-2s %9.4f %-2s  %s\n", bar->name, bar->bar, bar->unit,
                   bar->measured, bar->unit, verdict(bar));
        met += !strcmp(verdict(bar), "ok");
    }
    printf("%d of %d bars met\n", met, report->bars);
    for (int i = 0; i < report->rows; i++) {
        const struct bench_row *const row = &report->row[i];
        if (!*row->fault && row->npp_ms > 0 && row->npp_ms < row->ms && !(row->bar_ms > 0))
            printf("without a bar, but slower than NPP: %s %s %.4f ms, %s %.4f ms\n", row->name,
                   row->note, row->ms, row->npp, row->npp_ms);
        if (*row->npp_failed)
            printf("NPP failed for %s %s: %s\n", row->name, row->note, row->npp_failed);
    }
}

/* ---- JSON ---- */

static void put_text(FILE *file, const char *name, const char *text, const char *after)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc((unsigned char)*text < 32 ? ' ' : *text, file);
    }
    fprintf(file, "\"%s", after);
}

static void put_number(FILE *file, const char *name, double value, const char *after)
{
    if (value < 0) /* not measured */
        fprintf(file, "\"%s\": null%s", name, after);
    else
        fprintf(file, "\"%s\": %.4f%s", name, value, after);
}

static void put_row(FILE *file, const struct bench_report *report, const struct bench_row *row)
{
    fputs("    {", file);
    put_text(file, "chain", row->name, ", ");
    put_text(file, "note", row->note, ", ");
    put_text(file, "format", row->format, "");
    if (*row->fault) {
        fputs(", ", file);
        put_text(file, "failed", row->fault, "}");
        return;
    }
    if (row->ms > 0)
        fprintf(file, ", \"ms\": %.5f, \"bytes\": %zu, \"gb_s\": %.1f, \"percent_of_copy\": %.1f",
                row->ms, row->bytes, rate(row->ms, row->bytes),
                100 * rate(row->ms, row->bytes) / peak_rate(report));
    if (row->bar_ms > 0)
        fprintf(file, ", \"bar_ms\": %.3f", row->bar_ms);
    if (row->npp_ms > 0) {
        fputs(", ", file);
        put_text(file, "npp", row->npp, "");
        fprintf(file, ", \"npp_ms\": %.5f", row->npp_ms);
    }
    fputs(", \"steps\": [", file);
    for (int i = 0; i < row->steps; i++) {
        fputs(i ? ", {" : "{", file);
        put_text(file, "name", row->step[i].name, "");
        fprintf(file, ", \"ms\": %.5f, \"bytes\": %zu}", row->step[i].ms, row->step[i].bytes);
    }
    fputs("]}", file);
}

static void put_run(FILE *file, const struct bench_run *run)
{
    fputs("    {", file);
    put_text(file, "chain", run->chain, ", ");
    put_text(file, "note", run->note, ", ");
    fprintf(file, "\"lanes\": %d, \"band_rows\": %d, ", run->lanes, run->band_rows);
    if (*run->fault)
        put_text(file, "failed", run->fault, "}");
    else
        fprintf(file, "\"ms\": %.4f, \"wall_ms\": %.3f}", run->ms, run->wall_ms);
}

static void put_bar(FILE *file, const struct bench_bar *bar)
{
    fputs("    {", file);
    put_text(file, "name", bar->name, ", ");
    put_text(file, "unit", bar->unit, ", ");
    put_number(file, "at_most", bar->bar, ", ");
    put_number(file, "measured", bar->measured, ", ");
    put_text(file, "verdict", verdict(bar), "}");
}

static void put_head(FILE *file, const struct bench_report *report)
{
    put_text(file, "date", report->date, ",\n  ");
    put_text(file, "commit", report->commit, ",\n  ");
    put_text(file, "gpu", report->device.name, ",\n  ");
    put_text(file, "driver", report->driver, ",\n  ");
    fprintf(file, "\"cuda_driver\": %d, \"cuda_runtime\": %d,\n  ", report->device.driver_version,
            report->device.runtime_version);
    put_text(file, "npp", report->npp_version, ",\n  ");
    put_text(file, "frame", report->frame, ",\n  ");
    fprintf(file, "\"copy\": {\"ms\": %.5f, \"bytes\": %zu, \"gb_s\": %.1f},\n  \"bus\": {",
            report->copy_ms, report->copy_bytes, peak_rate(report));
    put_number(file, "up_ms", report->up_ms, ", ");
    put_number(file, "down_ms", report->down_ms, ", ");
    put_number(file, "both_ms", report->both_ms, "},\n  \"start\": {");
    put_number(file, "cuda_first_ms", report->start_cuda.first_ms, ", ");
    put_number(file, "cuda_ms", report->start_cuda.median_ms, ", ");
    put_number(file, "cpu_ms", report->start_cpu.median_ms, "},\n");
}

bool report_json(const struct bench_report *report, const char *path)
{
    FILE *const file = fopen(path, "w");
    if (!file)
        return false;
    fputs("{\n  ", file);
    put_head(file, report);
    fputs("  \"kernels\": [\n", file);
    for (int i = 0; i < report->rows; i++) {
        put_row(file, report, &report->row[i]);
        fputs(i + 1 < report->rows ? ",\n" : "\n", file);
    }
    fputs("  ],\n  \"pipeline\": [\n", file);
    for (int i = 0; i < report->runs; i++) {
        put_run(file, &report->run[i]);
        fputs(i + 1 < report->runs ? ",\n" : "\n", file);
    }
    fputs("  ],\n  \"bars\": [\n", file);
    for (int i = 0; i < report->bars; i++) {
        put_bar(file, &report->bar[i]);
        fputs(i + 1 < report->bars ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
    const bool written = !ferror(file);
    return !fclose(file) && written;
}
