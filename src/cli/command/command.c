#include "cli/command/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "batch/names/names.h"
#include "chain/chain.h"
#include "chain/params.h"
#include "cli/study/study.h"
#include "codec/codec.h"
#include "codec/io/input.h"

/* Copies a word from *from to *to and advances both. Returns false if a quote is not closed. */
static bool take_word(const char **from, char **to)
{
    const char *at = *from;
    char quote = 0;
    for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *(*to)++ = *++at;
        else
            *(*to)++ = *at;
    }
    *(*to)++ = '\0';
    *from = at;
    return !quote;
}

enum gf_status gf_shell_words_split(const char *text, char ***words, int *count,
                                    struct gf_error *error)
{
    const size_t length = strlen(text),
                 most = length / 2 + 2; /* the most words: each takes at least two characters */
    char **const list = malloc(most * sizeof *list + length + most);
    GF_ALLOCATED(list, error);
    char *to = (char *)(list + most);
    *count = 0;
    for (const char *from = text + strspn(text, " \t\n\r\v\f"); *from;
         from += strspn(from, " \t\n\r\v\f")) {
        list[(*count)++] = to;
        if (!take_word(&from, &to)) {
            free(list);
            return gf_fail(error, GF_ERROR_USAGE, "a quote is not closed in '%.200s'", text);
        }
    }
    list[*count] = NULL;
    *words = list;
    return GF_OK;
}

/* The state while the arguments are read. */
struct reader {
    int argc;
    char *const *argv;
    int next;
    struct gf_command *command;
    struct gf_error *error;
    bool in_environment;
    bool given[128]; /* whether each option was given, by its index in the table */
    struct gf_command_outputs outputs;
};

static bool takes_value(const struct gf_option *option)
{
    return option->type != GF_OPTION_SWITCH;
}

static const struct gf_option *find_name(const char *name, size_t length)
{
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (!strncmp(option->name, name, length) && !option->name[length])
            return option;
    }
    return NULL;
}

static const struct gf_option *find_letter(char letter)
{
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->letter && option->letter == letter)
            return option;
    }
    return NULL;
}

/* Whether the text is an option, such as "-i", "--strip" or "--quality=90", and therefore no
 * value. */
static bool is_option(const char *text)
{
    if (text[0] != '-' || !text[1])
        return false;
    return text[1] == '-' ? find_name(text + 2, strcspn(text + 2, "=")) != NULL
                          : !text[2] && find_letter(text[1]);
}

/* Fails for the dash before a filter's name, and writes the filter with its values, which other
 * programs write as the next argument: "-resize 800x600" is resize=800:600:fit=inside. */
static enum gf_status fail_dashed(const char *text, const char *item, struct gf_error *error)
{
    struct gf_error why = {0};
    const size_t name = strcspn(item, "=");
    const char *const meant =
        gf_chain_check(item, &why) ? strstr(why.text, "did you mean '") : NULL;
    const char *const shown = meant ? strchr(meant, '\'') + 1 : item;
    const size_t length = meant ? strcspn(shown, "'") : *why.text ? name : strlen(item);
    struct gf_foreign_answer answer;
    struct gf_error line;
    (void)gf_fail(&line, GF_ERROR_USAGE,
                  "unknown option '%.60s'; %.*s is a filter, written without dashes", text,
                  (int)name, item);
    if (*why.text && !meant && gf_chain_answer(GF_FOREIGN_FILTER, item, &answer)) {
        answer.whose = "";
        return gf_chain_fail_answer(line.text, ": ", &answer, error);
    }
    return gf_fail(error, GF_ERROR_USAGE, "%s: %.*s", line.text, (int)length, shown);
}

/* Returns the option that begins like the word or differs from it by a few letters; NULL: none. */
static const struct gf_option *like(const char *word)
{
    const char *best = NULL;
    int distance = 0;
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (strlen(word) > 2 && !strncmp(option->name, word, strlen(word)))
            return option;
        gf_suggest_consider(word, option->name, &best, &distance);
    }
    return best ? find_name(best, strlen(best)) : NULL;
}

/* Returns the argument that is read next; NULL after the last one. */
static const char *peek(const struct reader *reader)
{
    return reader->next < reader->argc ? reader->argv[reader->next] : NULL;
}

/* Fails for an unknown option. The message has what other programs mean by it, with what follows,
 * or an option that is written nearly so. */
