#include <math.h>

#include "report/batch/batch_report.h"
#include "report/page/html.h"
#include "report/text.h"

static void put_facts(FILE *file, const struct gf_batch_report *report)
{
    char text[64];
    gf_html(file, "<dl class=\"facts\">");
    snprintf(text, sizeof text, "%zu", report->done);
    gf_html_fact(file, "pictures done", text);
    snprintf(text, sizeof text, "%zu", report->failed);
    gf_html_fact(file, "failed", text);
    snprintf(text, sizeof text, "%zu", report->skipped);
    gf_html_fact(file, "skipped", text);
    gf_text_number(report->rate, 1, "", text, sizeof text);
    gf_html_fact(file, "pictures a second", text);
    if (report->rate > 0) {
        gf_text_time(report->work_s, text, sizeof text);
        gf_html_fact(file, "in work", text);
        gf_text_time(report->end_s - report->begin_s, text, sizeof text);
        gf_html_fact(file, "from first to last", text);
    }
    if (report->total.runs) {
        gf_text_time(report->total.median_s, text, sizeof text);
        gf_html_fact(file, "a picture, median", text);
    }
    gf_html(file, "</dl>\n");
    if (report->most >= 0)
        gf_html(file,
                "<div class=\"says\"><p><strong>%s</strong> takes most: %.0f%% of the work of all "
                "threads and lanes together.</p></div>\n",
                gf_batch_stage_name(report->most),
                100 * report->stage_ms[report->most] / report->work_ms);
}

static void put_rate(FILE *file, const struct gf_batch_report *report)
{
    struct gf_chart_point point[GF_BATCH_SLICES];
    const double slice_s = report->work_s / GF_BATCH_SLICES;
    if (!(report->rate > 0) || report->done < GF_BATCH_SLICES)
        return;
    for (int i = 0; i < GF_BATCH_SLICES; i++)
        point[i] = (struct gf_chart_point){(i + 0.5) * slice_s, (double)report->slice[i] / slice_s,
                                           NAN, NAN};
    const struct gf_chart_series series = {
        .name = "pictures a second", .point = point, .points = GF_BATCH_SLICES, .plain = true};
    struct gf_chart_mark mean = {.x = NAN, .y = report->rate};
    snprintf(mean.name, sizeof mean.name, "mean %.1f", report->rate);
    const struct gf_chart chart = {.title = "Pictures a second",
                                   .x_name = "seconds of work",
                                   .y_name = "pictures a second",
                                   .series = &series,
                                   .count = 1,
                                   .mark = &mean,
                                   .marks = 1};
    gf_html_chart(file, &chart);
}

static void put_stages(FILE *file, const struct gf_batch_report *report)
{
    gf_html(file, "<h3>Where the work is</h3>\n<div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">stage</th><th scope=\"col\" class=\"n\">all, s</th><th></th>"
                  "<th scope=\"col\" class=\"n\">a picture, ms</th>"
                  "<th scope=\"col\" class=\"n\">middle half, ms</th></tr></thead><tbody>\n");
    for (int i = 0; i < GF_BATCH_STAGES; i++) {
        const struct gf_timing *const stage = &report->stage[i];
        if (report->stage_ms[i] <= 0)
            continue;
        gf_html(file, "<tr class=\"%s\"><th scope=\"row\">%s</th>",
                i == report->most ? "chosen" : "", gf_batch_stage_name(i));
        gf_html_cell(file, report->stage_ms[i] * 1e-3, 3, "");
        gf_html_bar(file, report->stage_ms[i] / report->stage_ms[report->most], i, false);
        gf_html_cell(file, stage->median_s * 1e3, 3, "");
        gf_html(file, "<td class=\"n\">%.3f to %.3f</td></tr>\n", stage->least_s * 1e3,
                stage->most_s * 1e3);
    }
    gf_html(file, "</tbody></table></div>\n");
}

static void put_ways(FILE *file, const struct gf_batch_report *report)
{
    if (!report->ways)
        return;
    gf_html(file, "<h3>Device and codec</h3>\n<div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">device</th><th scope=\"col\" class=\"n\">pictures</th></tr>"
                  "</thead><tbody>\n");
    for (int i = 0; i < report->ways; i++)
        gf_html(file, "<tr><th scope=\"row\">%s</th><td class=\"n\">%zu</td></tr>\n",
                report->way[i].text, report->way[i].pictures);
    gf_html(file, "</tbody></table></div>\n");
}

