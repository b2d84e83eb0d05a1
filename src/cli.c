/* Reading argv. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "gpufilter/filter.h"
#include "suggest.h"
#include "value.h"

/* Where argv is being read. */
struct reader {
    int argc;
    char *const *argv;
    int next;
    struct gf_command *command;
    struct gf_error *error;
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

/* "-i", "--strip" or "--quality=90": something that nobody means as a value. */
static bool is_option(const char *text)
{
    if (text[0] != '-' || !text[1])
        return false;
    return text[1] == '-' ? find_name(text + 2, strcspn(text + 2, "=")) != NULL
                          : !text[2] && find_letter(text[1]);
}

/* Suggests the option that a mistyped name begins, or that differs from it by a few letters. */
static enum gf_status unknown_option(const char *text, struct gf_error *error)
{
    const char *const name = text + strspn(text, "-");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "="), name);
    const char *best = NULL;
    int distance = 0;
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (strlen(word) > 2 && !strncmp(option->name, word, strlen(word)))
            return gf_fail(error, GF_ERROR_USAGE, "unknown option '%.60s'; did you mean '--%s'?",
                           text, option->name);
        gf_suggest_consider(word, option->name, &best, &distance);
    }
    if (best)
        return gf_fail(error, GF_ERROR_USAGE, "unknown option '%.60s'; did you mean '--%s'?", text,
                       best);
    return gf_fail(error, GF_ERROR_USAGE, "unknown option '%.60s' (--help lists them)", text);
}

/* "2G", "1.5M", "512MiB". The suffix is one of K, M, G, T in either case. */
static bool parse_scaled(const char *text, enum gf_option_type type, double *value)
{
    const double base = type == GF_OPTION_SIZE ? 1024 : 1000;
    const char *end;
    if (!gf_value_number(text, value, &end))
        return false;
    if (!*end)
        return true;
    const char *const suffix = strchr("KMGT", toupper((unsigned char)*end));
    if (!suffix)
        return false;
    *value *= pow(base, (double)(suffix - "KMGT") + 1);
    return !end[1] || (type == GF_OPTION_SIZE && (!strcmp(end + 1, "B") || !strcmp(end + 1, "iB")));
}

static enum gf_status set_number(const struct gf_option *option, const char *text, void *member,
                                 struct gf_error *error)
{
    double value;
    const bool whole = option->type == GF_OPTION_INT;
    if (whole ? !gf_value_whole_number(text, &value) : !parse_scaled(text, option->type, &value))
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is not a %s", option->name, text,
                       whole ? "number" : "number with or without a suffix K, M, G");
    if (value != floor(value) && whole)
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is not a whole number", option->name,
                       text);
    if (value < option->least || value > option->greatest) {
        char least[32], greatest[32];
        gf_option_number(option->least, option->type, least, sizeof least);
        gf_option_number(option->greatest, option->type, greatest, sizeof greatest);
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is outside %s..%s", option->name, text,
                       least, greatest);
    }
    if (whole)
        *(int *)member = (int)value;
    else
        *(uint64_t *)member = (uint64_t)value;
    return GF_OK;
}

static enum gf_status no_choice(const struct gf_option *option, const char *text,
                                struct gf_error *error)
{
    const bool device = option->type == GF_OPTION_DEVICE;
    const char *best = NULL;
    int distance = 0;
    for (int i = 0; option->choices[i].name; i++)
        gf_suggest_consider(text, option->choices[i].name, &best, &distance);
    char choices[120];
    gf_option_choices(option->choices, ", ", device ? ", cuda:N" : "", choices, sizeof choices);
    return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is none of %s%s%s%s", option->name, text,
                   choices, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static enum gf_status set_choice(const struct gf_option *option, const char *text, void *member,
                                 struct gf_error *error)
{
    for (int i = 0; option->choices[i].name; i++) {
        if (!strcmp(option->choices[i].name, text)) {
            *(int *)member = option->choices[i].value;
            return GF_OK;
        }
    }
    return no_choice(option, text, error);
}

/* A choice, the last of which also takes an index: "cuda:1". */
static enum gf_status set_device(const struct gf_option *option, const char *text,
                                 struct gf_command *command, struct gf_error *error)
{
    static const char prefix[] = "cuda:";
    double index;
    command->options.device_index = 0;
    if (strncmp(text, prefix, strlen(prefix)))
        return set_choice(option, text, &command->options.device, error);
    if (!gf_value_whole_number(text + strlen(prefix), &index) || index != floor(index) ||
        index < 0 || index > option->greatest)
        return no_choice(option, text, error);
    command->options.device = GF_DEVICE_CUDA;
    command->options.device_index = (int)index;
    return GF_OK;
}

static enum gf_status set_file(const struct gf_option *option, const char *text,
                               const char **member, struct gf_error *error)
{
    if (*member)
        return gf_fail(error, GF_ERROR_USAGE, "--%s is given twice: '%.100s' and '%.100s'",
                       option->name, *member, text);
    if (!*text)
        return gf_fail(error, GF_ERROR_USAGE, "--%s: the name of the file is empty", option->name);
    *member = text;
    return GF_OK;
}

static enum gf_status set_filter(const char *text, const char **member, struct gf_error *error)
{
    if (!gf_filter_find(text)) {
        const char *const best = gf_filter_suggest(text);
        return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%.60s'%s%s%s", text,
                       best ? "; did you mean '" : " (--list shows them)", best ? best : "",
                       best ? "'?" : "");
    }
    *member = text;
    return GF_OK;
}

