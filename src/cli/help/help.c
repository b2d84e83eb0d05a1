/* Prints help, --list, and the examples of the cookbook and of the filters. */
#include "chain/foreign.h"
#include "cli/help/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "batch/archives/archive_file.h"
#include "cli/study/study.h"
#include "codec/cell/cell.h"
#include "codec/formats.h"
#include "icc/icc_build.h"
#include "report/text.h"
#include "text/text.h"

enum { OPTION_COLUMN = 34 };

static const struct gf_example examples[] = {
    {"gpufilter -i photos -o small thumbnail=200",
     "Make a thumbnail of every picture in a folder."},
    {"gpufilter -i photo.jpg -o photo.png", "Convert a picture, without a filter."},
    {"gpufilter -i photo.jpg -o web.jpg --strip thumbnail=1600:sharpen=0.5",
     "Shrink a picture for the web, and sharpen it."},
    {"gpufilter -i photo.jpg -o clear.jpg nlmeans=0.025,clahe,vibrance=0.4",
     "Remove noise, and give more contrast and livelier colours."},
    {"gpufilter -i photo.jpg -o marked.jpg overlay=logo.png:southeast:scale=20%",
     "Put a logo into the corner."},
    {"cat in.png | gpufilter -i - -o - 'blur=2,sobel' | next-tool", "Filter in a pipe."},
    {"gpufilter --info photos", "See what pictures are: format, size, colours, camera."},
    {"gpufilter --compare=a.png b.png", "See how alike two pictures are."},
    {"gpufilter --profile -i big.jpg -o out.png blur=sigma=3,equalize=mode=lightness",
     "See how long each stage took."},
};

const struct gf_example *gf_example_at(int index)
{
    return index >= 0 && index < (int)(sizeof examples / sizeof *examples) ? &examples[index]
                                                                           : NULL;
}

static void print_option(FILE *file, const struct gf_option *option)
{
    char usage[120], limits[80], text[700];
    gf_option_usage(option, usage, sizeof usage);
    gf_option_limits(option, limits, sizeof limits);
    snprintf(text, sizeof text, "%s%s%s%s", option->help, *limits ? " (" : "", limits,
             *limits ? ")" : "");
    const char letter[] = {'-', option->letter, ',', '\0'};
    int column = fprintf(file, "  %3s %s", option->letter ? letter : "", usage);
    if (column + 1 >= OPTION_COLUMN) {
        putc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", OPTION_COLUMN - column, "");
    gf_text_wrap(file, text, OPTION_COLUMN, OPTION_COLUMN);
}

static int count_option(const char *text, const char *name)
{
    int count = 0;
    for (const char *at = text; at && (at = strstr(at, "--")) != NULL; at += 2) {
        const char *const end = at + 2 + strlen(name);
        count += !strncmp(at + 2, name, strlen(name)) && !isalnum((unsigned char)*end) &&
                 (*end != '-' || !isalnum((unsigned char)end[1]));
    }
    return count;
}

void gf_help_option(FILE *file, const struct gf_option *option)
{
    const struct gf_topic *topic, *best = NULL;
    int most = 0;
    for (int i = 0; (topic = gf_topic_at(i)); i++) {
        const int count = count_option(topic->text, option->name);
        best = count > most ? topic : best;
        most = count > most ? count : most;
    }
    print_option(file, option);
    if (best)
        fprintf(file, "\n--help %s says more.\n", best->name);
}

static void print_names(FILE *file)
{
    char text[1024] = "";
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        gf_text_append(text, sizeof text, i ? ", " : "");
        gf_text_append(text, sizeof text, gf_filter_name(filter));
    }
    fprintf(file, "\nFilters:\n  ");
    gf_text_wrap(file, text, 2, 2);
    fputs("\nTopics:\n", file);
    for (int i = 0; gf_topic_at(i); i++)
        fprintf(file, "  %-11s %s\n", gf_topic_at(i)->name, gf_topic_at(i)->summary);
}

void gf_help_print(FILE *file)
{
    fputs("Usage: gpufilter -i FILE -o FILE [OPTION]... [CHAIN]\n"
          "Filters a picture on an NVIDIA GPU, or on the CPU with the same result.\n"
          "CHAIN is FILTER[=VALUE:NAME=VALUE...][,FILTER...]; without it the file is only\n"
          "converted.\n"
          "\nTasks (more: --examples WORD; --help NAME explains a filter, topic or option):\n",
          file);
    for (int i = 0; gf_example_at(i); i++)
        fprintf(file, "  # %s\n  %s\n", gf_example_at(i)->help, gf_example_at(i)->command);
    print_names(file);
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->group)
            fprintf(file, "\n%s:\n", option->group);
        print_option(file, option);
    }
    fputs("\nGPUFILTER_OPTS in the environment holds options that stand before those of the\n"
          "command line: GPUFILTER_OPTS='--threads=4 --quiet'.\n"
          "\nExit status: 0 done; 1 pictures differ; 2 wrong usage; 3 missing on this\n"
          "machine; 4 bad inputs; 75 another try may succeed.\n",
          file);
}

