/* Writes a comparison as a part of a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html.h"
#include "report/text.h"
#include "study/report/study_report.h"

/* The colours of the variant that the chain runs, of the naive variant, and of the others. */
enum { CHOSEN = 0, NAIVE = 7, OTHER = 4 };

/* Returns the index of the row that is shown at a place. On a GPU row 0 is the default variant,
 * which is shown last. */
static int row_at(const struct gf_comparison *comparison, const struct gf_compare_group *group,
                  int place)
{
    return comparison->on_cuda ? (place + 1) % group->rows : place;
}

static double slowest(const struct gf_compare_group *group)
{
    double most = 0;
    for (int i = 0; i < group->rows; i++) {
        if (group->row[i].warm.runs)
            most = fmax(most, group->row[i].warm.most_s);
    }
    return most;
}

/* Writes the time as a bar, with the spread of the runs drawn across its end. */
static void put_time_bar(FILE *file, const struct gf_timing *timing, double most_s, int series)
{
    if (!timing->runs || most_s <= 0) {
        gf_html(file, "<td class=\"bar\"></td>");
        return;
    }
    gf_html(file,
            "<td class=\"bar\"><b><i class=\"s%d\" style=\"width:%.2f%%\"></i>"
            "<u style=\"left:%.2f%%;width:%.2f%%\"></u></b></td>",
            series, 100 * timing->median_s / most_s, 100 * timing->least_s / most_s,
            100 * (timing->most_s - timing->least_s) / most_s);
}

static void put_kernel(FILE *file, const struct gf_compare_row *row)
{
    const struct gf_kernel_info *const kernel = gf_compare_kernel(row);
    gf_html_field(file, kernel ? kernel->registers : NAN, 0, "");
    gf_html_field(file, kernel ? (double)kernel->shared_bytes : NAN, 0, "");
    gf_html_field(file, kernel ? (double)kernel->local_bytes : NAN, 0, "");
    gf_html_field(file, kernel ? 100 * kernel->occupancy : NAN, 0, "%");
}

static void put_row(FILE *file, const struct gf_comparison *comparison,
                    const struct gf_compare_group *group, const struct gf_compare_row *row,
                    double most_s)
{
    const int series = row->chosen                                             ? CHOSEN
                       : row == group->row + group->naive && group->naive >= 0 ? NAIVE
                                                                               : OTHER;
    gf_html(file, "<tr class=\"%s\"><th scope=\"row\">%s", row->chosen ? "chosen" : "", row->name);
    if (row->summary && comparison->on_cuda)
        gf_html(file, "<span class=\"what\">%s</span>", row->summary);
    gf_html(file, "</th>");
    if (*row->refused) {
        gf_html(file, "<td colspan=\"%d\" class=\"soft\">not run: %s</td></tr>\n",
                comparison->on_cuda ? 11 : 7, row->refused);
        return;
    }
    const bool wrong = row->difference > row->tolerance;
    const double ms = row->warm.median_s * 1e3;
    gf_html_field(file, row->warm.runs ? ms : NAN, gf_text_decimals(ms), "");
    put_time_bar(file, &row->warm, most_s, series);
    gf_html_field(file, row->over_naive, row->over_naive < 10 ? 2 : 1, "\xc3\x97");
    gf_html_field(file, row->over_cpu, row->over_cpu < 10 ? 2 : 1, "\xc3\x97");
    gf_html_field(file, row->copy_percent, 1, "%");
    gf_html_bar(file, row->copy_percent / 100, series, true);
    if (comparison->on_cuda)
        put_kernel(file, row);
    if (wrong)
        gf_html(file, "<td class=\"n bad\">%.0f: wrong</td></tr>\n", row->difference);
    else {
        gf_html_field(file, row->difference, 0, "");
        gf_html(file, "</tr>\n");
    }
}

static void roofline_html(FILE *file, const struct gf_comparison *comparison,
                          const struct gf_compare_group *group);

