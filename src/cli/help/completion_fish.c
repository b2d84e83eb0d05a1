
#include "cli/help/completion.h"
#include "cli/help/help.h"

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

/* clang-format off */
static const char fish_grammar[] =
    "# What may stand for the end of the chain under the cursor, with what is before it.\n"
    "function _gpufilter_chain\n"
    "    set -l token (commandline -ct)\n"
    "    set -l item (string replace -r '.*,' '' -- $token)\n"
    "    set -l head (string sub -l (math (string length -- \"$token\") - (string length -- \"$item\")) -- \"$token\")\n"
    "    if not string match -q '*=*' -- $item\n"
    "        printf '%s\\n' $head(string split ' ' -- $_gpufilter_filters)\n"
    "        return\n"
    "    end\n"
    "    set -l name (string replace -r '=.*' '' -- $item)\n"
    "    set -l given (string replace -r '^[^=]*=' '' -- $item)\n"
    "    set -l piece (string replace -r '.*:' '' -- $given)\n"
    "    set head $head(string sub -l (math (string length -- \"$item\") - (string length -- \"$piece\")) -- \"$item\")\n"
    "    set -l position (count (string split : -- $given))\n"
    "    set -l place 0\n"
    "    _gpufilter_params $name | while read -l line\n"
    "        set -l parameter (string split ' ' -- $line)\n"
    "        set place (math $place + 1)\n"
    "        if string match -q '*=*' -- $piece\n"
    "            test $parameter[1] = (string replace -r '=.*' '' -- $piece); or continue\n"
    "            printf '%s\\n' $head$parameter[1]=$parameter[2..-1]\n"
    "        else\n"
    "            printf '%s\\n' $head$parameter[1]=\n"
    "            if test $place = $position; and not string match -q '*=*' -- $given\n"
    "                printf '%s\\n' $head$parameter[2..-1]\n"
    "            end\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c gpufilter -f -a '(_gpufilter_chain)'\n";
/* clang-format on */

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
    fputs(fish_grammar, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_fish_option(file, option);
}