/* Writes a value that the parameter accepts: its default or, without one, an example for its
 * type. */
static void example_value(const struct gf_param *param, char *text, size_t size)
{
    gf_param_default(param, text, size);
    if (!*text)
        snprintf(text, size, "%s",
                 param->type == GF_TYPE_LENGTH   ? "50%"
                 : param->type == GF_TYPE_MATRIX ? "0 -1 0/-1 5 -1/0 -1 0"
                 : param->type == GF_TYPE_CHOICE ? param->choices[0]
                                                 : "");
    if (!*text)
        snprintf(text, size, "%.9g", param->least);
}

void gf_help_example(const struct gf_filter *filter, char *text, size_t size)
{
    const char *const example = gf_filter_example(filter);
    snprintf(text, size, "%s", example ? example : gf_filter_name(filter));
    if (example)
        return;
    const struct gf_param *const params = gf_filter_params(filter);
    for (int i = 0; i < 2 && params[i].name; i++) {
        char value[80];
        example_value(&params[i], value, sizeof value);
        gf_text_append(text, size, i ? ":" : "=");
        if (i) {
            gf_text_append(text, size, params[i].name);
            gf_text_append(text, size, "=");
        }
        gf_text_append(text, size, value);
    }
}

/* Whether the text has the word M, by which help calls the largest value of a sample. */
static bool names_full_scale(const char *text)
{
    for (const char *at = text; (at = strchr(at, 'M')); at++) {
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[1]))
            return true;
    }
    return false;
}

static void print_definition(FILE *file, const char *definition)
{
    if (!definition)
        return;
    fputs("\nDefinition:\n  ", file);
    gf_text_wrap(file, definition, 2, 2);
    if (names_full_scale(definition))
        fputs("  v is a sample, M the full scale: 255, or 65535 in 16 bits.\n", file);
}

/* Prints what the filter is called here and, from the table of foreign words, some names of exactly
 * this filter in other programs. */
static void print_other_names(FILE *file, const struct gf_filter *filter)
{
    enum { NAMES_MOST = 6 };
    const char *const name = gf_filter_name(filter);
    const size_t length = strlen(name);
    const struct gf_foreign_row *row;
    int count = 0;
    if (gf_filter_alias(filter))
        fprintf(file, "\nAlso called %s.\n", gf_filter_alias(filter));
    for (int i = 0; (row = gf_foreign_at(i)) != NULL && count < NAMES_MOST; i++) {
        const size_t word = strcspn(row->words, " ");
        if (row->kind == GF_FOREIGN_FILTER && row->meaning && !row->note && *row->whose &&
            !strncmp(row->meaning, name, length) && strchr("=[", row->meaning[length]) &&
            !memchr(row->words, '=', word))
            fprintf(file, "%s  %.*s (%s)\n",
                    count++ ? "" : "\nIn other programs, exactly or nearly:\n", (int)word,
                    row->words, row->whose);
    }
}

void gf_help_filter(FILE *file, const struct gf_filter *filter)
{
    const struct gf_param *const params = gf_filter_params(filter);
    const char *const name = gf_filter_name(filter);
    char example[160];
    fprintf(file, "%s: %s\n", name, gf_filter_summary(filter));
    fprintf(file, "\n%s\n",
            params->name ? "Parameters, in their order by position:" : "No parameters.");
    for (const struct gf_param *param = params; param->name; param++)
        gf_param_print(file, param);
    if (gf_filter_takes_region(filter))
        fputs("\nBy their names alone:\n", file);
    for (const struct gf_param *param = gf_region_params;
         gf_filter_takes_region(filter) && param->name; param++)
        gf_param_print(file, param);
    gf_help_example(filter, example, sizeof example);
    fprintf(file, "\nExample:\n  gpufilter -i %s -o out.png '%s'\n",
            *example == '-' ? "folder" : "in.png", example);
    print_other_names(file, filter);
    print_definition(file, gf_filter_definition(filter));
    if (!filter->takes_floats)
        fputs("  Floats are refused.\n", file);
    else if (!filter->shape || filter->kind != GF_STRAIGHT)
        fputs("  Of floats M is 1, and nothing is clamped: see --help float.\n", file);
    if (gf_filter_variant(filter, 1, NULL))
        fprintf(file, "\n--help=study %s lists the variants of its CUDA kernels.\n", name);
}

