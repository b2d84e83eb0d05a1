/* Reads the log of a batch into its summary. A log has an object a line. A line that a killed run
 * left unfinished is only counted. Lines of different jobs, which have different chains or options,
 * become a report for each job. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "study/saved/saved.h"

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
