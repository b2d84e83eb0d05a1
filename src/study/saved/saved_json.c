/* Reads the JSON of profiles, comparisons and labs, and the logs of batches, back into the
 * structs from which they were written. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "study/report/study_report.h"
#include "study/saved/saved.h"

/* Read values that several kinds of saved reports contain. */
static struct gf_format saved_format(const struct gf_json_value *value, const char *key)
{
    const struct gf_json_value *const format = gf_json_member(value, key);
    return (struct gf_format){.width = gf_json_int_of(format, "width", 0, INT32_MAX, 0),
                              .height = gf_json_int_of(format, "height", 0, INT32_MAX, 0),
                              .channels = gf_json_int_of(format, "channels", 1, 4, 0),
                              .bits = gf_json_int_of(format, "bits", 1, 16, 0)};
}

/* Returns bytes per second; 0 if they were not measured. */
static double saved_peak(const struct gf_json_value *root, const char *key)
{
    const double gb_s = gf_json_number_of(gf_json_member(root, "peaks"), key);
    return gb_s > 0 ? gb_s * 1e9 : 0;
}

void gf_saved_text(const struct gf_json_value *value, const char *key, char *text, size_t size)
{
    snprintf(text, size, "%s", gf_json_text_of(value, key));
}

/* ---- a profile ---- */

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
static void read_profile_row(const struct gf_json_value *stage, int index,
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

static void read_profile_head(const struct gf_json_value *root, struct gf_profile *profile)
{
    *profile = (struct gf_profile){.wall_s = known(seconds(root, "wall_ms")),
                                   .lanes = gf_json_int_of(root, "lanes", 0, INT32_MAX, 0),
                                   .segments = gf_json_int_of(root, "segments", 0, INT32_MAX, 0),
                                   .band_rows = gf_json_int_of(root, "band_rows", 0, INT32_MAX, 0),
                                   .in = saved_format(root, "in"),
                                   .out = saved_format(root, "out"),
                                   .device_copy_peak = saved_peak(root, "device_copy_gb_s"),
                                   .upload_peak = saved_peak(root, "upload_gb_s"),
                                   .download_peak = saved_peak(root, "download_gb_s")};
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
    read_profile_head(root, &saved->profile);
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
        read_profile_row(stage, report->count, &report->row[report->count]);
    gf_profile_report_judge(report, &saved->profile);
    return read_spans(gf_json_first_of(root, "spans"), saved, error);
}

/* ---- a comparison ---- */

static int whole(const struct gf_json_value *value, const char *key)
{
    return gf_json_int_of(value, key, 0, INT32_MAX, 0);
}

/* Reads the times "warm_ms", "warm_least_ms" and "warm_most_ms", or the times with another name in
 * place of "warm". If the first is null, the time was not measured. */
static struct gf_timing read_timing(const struct gf_json_value *value, const char *name, int runs)
{
    char key[40];
    struct gf_timing timing = {0};
    snprintf(key, sizeof key, "%s_ms", name);
    timing.median_s = gf_json_number_of(value, key) * 1e-3;
    snprintf(key, sizeof key, "%s_least_ms", name);
    timing.least_s = gf_json_number_of(value, key) * 1e-3;
    snprintf(key, sizeof key, "%s_most_ms", name);
    timing.most_s = gf_json_number_of(value, key) * 1e-3;
    if (!(timing.median_s >= 0))
        return (struct gf_timing){0};
    if (!(timing.least_s <= timing.median_s && timing.median_s <= timing.most_s))
        timing.least_s = timing.most_s = timing.median_s;
    timing.runs = runs ? runs : 1;
    return timing;
}

static void read_size(const struct gf_json_value *kernel, const char *key, int size[3])
{
    const struct gf_json_value *at = gf_json_first_of(kernel, key);
    for (int i = 0; i < 3; i++, at = at ? at->next : NULL)
        size[i] = at && at->number >= 1 && at->number <= INT32_MAX ? (int)at->number : 1;
}

static void read_kernel(const struct gf_json_value *value, struct gf_kernel_info *kernel)
{
    gf_saved_text(value, "name", kernel->name, sizeof kernel->name);
    read_size(value, "grid", kernel->grid);
    read_size(value, "block", kernel->block);
    kernel->cluster = gf_json_int_of(value, "cluster", 1, INT32_MAX, 1);
    kernel->registers = whole(value, "registers");
    kernel->shared_bytes = (size_t)whole(value, "shared_bytes");
    kernel->local_bytes = (size_t)whole(value, "local_bytes");
    kernel->occupancy = gf_json_number_of(value, "occupancy_percent") / 100;
}

static void read_compare_row(const struct gf_json_value *value, struct gf_compare_row *row)
{
    const struct gf_json_value *kernel = gf_json_first_of(value, "kernels");
    const int runs = whole(value, "runs");
    gf_saved_text(value, "name", row->name, sizeof row->name);
    gf_saved_text(value, "refused", row->refused, sizeof row->refused);
    row->summary = *gf_json_text_of(value, "summary") ? gf_json_text_of(value, "summary") : NULL;
    row->chosen = gf_json_bool_of(value, "chosen");
    row->warm = read_timing(value, "warm", runs);
    row->cold = read_timing(value, "cold", runs);
    row->rate = gf_json_number_of(value, "gb_s") * 1e9;
    row->copy_percent = gf_json_number_of(value, "copy_percent");
    row->over_naive = gf_json_number_of(value, "over_naive");
    row->over_cpu = gf_json_number_of(value, "over_cpu");
    row->difference = gf_json_number_of(value, "difference");
    row->tolerance = whole(value, "tolerance");
    for (; kernel && row->kernels < GF_COMPARE_KERNELS; kernel = kernel->next)
        read_kernel(kernel, &row->kernel[row->kernels++]);
}

static enum gf_status read_group(const struct gf_json_value *value, struct gf_compare_group *group,
                                 struct gf_error *error)
{
    const struct gf_json_value *row = gf_json_first_of(value, "variants");
    gf_saved_text(value, "name", group->name, sizeof group->name);
    group->statistic = !strcmp(gf_json_text_of(value, "kind"), "statistic");
    group->segment = whole(value, "segment");
    group->in = saved_format(value, "in");
    group->out = saved_format(value, "out");
    group->bytes = fmax(0, gf_json_number_of(value, "bytes")); /* NaN becomes 0, too */
    group->cpu = read_timing(value, "cpu", 1);
    group->naive = -1;
    for (; row; row = row->next) {
        struct gf_compare_row *const added = gf_compare_add_row(group, "");
        if (!added)
            return gf_fail_memory(error);
        read_compare_row(row, added);
        /* Other rows are compared with the naive row. */
        if (fabs(added->over_naive - 1) < 1e-9 && group->naive < 0)
            group->naive = group->rows - 1;
        if (!strcmp(added->name, "naive"))
            group->naive = group->rows - 1;
    }
    return GF_OK;
}

static void read_compare_run(const struct gf_json_value *value, struct gf_compare_run *run)
{
    gf_saved_text(value, "name", run->name, sizeof run->name);
    gf_saved_text(value, "refused", run->refused, sizeof run->refused);
    run->lanes = whole(value, "lanes");
    run->band_rows = whole(value, "band_rows");
    run->options.host_memory = strcmp(gf_json_text_of(value, "host_memory"), "pageable")
                                   ? GF_HOST_PINNED
                                   : GF_HOST_PAGEABLE;
    run->options.transfer = strcmp(gf_json_text_of(value, "transfer"), "zero-copy")
                                ? GF_TRANSFER_COPY
                                : GF_TRANSFER_ZERO_COPY;
    run->options.no_fuse = !gf_json_bool_of(value, "fused");
    run->total = read_timing(value, "total", whole(value, "runs"));
    run->window = read_timing(value, "window", whole(value, "runs"));
    run->overlap = gf_json_number_of(value, "overlap");
    run->kernels_s = gf_json_number_of(value, "kernels_ms") * 1e-3;
    run->copies_s = gf_json_number_of(value, "transfers_ms") * 1e-3;
    run->estimate_s = gf_json_number_of(value, "estimate_ms") * 1e-3;
}

static void read_compare_head(const struct gf_json_value *root, struct gf_comparison *comparison)
{
    const double wall_s = gf_json_number_of(root, "wall_s");
    gf_saved_text(root, "device", comparison->device, sizeof comparison->device);
    gf_saved_text(root, "reason", comparison->reason, sizeof comparison->reason);
    comparison->on_cuda = !strncmp(comparison->device, "cuda:", 5);
    comparison->threads = whole(root, "cpu_threads");
    comparison->in = saved_format(root, "in");
    comparison->out = saved_format(root, "out");
    comparison->copy_peak = saved_peak(root, "device_copy_gb_s");
    comparison->upload_peak = saved_peak(root, "upload_gb_s");
    comparison->download_peak = saved_peak(root, "download_gb_s");
    comparison->wall_s = isnan(wall_s) ? 0 : wall_s;
}

enum gf_status gf_saved_read_comparison(const struct gf_json_value *root, struct gf_saved *saved,
                                        struct gf_error *error)
{
    const struct gf_json_value *group = gf_json_first_of(root, "stages"),
                               *run = gf_json_first_of(root, "pipeline");
    struct gf_comparison *const comparison = &saved->comparison;
    read_compare_head(root, comparison);
    comparison->group = calloc(gf_json_count(group) + 1, sizeof *comparison->group);
    comparison->run = calloc(gf_json_count(run) + 1, sizeof *comparison->run);
    if (!comparison->group || !comparison->run)
        return gf_fail_memory(error);
    for (; group; group = group->next)
        GF_TRY(read_group(group, &comparison->group[comparison->groups++], error));
    for (; run; run = run->next)
        read_compare_run(run, &comparison->run[comparison->runs++]);
    return GF_OK;
}

/* ---- labs ---- */

/* A lab with the file's description. The program may have another lab of that name, or none. */
struct read_lab {
    struct gf_lab lab;
    struct gf_lab_result result;
};

static double number(const struct gf_json_value *value)
{
    return value && value->type == GF_JSON_NUMBER ? value->number : NAN;
}

static void read_columns(const struct gf_json_value *column, const struct gf_lab_run *run)
{
    for (; column && run->result->columns < GF_LAB_COLUMNS_MAX; column = column->next)
        (void)gf_lab_column(run, gf_json_text_of(column, "name"), gf_json_text_of(column, "unit"),
                            gf_json_int_of(column, "decimals", 0, 9, 2));
}

static void read_rows(const struct gf_json_value *row, const struct gf_lab_run *run)
{
    for (; row && run->result->rows < GF_LAB_ROWS_MAX; row = row->next) {
        const struct gf_json_value *value = gf_json_first_of(row, "values");
        (void)gf_lab_row(run, gf_json_number_of(row, "x"), "%s", gf_json_text_of(row, "label"));
        for (int i = 0; i < run->result->columns && value; i++, value = value->next)
            gf_lab_value(run, i, number(value));
        gf_lab_reason(run, "%s", gf_json_text_of(row, "reason"));
    }
}

static void read_remarks(const struct gf_json_value *remark, struct gf_lab_result *result)
{
    for (; remark && result->remarks < GF_LAB_REMARKS_MAX; remark = remark->next) {
        struct gf_lab_remark *const added = &result->remark[result->remarks++];
        int kind = 0;
        while (kind < GF_LAB_NOTE &&
               strcmp(gf_lab_remark_name(kind), gf_json_text_of(remark, "kind")))
            kind++;
        added->kind = kind;
        gf_saved_text(remark, "text", added->text, sizeof added->text);
    }
}

static void read_result(const struct gf_json_value *value, struct gf_lab_result *result)
{
    const struct gf_lab_run run = {.result = result};
    const double elapsed_s = gf_json_number_of(value, "elapsed_s");
    gf_saved_text(value, "rows_name", result->rows_name, sizeof result->rows_name);
    gf_saved_text(value, "device", result->device, sizeof result->device);
    gf_saved_text(value, "settings", result->settings, sizeof result->settings);
    result->elapsed_s = isnan(elapsed_s) ? 0 : elapsed_s;
    read_columns(gf_json_first_of(value, "columns"), &run);
    read_rows(gf_json_first_of(value, "rows"), &run);
    read_remarks(gf_json_first_of(value, "remarks"), result);
}

static enum gf_status read_lab(const struct gf_json_value *value, struct gf_lab_found *found,
                               struct gf_error *error)
{
    struct read_lab *const read = calloc(1, sizeof *read);
    if (!read)
        return gf_fail_memory(error);
    const char *const figure = gf_json_text_of(value, "figure");
    const struct gf_lab *const known = gf_lab_find(gf_json_text_of(value, "lab"));
    read->lab = (struct gf_lab){.name = gf_json_text_of(value, "lab"),
                                .summary = gf_json_text_of(value, "summary"),
                                .guide = gf_json_text_of(value, "guide"),
                                .figure = *figure ? figure : NULL,
                                .marks = known ? known->marks : NULL,
                                .axes = known ? known->axes : (struct gf_lab_axes){0}};
    read_result(value, &read->result);
    *found = (struct gf_lab_found){&read->lab, &read->result};
    return GF_OK;
}

enum gf_status gf_saved_read_labs(const struct gf_json_value *root, struct gf_saved *saved,
                                  struct gf_error *error)
{
    const struct gf_json_value *lab = root->type == GF_JSON_ARRAY ? root->first : root;
    enum gf_status status = GF_OK;
    saved->lab = calloc(gf_json_count(lab) + 1, sizeof *saved->lab);
    if (!saved->lab)
        return gf_fail_memory(error);
    for (; lab && !status; lab = root->type == GF_JSON_ARRAY ? lab->next : NULL) {
        status = read_lab(lab, &saved->lab[saved->labs], error);
        saved->labs += !status;
    }
    return status;
}

void gf_saved_free_labs(struct gf_saved *saved)
{
    for (int i = 0; i < saved->labs; i++)
        free((void *)saved->lab[i].lab); /* the first member of the allocated struct */
    free(saved->lab);
    saved->lab = NULL;
    saved->labs = 0;
}

/* ---- the log of a batch ---- */

/* A log has an object a line. A line that a killed run left unfinished is only counted. Lines of
 * different jobs, which have different chains or options, become a report for each job. */

/* The most jobs of a log. The lines of further jobs count as the last one's. */
enum { JOBS_MAX = 100 };

static enum gf_outcome outcome_of(const struct gf_json_value *line)
{
    int outcome = GF_OUTCOME_DONE;
    while (outcome < GF_OUTCOME_SKIPPED &&
           strcmp(gf_outcome_names[outcome], gf_json_text_of(line, "status")))
        outcome++;
    return outcome;
}

/* Returns a time of the line; 0 if it has none, or an impossible one. */
static double time_of(const struct gf_json_value *ms, const char *key)
{
    const double time = gf_json_number_of(ms, key);
    return time >= 0 && time < 1e15 ? time : 0;
}

static enum gf_status add_line(const struct gf_json_value *line, struct gf_batch_report *report,
                               struct gf_error *error)
{
    const struct gf_json_value *const ms = gf_json_member(line, "ms");
    const double finished_s = gf_json_number_of(line, "finished");
    const struct gf_batch_log_entry entry = {
        .input = gf_json_text_of(line, "input"),
        .outcome = outcome_of(line),
        .message = gf_json_text_of(line, "message"),
        .width = gf_json_int_of(line, "width", 0, INT32_MAX, 0),
        .height = gf_json_int_of(line, "height", 0, INT32_MAX, 0),
        .ms = {.total = time_of(ms, "total"),
               .decode = time_of(ms, "decode"),
               .upload = time_of(ms, "upload"),
               .filter = time_of(ms, "filter"),
               .download = time_of(ms, "download"),
               .encode = time_of(ms, "encode")},
        .device = gf_json_text_of(line, "device"),
        .decoder = gf_json_text_of(line, "decoder"),
        .encoder = gf_json_text_of(line, "encoder"),
    };
    if (entry.outcome == GF_OUTCOME_DONE && !entry.width && !*entry.device)
        return GF_OK; /* an archive, whose pictures have lines of their own */
    return gf_batch_report_add(report, &entry,
                               finished_s >= 0 && finished_s < 1e15 ? finished_s : NAN, error);
}

static bool is_line(const struct gf_json_value *value)
{
    return gf_json_member(value, "index") && gf_json_member(value, "input") &&
           gf_json_member(value, "status");
}

bool gf_saved_is_log(const char *text, size_t size)
{
    const char *const end = memchr(text, '\n', size);
    struct gf_json_tree tree;
    if (gf_json_read("", 1, text, end ? (size_t)(end - text) : size, &tree, NULL))
        return false;
    const bool is = is_line(tree.value);
    gf_json_tree_free(&tree);
    return is;
}

/* Returns the report of the job, which is created for the first line of the job; NULL: out of
 * memory. */
static struct gf_saved *report_of(struct gf_saved *saved, const char *job)
{
    if (!saved->batch.pictures)
        snprintf(saved->job, sizeof saved->job, "%s", job);
    if (!strncmp(saved->job, job, sizeof saved->job - 1))
        return saved;
    for (int i = 0; i < saved->other_jobs; i++) {
        struct gf_saved *const other = &saved->other_job[i];
        if (!strncmp(other->job, job, sizeof other->job - 1) || i == JOBS_MAX - 2)
            return other;
    }
    if (!GF_GROW(saved->other_job, saved->other_jobs))
        return NULL;
    struct gf_saved *const added = &saved->other_job[saved->other_jobs++];
    *added = (struct gf_saved){.kind = GF_SAVED_LOG, .name = saved->name};
    snprintf(added->job, sizeof added->job, "%s", job);
    return added;
}

/* Finishes a report. If there are several jobs, its name gets the number of its job. */
static enum gf_status finish(struct gf_saved *saved, int number, int jobs, struct gf_error *error)
{
    if (jobs > 1 && asprintf(&saved->own_name, "%s, job %d of %d%s%s", saved->name, number, jobs,
                             *saved->job ? ": " : "", saved->job) < 0) {
        saved->own_name = NULL;
        return gf_fail_memory(error);
    }
    saved->name = saved->own_name ? saved->own_name : saved->name;
    return gf_batch_report_finish(&saved->batch, error);
}

enum gf_status gf_saved_read_log(const char *text, size_t size, struct gf_saved *saved,
                                 struct gf_error *error)
{
    struct gf_batch_report *const report = &saved->batch;
    enum gf_status status = GF_OK;
    saved->kind = GF_SAVED_LOG;
    for (const char *line = text, *end; line < text + size && !status; line = end + 1) {
        struct gf_json_tree tree;
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        if (gf_json_read("", 1, line, (size_t)(end - line), &tree, NULL)) {
            report->damaged++;
            continue;
        }
        struct gf_saved *of_job = saved;
        if (!is_line(tree.value))
            report->damaged++;
        else if (!(of_job = report_of(saved, gf_json_text_of(tree.value, "job"))))
            status = gf_fail_memory(error);
        else
            status = add_line(tree.value, &of_job->batch, error);
        gf_json_tree_free(&tree);
    }
    const int jobs = 1 + saved->other_jobs;
    if (!status)
        status = finish(saved, 1, jobs, error);
    for (int i = 0; !status && i < saved->other_jobs; i++)
        status = finish(&saved->other_job[i], i + 2, jobs, error);
    return status;
}