/* Prints the formats that this program can use, and for each other format which library is
 * missing. */
static void print_formats(FILE *file)
{
    const struct gf_file_type *type;
    struct gf_error error;
    fputs("formats:", file);
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (type->open && (!type->library || !gf_library_load(type->library, type->name,
                                                              GF_ERROR_UNAVAILABLE, &error)))
            fprintf(file, "%s %s%s", i ? "," : "", type->name, type->create ? "" : " (read only)");
    }
    fputc('\n', file);
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!type->open)
            fprintf(file, "without %s (built without %s)\n", type->name, type->package);
        else if (type->library &&
                 gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &error))
            fprintf(file, "without %s\n", error.text);
    }
}

void gf_help_version(FILE *file)
{
    fprintf(file, "gpufilter %s\n", gf_version());
#ifdef GF_WITH_CUDA
    fputs("backends: cuda, cpu\n", file);
#else
    fputs("backends: cpu (built without CUDA)\n", file);
#endif
    print_formats(file);
    if (gf_icc_available())
        fprintf(file, "colours: Little CMS %s\n", gf_icc_library_version());
    else
        fputs("without colours: built without liblcms2-dev\n", file);
    struct gf_error error;
    char libraries[80];
    if (gf_text_available(&error)) {
        fprintf(file, "without text: %s\n", error.text);
    } else {
        gf_text_libraries(libraries, sizeof libraries);
        fprintf(file, "text: %s\n", libraries);
    }
    if (gf_archive_load("archives", &error))
        fprintf(file, "without %s\n", error.text);
    else
        fputs("archives: tar, zip\n", file);
    char holds[160];
    const struct gf_options options = gf_command_options();
    if (gf_cell_try(&options, holds, &error))
        fprintf(file, "without cells for decoders: %s\n", error.text);
    else
        fprintf(file, "cells for decoders: %s\n", holds);
}

void gf_completion_print(FILE *file, enum gf_shell shell)
{
    static void (*const print[])(FILE * file) = {[GF_SHELL_BASH] = gf_completion_bash,
                                                 [GF_SHELL_ZSH] = gf_completion_zsh,
                                                 [GF_SHELL_FISH] = gf_completion_fish};
    print[shell](file);
}

/* ---- --list, as text and as a Markdown table ---- */

static void print_text(FILE *file, const struct gf_filter *filter)
{
    char summary[200], params[400];
    const char *const alias = gf_filter_alias(filter);
    snprintf(summary, sizeof summary, "%s%s%s%s", gf_filter_summary(filter),
             alias ? " (alias " : "", alias ? alias : "", alias ? ")" : "");
    const int column = fprintf(file, "%-11s ", gf_filter_name(filter));
    gf_text_wrap(file, summary, column, 12);
    gf_params_text(gf_filter_params(filter), params, sizeof params);
    if (!*params)
        return;
    fprintf(file, "%*s", 12, "");
    gf_text_wrap(file, params, 12, 12);
}

/* Prints a field. '|' is escaped, since it would end the field. */
static void print_field(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putc('\\', file);
        putc(*text == '\n' ? ' ' : *text, file);
    }
}

static void print_markdown(FILE *file, const struct gf_filter *filter)
{
    const struct gf_param *const params = gf_filter_params(filter);
    fprintf(file, "| `%s`", gf_filter_name(filter));
    if (gf_filter_alias(filter))
        fprintf(file, ", `%s`", gf_filter_alias(filter));
    fputs(" | ", file);
    print_field(file, gf_filter_summary(filter));
    fputs(" | ", file);
    for (const struct gf_param *param = params; param->name; param++) {
        char range[320], value[40];
        gf_param_range(param, range, sizeof range);
        gf_param_default(param, value, sizeof value);
        fprintf(file, "%s`%s%s%s` (", param == params ? "" : "; ", param->name, *value ? "=" : "",
                value);
        print_field(file, range);
        putc(')', file);
    }
    fputs(" |\n", file);
}

void gf_help_list(FILE *file, enum gf_list_form form)
{
    const struct gf_filter *filter;
    if (form == GF_LIST_MARKDOWN)
        fputs("| filter | what it does | parameters, by position: default (range) |\n"
              "| --- | --- | --- |\n",
              file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        if (form == GF_LIST_MARKDOWN)
            print_markdown(file, filter);
        else
            print_text(file, filter);
    }
}

/* ---- --examples: commands of the cookbook and of the filters' help that contain the given words
 * ---- */