static void put_group(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group)
{
    char bytes[32], in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE], cpu[32];
    gf_text_bytes(group->bytes, bytes, sizeof bytes);
    gf_text_time(group->cpu.median_s, cpu, sizeof cpu);
    const bool same = group->statistic || !memcmp(&group->in, &group->out, sizeof group->in);
    gf_html(file,
            "<h3>%s</h3>\n<p class=\"small\">%s%s%s; at least %s must move; CPU, %d thread%s: %s"
            "</p>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">%s</th>"
            "<th scope=\"col\" class=\"n\">ms</th><th></th><th scope=\"col\" class=\"n\">%s</th>"
            "<th scope=\"col\" class=\"n\">over CPU</th>"
            "<th scope=\"col\" class=\"n\">of copy</th><th></th>",
            group->name, gf_text_format(group->in, in), same ? "" : " to ",
            same ? "" : gf_text_format(group->out, out), bytes, comparison->threads,
            gf_text_plural(comparison->threads), cpu,
            comparison->on_cuda ? "variant, from naive to default" : "threads",
            comparison->on_cuda ? "over naive" : "over first");
    if (comparison->on_cuda)
        gf_html(file, "<th scope=\"col\" class=\"n\">regs</th>"
                      "<th scope=\"col\" class=\"n\">shared</th>"
                      "<th scope=\"col\" class=\"n\">spills</th>"
                      "<th scope=\"col\" class=\"n\">occ.</th>");
    gf_html(file, "<th scope=\"col\" class=\"n\">diff.</th></tr></thead><tbody>\n");
    for (int i = 0; i < group->rows; i++)
        put_row(file, comparison, group, &group->row[row_at(comparison, group, i)], slowest(group));
    gf_html(file, "</tbody></table></div>\n");
    roofline_html(file, comparison, group);
    for (int i = 0; i < group->rows; i++) {
        if (group->row[i].spot)
            gf_spot_html(file, group->row[i].name, group->row[i].spot);
    }
}

/* ---- the settings of the pipeline ---- */

/* Returns the value of a run whose name is the setting's name and a number, such as "lanes=4"; NaN
 * for other runs. */
static double setting(const struct gf_compare_run *run, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(run->name, name, length) || run->name[length] != '='
               ? NAN
               : strtod(run->name + length + 1, NULL);
}

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct gf_chart_point *)a)->x,
                 y = ((const struct gf_chart_point *)b)->x;
    return (x > y) - (x < y);
}

/* Fills total and estimate with a point for each run that sets only the setting `name`, in order of
 * its value. as_asked: the setting's value in run 0, which has the user's settings; with NaN run 0
 * gets no point. Returns the number of points. */
static int points_of(const struct gf_comparison *comparison, const char *name, double as_asked,
                     struct gf_chart_point *total, struct gf_chart_point *estimate)
{
    int count = 0;
    for (int i = 0; i < comparison->runs; i++) {
        const struct gf_compare_run *const run = &comparison->run[i];
        const double x = i ? setting(run, name) : as_asked;
        if (isnan(x) || !run->total.runs)
            continue;
        total[count] = (struct gf_chart_point){x, run->total.median_s * 1e3,
                                               run->total.least_s * 1e3, run->total.most_s * 1e3};
        estimate[count++] = (struct gf_chart_point){x, run->estimate_s * 1e3, 0, 0};
    }
    qsort(total, (size_t)count, sizeof *total, by_x);
    qsort(estimate, (size_t)count, sizeof *estimate, by_x);
    return count;
}

static void put_curve(FILE *file, const struct gf_comparison *comparison, const char *name,
                      double as_asked, const char *title, const char *x_name)
{
    struct gf_chart_point *const total = calloc(2 * (size_t)comparison->runs + 1, sizeof *total);
    if (!total)
        return;
    struct gf_chart_point *const estimate = total + comparison->runs;
    const int count = points_of(comparison, name, as_asked, total, estimate);
    const struct gf_chart_series series[] = {
        {.name = "measured", .point = total, .points = count},
        {.name = "the guide's estimate (9.1.2)", .point = estimate, .points = count}};
    const struct gf_chart chart = {.title = title,
                                   .x_name = x_name,
                                   .y_name = "ms, from memory to memory",
                                   .log_x = true,
                                   .series = series,
                                   .count = comparison->on_cuda ? 2 : 1};
    if (count > 1)
        gf_html_chart(file, &chart);
    free(total);
}

