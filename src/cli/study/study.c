/* The actions of the study: --lab, --profile=compare, --explain and --report. */
#include "cli/study/study.h"

#include <stdlib.h>

#include "base/fail.h"
#include "batch/devices/figures.h"
#include "cli/command/command.h"
#include "cli/cli.h"
#include "study/compare/compare.h"
#include "study/explain/explain.h"
#include "study/labs/lab.h"
#include "study/report/study_report.h"
#include "study/saved/saved.h"

/* The results of the labs that ran, for the page. */
struct findings {
    struct gf_lab_found *found;
    int count;
};

static enum gf_status print_lab(const struct gf_lab *lab, const struct gf_lab_request *request,
                                const struct gf_lab_result *result, struct gf_error *error)
{
    char said[2 * GF_FILE_NAME_SIZE + 100] = "";
    enum gf_status status = GF_OK;
    if (request->values.form == GF_LAB_JSON)
        gf_lab_json(stdout, lab, result);
    else
        gf_lab_table(stdout, lab, result);
    if (*request->values.plot)
        status = gf_lab_draw(request->values.plot, lab, result, said, sizeof said, error);
    if (*said)
        gf_message_print("", said);
    return status;
}

/* Runs a lab, a microbenchmark, and prints its results, even if some are wrong. The results are
 * kept in `findings`. *shown becomes whether anything was printed. */
static enum gf_status show_lab(const struct gf_lab *lab, const struct gf_lab_request *request,
                               const struct gf_device_info *device, const char *separator,
                               struct findings *findings, bool *shown, struct gf_error *error)
{
    GF_NEW(struct gf_lab_result, result, error);
    struct gf_error plot_error = {0};
    enum gf_status status = gf_lab_run(lab, device, request->values.runs,
                                       request->lab ? request->values.param : NULL, result, error);
    *shown = result->rows || !status;
    if (!*shown) {
        free(result);
        return status;
    }
    fputs(separator, stdout);
    findings->found[findings->count++] = (struct gf_lab_found){lab, result};
    const enum gf_status printed = print_lab(lab, request, result, &plot_error);
    if (printed && !status) {
        status = printed;
        *error = plot_error;
    }
    return status;
}

/* Runs all labs, even if some fail, and returns the first failure. */
static enum gf_status show_labs(const struct gf_lab_request *request,
                                const struct gf_device_info *device, struct findings *findings,
                                struct gf_error *error)
{
    const bool json = request->values.form == GF_LAB_JSON;
    const char *separator = "";
    const struct gf_lab *lab;
    enum gf_status status = GF_OK;
    fputs(json ? "[\n" : "", stdout);
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        struct gf_error detail = {0};
        bool shown = false;
        const enum gf_status one =
            show_lab(lab, request, device, separator, findings, &shown, &detail);
        if (shown)
            separator = json ? ",\n" : "\n";
        if (one && status)
            gf_message_print("", detail.text);
        if (one && !status) {
            status = one;
            *error = detail;
        }
        fflush(stdout);
    }
    fputs(json ? "]\n" : "", stdout);
    return status;
}

static enum gf_status put_labs_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct findings *const findings = context;
    struct gf_page page;
    GF_TRY(gf_page_begin(&page, file, "Labs",
                         "Microbenchmarks of single techniques of the CUDA guides", error));
    gf_labs_page(&page, findings->found, findings->count);
    gf_page_end(&page);
    return GF_OK;
}

/* Runs the labs that --lab names, and writes the page even if a lab failed. */
static enum gf_status run_labs(const struct gf_lab_request *request,
                               const struct gf_device_info *device, struct gf_error *error)
{
    struct gf_output *page = NULL;
    struct gf_error page_error = {0};
    struct findings findings = {0};
    bool shown = false;
    int labs = 0;
    while (gf_lab_at(labs))
        labs++;
    findings.found = calloc((size_t)labs, sizeof *findings.found);
    enum gf_status status = findings.found ? GF_OK : gf_fail_memory(error);
    if (!status && *request->values.html)
        status = gf_report_open(request->values.html, &page, error);
    GF_THEN(status, request->lab
                        ? show_lab(request->lab, request, device, "", &findings, &shown, error)
                        : show_labs(request, device, &findings, error));
    if (page && findings.count) {
        const enum gf_status written = gf_report_write(page, put_labs_page, &findings, &page_error);
        if (written && !status) {
            status = written;
            *error = page_error;
        }
    }
    gf_output_close(page);
    for (int i = 0; i < findings.count; i++)
        free((void *)findings.found[i].result);
    free(findings.found);
    return status;
}

