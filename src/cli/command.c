/* Reading argv. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/value.h"
#include "batch/inputs.h"
#include "cli/command.h"
#include "codec/codec.h"
#include "gpufilter/filter.h"

/* Where argv is being read. */
struct reader {
    int argc;
    char *const *argv;
    int next;
    struct gf_command *command;
    struct gf_error *error;
    bool in_environment;
    bool given[128]; /* by the option's place in the table: files that were named */
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

/* "0,2,3" behind "cuda:". */
static bool read_devices(const struct gf_option *option, const char *text,
                         struct gf_command *command)
{
    for (const char *at = text;; at++) {
        char *end;
        const long index = strtol(at, &end, 10);
        if (!isdigit((unsigned char)*at) || index > option->greatest ||
            command->devices == GF_COMMAND_DEVICES_MAX)
            return false;
        for (int i = 0; i < command->devices; i++) {
            if (command->device[i] == index)
                return false;
        }
        command->device[command->devices++] = (int)index;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        at = end;
    }
}

/* A choice, the last of which also takes indices: "cuda:1", "cuda:0,2", "cuda:all". */
static enum gf_status set_device(const struct gf_option *option, const char *text,
                                 struct gf_command *command, struct gf_error *error)
{
    static const char prefix[] = "cuda:";
    command->options.device_index = command->devices = 0;
    command->all_devices = false;
    if (strncmp(text, prefix, strlen(prefix)))
        return set_choice(option, text, &command->options.device, error);
    command->options.device = GF_DEVICE_CUDA;
    command->all_devices = !strcmp(text + strlen(prefix), "all");
    if (command->all_devices)
        return GF_OK;
    if (!read_devices(option, text + strlen(prefix), command))
        return no_choice(option, text, error);
    command->options.device_index = command->device[0];
    return GF_OK;
}

static int place_of(const struct gf_option *option)
{
    int place = 0;
    while (gf_option_at(place) != option)
        place++;
    return place;
}

static enum gf_status set_file(const struct reader *reader, const struct gf_option *option,
                               const char *text, const char **member)
{
    struct gf_error *const error = reader->error;
    /* One of the environment gives way. */
    if (*member && reader->given[place_of(option)])
        return gf_fail(error, GF_ERROR_USAGE, "--%s is given twice: '%.100s' and '%.100s'",
                       option->name, *member, text);
    if (!*text)
        return gf_fail(error, GF_ERROR_USAGE, "--%s: the name of the file is empty", option->name);
    *member = text;
    return GF_OK;
}

static enum gf_status add_input(const struct gf_option *option, const char *text,
                                struct gf_command *command, struct gf_error *error)
{
    if (!*text)
        return gf_fail(error, GF_ERROR_USAGE, "--%s: the name of the file is empty", option->name);
    if (command->inputs == GF_COMMAND_INPUTS_MAX)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--%s is given more than %d times: name a folder, or a list by @FILE",
                       option->name, GF_COMMAND_INPUTS_MAX);
    command->input[command->inputs++] = text;
    return GF_OK;
}

/* K counts from 1, as parts of something do; what counts from 0 is told what to do. */
static enum gf_status set_shard(const struct gf_option *option, const char *text,
                                struct gf_command *command, struct gf_error *error)
{
    int part, of, end = 0;
    if (sscanf(text, "%9d/%9d%n", &part, &of, &end) != 2 || text[end] || of < 1)
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is not K/N, the K-th of N parts",
                       option->name, text);
    if (part < 1 || part > of)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--%s=%.60s: K is outside 1..%d; with an index that counts from 0: "
                       "--%s=$((INDEX + 1))/%d",
                       option->name, text, of, option->name, of);
    command->shard = part;
    command->shards = of;
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
static enum gf_status set(struct reader *reader, const struct gf_option *option, const char *value)
{
    struct gf_command *const command = reader->command;
    struct gf_error *const error = reader->error;
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
    case GF_OPTION_FILE: {
        const enum gf_status status = set_file(reader, option, value, member);
        reader->given[place_of(option)] = true;
        return status;
    }
    case GF_OPTION_INPUT:
        return add_input(option, value, command, error);
    case GF_OPTION_SHARD:
        return set_shard(option, value, command, error);
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
    /* Where a value is optional, what follows is rather the chain; --help and --lab have no chain.
     */
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
    return set(reader, option, value);
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
        status = status ? status : set(reader, option, value);
        if (status || attached)
            return status;
    }
    return GF_OK;
}

static enum gf_status read_operand(struct reader *reader, const char *text)
{
    const char **const chain = &reader->command->chain;
    /* What a shell makes of -i *.jpg. */
    if (gf_file_format_named(text) != GF_FILE_AUTO && !access(text, F_OK))
        return gf_fail(reader->error, GF_ERROR_USAGE,
                       "'%.80s' is a file, where a chain was expected: quote the pattern, or give "
                       "each file an -i",
                       text);
    if (reader->in_environment)
        return gf_fail(reader->error, GF_ERROR_USAGE, "'%.80s' is no option", text);
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
        return gf_fail(error, GF_ERROR_USAGE,
                       "--trace is of a run that writes a picture: -o FILE is missing");
    if (command->action == GF_ACTION_EXPLAIN || command->profile >= GF_PROFILE_COMPARE)
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "-o FILE is missing: the picture to write");
}

