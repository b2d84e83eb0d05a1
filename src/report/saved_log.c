/* The log of a batch: an object a line. A line that a killed run left unfinished is counted, no
 * more.
 */
#include <math.h>
#include <string.h>

#include "report/saved.h"

static enum gf_outcome outcome_of(const struct gf_json_value *line)
{
    int outcome = GF_OUTCOME_DONE;
    while (outcome < GF_OUTCOME_SKIPPED &&
           strcmp(gf_outcome_names[outcome], gf_json_text_of(line, "status")))
        outcome++;
    return outcome;
}

/* A time of the line; 0 where it has none, or one that no clock shows. */
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
        if (is_line(tree.value))
            status = add_line(tree.value, report, error);
        else
            report->damaged++;
        gf_json_tree_free(&tree);
    }
    return status ? status : gf_batch_report_finish(report, error);
}
