/* Writes a comparison as CSV, in a single table. The manual prints this list of columns. */
#include <math.h>
#include <string.h>

#include "study/report/compare_report.h"

const struct gf_key_help gf_compare_columns[] = {
    {"kind", "stage, statistic or pipeline"},
    {"name", "name of the stage; empty in pipeline rows"},
    {"variant", "name of the variant, or the setting of the pipeline"},
    {"chosen", "1 for what the chain runs, else 0"},
    {"refused", "why it did not run"},
    {"runs", "number of timed runs"},
    {"median_ms", "of warm runs"},
    {"least_ms", "of warm runs"},
    {"most_ms", "of warm runs"},
    {"cold_ms", "median with the cache flushed"},
    {"bytes", "the least that must be moved"},
    {"gb_s", "bytes / median_ms, in 10^9 bytes a second"},
    {"copy_percent", "of the copy bandwidth measured in the same run"},
    {"over_naive", "speed-up over the naive variant"},
    {"over_cpu", "speed-up over the CPU backend"},
    {"difference", "the largest difference from the CPU's picture"},
    {"kernels", "number launched; the next columns are of the kernel of least occupancy"},
    {"kernel", "its name"},
    {"grid", "x x y x z blocks"},
    {"block", "x x y x z threads"},
    {"cluster", "blocks of a cluster; 1: none"},
    {"registers", "registers of a thread"},
    {"shared_bytes", "shared memory of a block"},
    {"local_bytes", "local memory of a thread"},
    {"occupancy_percent", "theoretical occupancy"},
    {"lanes", "pipeline rows: bands in flight"},
    {"band_rows", "pipeline rows: rows of a band"},
    {"host_memory", "pipeline rows: pinned or pageable"},
    {"transfer", "pipeline rows: copy or zero-copy"},
    {"fused", "pipeline rows: 1 if adjacent point filters are fused, else 0"},
    {"window_ms", "pipeline rows: from the first copy to the last"},
    {"overlap", "pipeline rows: as in the profile"},
    {"estimate_ms", "pipeline rows: the guide's estimate of window_ms"},
    {0},
};

/* The row that is being written. */
struct line {
    FILE *file;
    bool begun; /* a cell of the row was written */
};

static void separate(struct line *line)
{
    if (line->begun)
        putc(',', line->file);
    line->begun = true;
}

/* Writes a text, in quotes only if RFC 4180 demands it. */
static void put_text(struct line *line, const char *text)
{
    separate(line);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, line->file);
        return;
    }
    putc('"', line->file);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, line->file);
    putc('"', line->file);
}

/* Writes a number. A number that is not known becomes an empty cell. */
static void put_number(struct line *line, double value)
{
    separate(line);
    if (isfinite(value))
        fprintf(line->file, "%.6g", value);
}

static void put_whole(struct line *line, double value)
{
    separate(line);
    if (isfinite(value))
        fprintf(line->file, "%.0f", value);
}

static void put_size(struct line *line, const int *size)
{
    char text[48];
    snprintf(text, sizeof text, "%dx%dx%d", size[0], size[1], size[2]);
    put_text(line, text);
}

static void put_nothing(struct line *line, int cells)
{
    for (int i = 0; i < cells; i++)
        separate(line);
}

static void put_timing(struct line *line, const struct gf_timing *timing)
{
    const double value[] = {timing->median_s, timing->least_s, timing->most_s};
    put_whole(line, timing->runs);
    for (int i = 0; i < 3; i++)
        put_number(line, timing->runs ? value[i] * 1e3 : NAN);
}

static void put_kernel(struct line *line, const struct gf_compare_row *row)
{
    const struct gf_kernel_info *const kernel = gf_compare_kernel(row);
    if (!kernel) {
        put_nothing(line, 9);
        return;
    }
    put_whole(line, row->kernels);
    put_text(line, kernel->name);
    put_size(line, kernel->grid);
    put_size(line, kernel->block);
    put_whole(line, kernel->cluster);
    put_whole(line, kernel->registers);
    put_whole(line, (double)kernel->shared_bytes);
    put_whole(line, (double)kernel->local_bytes);
    put_number(line, 100 * kernel->occupancy);
}

static void put_row(FILE *file, const struct gf_compare_group *group,
                    const struct gf_compare_row *row)
{
    struct line line = {.file = file};
    put_text(&line, gf_compare_kind_name(group));
    put_text(&line, group->name);
    put_text(&line, row->name);
    put_whole(&line, row->chosen);
    put_text(&line, row->refused);
    put_timing(&line, &row->warm);
    put_number(&line, row->cold.runs ? row->cold.median_s * 1e3 : NAN);
    put_whole(&line, group->bytes);
    put_number(&line, row->rate * 1e-9);
    put_number(&line, row->copy_percent);
    put_number(&line, row->over_naive);
    put_number(&line, row->over_cpu);
    put_whole(&line, row->difference);
    put_kernel(&line, row);
    put_nothing(&line, 8);
    putc('\n', file);
}

static void put_run(FILE *file, const struct gf_compare_run *run, bool first)
{
    struct line line = {.file = file};
    put_text(&line, "pipeline");
    put_nothing(&line, 1);
    put_text(&line, run->name);
    put_whole(&line, first);
    put_text(&line, run->refused);
    put_timing(&line, &run->total);
    put_nothing(&line, 16);
    put_whole(&line, run->total.runs ? run->lanes : NAN);
    put_whole(&line, run->total.runs ? run->band_rows : NAN);
    put_text(&line, gf_compare_host_memory_name(run));
    put_text(&line, gf_compare_transfer_name(run));
    put_whole(&line, !run->options.no_fuse);
    put_number(&line, run->window.runs ? run->window.median_s * 1e3 : NAN);
    put_number(&line, run->overlap);
    put_number(&line, run->estimate_s * 1e3);
    putc('\n', file);
}

void gf_compare_csv(const struct gf_comparison *comparison, FILE *file)
{
    struct line head = {.file = file};
    for (const struct gf_key_help *column = gf_compare_columns; column->path; column++)
        put_text(&head, column->path);
    putc('\n', file);
    for (int g = 0; g < comparison->groups; g++) {
        for (int i = 0; i < comparison->group[g].rows; i++)
            put_row(file, &comparison->group[g], &comparison->group[g].row[i]);
    }
    for (int i = 0; i < comparison->runs; i++)
        put_run(file, &comparison->run[i], !i);
}