/* --explain and --profile=compare look at one picture on one device. */
static enum gf_status check_subject(const struct gf_command *command, struct gf_error *error)
{
    static const char reports[] = "--explain and --profile=compare are of one",
                      twice[] = "--profile=compare with -o reads the picture twice";
    const char *const input = command->input[0];
    if (command->inputs > 1)
        return gf_fail(error, GF_ERROR_USAGE, "%s picture, not of %d", reports, command->inputs);
    if (gf_inputs_is_group(input))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s picture, not of a folder, a pattern or a list: '%.100s'", reports,
                       input);
    if (command->all_devices || command->devices > 1)
        return gf_fail(error, GF_ERROR_USAGE, "%s GPU, not of several", reports);
    if (command->action == GF_ACTION_EXPLAIN || !command->output)
        return GF_OK;
    if (!strcmp(input, "-"))
        return gf_fail(error, GF_ERROR_USAGE, "%s: not from standard input", twice);
    if (!strcmp(input, command->output))
        return gf_fail(error, GF_ERROR_USAGE, "%s: not where it is written over", twice);
    return GF_OK;
}

/* Told, since "--devices measure" would seem to measure. */
static enum gf_status check_bystander(const struct gf_command *command, struct gf_error *error)
{
    int i = 0;
    const enum gf_action action = command->action;
    if (!command->chain ||
        (action != GF_ACTION_LAB && action != GF_ACTION_DEVICES && action != GF_ACTION_LIST))
        return GF_OK;
    while (gf_option_at(i)->action != action)
        i++;
    return gf_fail(error, GF_ERROR_USAGE, "--%s takes no chain: '%.80s'", gf_option_at(i)->name,
                   command->chain);
}

static enum gf_status check(const struct gf_command *command, struct gf_error *error)
{
    if (command->action != GF_ACTION_RUN && command->action != GF_ACTION_EXPLAIN)
        return check_bystander(command, error);
    if (!command->inputs)
        return gf_fail(error, GF_ERROR_USAGE,
                       "-i FILE is missing: the picture to read (--help explains)");
    if (command->chain && command->chain_file)
        return gf_fail(error, GF_ERROR_USAGE, "two chains: '%.80s', and --chain-file",
                       command->chain);
    const bool report =
        command->action == GF_ACTION_EXPLAIN || command->profile >= GF_PROFILE_COMPARE;
    const enum gf_status status = report ? check_subject(command, error) : GF_OK;
    if (status || !command->output)
        return status ? status : check_report(command, error);
    if (command->resume && command->log && strcmp(command->resume, command->log))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--log and --resume are not the same file: --resume goes on in its log");
    const char *const log = command->log ? command->log : command->resume;
    if (log && !strcmp(log, command->output))
        return gf_fail(error, GF_ERROR_USAGE, "the log and --output are the same file");
    if (command->trace && !strcmp(command->trace, command->output))
        return gf_fail(error, GF_ERROR_USAGE, "--trace and --output are the same file");
    for (int i = 0; command->trace && i < command->inputs; i++) {
        if (!strcmp(command->trace, command->input[i]))
            return gf_fail(error, GF_ERROR_USAGE, "--trace and --input are the same file");
    }
    return GF_OK;
}

static enum gf_status read_arguments(struct reader *reader)
{
    enum gf_status status = GF_OK;
    bool options_ended = false;
    while (!status && reader->next < reader->argc) {
        const char *const text = reader->argv[reader->next++];
        if (options_ended || text[0] != '-' || !text[1])
            status = read_operand(reader, text);
        else if (!strcmp(text, "--"))
            options_ended = true;
        else
            status = text[1] == '-' ? read_long(reader, text) : read_short(reader, text);
    }
    return status;
}

enum gf_status gf_command_parse_after(int count, char *const *environment, int argc,
                                      char *const *argv, struct gf_command *command,
                                      struct gf_error *error)
{
    struct gf_error detail;
    struct reader before = {count, environment, 0, command, &detail, true, {0}};
    struct reader reader = {argc, argv, 1, command, error, false, {0}};
    *command = gf_command_default();
    enum gf_status status = read_arguments(&before);
    if (status)
        return gf_fail(error, status, "GPUFILTER_OPTS: %.300s", detail.text);
    status = read_arguments(&reader);
    return status ? status : check(command, error);
}

enum gf_status gf_command_parse(int argc, char *const *argv, struct gf_command *command,
                                struct gf_error *error)
{
    return gf_command_parse_after(0, NULL, argc, argv, command, error);
}