static enum gf_status unknown_option(const struct reader *reader, const char *text)
{
    struct gf_error *const error = reader->error;
    const char *const next = peek(reader);
    const bool has_digits = text[1] != '-' && isdigit((unsigned char)text[2]);
    const char *const name = text + strspn(text, "-");
    const size_t length = has_digits ? 1 : strcspn(name, "=");
    const char *value = name[length] ? name + length + !has_digits : next;
    if (value && *value == '-' && !isdigit((unsigned char)value[1]))
        value = NULL;
    char word[32], item[160], together[160];
    struct gf_error line;
    struct gf_foreign_answer answer;
    size_t end = (size_t)snprintf(together, sizeof together, "%.60s", text);
    for (int i = reader->next; i < reader->argc && i < reader->next + 3 && end < 100; i++)
        end += (size_t)snprintf(together + end, sizeof together - end, "%c%.50s",
                                strchr(together, '=') ? ' ' : '=', reader->argv[i]);
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    snprintf(item, sizeof item, "%s%s%.100s", word, value ? "=" : "", value ? value : "");
    (void)gf_fail(&line, GF_ERROR_USAGE, "unknown option '%.60s'", text);
    if (gf_chain_answer(GF_FOREIGN_TOGETHER, together, &answer) ||
        gf_chain_answer(GF_FOREIGN_OPTION, item, &answer))
        return gf_chain_fail_answer(line.text, ": ", &answer, error);
    if (gf_filter_find(word))
        return fail_dashed(text, item, error);
    const struct gf_option *const option = like(word);
    if (option) {
        const bool takes = value && takes_value(option) && !option->optional;
        return gf_fail(error, GF_ERROR_USAGE, "%s; did you mean '--%s%s%.60s'?", line.text,
                       option->name, takes ? "=" : "", takes ? value : "");
    }
    if (gf_chain_answer(GF_FOREIGN_FILTER, item, &answer))
        return gf_chain_fail_answer(line.text, ": ", &answer, error);
    const char *const best = gf_filter_suggest(word);
    return best ? gf_fail(error, GF_ERROR_USAGE, "%s; did you mean the filter '%s'?", line.text,
                          best)
                : gf_fail(error, GF_ERROR_USAGE, "%s (--help lists them)", line.text);
}

static enum gf_status begin_output(struct reader *reader, const char *name)
{
    const struct gf_option *option;
    if (reader->in_environment) {
        reader->command->output = name;
        return GF_OK;
    }
    for (int i = 0; (option = gf_option_at(i)); i++)
        reader->given[i] &= !option->of_output;
    return gf_command_begin_output(reader->command, &reader->outputs, name, reader->error);
}

static enum gf_status set(struct reader *reader, const struct gf_option *option, const char *value)
{
    const char *const *const member = (const void *)((char *)reader->command + option->offset);
    int index = 0;
    while (gf_option_at(index) != option)
        index++;
    /* Two different files on the command line are an error; a file there replaces one from the
     * environment. */
    if (value && option->type == GF_OPTION_FILE && reader->given[index])
        return gf_fail(reader->error, GF_ERROR_USAGE, "--%s is given twice: '%.100s' and '%.100s'",
                       option->name, *member, value);
    if (option->type == GF_OPTION_OUTPUT && *value)
        return begin_output(reader, value);
    reader->given[index] = true;
    if (option->of_output && !reader->in_environment)
        reader->command->given |= (uint64_t)1 << index;
    const enum gf_status status = gf_option_set(option, value, reader->command, reader->error);
    if (!status)
        return GF_OK;
    char item[100];
    struct gf_foreign_answer answer;
    snprintf(item, sizeof item, "%s=%.60s", option->name, value ? value : "");
    const struct gf_error before = *reader->error;
    return gf_chain_answer(GF_FOREIGN_OPTION, item, &answer) &&
                   strncmp(answer.meaning + 2, option->name, strlen(option->name)) != 0
               ? gf_chain_fail_answer(before.text, ": ", &answer, reader->error)
               : status;
}

/* Takes the next argument as the option's value. *value becomes NULL if the value is left out. */
static enum gf_status next_value(struct reader *reader, const struct gf_option *option,
                                 const char **value)
{
    const char *const text = peek(reader);
    /* The argument after an option with an optional value is the chain, except after --help and
     * --lab. */
    const bool wanted = option->optional ? gf_option_takes_next(option) && text && text[0] != '-'
                                         : takes_value(option);
    *value = NULL;
    if (!wanted)
        return GF_OK;
    if (!text || is_option(text)) {
        char usage[120];
        gf_option_usage(option, usage, sizeof usage);
        return gf_fail(reader->error, GF_ERROR_USAGE, "--%s needs a value: %s", option->name,
                       usage);
    }
    const size_t name = strcspn(text, "=");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)name, text);
    if (option->type == GF_OPTION_FILE && text[name] && gf_filter_find(word))
        return gf_fail(reader->error, GF_ERROR_USAGE, "--%s needs a file, and '%.60s' is a chain",
                       option->name, text);
    *value = text;
    reader->next++;
    return GF_OK;
}