static void put_run(FILE *file, const struct gf_compare_run *run, double most_s, bool first)
{
    const double ms = run->total.median_s * 1e3;
    gf_html(file, "<tr class=\"%s\"><th scope=\"row\">%s</th>", first ? "chosen" : "", run->name);
    if (*run->refused) {
        gf_html(file, "<td colspan=\"6\" class=\"soft\">not run: %s</td></tr>\n", run->refused);
        return;
    }
    gf_html_field(file, ms, gf_text_decimals(ms), "");
    put_time_bar(file, &run->total, most_s, first ? CHOSEN : OTHER);
    gf_html_field(file, run->lanes, 0, "");
    gf_html_field(file, run->band_rows, 0, "");
    gf_html_field(file, 100 * run->overlap, 0, "%");
    gf_html_field(file, run->estimate_s * 1e3, gf_text_decimals(run->estimate_s * 1e3), "");
    gf_html(file, "</tr>\n");
}

static void put_runs(FILE *file, const struct gf_comparison *comparison)
{
    double most_s = 0;
    for (int i = 0; i < comparison->runs; i++)
        most_s = fmax(most_s, comparison->run[i].total.most_s);
    const double bands = comparison->runs ? comparison->run[0].band_rows : NAN;
    gf_html(file, "<h3>The whole chain, from memory to memory</h3>\n<div class=\"charts\">");
    put_curve(file, comparison, "lanes", NAN, "Bands in flight", "lanes");
    put_curve(file, comparison, "threads", NAN, "Threads of the CPU", "threads");
    put_curve(file, comparison, "band-rows", bands, "Size of the bands", "rows of a band");
    gf_html(file, "</div>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">setting</th>"
                  "<th scope=\"col\" class=\"n\">ms</th><th></th>"
                  "<th scope=\"col\" class=\"n\">lanes</th>"
                  "<th scope=\"col\" class=\"n\">band rows</th>"
                  "<th scope=\"col\" class=\"n\">overlap</th>"
                  "<th scope=\"col\" class=\"n\">estimate ms</th></tr></thead><tbody>\n");
    for (int i = 0; i < comparison->runs; i++)
        put_run(file, &comparison->run[i], most_s, !i);
    gf_html(file, "</tbody></table></div>\n");
}

static void put_facts(FILE *file, const struct gf_comparison *comparison)
{
    char text[280], in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    const bool same = !memcmp(&comparison->in, &comparison->out, sizeof comparison->in);
    gf_html(file, "<dl class=\"facts\">");
    snprintf(text, sizeof text, "%s (%s)", comparison->device, comparison->reason);
    gf_html(file, "<div class=\"wide\"><dt>device</dt><dd>%s</dd></div>", text);
    gf_html(file, "<div class=\"wide\"><dt>picture</dt><dd>%s%s%s</dd></div>",
            gf_text_format(comparison->in, in), same ? "" : " to ",
            same ? "" : gf_text_format(comparison->out, out));
    snprintf(text, sizeof text, "%d thread%s", comparison->threads,
             gf_text_plural(comparison->threads));
    gf_html_fact(file, "CPU", text);
    gf_text_number(comparison->copy_peak > 0 ? comparison->copy_peak * 1e-9 : NAN, 1, " GB/s", text,
                   sizeof text);
    gf_html_fact(file, "copy, read and written", text);
    if (comparison->upload_peak > 0) {
        snprintf(text, sizeof text, "%.1f and %.1f GB/s", comparison->upload_peak * 1e-9,
                 comparison->download_peak * 1e-9);
        gf_html_fact(file, "upload and download", text);
    }
    gf_html(file, "</dl>\n");
}

