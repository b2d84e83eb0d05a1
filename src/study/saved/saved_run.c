#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "study/saved/saved.h"

static double seconds(const struct gf_json_value *value, const char *key)
{
    return gf_json_number_of(value, key) * 1e-3;
}

/* Returns the number; 0 for NaN, which means that the file lacks it. */
static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static enum gf_span_kind kind_named(const char *name)
{
    int kind = 0;
    while (kind < GF_SPAN_KINDS && strcmp(gf_span_kind_name(kind), name))
        kind++;
    return kind < GF_SPAN_KINDS ? kind : GF_SPAN_STAGE;
}

/* Reads a row. `index` is the index of the row, which also identifies its stage. */
static void read_row(const struct gf_json_value *stage, int index,
                     struct gf_profile_report_row *row)
{
    *row = (struct gf_profile_report_row){.kind = kind_named(gf_json_text_of(stage, "kind")),
                                          .stage = index,
                                          .segment =
                                              gf_json_int_of(stage, "segment", 0, INT32_MAX, -1),
                                          .calls = gf_json_int_of(stage, "calls", 0, INT32_MAX, 0),
                                          .busy_s = known(seconds(stage, "busy_ms")),
                                          .bytes = known(gf_json_number_of(stage, "bytes")),
                                          .rate = known(gf_json_number_of(stage, "gb_s") * 1e9),
                                          .percent = gf_json_number_of(stage, "peak_percent")};
    gf_saved_text(stage, "name", row->name, sizeof row->name);
}

static void read_head(const struct gf_json_value *root, struct gf_profile *profile)
{
    *profile = (struct gf_profile){.wall_s = known(seconds(root, "wall_ms")),
                                   .lanes = gf_json_int_of(root, "lanes", 0, INT32_MAX, 0),
                                   .segments = gf_json_int_of(root, "segments", 0, INT32_MAX, 0),
                                   .band_rows = gf_json_int_of(root, "band_rows", 0, INT32_MAX, 0),
                                   .in = gf_saved_format(root, "in"),
                                   .out = gf_saved_format(root, "out"),
                                   .device_copy_peak = gf_saved_peak(root, "device_copy_gb_s"),
                                   .upload_peak = gf_saved_peak(root, "upload_gb_s"),
                                   .download_peak = gf_saved_peak(root, "download_gb_s")};
    gf_saved_text(root, "device", profile->device, sizeof profile->device);
    gf_saved_text(root, "reason", profile->reason, sizeof profile->reason);
}

/* Returns the next number of a list; 0 if there is none. */
static double next_number(const struct gf_json_value **at)
{
    const double number = *at && (*at)->type == GF_JSON_NUMBER ? (*at)->number : 0;
    *at = *at ? (*at)->next : NULL;
    return fabs(number) < 1e15 ? number : 0;
}

static void read_span(const struct gf_json_value *list, const struct gf_profile_report *report,
                      struct gf_span *span)
{
    const struct gf_json_value *at = list->type == GF_JSON_ARRAY ? list->first : NULL;
    const double row = next_number(&at), lane = next_number(&at);
    const bool known = row >= 0 && row < report->count;
    *span = (struct gf_span){.kind = known ? report->row[(int)row].kind : GF_SPAN_START,
                             .stage = known ? (int)row : -1,
                             .lane = lane >= 0 && lane < 4096 ? (int)lane : -1};
    span->begin_s = fmax(0, next_number(&at)) * 1e-3;
    span->end_s = fmax(span->begin_s, next_number(&at) * 1e-3);
    span->bytes = (size_t)fmax(0, next_number(&at));
}

static enum gf_status read_spans(const struct gf_json_value *list, struct gf_saved *saved,
                                 struct gf_error *error)
{
    saved->span = calloc(GF_PROFILE_SPANS_SAVED, sizeof *saved->span);
    if (!saved->span)
        return gf_fail_memory(error);
    saved->profile.spans = saved->span;
    for (; list && saved->profile.span_count < GF_PROFILE_SPANS_SAVED; list = list->next)
        read_span(list, &saved->report, &saved->span[saved->profile.span_count++]);
    return GF_OK;
}

enum gf_status gf_saved_read_run(const struct gf_json_value *root, struct gf_saved *saved,
                                 struct gf_error *error)
{
    const struct gf_json_value *stage = gf_json_first_of(root, "stages");
    struct gf_profile_report *const report = &saved->report;
    read_head(root, &saved->profile);
    *report = (struct gf_profile_report){
        .start_end_s = known(seconds(root, "start_ms")),
        .sum_s = known(seconds(root, "work_ms")),
        .union_s = known(seconds(root, "busy_ms")),
        .overlap = known(gf_json_number_of(root, "overlap")),
        .pictures = (size_t)gf_json_int_of(root, "pictures", 1, INT32_MAX, 1),
        .elapsed_s = saved->profile.wall_s,
    };
    const double pictures_per_s = gf_json_number_of(root, "pictures_per_s");
    if (pictures_per_s > 0)
        report->elapsed_s = (double)report->pictures / pictures_per_s;
    report->row = calloc(gf_json_count(stage) + 1, sizeof *report->row);
    if (!report->row)
        return gf_fail_memory(error);
    for (; stage; stage = stage->next, report->count++)
        read_row(stage, report->count, &report->row[report->count]);
    gf_profile_report_judge(report, &saved->profile);
    return read_spans(gf_json_first_of(root, "spans"), saved, error);
}
