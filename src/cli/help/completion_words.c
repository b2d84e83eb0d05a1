/* Prints the words that the scripts of all shells offer, and the functions that bash and zsh
 * share. */
#include <string.h>

#include "chain/region.h"
#include "cli/help/completion.h"
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

void gf_completion_filters(FILE *file, const char *assignment)
{
    char names[GF_COMPLETION_WORDS_SIZE] = "";
    append_filters(names, sizeof names);
    fprintf(file, "%s'%s'\n", assignment, names);
}

bool gf_completion_param_at(const struct gf_filter *filter, int index,
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

void gf_completion_params(FILE *file)
{
    const struct gf_filter *filter;
    struct gf_completion_param param;
    fputs("_gpufilter_params() # filter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        put_pattern(file, filter, "");
        for (int k = 0; gf_completion_param_at(filter, k, &param); k++)
            fprintf(file, "%s%s", k ? " " : "", param.name);
        fputs("' ;;\n", file);
    }
    fputs("    *) offers= ;;\n    esac\n}\n", file);
}

void gf_completion_param_values(FILE *file)
{
    const struct gf_filter *filter;
    struct gf_completion_param param;
    fputs("_gpufilter_values() # filter.parameter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        for (int k = 0; gf_completion_param_at(filter, k, &param); k++) {
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

bool gf_completion_words(const struct gf_option *option, char *text, size_t size)
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