void gf_compare_html(FILE *file, const struct gf_comparison *comparison, const char *id,
                     const char *heading)
{
    gf_html(file, "<section id=\"%s\">\n", id);
    if (*heading)
        gf_html(file, "<h2>%s</h2>\n", heading);
    put_facts(file, comparison);
    for (int g = 0; g < comparison->groups; g++)
        put_group(file, comparison, &comparison->group[g]);
    if (comparison->runs)
        put_runs(file, comparison);
    gf_html(file,
            "<p class=\"small\">Shaded: what the chain runs. Bars end at the median of warm runs; "
            "the thin line is from the least to the most. Difference: the largest from the CPU's "
            "picture or counts, in steps.%s</p>\n</section>\n",
            comparison->on_cuda
                ? " Registers and spills (bytes of local memory) of a thread, shared "
                  "bytes of a block and theoretical occupancy are "
                  "of the kernel of least occupancy."
                : "");
}

/* ---- the roofs ---- */

/* Draws instructions against bytes: each variant of a stage below two roofs, which are the limits
 * of memory and of the schedulers (Williams, Waterman, Patterson 2009, with warp instructions
 * instead of operations, as Ding and Williams 2019). */

enum { VARIANTS_MOST = 24, ROOF_POINTS = 3 };

static struct gf_chart_point point_of(const struct gf_compare_group *group,
                                      const struct gf_compare_row *row)
{
    const double count = row->instructions;
    if (!row->warm.runs || !(group->bytes > 0) || !(row->warm.least_s > 0))
        return (struct gf_chart_point){NAN, NAN, NAN, NAN};
    return (struct gf_chart_point){.x = count / group->bytes,
                                   .y = count / row->warm.median_s,
                                   .least = count / row->warm.most_s,
                                   .most = count / row->warm.least_s};
}

/* Computes the roof: the limit of memory up to the knee, and the limit of the schedulers from there
 * on. */
static void make_roof(const struct gf_comparison *comparison, double least, double most,
                      struct gf_chart_point roof[ROOF_POINTS])
{
    const double knee = comparison->issue_peak / comparison->copy_peak;
    const double x[] = {least, fmin(fmax(knee, least), most), most};
    for (int i = 0; i < ROOF_POINTS; i++) {
        const double y = fmin(x[i] * comparison->copy_peak, comparison->issue_peak);
        roof[i] = (struct gf_chart_point){x[i], y, NAN, NAN};
    }
}

/* Draws a group's variants below the roofs; nothing if no instructions are known. */
static void roofline_html(FILE *file, const struct gf_comparison *comparison,
                          const struct gf_compare_group *group)
{
    struct gf_chart_series series[1 + VARIANTS_MOST];
    struct gf_chart_point point[VARIANTS_MOST], roof[ROOF_POINTS];
    double least = INFINITY, most = 0;
    int count = 1;
    for (int i = 0; i < group->rows && count <= VARIANTS_MOST; i++) {
        const struct gf_chart_point at = point_of(group, &group->row[i]);
        if (!(at.x > 0) || !(at.y > 0))
            continue;
        point[count - 1] = at;
        series[count] = (struct gf_chart_series){.point = &point[count - 1], .points = 1};
        snprintf(series[count++].name, sizeof series->name, "%s", group->row[i].name);
        least = fmin(least, at.x);
        most = fmax(most, at.x);
    }
    if (count == 1 || !(comparison->copy_peak > 0) || !(comparison->issue_peak > 0))
        return;
    make_roof(comparison, least / 2, most * 2, roof);
    series[0] = (struct gf_chart_series){
        "what a copy moves, and one instruction a cycle and scheduler", roof, ROOF_POINTS, true};
    const struct gf_chart chart = {.title = "Instructions against bytes",
                                   .x_name = "instructions of a warp for each byte that must move",
                                   .y_name = "instructions of a warp a second",
                                   .log_x = true,
                                   .log_y = true,
                                   .series = series,
                                   .count = count};
    gf_html_chart(file, &chart);
}
