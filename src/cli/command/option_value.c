#include "cli/command/command.h"
#include "cli/help/topics.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/text/plain_text.h"
#include "batch/sheets/sheet.h"
#include "chain/chain.h"
#include "chain/foreign.h"

/* Reads a number with a suffix, such as "2G", "1.5M" or "512MiB". The suffix is K, M, G or T in
 * either case: powers of 1024 for sizes, of 1000 for counts. */
static bool parse_scaled(const char *text, enum gf_option_type type, double *value)
{
    const double base = type == GF_OPTION_SIZE ? 1024 : 1000;
    const char *end;
    if (!gf_value_number(text, value, &end))
        return false;
    if (!*end || type == GF_OPTION_NUMBER)
        return !*end;
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
                       whole || option->type == GF_OPTION_NUMBER
                           ? "number"
                           : "number with or without a suffix K, M, G");
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
    else if (option->type == GF_OPTION_NUMBER)
        *(double *)member = value;
    else
        *(uint64_t *)member = (uint64_t)value;
    return GF_OK;
}

static enum gf_status fail_empty_name(const struct gf_option *option, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_USAGE, "--%s: the name of the file is empty", option->name);
}

static enum gf_status fail_choice(const struct gf_option *option, const char *text,
                                  struct gf_error *error)
{
    const bool device = option->type == GF_OPTION_DEVICE;
    const char *const meant = gf_value_synonym(text), *best = NULL;
    int distance = 0;
    for (int i = 0; option->choices[i].name; i++)
        gf_suggest_consider(text, option->choices[i].name, &best, &distance);
    for (int i = 0; meant && option->choices[i].name; i++)
        best = strcmp(meant, option->choices[i].name) ? best : option->choices[i].name;
    char choices[160];
    gf_option_choices(option->choices, ", ", device ? ", cuda:N" : "", choices, sizeof choices);
    return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is none of %s%s%s%s", option->name, text,
                   choices, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

/* Whether the text is the choice. For a choice such as "html:FILE" *file becomes the text in place
 * of FILE; else NULL. */
static bool is_choice(const char *choice, const char *text, const char **file)
{
    const size_t end = strlen(GF_CHOICE_FILE), length = strlen(choice);
    const size_t begin = length > end ? length - end : 0; /* where ":FILE" begins in the choice */
    *file = NULL;
    if (strcmp(choice + begin, GF_CHOICE_FILE))
        return !strcmp(choice, text);
    *file = text + begin + 1;
    return !strncmp(choice, text, begin + 1);
}

static enum gf_status set_choice(const struct gf_option *option, const char *text,
                                 struct gf_command *command, struct gf_error *error)
{
    const char *file;
    for (int i = 0; option->choices[i].name; i++) {
        if (!is_choice(option->choices[i].name, text, &file))
            continue;
        if (file && !*file)
            return fail_empty_name(option, error);
        *(int *)((char *)command + option->offset) = option->choices[i].value;
        if (option->file_offset)
            *(const char **)((char *)command + option->file_offset) = file;
        return GF_OK;
    }
    return fail_choice(option, text, error);
}

/* Reads several choices, as in "png,jpeg", as a set of bits. For an option whose value may be left
 * out, "all" means the same set as no value. */
static enum gf_status set_set(const struct gf_option *option, const char *text, uint64_t *set,
                              struct gf_error *error)
{
    *set = option->optional && !strcmp(text, "all") ? (uint64_t)option->implied : 0;
    if (*set)
        return GF_OK;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const struct gf_choice *choice = option->choices;
        while (choice->name &&
               (strlen(choice->name) != length || strncmp(choice->name, at, length)))
            choice++;
        if (!choice->name) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word),
                     at);
            return fail_choice(option, word, error);
        }
        *set |= (uint64_t)1 << choice->value;
        at += length;
        if (!*at)
            return GF_OK;
    }
}

static enum gf_status set_small_set(const struct gf_option *option, const char *text,
                                    uint32_t *small, struct gf_error *error)
{
    uint64_t set = 0;
    const enum gf_status status = set_set(option, text, &set, error);
    *small = (uint32_t)set;
    return status;
}

/* Reads the numbers "0,2,3" of "cuda:0,2,3" into command->device. Returns false if they are invalid
 * or too many. */