static enum gf_status read_long(struct reader *reader, const char *text)
{
    /* The name also ends at a colon, as in --devices:measure. */
    const size_t length = strcspn(text + 2, "=:");
    const struct gf_option *const option = find_name(text + 2, length);
    const char *value = text[2 + length] ? text + 2 + length + 1 : NULL;
    GF_TRY(gf_study_check(text, reader->error));
    if (!option)
        return unknown_option(reader, text);
    const char *const before =
        reader->in_environment ? "" : reader->argv[reader->next - 2]; /* of main() at least */
    if (!value && !reader->command->chain && (!strcmp(before, "--help") || !strcmp(before, "-h"))) {
        reader->command->about = option;
        return GF_OK;
    }
    if (!value)
        GF_TRY(next_value(reader, option, &value));
    return set(reader, option, value);
}

/* Reads short options such as "-i", "-iFILE" or "-vq". For a text such as "-rotate", with which
 * other programs name a filter, the message says how to name it here. */
static enum gf_status read_short(struct reader *reader, const char *text)
{
    struct gf_foreign_answer answer;
    const bool is_level = text[1] == 'o' && isdigit((unsigned char)text[2]) && !text[3];
    if (text[2] && (gf_filter_find(text + 1) || is_level ||
                    (text[3] && find_name(text + 1, strcspn(text + 1, "="))) ||
                    (text[3] && (gf_foreign_answer(GF_FOREIGN_OPTION, text + 1, true, &answer) ||
                                 gf_foreign_answer(GF_FOREIGN_FILTER, text + 1, true, &answer)))))
        return unknown_option(reader, text);
    for (const char *at = text + 1; *at; at++) {
        const struct gf_option *const option = find_letter(*at);
        if (!option)
            return unknown_option(reader, text);
        const char *value = NULL;
        enum gf_status status = GF_OK;
        const bool attached = at[1] && takes_value(option) && !option->optional;
        if (attached)
            value = at + 1;
        else if (!at[1])
            status = next_value(reader, option, &value);
        status = status ? status : set(reader, option, value);
        if (status || attached)
            return status;
    }
    return GF_OK;
}

/* Adds a file for --report, --compare or --info. */
static enum gf_status add_file(struct reader *reader, const char *text)
{
    struct gf_command *const command = reader->command;
    if (command->inputs == GF_COMMAND_INPUTS_MAX)
        return gf_fail(reader->error, GF_ERROR_USAGE, "more than %d files are named",
                       GF_COMMAND_INPUTS_MAX);
    command->input[command->inputs++] = text;
    return GF_OK;
}

/* Refuses a number as a chain after an option that takes no value or whose value needs "=", as in
 * "-q 80" or " --strip 1". */
static enum gf_status check_number(const struct reader *reader, const char *text)
{
    const char *const before = reader->next > 2 ? reader->argv[reader->next - 2] : "", *end;
    const bool is_quality = !strcmp(before, "-q");
    double number;
    if (!is_option(before) || !gf_value_number(text, &number, &end) || *end)
        return GF_OK;
    return gf_fail(reader->error, GF_ERROR_USAGE,
                   "%.60s takes no value, and '%.60s' is no filter%s%s", before, text,
                   is_quality ? "; did you mean --quality=" : "", is_quality ? text : "");
}

/* Fails if the name of a filter in the chain is that of an option, of this program or, like
 * "+append", of another one. */
static enum gf_status check_name(const char *word, const char *chain, struct gf_error *error)
{
    struct gf_foreign_answer answer;
    struct gf_error line;
    if (gf_filter_find(word) || gf_chain_answer(GF_FOREIGN_FILTER, chain, &answer))
        return GF_OK;
    if (find_name(word, strlen(word)))
        return gf_fail(error, GF_ERROR_USAGE, "'%s' is an option, not a filter: --%s", word, word);
    const bool is_plus = *word == '+';
    char item[160];
    snprintf(item, sizeof item, "%.*s", (int)gf_foreign_length(chain), chain);
    if (!word[1] || (!gf_chain_answer(GF_FOREIGN_OPTION, item, &answer) &&
                     !gf_chain_answer(GF_FOREIGN_OPTION, item + is_plus, &answer)))
        return GF_OK;
    if (!strncmp(answer.meaning, "--", 2) && gf_filter_suggest(word + is_plus))
        return GF_OK;
    (void)gf_fail(&line, GF_ERROR_USAGE, "'%.60s' is no filter", word);
    return gf_chain_fail_answer(line.text, ": ", &answer, error);
}

