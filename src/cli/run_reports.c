/* --profile=compare and --explain. */
#include <string.h>

#include "bench/compare.h"
#include "bench/explain.h"
#include "cli/messages.h"
#include "cli/run.h"
#include "report/compare_report.h"
#include "report/explain_report.h"

static enum gf_status check_input(const struct gf_command *command, struct gf_error *error)
{
    return strcmp(command->input[0], "-") ? GF_OK : gf_check_stdin(error);
}

static void print_comparison(const struct gf_command *command,
                             const struct gf_comparison *comparison)
{
    FILE *const file = gf_report_file(command);
    if (command->profile == GF_PROFILE_COMPARE_JSON)
        gf_compare_json(comparison, file);
    else if (command->profile == GF_PROFILE_COMPARE_CSV)
        gf_compare_csv(comparison, file);
    else
        gf_compare_table(comparison, file);
}

enum gf_status gf_run_compare(struct gf_command *command, struct gf_error *error)
{
    struct gf_comparison comparison;
    /* If a picture was written as well, that run has given the warnings. */
    command->options.warn = command->quiet || command->output ? NULL : gf_message_warn;
    enum gf_status status = check_input(command, error);
    if (!status)
        status = gf_compare_file(command->input[0], command->chain, &command->options, &comparison,
                                 error);
    if (status)
        return status;
    print_comparison(command, &comparison);
    status = gf_flush_stdout(error);
    if (!status)
        status = gf_compare_judge(&comparison, error);
    gf_comparison_free(&comparison);
    return status;
}

enum gf_status gf_run_explain(struct gf_command *command, struct gf_error *error)
{
    struct gf_explanation explanation;
    command->options.warn = command->quiet ? NULL : gf_message_warn;
    enum gf_status status = check_input(command, error);
    if (!status)
        status = gf_explain_file(command->input[0], command->output, command->chain,
                                 &command->options, &explanation, error);
    if (status)
        return status;
    gf_explain_print(&explanation, stdout);
    gf_explain_free(&explanation);
    return GF_OK;
}