static bool read_devices(const char *text, struct gf_command *command)
{
    for (const char *at = text;; at++) {
        char *end;
        const long index = strtol(at, &end, 10);
        if (!isdigit((unsigned char)*at) || index > GF_DEVICE_INDEX_MAX ||
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

static enum gf_status set_device(const struct gf_option *option, const char *text,
                                 struct gf_command *command, struct gf_error *error)
{
    static const char prefix[] = "cuda:";
    command->options.device_index = command->devices = 0;
    command->all_devices = false;
    if (strncmp(text, prefix, strlen(prefix)))
        return set_choice(option, text, command, error);
    command->options.device = GF_DEVICE_CUDA;
    command->all_devices = !strcmp(text + strlen(prefix), "all");
    if (command->all_devices)
        return GF_OK;
    if (!read_devices(text + strlen(prefix), command))
        return fail_choice(option, text, error);
    command->options.device_index = command->device[0];
    return GF_OK;
}

static enum gf_status add_input(const struct gf_option *option, const char *text,
                                struct gf_command *command, struct gf_error *error)
{
    if (!*text)
        return fail_empty_name(option, error);
    if (command->inputs == GF_COMMAND_INPUTS_MAX)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--%s is given more than %d times: name a folder, or a list by @FILE",
                       option->name, GF_COMMAND_INPUTS_MAX);
    command->input[command->inputs++] = text;
    return GF_OK;
}

/* Reads "K/N", where K counts from 1. The message for K = 0 tells how to convert an index that
 * counts from 0. */
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

/* Reads "ssimulacra2:N" or "ssim:N", of which the last one counts. */
static enum gf_status set_target(const struct gf_option *option, const char *text,
                                 struct gf_options *options, struct gf_error *error)
{
    const bool ssim = !strncmp(text, "ssim:", 5);
    const double greatest = ssim ? 1 : option->greatest;
    const char *end;
    double value;
    if ((!ssim && strncmp(text, "ssimulacra2:", 12) != 0) ||
        !gf_value_number(text + (ssim ? 5 : 12), &value, &end) || *end)
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is none of ssimulacra2:N, ssim:N",
                       option->name, text);
    if (value < option->least || value > greatest)
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is outside %g..%g", option->name, text,
                       option->least, greatest);
    options->target_ssim = ssim ? value : 0;
    options->target_ssimulacra2 = ssim ? 0 : value;
    return GF_OK;
}

static enum gf_status set_range(const struct gf_option *option, const char *text,
                                struct gf_options *options, struct gf_error *error)
{
    const char *middle, *end;
    options->range_low = options->range_high = 0;
    options->range_percentile = !strcmp(text, "percentile");
    if (options->range_percentile || !strcmp(text, "unit"))
        return GF_OK;
    if (!gf_value_number(text, &options->range_low, &middle) || *middle != ':' ||
        !gf_value_number(middle + 1, &options->range_high, &end) || *end)
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s is none of MIN:MAX, percentile, unit",
                       option->name, text);
    if (!(options->range_low < options->range_high))
        return gf_fail(error, GF_ERROR_USAGE, "--%s=%.60s: %g is not below %g", option->name, text,
                       options->range_low, options->range_high);
    return GF_OK;
}

/* Adds a line to the text of the option; the command owns it, and the text before, which other
 * outputs may have. */
static enum gf_status add_line(const char *text, struct gf_command *command, const char **member,
                               struct gf_error *error)
{
    char *lines = NULL;
    if (!GF_RESERVE(command->lines, command->lines_room, command->lines_count + 1) ||
        asprintf(&lines, "%s%s%s", *member ? *member : "", *member ? "\n" : "", text) < 0)
        return gf_fail_memory(error);
    *member = command->lines[command->lines_count++] = lines;
    return GF_OK;
}

/* Returns the option of that name or else the first that can have the word as its value, or by
 * which what other programs call so is done. */