static GF_CHECKED enum gf_status act_labs(const struct gf_command *command, struct gf_error *error)
{
    struct gf_lab_request request;
    struct gf_device_info device;
    if (!command->lab) {
        gf_lab_list(stdout);
        return GF_OK;
    }
    GF_TRY(gf_lab_parse(command->lab, &request, error));
    enum gf_status status = GF_OK;
    if (request.help) {
        gf_lab_help(stdout, request.lab);
    } else if (command->options.device == GF_DEVICE_CPU) {
        status = gf_fail(error, GF_ERROR_USAGE, "labs run on a GPU: not with --device=cpu");
    } else if (command->all_devices || command->devices > 1) {
        status = gf_fail(error, GF_ERROR_USAGE, "labs run on one GPU at a time: --device=cuda:N");
    } else {
        status = gf_lab_open(command->options.device_index, &device, error);
        GF_THEN(status, run_labs(&request, &device, error));
    }
    return status;
}

static enum gf_status check_input(const struct gf_command *command, struct gf_error *error)
{
    return strcmp(command->input[0], "-") ? GF_OK : gf_check_stdin(error);
}

/* The contents of the page of a comparison. */
struct compare_page {
    const struct gf_command *command;
    const struct gf_comparison *comparison;
};

static enum gf_status put_comparison_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct compare_page *const content = context;
    const char *const input = content->command->input[0], *const chain = content->command->chain;
    const struct gf_options *const options = &content->command->options;
    struct gf_page page;
    GF_TRY(gf_page_begin(&page, file, chain ? chain : "no filter", input, error));
    struct gf_page_picture before = gf_page_picture_make(input, NULL, options),
                           after = gf_page_picture_make(input, chain, options);
    gf_compare_page(&page, content->comparison);
    gf_page_pictures(&page, &before, &after);
    gf_page_end(&page);
    return GF_OK;
}

/* Prints the comparison of variants, or writes it to the page. `page` is the file of
 * --profile=compare:html:FILE; else NULL. */
static enum gf_status print_comparison(const struct gf_command *command, struct gf_output *page,
                                       const struct gf_comparison *comparison,
                                       struct gf_error *error)
{
    const struct compare_page context = {command, comparison};
    FILE *const file = gf_report_file(command);
    if (page)
        return gf_report_write(page, put_comparison_page, &context, error);
    if (command->profile == GF_PROFILE_COMPARE_JSON)
        gf_compare_json(comparison, file);
    else
        gf_compare_table(comparison, file);
    return gf_flush_stdout(error);
}

/* Compares the variants of the chain's kernels, and writes the report even if a result is wrong. */
static enum gf_status compare(struct gf_command *command, struct gf_output *page,
                              struct gf_error *error)
{
    struct gf_comparison comparison;
    GF_TRY(
        gf_compare_file(command->input[0], command->chain, &command->options, &comparison, error));
    enum gf_status status = print_comparison(command, page, &comparison, error);
    GF_THEN(status, gf_compare_judge(&comparison, error));
    gf_comparison_free(&comparison);
    return status;
}

static GF_CHECKED enum gf_status act_variants(struct gf_command *command, struct gf_error *error)
{
    struct gf_output *page = NULL;
    /* If a picture was written as well, that run has already given the warnings. */
    command->options.warn = command->quiet || command->output ? NULL : gf_message_warn;
    enum gf_status status = check_input(command, error);
    if (!status && command->profile == GF_PROFILE_COMPARE_HTML)
        status = gf_report_open(command->page, &page, error);
    GF_THEN(status, compare(command, page, error));
    gf_output_close(page);
    return status;
}

