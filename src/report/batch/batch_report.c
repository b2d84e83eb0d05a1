/* Sums up the log of a batch, and puts the summary on the page (report/page/page.h). */
#include "report/batch/batch_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/text/json.h"

static const char *const stage_names[] = {"decode", "upload", "filter", "download", "encode"};

static double stage_of(const struct gf_stage_times *ms, int stage)
{
    const double times[] = {ms->decode, ms->upload, ms->filter, ms->download, ms->encode};
    return times[stage];
}

/* Counts a picture with that text; adds the text if it is new. Returns its index, or -1 when out of
 * memory. */
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

/* Counts a failure by its message without the picture's name, so that equal reasons count together.
 * Once there are MESSAGES_MAX messages, all new ones count as one. */
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
    GF_ALLOCATED(GF_GROW(report->picture, report->pictures), error);
    struct gf_batch_picture *const picture = &report->picture[report->pictures];
    *picture = (struct gf_batch_picture){.input = strdup(entry->input),
                                         .message = -1,
                                         .way = -1,
                                         .outcome = entry->outcome,
                                         .width = entry->width,
                                         .height = entry->height,
                                         .finished_s = finished_s,
                                         .ms = entry->ms};
    GF_ALLOCATED(picture->input, error);
    report->pictures++;
    if (entry->outcome == GF_OUTCOME_FAILED &&
        (picture->message = count_message(report, entry)) < 0)
        return gf_fail_memory(error);
    if (entry->outcome == GF_OUTCOME_DONE && (picture->way = count_way(report, entry)) < 0)
        return gf_fail_memory(error);
    return GF_OK;
}

static int by_end(const void *a, const void *b)
{
    const struct gf_batch_picture *const x = a, *const y = b;
    return (x->finished_s > y->finished_s) - (x->finished_s < y->finished_s);
}

/* Returns the median of sorted values, and the first and third quartile as least and most. */
static struct gf_timing quartiles(const double *ms, size_t count)
{
    if (!count)
        return (struct gf_timing){0};
    return (struct gf_timing){.runs = count < INT32_MAX ? (int)count : INT32_MAX,
                              .median_s = (ms[(count - 1) / 2] + ms[count / 2]) / 2 * 1e-3,
                              .least_s = ms[count / 4] * 1e-3,
                              .most_s = ms[count - 1 - count / 4] * 1e-3};
}

/* Computes the quartiles of a stage's times; `stage` is -1 for the time of a whole picture.
 * `scratch` has room for all pictures. */
static struct gf_timing timing_of(const struct gf_batch_report *report, int stage, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < report->pictures; i++) {
        const struct gf_batch_picture *const picture = &report->picture[i];
        if (picture->outcome == GF_OUTCOME_DONE)
            scratch[count++] = stage < 0 ? picture->ms.total : stage_of(&picture->ms, stage);
    }
    qsort(scratch, count, sizeof *scratch, gf_compare_doubles);
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
        /* The batch began when its first picture began, before that picture ended. */
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

/* Computes how long at least one picture was being processed. Goes through the pictures from the
 * one that ended last to the one that ended first. */
static void add_work(struct gf_batch_report *report)
{
    double begin_s = INFINITY; /* the earliest start of the pictures looked at so far */
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
    GF_ALLOCATED(scratch, error);
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

/* ---- JSON for the page; nothing else reads it ---- */

static void put_times(struct gf_json *json, const char *name, const struct gf_timing *timing)
{
    static const char *const ends[] = {"ms", "least_ms", "most_ms"};
    const double seconds[] = {timing->median_s, timing->least_s, timing->most_s};
    for (int i = 0; i < 3; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s_%s", name, ends[i]);
        gf_json_number(json, key, timing->runs ? seconds[i] * 1e3 : NAN, 6);
    }
}

static void put_stages(struct gf_json *json, const struct gf_batch_report *report)
{
    gf_json_array(json, "stages", GF_JSON_LINES);
    for (int i = 0; i < GF_BATCH_STAGES; i++) {
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "name", stage_names[i]);
        gf_json_number(json, "all_ms", report->stage_ms[i], 3);
        put_times(json, "picture", &report->stage[i]);
        gf_json_end(json);
    }
    gf_json_end(json);
}

static void put_ways(struct gf_json *json, const struct gf_batch_report *report)
{
    gf_json_array(json, "ways", GF_JSON_LINES);
    for (int i = 0; i < report->ways; i++) {
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "text", report->way[i].text);
        gf_json_number(json, "pictures", (double)report->way[i].pictures, 0);
        gf_json_end(json);
    }
    gf_json_end(json);
}

static void put_outliers(struct gf_json *json, const struct gf_batch_report *report)
{
    gf_json_array(json, "outliers", GF_JSON_LINES);
    for (int i = 0; i < report->outliers; i++) {
        const struct gf_batch_picture *const picture = &report->picture[report->outlier[i]];
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "input", picture->input);
        gf_json_number(json, "width", picture->width, 0);
        gf_json_number(json, "height", picture->height, 0);
        gf_json_number(json, "total_ms", picture->ms.total, 3);
        gf_json_number(json, "decode_ms", picture->ms.decode, 3);
        gf_json_number(json, "filter_ms", picture->ms.filter, 3);
        gf_json_number(json, "encode_ms", picture->ms.encode, 3);
        gf_json_end(json);
    }
    gf_json_end(json);
}

/* Writes the failures by their message, each with the names of its first pictures. */
static void put_failures(struct gf_json *json, const struct gf_batch_report *report)
{
    enum { NAMES_MAX = 5 };
    gf_json_array(json, "failures", GF_JSON_LINES);
    for (int i = 0; i < report->messages; i++) {
        int named = 0;
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "message", report->message[i].text);
        gf_json_number(json, "pictures", (double)report->message[i].pictures, 0);
        gf_json_array(json, "names", GF_JSON_COMPACT);
        for (size_t k = 0; k < report->pictures && named < NAMES_MAX; k++) {
            if (report->picture[k].message != i)
                continue;
            gf_json_string(json, NULL, report->picture[k].input);
            named++;
        }
        gf_json_end(json);
        gf_json_end(json);
    }
    gf_json_end(json);
}

void gf_batch_page(struct gf_page *page, const struct gf_batch_report *report, const char *name)
{
    struct gf_json json = gf_json_begin(gf_page_part(page, "batch", name));
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_number(&json, "done", (double)report->done, 0);
    gf_json_number(&json, "failed", (double)report->failed, 0);
    gf_json_number(&json, "skipped", (double)report->skipped, 0);
    gf_json_number(&json, "damaged", (double)report->damaged, 0);
    gf_json_figure(&json, "rate", report->rate);
    gf_json_figure(&json, "work_s", report->work_s);
    gf_json_figure(&json, "span_s", report->end_s - report->begin_s);
    gf_json_number(&json, "runs", report->total.runs, 0);
    put_times(&json, "total", &report->total);
    gf_json_array(&json, "slices", GF_JSON_COMPACT);
    for (int i = 0; i < GF_BATCH_SLICES; i++)
        gf_json_number(&json, NULL, (double)report->slice[i], 0);
    gf_json_end(&json);
    put_stages(&json, report);
    put_ways(&json, report);
    gf_json_figure(&json, "fence_ms", report->fence_ms);
    gf_json_number(&json, "beyond", (double)report->beyond, 0);
    put_outliers(&json, report);
    put_failures(&json, report);
    gf_json_end(&json);
}
