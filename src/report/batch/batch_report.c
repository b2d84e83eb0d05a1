/* Sums up the log of a batch, and writes the summary on the page. */
#include "report/batch/batch_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "report/page/html.h"
#include "report/text.h"

const char *gf_batch_stage_name(int stage)
{
    static const char *const names[] = {"decode", "upload", "filter", "download", "encode"};
    return names[stage];
}

static double stage_of(const struct gf_stage_times *ms, int stage)
{
    const double times[] = {ms->decode, ms->upload, ms->filter, ms->download, ms->encode};
    return times[stage];
}

/* Counts the text. Returns its index, or -1 if memory runs out. */
static int count_text(struct gf_batch_count **count, int *counts, const char *text)
{
    for (int i = 0; i < *counts; i++) {
        if (!strcmp((*count)[i].text, text)) {
            (*count)[i].pictures++;
            return i;
        }
    }
    if (!GF_GROW(*count, *counts))
        return -1;
    (*count)[*counts] = (struct gf_batch_count){strdup(text), 1};
    return (*count)[*counts].text ? (*counts)++ : -1;
}

/* Counts a failure's message without the picture's name, so that equal reasons are one. Above
 * MESSAGES_MAX, further messages are counted together. */
static int count_message(struct gf_batch_report *report, const struct gf_batch_log_entry *entry)
{
    enum { MESSAGES_MAX = 200 };
    const char *message = entry->message ? entry->message : "";
    const size_t length = strlen(entry->input);
    if (length && !strncmp(message, entry->input, length) && !strncmp(message + length, ": ", 2))
        message += length + 2;
    if (report->messages >= MESSAGES_MAX)
        message = "other reasons";
    return count_text(&report->message, &report->messages, message);
}

static int count_way(struct gf_batch_report *report, const struct gf_batch_log_entry *entry)
{
    char way[300];
    snprintf(way, sizeof way, "%.100s; decoder %.60s, encoder %.60s",
             entry->device ? entry->device : "", entry->decoder ? entry->decoder : "",
             entry->encoder ? entry->encoder : "");
    return count_text(&report->way, &report->ways, way);
}

enum gf_status gf_batch_report_add(struct gf_batch_report *report,
                                   const struct gf_batch_log_entry *entry, double finished_s,
                                   struct gf_error *error)
{
    if (!GF_GROW(report->picture, report->pictures))
        return gf_fail_memory(error);
    struct gf_batch_picture *const picture = &report->picture[report->pictures];
    *picture = (struct gf_batch_picture){.input = strdup(entry->input),
                                         .message = -1,
                                         .way = -1,
                                         .outcome = entry->outcome,
                                         .width = entry->width,
                                         .height = entry->height,
                                         .finished_s = finished_s,
                                         .ms = entry->ms};
    if (!picture->input)
        return gf_fail_memory(error);
    report->pictures++;
    if (entry->outcome == GF_OUTCOME_FAILED &&
        (picture->message = count_message(report, entry)) < 0)
        return gf_fail_memory(error);
    if (entry->outcome == GF_OUTCOME_DONE && (picture->way = count_way(report, entry)) < 0)
        return gf_fail_memory(error);
    return GF_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_end(const void *a, const void *b)
{
    const struct gf_batch_picture *const x = a, *const y = b;
    return (x->finished_s > y->finished_s) - (x->finished_s < y->finished_s);
}

/* Returns the median of sorted values, and the ends of their middle half. */
static struct gf_timing quartiles(const double *ms, size_t count)
{
    if (!count)
        return (struct gf_timing){0};
    return (struct gf_timing){.runs = count < INT32_MAX ? (int)count : INT32_MAX,
                              .median_s = (ms[(count - 1) / 2] + ms[count / 2]) / 2 * 1e-3,
                              .least_s = ms[count / 4] * 1e-3,
                              .most_s = ms[count - 1 - count / 4] * 1e-3};
}

/* Computes a stage's times. `stage` is -1 for the whole picture. `scratch` has room for all
 * pictures. */
static struct gf_timing timing_of(const struct gf_batch_report *report, int stage, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < report->pictures; i++) {
        const struct gf_batch_picture *const picture = &report->picture[i];
        if (picture->outcome == GF_OUTCOME_DONE)
            scratch[count++] = stage < 0 ? picture->ms.total : stage_of(&picture->ms, stage);
    }
    qsort(scratch, count, sizeof *scratch, by_value);
    return quartiles(scratch, count);
}

