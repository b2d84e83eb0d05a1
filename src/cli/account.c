/* The action --report=json:FILE: adds the logs and records of all parts of a run to one account. */
#include <stdio.h>
#include <string.h>

#include "batch/log/account.h"
#include "cli/actions.h"
#include "cli/messages.h"
#include "cli/report_file.h"
#include "codec/io/output.h"

static const char form[] = "json:";

bool gf_account_asked(const struct gf_command *command)
{
    return !strncmp(command->page, form, sizeof form - 1);
}

static enum gf_status put(FILE *file, const void *account, struct gf_error *error)
{
    (void)error;
    gf_account_put((struct gf_account *)account, file);
    return GF_OK;
}

/* Reads the logs, records and folders that are named. A list, @LIST, names the inputs that should
 * be in them. */
static enum gf_status add_all(const struct gf_command *command, struct gf_account *account,
                              struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < command->inputs; i++) {
        if (command->input[i][0] != '@')
            status = gf_account_add(account, command->input[i], error);
    }
    for (int i = 0; !status && i < command->inputs; i++) {
        const struct gf_inputs_request request = {.argument = &command->input[i],
                                                  .count = 1,
                                                  .recursive = command->recursive,
                                                  .nul_separated = command->nul_separated};
        struct gf_inputs inputs;
        if (command->input[i][0] != '@')
            continue;
        status = gf_inputs_expand(&request, &inputs, error);
        if (!status) {
            status = gf_account_expect(account, &inputs, error);
            gf_inputs_free(&inputs);
        }
    }
    return status;
}

enum gf_status gf_act_account(const struct gf_command *command, struct gf_error *error)
{
    struct gf_account *account = NULL;
    struct gf_output *output = NULL;
    enum gf_status status = gf_account_open(&account, error);
    if (!status)
        status = gf_report_open(command->page + sizeof form - 1, &output, error);
    if (!status)
        status = add_all(command, account, error);
    if (!status)
        status = gf_report_write(output, put, account, error);
    if (output)
        gf_output_close(output);
    if (!status)
        status = gf_account_conclude(account, error);
    if (!status && !command->quiet && *error->text)
        gf_message_print("", error->text);
    gf_account_close(account);
    return status;
}