GF_EMBED(cookbook, "samples/README.md");

struct search {
    FILE *file;
    const char *words, *asked; /* words: those searched for; asked: those that the user gave */
    int found;
};

static void put(struct search *search, const char *text, size_t length)
{
    if (!search->found++ && search->words != search->asked)
        fprintf(search->file, "# No example has '%s'; these have '%s'.\n", search->asked,
                search->words);
    fwrite(text, 1, length, search->file);
}

/* Whether a word of the text begins with this one: "raw" is in "Raw frames", but not in "drawing".
 * The program's own name has no word but itself: "gpu" is not in it. */
static bool has_word(const char *text, const char *word)
{
    static const char own[] = "gpufilter";
    const size_t length = strlen(word);
    for (const char *at = text; (at = strcasestr(at, word)); at++) {
        if ((at == text || !isalnum((unsigned char)at[-1])) &&
            (length >= sizeof own - 1 || strncmp(at, own, sizeof own - 1)))
            return true;
    }
    return false;
}

/* Whether the text has each of the words, which blanks separate; upper and lower case count as the
 * same. */
static bool has_words(const char *text, const char *words)
{
    char word[64];
    int length;
    for (const char *at = words; sscanf(at, " %63s%n", word, &length) == 1; at += length) {
        if (!has_word(text, word))
            return false;
    }
    return true;
}

/* Whether this build has all options that the commands use. */
static bool is_available(const char *commands)
{
    struct gf_error error;
    for (const char *at = commands; (at = strstr(at, " --")); at++) {
        if (gf_study_check(at + 1, &error))
            return false;
    }
    return true;
}

/* Prints an example, which is comments and commands, if it or its heading has the words. */
static enum gf_status print_example(struct search *search, const char *heading, const char *begin,
                                    const char *end, struct gf_error *error)
{
    char *const text = malloc((size_t)(end - begin) + strcspn(heading, "\n") + 2);
    GF_ALLOCATED(text, error);
    sprintf(text, "%.*s\n%.*s", (int)(end - begin), begin, (int)strcspn(heading, "\n"), heading);
    if (has_words(text, search->words) && is_available(text))
        put(search, begin, (size_t)(end - begin));
    free(text);
    return GF_OK;
}

/* Searches the blocks of commands in the cookbook, samples/README.md, and prints the examples that
 * match. An example ends where a comment follows a command, or where its block ends. */
static enum gf_status search_cookbook(struct search *search, struct gf_error *error)
{
    const char *heading = "", *begin = NULL;
    bool within = false, has_command = false;
    enum gf_status status = GF_OK;
    for (const char *line = gf_cookbook, *next; !status && *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        const bool fence = !strncmp(line, "```", 3);
        if (!within && *line == '#')
            heading = line;
        if (begin && (fence || (has_command && *line == '#'))) {
            status = print_example(search, heading, begin, line, error);
            begin = NULL;
        }
        if (fence) {
            within = !strncmp(line, "```sh\n", 6);
        } else if (within) {
            has_command = *line != '#';
            begin = begin ? begin : line;
        }
    }
    return status;
}

static void search_filters(struct search *search)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char example[160], text[512];
        const char *const alias = gf_filter_alias(filter);
        gf_help_example(filter, example, sizeof example);
        snprintf(text, sizeof text, "# %s: %s\ngpufilter -i in.png -o out.png '%s'\n",
                 gf_filter_name(filter), gf_filter_summary(filter), example);
        if (has_words(text, search->words) || (alias && !strcmp(alias, search->words)))
            put(search, text, strlen(text));
    }
}

static enum gf_status search_all(struct search *search, struct gf_error *error)
{
    GF_TRY(search_cookbook(search, error));
    search_filters(search);
    return GF_OK;
}

enum gf_status gf_help_examples(FILE *file, const char *words, struct gf_error *error)
{
    words = words ? words : "";
    struct search search = {.file = file, .words = words, .asked = words};
    GF_TRY(search_all(&search, error));
    if (search.found)
        return GF_OK;
    struct gf_foreign_answer answer = {.whose = NULL};
    const bool is_option =
        gf_chain_answer(GF_FOREIGN_OPTION, words, &answer) && !strncmp(answer.meaning, "--", 2);
    answer.meaning[strcspn(answer.meaning, "=")] = '\0';
    const char *const meant = is_option ? answer.meaning + 2 : gf_filter_suggest(words);
    if (meant) {
        search.words = meant;
        GF_TRY(search_all(&search, error));
    }
    return search.found
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "--examples: no command has '%.60s' (--list names the filters)", words);
}