/* Writes the names of the first pictures that failed for this reason. */
static void put_names(FILE *file, const struct gf_batch_report *report, int message)
{
    enum { NAMES_MAX = 5 };
    int named = 0;
    for (size_t i = 0; i < report->pictures && named <= NAMES_MAX; i++) {
        if (report->picture[i].message != message)
            continue;
        if (named < NAMES_MAX)
            gf_html(file, "%s%s", named ? ", " : "", report->picture[i].input);
        named++;
    }
    gf_html(file, named > NAMES_MAX ? " and others" : "");
}

static void put_failures(FILE *file, const struct gf_batch_report *report)
{
    if (!report->messages)
        return;
    gf_html(file, "<h3>Failures</h3>\n<div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">message</th><th scope=\"col\" class=\"n\">pictures</th>"
                  "<th scope=\"col\">of them</th></tr></thead><tbody>\n");
    for (int i = 0; i < report->messages; i++) {
        gf_html(file, "<tr><th scope=\"row\">%s</th><td class=\"n\">%zu</td><td>",
                report->message[i].text, report->message[i].pictures);
        put_names(file, report, i);
        gf_html(file, "</td></tr>\n");
    }
    gf_html(file, "</tbody></table></div>\n");
}

static void put_outliers(FILE *file, const struct gf_batch_report *report)
{
    if (!report->outliers)
        return;
    gf_html(
        file,
        "<h3>Pictures that took far longer</h3>\n<p class=\"small\">%zu took more than %.1f ms, "
        "past the middle half by three times its length%s.</p>\n"
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">picture</th>"
        "<th scope=\"col\" class=\"n\">size</th><th scope=\"col\" class=\"n\">ms</th><th></th>"
        "<th scope=\"col\" class=\"n\">of the median</th>"
        "<th scope=\"col\" class=\"n\">decode</th><th scope=\"col\" class=\"n\">filter</th>"
        "<th scope=\"col\" class=\"n\">encode</th></tr></thead><tbody>\n",
        report->beyond, report->fence_ms,
        report->beyond > (size_t)report->outliers ? "; the slowest are" : "");
    const double most = report->picture[report->outlier[0]].ms.total;
    for (int i = 0; i < report->outliers; i++) {
        const struct gf_batch_picture *const picture = &report->picture[report->outlier[i]];
        gf_html(file, "<tr><th scope=\"row\">%s</th><td class=\"n\">%dx%d</td>", picture->input,
                picture->width, picture->height);
        gf_html_cell(file, picture->ms.total, 1, "");
        gf_html_bar(file, picture->ms.total / most, 0, false);
        gf_html_cell(file, picture->ms.total * 1e-3 / report->total.median_s, 1, "\xc3\x97");
        gf_html_cell(file, picture->ms.decode, 1, "");
        gf_html_cell(file, picture->ms.filter, 1, "");
        gf_html_cell(file, picture->ms.encode, 1, "");
        gf_html(file, "</tr>\n");
    }
    gf_html(file, "</tbody></table></div>\n");
}

void gf_batch_html(FILE *file, const struct gf_batch_report *report, const char *id,
                   const char *heading)
{
    gf_html(file, "<section id=\"%s\">\n", id);
    if (*heading)
        gf_html(file, "<h2>%s</h2>\n", heading);
    put_facts(file, report);
    put_rate(file, report);
    if (report->most >= 0)
        put_stages(file, report);
    put_ways(file, report);
    put_outliers(file, report);
    put_failures(file, report);
    if (report->damaged)
        gf_html(file,
                "<p class=\"small\">Lines of the log that a killed run left unfinished: %zu.</p>\n",
                report->damaged);
    if (isnan(report->rate) && report->done)
        gf_html(file,
                "<p class=\"small\">This log does not say when each picture was done, so that "
                "nothing tells pictures a second.</p>\n");
    gf_html(file, "</section>\n");
}