/* Prints which stages an output shares with an earlier output. */
static enum gf_status explain_sharing(const struct gf_command *command, int index,
                                      struct gf_error *error)
{
    const char *chain[GF_PIPELINE_OUTPUTS_MAX], *const name =
                                                    gf_command_output_at(command, index).output;
    struct gf_sharing sharing;
    for (int i = 0; i <= index; i++)
        chain[i] = gf_command_output_at(command, i).chain;
    GF_TRY(gf_explain_sharing(command->input[0], chain, index, &command->options, &sharing, error));
    printf("%soutput %d: %s\n", index ? "\n" : "", index + 1, name ? name : "-");
    if (sharing.with < 0 && index)
        printf("decodes for itself: another fraction of the picture's size\n");
    else if (sharing.stages)
        printf("has the decoding and %d stage%s in common with output %d\n", sharing.stages,
               sharing.stages == 1 ? "" : "s", sharing.with + 1);
    else if (index)
        printf("has the decoding in common with output %d\n", sharing.with + 1);
    return GF_OK;
}

static GF_CHECKED enum gf_status act_explain(struct gf_command *command, struct gf_error *error)
{
    struct gf_explanation explanation;
    struct gf_figures figures;
    command->options.warn = command->quiet ? NULL : gf_message_warn;
    gf_figures_load(&figures);
    GF_TRY(check_input(command, error));
    for (int i = 0; i < gf_command_outputs(command); i++) {
        const struct gf_command_output output = gf_command_output_at(command, i);
        struct gf_options options = command->options;
        gf_options_of_output(&options, &output.options);
        options.warn = i ? NULL : options.warn;
        GF_TRY(gf_explain_file(command->input[0], output.output, output.chain, &options, &figures,
                               &explanation, error));
        if (command->more_outputs)
            GF_TRY(explain_sharing(command, i, error));
        gf_explain_print(&explanation, stdout);
        gf_explain_free(&explanation);
    }
    return GF_OK;
}

/* The reports that were read. */
struct reports {
    struct gf_saved *saved;
    int count;
};

static enum gf_status put_saved_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct reports *const reports = context;
    return gf_saved_page(file, reports->saved, reports->count, error);
}

/* Fails if reports of hardware counters are given without a report of a comparison, on which they
 * are drawn. */
static enum gf_status check_counters(const struct reports *reports, struct gf_error *error)
{
    int comparisons = 0;
    for (int i = 0; i < reports->count; i++)
        comparisons += reports->saved[i].kind == GF_SAVED_COMPARISON;
    for (int i = 0; i < reports->count; i++) {
        if (reports->saved[i].kind == GF_SAVED_COUNTERS && !comparisons)
            return gf_fail(error, GF_ERROR_USAGE, "%s: counts kernels, but no comparison is named",
                           reports->saved[i].name);
    }
    return GF_OK;
}

/* Adds the reports of a file. Each job in a log becomes a report of its own. */
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

/* Does the action --report: draws saved reports on one page. */
static GF_CHECKED enum gf_status act_report(const struct gf_command *command,
                                            struct gf_error *error)
{
    struct gf_output *page = NULL;
    struct reports reports = {0};
    enum gf_status status = GF_OK;
    for (int i = 0; i < command->inputs && !status; i++)
        status = read_file(&reports, command->input[i], error);
    GF_THEN(status, check_counters(&reports, error));
    GF_THEN(status, gf_report_open(command->page, &page, error));
    GF_THEN(status, gf_report_write(page, put_saved_page, &reports, error));
    gf_output_close(page);
    for (int i = 0; i < reports.count; i++)
        gf_saved_free(&reports.saved[i]);
    free(reports.saved);
    return status;
}

enum gf_status gf_act_study(struct gf_command *command, struct gf_error *error)
{
    switch (command->action) {
    case GF_ACTION_EXPLAIN:
        return act_explain(command, error);
    case GF_ACTION_LAB:
        return act_labs(command, error);
    case GF_ACTION_REPORT:
        return act_report(command, error);
    default:
        return act_variants(command, error);
    }
}

const char *gf_study_lab_word(int index)
{
    const struct gf_lab *const lab = index ? gf_lab_at(index - 1) : NULL;
    return lab ? lab->name : index ? NULL : "all";
}
