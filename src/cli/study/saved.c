#include <stdlib.h>

#include "base/fail.h"
#include "cli/report_file.h"
#include "cli/study/study.h"
#include "study/saved/saved.h"

/* The reports that were read. */
struct reports {
    struct gf_saved *saved;
    int count;
};

static enum gf_status put_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct reports *const reports = context;
    return gf_saved_html(file, reports->saved, reports->count, error);
}

/* Checks that there is a comparison for counters, which are drawn on the comparisons whose kernels
 * they counted. */
static enum gf_status count(struct reports *reports, struct gf_error *error)
{
    int comparisons = 0;
    for (int i = 0; i < reports->count; i++)
        comparisons += reports->saved[i].kind == GF_SAVED_COMPARISON;
    for (int i = 0; i < reports->count; i++) {
        if (reports->saved[i].kind != GF_SAVED_COUNTERS)
            continue;
        if (!comparisons)
            return gf_fail(error, GF_ERROR_USAGE, "%s: counts kernels, but no comparison is named",
                           reports->saved[i].name);
        for (int j = 0; j < reports->count; j++)
            gf_saved_count(&reports->saved[i].counters, &reports->saved[j].comparison);
    }
    return GF_OK;
}

/* Adds the reports of a file. The jobs of a log are a report each. */
static enum gf_status read_file(struct reports *reports, const char *path, struct gf_error *error)
{
    struct gf_saved saved;
    GF_TRY(gf_saved_read(path, &saved, error));
    const size_t count = (size_t)reports->count + 1 + (size_t)saved.other_jobs;
    struct gf_saved *const grown = realloc(reports->saved, count * sizeof *grown);
    if (!grown) {
        gf_saved_free(&saved);
        return gf_fail_memory(error);
    }
    reports->saved = grown;
    for (int i = 0; i < saved.other_jobs; i++)
        grown[reports->count + 1 + i] = saved.other_job[i];
    free(saved.other_job);
    saved.other_job = NULL;
    saved.other_jobs = 0;
    grown[reports->count] = saved;
    reports->count = (int)count;
    return GF_OK;
}

enum gf_status gf_act_report(const struct gf_command *command, struct gf_error *error)
{
    struct gf_output *page = NULL;
    struct reports reports = {0};
    enum gf_status status = GF_OK;
    for (int i = 0; i < command->inputs && !status; i++)
        status = read_file(&reports, command->input[i], error);
    if (!status)
        status = count(&reports, error);
    if (!status)
        status = gf_report_open(command->page, &page, error);
    if (!status)
        status = gf_report_write(page, put_page, &reports, error);
    if (page)
        gf_output_close(page);
    for (int i = 0; i < reports.count; i++)
        gf_saved_free(&reports.saved[i]);
    free(reports.saved);
    return status;
}
