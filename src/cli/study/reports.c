#include <string.h>

#include "base/fail.h"
#include "batch/devices/figures_cache.h"
#include "cli/messages.h"
#include "cli/report_file.h"
#include "cli/study/study.h"
#include "report/page/html.h"
#include "report/page/picture_html.h"
#include "study/compare/compare.h"
#include "study/explain/explain.h"
#include "study/report/compare_report.h"

static enum gf_status check_input(const struct gf_command *command, struct gf_error *error)
{
    return strcmp(command->input[0], "-") ? GF_OK : gf_check_stdin(error);
}

/* The contents of the page of a comparison. */
struct compare_page {
    const struct gf_command *command;
    const struct gf_comparison *comparison;
};

static enum gf_status put_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct compare_page *const page = context;
    (void)error;
    const struct gf_options *const options = &page->command->options;
    struct gf_page_picture before = gf_page_picture_make(page->command->input[0], NULL, options),
                           after = gf_page_picture_make(page->command->input[0],
                                                        page->command->chain, options);
    gf_html_begin(file, page->command->chain ? page->command->chain : "no filter",
                  page->command->input[0]);
    gf_compare_html(file, page->comparison, "comparison", "");
    gf_pictures_html(file, &before, &after);
    gf_page_picture_free(&before);
    gf_page_picture_free(&after);
    gf_html_end(file);
    return GF_OK;
}

/* Prints the comparison. `page` is the file of --profile=compare:html:FILE; else NULL. */
static enum gf_status print_comparison(const struct gf_command *command, struct gf_output *page,
                                       const struct gf_comparison *comparison,
                                       struct gf_error *error)
{
    const struct compare_page context = {command, comparison};
    FILE *const file = gf_report_file(command);
    if (page)
        return gf_report_write(page, put_page, &context, error);
    if (command->profile == GF_PROFILE_COMPARE_JSON)
        gf_compare_json(comparison, file);
    else if (command->profile == GF_PROFILE_COMPARE_CSV)
        gf_compare_csv(comparison, file);
    else
        gf_compare_table(comparison, file);
    return gf_flush_stdout(error);
}

/* Compares the variants, and writes the report even if a result is wrong. */
static enum gf_status compare(struct gf_command *command, struct gf_output *page,
                              struct gf_error *error)
{
    struct gf_comparison comparison;
    GF_TRY(
        gf_compare_file(command->input[0], command->chain, &command->options, &comparison, error));
    enum gf_status status = print_comparison(command, page, &comparison, error);
    if (!status)
        status = gf_compare_judge(&comparison, error);
    gf_comparison_free(&comparison);
    return status;
}

enum gf_status gf_act_variants(struct gf_command *command, struct gf_error *error)
{
    struct gf_output *page = NULL;
    /* If a picture was written as well, that run has already given the warnings. */
    command->options.warn = command->quiet || command->output ? NULL : gf_message_warn;
    enum gf_status status = check_input(command, error);
    if (!status && command->profile == GF_PROFILE_COMPARE_HTML)
        status = gf_report_open(command->page, &page, error);
    if (!status)
        status = compare(command, page, error);
    if (page)
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

enum gf_status gf_act_explain(struct gf_command *command, struct gf_error *error)
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