static void add_counts(struct gf_batch_report *report)
{
    report->begin_s = INFINITY;
    report->end_s = -INFINITY;
    for (size_t i = 0; i < report->pictures; i++) {
        const struct gf_batch_picture *const picture = &report->picture[i];
        report->done += picture->outcome == GF_OUTCOME_DONE;
        report->failed += picture->outcome == GF_OUTCOME_FAILED;
        report->skipped += picture->outcome == GF_OUTCOME_SKIPPED;
        if (picture->outcome != GF_OUTCOME_DONE)
            continue;
        /* The batch began before its first picture ended. */
        report->begin_s = fmin(report->begin_s, picture->finished_s - picture->ms.total * 1e-3);
        report->end_s = fmax(report->end_s, picture->finished_s);
        for (int stage = 0; stage < GF_BATCH_STAGES; stage++)
            report->stage_ms[stage] += stage_of(&picture->ms, stage);
    }
    for (int stage = 0; stage < GF_BATCH_STAGES; stage++) {
        report->work_ms += report->stage_ms[stage];
        if (report->stage_ms[stage] > 0 &&
            (report->most < 0 || report->stage_ms[stage] > report->stage_ms[report->most]))
            report->most = stage;
    }
}

/* Computes the time during which at least one picture was in work, from the last end to the
 * first. */
static void add_work(struct gf_batch_report *report)
{
    double begin_s = INFINITY; /* the earliest begin of the pictures so far */
    for (size_t i = report->pictures; i-- > 0;) {
        struct gf_batch_picture *const picture = &report->picture[i];
        if (picture->outcome != GF_OUTCOME_DONE || !isfinite(picture->finished_s))
            continue;
        const double from_s = picture->finished_s - picture->ms.total * 1e-3;
        picture->left_s = report->work_s - fmax(0, picture->finished_s - begin_s);
        if (from_s < begin_s) {
            report->work_s += fmin(begin_s, picture->finished_s) - from_s;
            begin_s = from_s;
        }
    }
}

static void add_slices(struct gf_batch_report *report)
{
    if (!(report->work_s > 0) || !isfinite(report->work_s)) {
        report->rate = report->begin_s = report->end_s = NAN;
        return;
    }
    report->rate = (double)report->done / report->work_s;
    for (size_t i = 0; i < report->pictures; i++) {
        const struct gf_batch_picture *const picture = &report->picture[i];
        const double at = (1 - picture->left_s / report->work_s) * GF_BATCH_SLICES;
        if (picture->outcome == GF_OUTCOME_DONE && at >= 0)
            report->slice[at < GF_BATCH_SLICES ? (int)at : GF_BATCH_SLICES - 1]++;
    }
}

/* Finds pictures beyond Tukey's outer fence, which is the middle half's end plus three times its
 * length. If most pictures take equally long, the fence is twice the median. */
static void add_outliers(struct gf_batch_report *report)
{
    const struct gf_timing *const total = &report->total;
    report->fence_ms =
        1e3 * fmax(total->most_s + 3 * (total->most_s - total->least_s), 2 * total->median_s);
    for (size_t i = 0; i < report->pictures; i++) {
        const struct gf_batch_picture *const picture = &report->picture[i];
        if (picture->outcome != GF_OUTCOME_DONE || !(picture->ms.total > report->fence_ms))
            continue;
        report->beyond++;
        int place = report->outliers;
        while (place && report->picture[report->outlier[place - 1]].ms.total < picture->ms.total)
            place--;
        if (place == GF_BATCH_OUTLIERS_MAX)
            continue;
        report->outliers += report->outliers < GF_BATCH_OUTLIERS_MAX;
        memmove(&report->outlier[place + 1], &report->outlier[place],
                ((size_t)report->outliers - 1 - (size_t)place) * sizeof *report->outlier);
        report->outlier[place] = i;
    }
}

enum gf_status gf_batch_report_finish(struct gf_batch_report *report, struct gf_error *error)
{
    double *const scratch = malloc((report->pictures + 1) * sizeof *scratch);
    if (!scratch)
        return gf_fail_memory(error);
    report->most = -1;
    qsort(report->picture, report->pictures, sizeof *report->picture, by_end);
    add_counts(report);
    add_work(report);
    add_slices(report);
    report->total = timing_of(report, -1, scratch);
    for (int stage = 0; stage < GF_BATCH_STAGES; stage++)
        report->stage[stage] = timing_of(report, stage, scratch);
    add_outliers(report);
    free(scratch);
    return GF_OK;
}

void gf_batch_report_free(struct gf_batch_report *report)
{
    for (size_t i = 0; i < report->pictures; i++)
        free(report->picture[i].input);
    for (int i = 0; i < report->messages; i++)
        free(report->message[i].text);
    for (int i = 0; i < report->ways; i++)
        free(report->way[i].text);
    free(report->picture);
    free(report->message);
    free(report->way);
    *report = (struct gf_batch_report){0};
}

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
        gf_html_field(file, report->stage_ms[i] * 1e-3, 3, "");
        gf_html_bar(file, report->stage_ms[i] / report->stage_ms[report->most], i, false);
        gf_html_field(file, stage->median_s * 1e3, 3, "");
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
        gf_html_field(file, picture->ms.total, 1, "");
        gf_html_bar(file, picture->ms.total / most, 0, false);
        gf_html_field(file, picture->ms.total * 1e-3 / report->total.median_s, 1, "\xc3\x97");
        gf_html_field(file, picture->ms.decode, 1, "");
        gf_html_field(file, picture->ms.filter, 1, "");
        gf_html_field(file, picture->ms.encode, 1, "");
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