static const struct gf_option *option_about(const char *word)
{
    const struct gf_option *option, *found = NULL;
    struct gf_foreign_answer answer;
    const bool is_foreign = gf_foreign_answer(GF_FOREIGN_OPTION, word, true, &answer) &&
                            !strncmp(answer.meaning, "--", 2);
    const char *const meaning = is_foreign ? answer.meaning + 2 : "";
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (!strcmp(option->name, word))
            return option;
        const char *value;
        for (int k = 0; option->word_at && (value = option->word_at(k)); k++)
            found = found || strcmp(value, word) ? found : option;
        if (!found && !strncmp(meaning, option->name, strlen(option->name)) &&
            strchr("=[", meaning[strlen(option->name)]))
            found = option;
        for (const struct gf_choice *at = option->choices; !found && at && at->name; at++)
            found = strcmp(at->name, word) ? NULL : option;
    }
    return found;
}

/* Stores what --help is about: a topic, a filter or an option. */
static enum gf_status set_topic(const char *text, struct gf_command *command,
                                struct gf_error *error)
{
    command->subject = gf_topic_find(text);
    if (command->subject)
        return GF_OK;
    for (int kind = GF_SHEET_JOIN; kind <= GF_SHEET_TILES; kind++) {
        const struct gf_filter *const declaration = gf_sheet_declaration((enum gf_sheet_kind)kind);
        if (!strcmp(gf_filter_name(declaration) + strlen("--"), text))
            command->topic = declaration;
    }
    if (!command->topic && !gf_filter_find(text))
        command->about = option_about(text);
    return command->topic || command->about ? GF_OK
                                            : gf_filter_named(text, "", &command->topic, error);
}

/* Stores the value that the option has if its value is left out. */
static void set_implied(const struct gf_option *option, struct gf_command *command)
{
    void *const member = (char *)command + option->offset;
    if (option->type == GF_OPTION_SWITCH && !option->action) {
        *(bool *)member = option->implied;
        if (option->value_offset)
            *(bool *)((char *)command + option->value_offset) = false;
    } else if (option->type == GF_OPTION_CHOICE)
        *(int *)member = option->implied;
    else if (option->type == GF_OPTION_SET)
        *(uint64_t *)member = (uint64_t)option->implied;
    else if (option->type == GF_OPTION_LINES)
        *(const char **)member = "";
    else if (option->bare_offset) {
        *(bool *)((char *)command + option->bare_offset) = true;
        *(int *)member = option->implied;
    }
}

enum gf_status gf_option_set(const struct gf_option *option, const char *value,
                             struct gf_command *command, struct gf_error *error)
{
    void *const member = (char *)command + option->offset;
    if (option->action && !command->action)
        command->action = option->action;
    if (option->given_offset)
        *(bool *)((char *)command + option->given_offset) = true;
    if (!value) {
        set_implied(option, command);
        return GF_OK;
    }
    switch (option->type) {
    case GF_OPTION_SWITCH:
        if (option->value_offset && !strcmp(value, option->argument)) {
            *(bool *)member = strcmp(value, "no") != 0;
            *(bool *)((char *)command + option->value_offset) = true;
            return GF_OK;
        }
        return gf_fail(error, GF_ERROR_USAGE, "--%s takes no value%s%s", option->name,
                       option->value_offset ? " but " : "",
                       option->value_offset ? option->argument : "");
    case GF_OPTION_FILE:
    case GF_OPTION_OUTPUT:
        if (!*value)
            return fail_empty_name(option, error);
        *(const char **)member = value;
        return GF_OK;
    case GF_OPTION_WORDS:
        *(const char **)member = value;
        return GF_OK;
    case GF_OPTION_LINES:
        return add_line(value, command, member, error);
    case GF_OPTION_INPUT:
        return add_input(option, value, command, error);
    case GF_OPTION_SHARD:
        return set_shard(option, value, command, error);
    case GF_OPTION_TARGET:
        return set_target(option, value, &command->options, error);
    case GF_OPTION_RANGE:
        return set_range(option, value, &command->options, error);
    case GF_OPTION_FILTER:
        return set_topic(value, command, error);
    case GF_OPTION_SET:
        return set_set(option, value, member, error);
    case GF_OPTION_SMALL_SET:
        return set_small_set(option, value, member, error);
    case GF_OPTION_CHOICE:
        return set_choice(option, value, command, error);
    case GF_OPTION_DEVICE:
        return set_device(option, value, command, error);
    case GF_OPTION_INT:
    case GF_OPTION_COUNT:
    case GF_OPTION_SIZE:
    case GF_OPTION_NUMBER:
        return set_number(option, value, member, error);
    }
    return GF_OK;
}
