/* Prints the scripts that complete command lines, for bash, zsh and fish. */
#include <string.h>

#include "base/process/program.h"
#include "chain/region.h"
#include "cli/help/help.h"
#include "report/text.h"

static void append_word(const char *word, char *text, size_t size)
{
    gf_text_append(text, size, *text ? " " : "");
    gf_text_append(text, size, word);
}

static void append_filters(char *text, size_t size)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        append_word(gf_filter_name(filter), text, size);
        if (gf_filter_alias(filter))
            append_word(gf_filter_alias(filter), text, size);
    }
}

/* Prints an assignment of the names of all filters, in the syntax of a shell: `assignment` is
 * "NAME=" or "set NAME ". */
static void completion_filters(FILE *file, const char *assignment)
{
    char names[GF_COMPLETION_WORDS_SIZE] = "";
    append_filters(names, sizeof names);
    fprintf(file, "%s'%s'\n", assignment, names);
}

static bool completion_param_at(const struct gf_filter *filter, int index,
                                struct gf_completion_param *param)
{
    const struct gf_param *declared = gf_filter_params(filter);
    int count = 0, own = 0;
    while (declared[own].name)
        own++;
    if (index >= own && gf_filter_takes_region(filter)) {
        declared = gf_region_params;
        index -= own;
    }
    while (count < index && declared[count].name)
        count++;
    const char *const *const choices = declared[count].choices, *word;
    *param = (struct gf_completion_param){.name = declared[count].name};
    for (int i = 0; param->name && choices && choices[i]; i++)
        append_word(choices[i], param->values, sizeof param->values);
    if (param->name || count < index)
        return param->name;
    param->name = "variant";
    for (int i = 0; (word = gf_filter_variant(filter, i, NULL)); i++)
        append_word(word, param->values, sizeof param->values);
    return true;
}

static void put_pattern(FILE *file, const struct gf_filter *filter, const char *suffix)
{
    const char *const alias = gf_filter_alias(filter);
    fprintf(file, "    %s%s", gf_filter_name(filter), suffix);
    if (alias)
        fprintf(file, "|%s%s", alias, suffix);
    fputs(") offers='", file);
}

/* Prints a function for bash and zsh that sets `offers` to a filter's parameters. */
static void completion_params(FILE *file)
{
    const struct gf_filter *filter;
    struct gf_completion_param param;
    fputs("_gpufilter_params() # filter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        put_pattern(file, filter, "");
        for (int k = 0; completion_param_at(filter, k, &param); k++)
            fprintf(file, "%s%s", k ? " " : "", param.name);
        fputs("' ;;\n", file);
    }
    fputs("    *) offers= ;;\n    esac\n}\n", file);
}

/* Prints a function for bash and zsh that sets `offers` to the values of a parameter. */
static void completion_param_values(FILE *file)
{
    const struct gf_filter *filter;
    struct gf_completion_param param;
    fputs("_gpufilter_values() # filter.parameter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        for (int k = 0; completion_param_at(filter, k, &param); k++) {
            char suffix[64];
            if (!*param.values)
                continue;
            snprintf(suffix, sizeof suffix, ".%s", param.name);
            put_pattern(file, filter, suffix);
            fprintf(file, "%s' ;;\n", param.values);
        }
    }
    fputs("    *) offers= ;;\n    esac\n}\n", file);
}

static void append_choices(const struct gf_choice *choices, char *text, size_t size)
{
    char words[200];
    gf_option_choices(choices, " ", "", words, sizeof words);
    for (char *at = words; (at = strstr(at, GF_CHOICE_FILE));)
        memmove(at + 1, at + strlen(GF_CHOICE_FILE), strlen(at + strlen(GF_CHOICE_FILE)) + 1);
    append_word(words, text, size);
}

/* Writes the words that all three shells offer for the option's value: "png jpeg", names of labs or
 * of filters; the FILE of "html:FILE" is left out. Returns whether there are any. */
static bool completion_words(const struct gf_option *option, char *text, size_t size)
{
    const char *word;
    text[0] = '\0';
    if (option->type == GF_OPTION_FILTER)
        append_filters(text, size);
    for (int i = 0; option->word_at && (word = option->word_at(i)); i++)
        append_word(word, text, size);
    if (option->choices)
        append_choices(option->choices, text, size);
    return *text;
}

static bool separate_value(const struct gf_option *option)
{
    return option->type != GF_OPTION_SWITCH && !option->optional;
}

/* Prints the names of options. A name that ends in "=" needs a value. */
static void put_option_names(FILE *file)
{
    const struct gf_option *option;
    fputs("_gpufilter_options='", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->letter)
            fprintf(file, "-%c ", option->letter);
        fprintf(file, "--%s%s ", option->name, separate_value(option) ? "=" : "");
        /* An optional value is accepted only after "=". */
        if (option->optional && (option->choices || option->word_at))
            fprintf(file, "--%s= ", option->name);
    }
    fputs("'\n", file);
}

static void put_option_values(FILE *file)
{
    const struct gf_option *option;
    fputs("# What follows an option: sets kind to file, words or nothing, and offers.\n"
          "_gpufilter_option() # option\n{\n    kind= offers=\n    case $1 in\n",
          file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        char words[GF_COMPLETION_WORDS_SIZE];
        if (option->type == GF_OPTION_SWITCH)
            continue;
        fputs("    ", file);
        if (option->letter)
            fprintf(file, "-%c|", option->letter);
        fprintf(file, "--%s) ", option->name);
        if (gf_option_takes_file(option))
            fputs("kind=file ;;\n", file);
        else if (completion_words(option, words, sizeof words))
            fprintf(file, "kind=words offers='%s' ;;\n", words);
        else
            fputs("kind=none ;;\n", file);
    }
    fputs("    esac\n}\n", file);
}

