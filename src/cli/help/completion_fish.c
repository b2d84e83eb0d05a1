#include "base/embed.h"
#include "cli/help/completion.h"

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
    else if (gf_completion_words(option, words, sizeof words))
        fprintf(file, "%s-a '%s' ", option->optional ? "" : "-x ", words);
    else if (option->type != GF_OPTION_SWITCH)
        fputs("-x ", file);
    fputs("-d '", file);
    put_fish_text(file, option->help);
    fputs("'\n", file);
}

/* Prints a line for each parameter of the filter with its values. The shell's functions look these
 * lines up. */
static void put_fish_filter(FILE *file, const struct gf_filter *filter)
{
    const char *const alias = gf_filter_alias(filter);
    struct gf_completion_param param;
    fprintf(file, "        case %s%s%s\n", gf_filter_name(filter), alias ? " " : "",
            alias ? alias : "");
    for (int i = 0; gf_completion_param_at(filter, i, &param); i++)
        fprintf(file, "            echo %s%s%s\n", param.name, *param.values ? " " : "",
                param.values);
}

GF_EMBED(grammar_fish, "src/cli/help/completion.fish");

void gf_completion_fish(FILE *file)
{
    const struct gf_option *option;
    const struct gf_filter *filter;
    fputs("# fish completion for gpufilter, made by gpufilter --completion=fish\n", file);
    gf_completion_filters(file, "set -g _gpufilter_filters ");
    fputs("function _gpufilter_params\n    switch $argv[1]\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_fish_filter(file, filter);
    fputs("    end\nend\n", file);
    fputs(gf_grammar_fish, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_fish_option(file, option);
}
