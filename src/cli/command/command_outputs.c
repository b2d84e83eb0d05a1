/* Divides the options of a command line among its outputs, and joins the chain of each output. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "chain/chain.h"
#include "cli/command/command.h"

struct gf_command_output gf_command_output_at(const struct gf_command *command, int index)
{
    if (index)
        return command->more[index - 1];
    return (struct gf_command_output){.output = command->output,
                                      .chain = command->chain,
                                      .chain_file = command->chain_file,
                                      .to_icc = command->to_icc,
                                      .given = command->given,
                                      .options = command->options};
}

/* Moves the output's name, its chain and the names of their files out of the command. The options
 * stay in the command. */
static struct gf_command_output take_output(struct gf_command *command)
{
    const struct gf_command_output taken = gf_command_output_at(command, 0);
    command->output = command->chain = command->chain_file = command->to_icc = NULL;
    return taken;
}

static void put_output(struct gf_command *command, const struct gf_command_output *output)
{
    command->output = output->output;
    command->chain = output->chain;
    command->chain_file = output->chain_file;
    command->to_icc = output->to_icc;
    command->given = output->given;
    gf_options_of_output(&command->options, &output->options);
}

/* Stores the present output, which ends because another -o begins: the first one in *first, later
 * ones in command->more. */
static void end_output(struct gf_command *command, struct gf_command_output *first)
{
    const struct gf_command_output ended = take_output(command);
    if (!first->output)
        *first = ended;
    else
        command->more[command->more_outputs++] = ended;
}

enum gf_status gf_command_begin_output(struct gf_command *command,
                                       struct gf_command_outputs *outputs, const char *name,
                                       struct gf_error *error)
{
    if (outputs->begun == GF_PIPELINE_OUTPUTS_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "--output is given more than %d times",
                       GF_PIPELINE_OUTPUTS_MAX);
    if (!outputs->begun)
        command->all = take_output(command);
    else
        end_output(command, &outputs->first);
    put_output(command, &(struct gf_command_output){.output = name,
                                                    .given = command->all.given,
                                                    .options = command->all.options});
    outputs->begun++;
    return GF_OK;
}

enum gf_status gf_command_fail_chains(const char *first, const char *second, struct gf_error *error)
{
    struct gf_foreign_answer answer = {.whose = ""};
    char item[200];
    snprintf(item, sizeof item, "%.80s=%.80s", first, second);
    const bool is_filter = gf_filter_find(first);
    if (isdigit((unsigned char)second[0]) &&
        (gf_chain_answer(is_filter ? GF_FOREIGN_HINT : GF_FOREIGN_FILTER, item, &answer) ||
         is_filter))
        return gf_fail(error, GF_ERROR_USAGE, "'%.80s' is no filter; did you mean '%s'?", second,
                       *answer.meaning ? answer.meaning : item);
    return gf_fail(error, GF_ERROR_USAGE,
                   "two chains, '%.80s' and '%.80s': filters are joined by commas, files named by "
                   "-i and -o",
                   first, second);
}

enum gf_status gf_command_end_outputs(struct gf_command *command,
                                      const struct gf_command_outputs *outputs,
                                      struct gf_error *error)
{
    const struct gf_command_output all = command->all;
    struct gf_command_output first = outputs->first;
    if (outputs->begun > 1) {
        end_output(command, &first);
        put_output(command, &first);
    }
    if (outputs->begun != 1)
        return GF_OK;
    command->all = (struct gf_command_output){0};
    if (all.chain && command->chain)
        return gf_command_fail_chains(all.chain, command->chain, error);
    if (all.chain_file && command->chain_file)
        return gf_fail(error, GF_ERROR_USAGE, "--chain-file is given twice: '%.100s' and '%.100s'",
                       all.chain_file, command->chain_file);
    command->chain = command->chain ? command->chain : all.chain;
    command->chain_file = command->chain_file ? command->chain_file : all.chain_file;
    command->to_icc = command->to_icc ? command->to_icc : all.to_icc;
    return GF_OK;
}

/* Appends filters to the chain; NULL or "" appends nothing. */
static enum gf_status append(char **chain, const char *begin, const char *filters,
                             struct gf_error *error)
{
    char *joined = NULL;
    const bool alone = !*chain || !**chain;
    if (!filters || !*filters)
        return GF_OK;
    if (asprintf(&joined, "%s%s%s%s", alone ? "" : *chain, alone ? "" : ",", begin, filters) < 0)
        return gf_fail_memory(error);
    free(*chain);
    *chain = joined;
    return GF_OK;
}

static enum gf_status append_file(char **chain, const char *file, struct gf_error *error)
{
    char *text = NULL;
    enum gf_status status = file ? gf_chain_file_read(file, &text, error) : GF_OK;
    GF_THEN(status, append(chain, "", text, error));
    free(text);
    return status;
}

/* Appends the profile of --to-icc to the chain. The chain gets a filter icc, but error messages
 * name the option. */
static enum gf_status append_profile(char **chain, const char *profile, struct gf_error *error)
{
    static const char name[] = "icc: ";
    struct gf_chain parsed = {0};
    struct gf_error why = {0};
    char *filter = NULL;
    enum gf_status status = append(&filter, "icc=", profile, &why);
    GF_THEN(status, gf_chain_parse(filter, &parsed, &why));
    gf_chain_free(&parsed);
    GF_THEN(status, append(chain, "", filter, &why));
    free(filter);
    if (!status)
        return GF_OK;
    const bool named = !strncmp(why.text, name, sizeof name - 1);
    return gf_fail(error, status, "--to-icc: %s", why.text + (named ? sizeof name - 1 : 0));
}

static enum gf_status join_chain(const struct gf_command_output *all,
                                 struct gf_command_output *output, struct gf_error *error)
{
    const char *const to_icc = output->to_icc ? output->to_icc : all->to_icc;
    char **const made = &output->made;
    GF_TRY(append(made, "", all->chain, error));
    GF_TRY(append_file(made, all->chain_file, error));
    GF_TRY(append(made, "", output->chain, error));
    GF_TRY(append_file(made, output->chain_file, error));
    return append_profile(made, to_icc, error);
}

enum gf_status gf_command_join_chains(struct gf_command *command, struct gf_error *error)
{
    struct gf_command_output first = gf_command_output_at(command, 0);
    enum gf_status status = join_chain(&command->all, &first, error);
    command->made = first.made;
    if (first.made)
        command->chain = first.made;
    for (int i = 0; !status && i < command->more_outputs; i++) {
        status = join_chain(&command->all, &command->more[i], error);
        command->more[i].chain = command->more[i].made;
    }
    return status;
}

void gf_command_free(struct gf_command *command)
{
    free(command->made);
    for (size_t i = 0; i < command->lines_count; i++)
        free(command->lines[i]);
    free(command->lines);
    for (int i = 0; i < command->more_outputs; i++)
        free(command->more[i].made);
}
