/* The comparison as CSV: one table, whose columns compare_json.c describes. */
#include <math.h>
#include <string.h>

#include "bench/compare.h"
#include "report/compare_report.h"
#include "report/report.h"

/* A row being written: cells that know whether they are the first. */
struct line {
    FILE *file;
    bool begun;
};

static void separate(struct line *line)
{
    if (line->begun)
        putc(',', line->file);
    line->begun = true;
}

/* RFC 4180: quoted where it must be. */
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

/* What is not known is empty. */
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

static void put_times(struct line *line, const struct gf_timing *times)
{
    const double value[] = {times->median_s, times->least_s, times->most_s};
    put_whole(line, times->runs);
    for (int i = 0; i < 3; i++)
        put_number(line, times->runs ? value[i] * 1e3 : NAN);
}

static void put_kernel(struct line *line, const struct gf_compare_row *row)
{
    const struct gf_variant_info *const use = gf_compare_kernel(row);
    if (!use) {
        put_nothing(line, 9);
        return;
    }
    put_whole(line, row->kernels);
    put_text(line, use->name);
    put_size(line, use->grid);
    put_size(line, use->block);
    put_whole(line, use->cluster);
    put_whole(line, use->registers);
    put_whole(line, (double)use->shared_bytes);
    put_whole(line, (double)use->local_bytes);
    put_number(line, 100 * use->occupancy);
}

static void put_row(FILE *file, const struct gf_compare_group *group,
                    const struct gf_compare_row *row)
{
    struct line line = {.file = file};
    put_text(&line, group->statistic ? "statistic" : "stage");
    put_text(&line, group->name);
    put_text(&line, row->name);
    put_whole(&line, row->chosen);
    put_text(&line, row->refused);
    put_times(&line, &row->warm);
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
    put_times(&line, &run->total);
    put_nothing(&line, 16);
    put_whole(&line, run->total.runs ? run->lanes : NAN);
    put_whole(&line, run->total.runs ? run->band_rows : NAN);
    put_text(&line, run->options.host_memory == GF_HOST_PAGEABLE ? "pageable" : "pinned");
    put_text(&line, run->options.transfer == GF_TRANSFER_ZERO_COPY ? "zero-copy" : "copy");
    put_whole(&line, !run->options.no_fuse);
    put_number(&line, run->window.runs ? run->window.median_s * 1e3 : NAN);
    put_number(&line, run->overlap);
    put_number(&line, run->estimate_s * 1e3);
    putc('\n', file);
}

void gf_compare_csv(const struct gf_comparison *compare, FILE *file)
{
    struct line head = {.file = file};
    const struct gf_report_key *column;
    for (int i = 0; (column = gf_compare_column_at(i)); i++)
        put_text(&head, column->path);
    putc('\n', file);
    for (int g = 0; g < compare->groups; g++) {
        for (int i = 0; i < compare->group[g].rows; i++)
            put_row(file, &compare->group[g], &compare->group[g].row[i]);
    }
    for (int i = 0; i < compare->runs; i++)
        put_run(file, &compare->run[i], !i);
}