/* value: NULL where none was given. */
static enum gf_status set(const struct gf_option *option, const char *value,
                          struct gf_command *command, struct gf_error *error)
{
    void *const member = (char *)command + option->offset;
    if (option->action && !command->action)
        command->action = option->action;
    if (!value) {
        if (option->type == GF_OPTION_SWITCH && !option->action)
            *(bool *)member = option->value;
        else if (option->type == GF_OPTION_CHOICE)
            *(int *)member = option->value;
        return GF_OK;
    }
    switch (option->type) {
    case GF_OPTION_SWITCH:
        return gf_fail(error, GF_ERROR_USAGE, "--%s takes no value", option->name);
    case GF_OPTION_FILE:
        return set_file(option, value, member, error);
    case GF_OPTION_FILTER:
        return set_filter(value, member, error);
    case GF_OPTION_LAB:
        *(const char **)member = value;
        return GF_OK;
    case GF_OPTION_CHOICE:
        return set_choice(option, value, member, error);
    case GF_OPTION_DEVICE:
        return set_device(option, value, command, error);
    case GF_OPTION_INT:
    case GF_OPTION_COUNT:
    case GF_OPTION_SIZE:
        return set_number(option, value, member, error);
    }
    return GF_OK;
}

/* The value that is an argument of its own; NULL where it may be left out and is. */
static enum gf_status next_value(struct reader *reader, const struct gf_option *option,
                                 const char **value)
{
    const char *const text = reader->next < reader->argc ? reader->argv[reader->next] : NULL;
    /* Where a value is optional, what follows is rather the chain; --help and --lab have no chain. */
    const bool wanted = option->optional ? gf_option_apart(option) && text && text[0] != '-'
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
    *value = text;
    reader->next++;
    return GF_OK;
}

static enum gf_status read_long(struct reader *reader, const char *text)
{
    const size_t length = strcspn(text + 2, "=:"); /* --devices:measure too */
    const struct gf_option *const option = find_name(text + 2, length);
    if (!option)
        return unknown_option(text, reader->error);
    const char *value = text[2 + length] ? text + 2 + length + 1 : NULL;
    if (!value) {
        const enum gf_status status = next_value(reader, option, &value);
        if (status)
            return status;
    }
    return set(option, value, reader->command, reader->error);
}

/* "-i", "-iFILE", "-vq". */
static enum gf_status read_short(struct reader *reader, const char *text)
{
    for (const char *at = text + 1; *at; at++) {
        const struct gf_option *const option = find_letter(*at);
        if (!option)
            return unknown_option(text, reader->error);
        const char *value = NULL;
        enum gf_status status = GF_OK;
        const bool attached = at[1] && takes_value(option) && !option->optional;
        if (attached)
            value = at + 1;
        else if (!at[1])
            status = next_value(reader, option, &value);
        status = status ? status : set(option, value, reader->command, reader->error);
        if (status || attached)
            return status;
    }
    return GF_OK;
}

static enum gf_status read_operand(struct reader *reader, const char *text)
{
    const char **const chain = &reader->command->chain;
    if (*chain)
        return gf_fail(
            reader->error, GF_ERROR_USAGE,
            "two chains, '%.80s' and '%.80s': filters are joined by commas, files named by -i "
            "and -o",
            *chain, text);
    *chain = text;
    return GF_OK;
}

/* What is there without a picture being written. */
static enum gf_status check_report(const struct gf_command *command, struct gf_error *error)
{
    if (command->trace)
        return gf_fail(error, GF_ERROR_USAGE, "--trace is of a run that writes a picture: -o FILE is missing");
    if (command->action == GF_ACTION_EXPLAIN || command->profile >= GF_PROFILE_COMPARE)
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "-o FILE is missing: the picture to write");
}

static enum gf_status check(const struct gf_command *command, struct gf_error *error)
{
    if (command->action != GF_ACTION_RUN && command->action != GF_ACTION_EXPLAIN)
        return GF_OK;
    if (!command->input)
        return gf_fail(error, GF_ERROR_USAGE,
                       "-i FILE is missing: the picture to read (--help explains)");
    if (!command->output)
        return check_report(command, error);
    if (command->profile >= GF_PROFILE_COMPARE && !strcmp(command->input, "-"))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--profile=compare with -o reads the picture twice: not from standard input");
    if (command->trace && !strcmp(command->trace, command->output))
        return gf_fail(error, GF_ERROR_USAGE, "--trace and --output are the same file");
    return GF_OK;
}

enum gf_status gf_command_parse(int argc, char *const *argv, struct gf_command *command,
                                struct gf_error *error)
{
    struct reader reader = {argc, argv, 1, command, error};
    enum gf_status status = GF_OK;
    bool options_ended = false;
    *command = gf_command_default();
    while (!status && reader.next < argc) {
        const char *const text = argv[reader.next++];
        if (options_ended || text[0] != '-' || !text[1])
            status = read_operand(&reader, text);
        else if (!strcmp(text, "--"))
            options_ended = true;
        else
            status = text[1] == '-' ? read_long(&reader, text) : read_short(&reader, text);
    }
    return status ? status : check(command, error);
}