static enum gf_status check_names(const struct reader *reader, const char *chain)
{
    char token[GF_TOKEN_MAX];
    bool is_name = true;
    for (const char *at = chain; at;) {
        const char *const begin = at;
        if (!(at = gf_token_next(at, "=:,", token)))
            break;
        if (is_name)
            GF_TRY(check_name(token, begin, reader->error));
        is_name = *at == ',';
        at = *at ? at + 1 : NULL;
    }
    return GF_OK;
}

static enum gf_status read_operand(struct reader *reader, const char *text)
{
    const char **const chain = &reader->command->chain;
    const enum gf_action action = reader->command->action;
    struct stat file;
    if ((action == GF_ACTION_REPORT || action == GF_ACTION_COMPARE) && !reader->in_environment)
        return add_file(reader, text);
    if (action == GF_ACTION_INFO && !reader->in_environment &&
        gf_input_stat(gf_archive_path(text), &file))
        return add_file(reader, text);
    if (action == GF_ACTION_INFO && !reader->in_environment)
        GF_TRY(gf_input_check_meant(text, reader->error));
    /* If a shell has expanded -i *.jpg, all names except the first stand where chains are
     * expected. */
    if (gf_file_format_named(text) != GF_FILE_AUTO && gf_input_stat(text, &file)) {
        char names[120] = "";
        for (const char *name = text; name && strlen(names) < 50 && gf_input_stat(name, &file);
             name = reader->next < reader->argc ? reader->argv[reader->next++] : NULL)
            snprintf(names + strlen(names), sizeof names - strlen(names), " -i %.60s", name);
        return gf_fail(reader->error, GF_ERROR_USAGE,
                       "'%.80s' is a file, where a chain was expected: %s%s", text,
                       reader->command->inputs
                           ? "quote the pattern, or give each file an -i, as"
                           : "files are named as in -i in.png -o out.png, and chains as in "
                             "resize=50%",
                       reader->command->inputs ? names : "");
    }
    if (reader->in_environment)
        return gf_fail(reader->error, GF_ERROR_USAGE, "'%.80s' is no option", text);
    if (*chain) {
        char values[80]; /* as in "resize 300 200" */
        size_t end = (size_t)snprintf(values, sizeof values, "%.70s", text);
        while ((text = peek(reader)) && isdigit((unsigned char)*text) && end < sizeof values - 1) {
            end += (size_t)snprintf(values + end, sizeof values - end, ":%s", text);
            reader->next++;
        }
        return gf_command_fail_chains(*chain, values, reader->error);
    }
    *chain = text;
    GF_TRY(check_number(reader, text));
    return check_names(reader, text);
}

static enum gf_status read_arguments(struct reader *reader)
{
    bool options_ended = false;
    while (reader->next < reader->argc) {
        const char *const text = reader->argv[reader->next++];
        if (options_ended || text[0] != '-' || !text[1])
            GF_TRY(read_operand(reader, text));
        else if (!strcmp(text, "--"))
            options_ended = true;
        else
            GF_TRY(text[1] == '-' ? read_long(reader, text) : read_short(reader, text));
    }
    return GF_OK;
}

enum gf_status gf_command_parse_after(int count, char *const *environment, int argc,
                                      char *const *argv, struct gf_command *command,
                                      struct gf_error *error)
{
    struct gf_error detail;
    struct reader before = {.argc = count,
                            .argv = environment,
                            .command = command,
                            .error = &detail,
                            .in_environment = true};
    struct reader reader = {
        .argc = argc, .argv = argv, .next = 1, .command = command, .error = error};
    gf_command_default(command);
    enum gf_status status = read_arguments(&before);
    if (status)
        return gf_fail(error, status, "GPUFILTER_OPTS: %.300s", detail.text);
    status = read_arguments(&reader);
    GF_THEN(status, gf_command_end_outputs(command, &reader.outputs, error));
    if (!status && command->untrusted)
        gf_command_distrust(command);
    return status ? status : gf_command_check(command, error);
}

enum gf_status gf_command_parse(int argc, char *const *argv, struct gf_command *command,
                                struct gf_error *error)
{
    return gf_command_parse_after(0, NULL, argc, argv, command, error);
}