/* Prints the options whose value is the next argument. With `always` false, these are options such
 * as --help, for which the next argument is a value only if it is no option. */
static void put_separate(FILE *file, const char *variable, bool always)
{
    const struct gf_option *option;
    fprintf(file, "%s='", variable);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (always ? !separate_value(option) : !gf_option_takes_next(option))
            continue;
        if (option->letter)
            fprintf(file, " -%c", option->letter);
        fprintf(file, " --%s", option->name);
    }
    fputs(" '\n", file);
}

GF_EMBED(grammar_bash, "src/cli/help/completion.bash");

void gf_completion_bash(FILE *file)
{
    fputs("# bash completion for gpufilter, made by gpufilter --completion=bash\n", file);
    put_option_names(file);
    completion_filters(file, "_gpufilter_filters=");
    put_separate(file, "_gpufilter_separate", true);
    put_separate(file, "_gpufilter_optional", false);
    completion_params(file);
    completion_param_values(file);
    put_option_values(file);
    fputs(gf_grammar_bash, file);
}

/* Prints text within single quotes for zsh: escapes quotes, and brackets and colons, which its
 * function _arguments reads. */
static void put_zsh_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else
            fprintf(file, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

/* Prints the part of an entry for zsh's _arguments that describes the option's value. */
static void put_zsh_value(FILE *file, const struct gf_option *option)
{
    char words[GF_COMPLETION_WORDS_SIZE];
    if (option->type == GF_OPTION_SWITCH)
        return;
    fprintf(file, "%svalue:", option->optional ? "::" : ":");
    if (gf_option_takes_file(option))
        fputs("_files", file);
    else if (completion_words(option, words, sizeof words))
        fprintf(file, "(%s)", words);
}

static void put_zsh_option(FILE *file, const struct gf_option *option)
{
    const bool again =
        option->type == GF_OPTION_INPUT || option->type == GF_OPTION_OUTPUT || option->of_output;
    const char *const joint = option->type == GF_OPTION_SWITCH ? "" : option->optional ? "=-" : "=";
    fputs("        ", file);
    if (again)
        fputs("\\*", file);
    else if (option->letter)
        fprintf(file, "'(-%c --%s)'", option->letter, option->name);
    if (option->letter)
        fprintf(file, "{-%c%s,--%s%s}", option->letter,
                option->type == GF_OPTION_SWITCH || option->optional ? "" : "+", option->name,
                joint);
    else
        fprintf(file, "--%s%s", option->name, joint);
    fputs("'[", file);
    put_zsh_text(file, option->help);
    fputs("]", file);
    put_zsh_value(file, option);
    fputs("' \\\n", file);
}

GF_EMBED(grammar_zsh, "src/cli/help/completion.zsh");

void gf_completion_zsh(FILE *file)
{
    const struct gf_option *option;
    fputs(
        "#compdef gpufilter\n# zsh completion for gpufilter, made by gpufilter --completion=zsh\n",
        file);
    completion_filters(file, "_gpufilter_filters=");
    completion_params(file);
    completion_param_values(file);
    fputs(gf_grammar_zsh, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_zsh_option(file, option);
    fputs("        '*:chain:_gpufilter_chain'\n}\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _gpufilter \"$@\"\nelse\n"
          "    compdef _gpufilter gpufilter\nfi\n",
          file);
}

static void put_fish_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fprintf(file, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
}

static void put_fish_option(FILE *file, const struct gf_option *option)
{
    char words[GF_COMPLETION_WORDS_SIZE];
    fputs("complete -c gpufilter ", file);
    if (option->letter)
        fprintf(file, "-s %c ", option->letter);
    fprintf(file, "-l %s ", option->name);
    if (gf_option_takes_file(option))
        fputs("-r -F ", file);
    else if (completion_words(option, words, sizeof words))
        fprintf(file, "%s-a '%s' ", option->optional ? "" : "-x ", words);
    else if (option->type != GF_OPTION_SWITCH)
        fputs("-x ", file);
    fputs("-d '", file);
    put_fish_text(file, option->help);
    fputs("'\n", file);
}

/* Prints a case for fish with a line for each parameter of the filter and its values, in which
 * other functions look them up. */
static void put_fish_filter(FILE *file, const struct gf_filter *filter)
{
    const char *const alias = gf_filter_alias(filter);
    struct gf_completion_param param;
    fprintf(file, "        case %s%s%s\n", gf_filter_name(filter), alias ? " " : "",
            alias ? alias : "");
    for (int i = 0; completion_param_at(filter, i, &param); i++)
        fprintf(file, "            echo %s%s%s\n", param.name, *param.values ? " " : "",
                param.values);
}

GF_EMBED(grammar_fish, "src/cli/help/completion.fish");

void gf_completion_fish(FILE *file)
{
    const struct gf_option *option;
    const struct gf_filter *filter;
    fputs("# fish completion for gpufilter, made by gpufilter --completion=fish\n", file);
    completion_filters(file, "set -g _gpufilter_filters ");
    fputs("function _gpufilter_params\n    switch $argv[1]\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_fish_filter(file, filter);
    fputs("    end\nend\n", file);
    fputs(gf_grammar_fish, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_fish_option(file, option);
}
