/* The completion of command lines for bash, zsh and fish: the scripts' words come from the tables, their grammar is the
 * chain's. */
#include <string.h>

#include "help.h"
#include "lab.h"

static bool separate_value(const struct gf_option *option)
{
    return option->type != GF_OPTION_SWITCH && !option->optional;
}

/* Names that end in "=" want a value. */
static void put_option_names(FILE *file)
{
    const struct gf_option *option;
    fputs("_gpufilter_options='", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->letter)
            fprintf(file, "-%c ", option->letter);
        fprintf(file, "--%s%s ", option->name, separate_value(option) ? "=" : "");
        /* The forms of an optional value are words of their own. */
        if (option->optional && (option->choices || option->type == GF_OPTION_LAB))
            fprintf(file, "--%s= ", option->name);
    }
    fputs("'\n", file);
}

static void put_filter_names(FILE *file)
{
    const struct gf_filter *filter;
    fputs("_gpufilter_filters='", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        const char *const alias = gf_filter_alias(filter);
        fprintf(file, "%s %s%s", gf_filter_name(filter), alias ? alias : "", alias ? " " : "");
    }
    fputs("'\n", file);
}

static void put_pattern(FILE *file, const struct gf_filter *filter, const char *suffix)
{
    const char *const alias = gf_filter_alias(filter);
    fprintf(file, "    %s%s", gf_filter_name(filter), suffix);
    if (alias)
        fprintf(file, "|%s%s", alias, suffix);
    fputs(") offers='", file);
}

static void put_params(FILE *file)
{
    const struct gf_filter *filter;
    fputs("_gpufilter_params() # filter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        put_pattern(file, filter, "");
        for (const struct gf_param *param = gf_filter_params(filter); param->name; param++)
            fprintf(file, "%s ", param->name);
        fputs("variant' ;;\n", file);
    }
    fputs("    *) offers= ;;\n    esac\n}\n", file);
}

static void put_param_values(FILE *file)
{
    const struct gf_filter *filter;
    fputs("_gpufilter_values() # filter.parameter\n{\n    case $1 in\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
            char suffix[64];
            if (!param->choices)
                continue;
            snprintf(suffix, sizeof suffix, ".%s", param->name);
            put_pattern(file, filter, suffix);
            for (int k = 0; param->choices[k]; k++)
                fprintf(file, "%s%s", k ? " " : "", param->choices[k]);
            fputs("' ;;\n", file);
        }
        const char *name, *summary;
        put_pattern(file, filter, ".variant");
        for (int k = 0; (name = gf_filter_variant(filter, k, &summary)); k++)
            fprintf(file, "%s%s", k ? " " : "", name);
        fputs("' ;;\n", file);
    }
    fputs("    *) offers= ;;\n    esac\n}\n", file);
}

static void put_lab_names(FILE *file)
{
    const struct gf_lab *lab;
    fputs("kind=words offers='all", file);
    for (int i = 0; (lab = gf_lab_at(i)); i++)
        fprintf(file, " %s", lab->name);
    fputs("' ;;\n", file);
}

static void put_option_values(FILE *file)
{
    const struct gf_option *option;
    fputs("# What follows an option: sets kind to file, words or nothing, and offers.\n"
          "_gpufilter_option() # option\n{\n    kind= offers=\n    case $1 in\n",
          file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->type == GF_OPTION_SWITCH)
            continue;
        fputs("    ", file);
        if (option->letter)
            fprintf(file, "-%c|", option->letter);
        fprintf(file, "--%s) ", option->name);
        if (option->type == GF_OPTION_FILE || option->type == GF_OPTION_INPUT) {
            fputs("kind=file ;;\n", file);
        } else if (option->type == GF_OPTION_FILTER) {
            fputs("kind=words offers=$_gpufilter_filters ;;\n", file);
        } else if (option->type == GF_OPTION_LAB) {
            put_lab_names(file);
        } else if (option->choices) {
            char choices[120];
            gf_option_choices(option->choices, " ", "", choices, sizeof choices);
            fprintf(file, "kind=words offers='%s' ;;\n", choices);
        } else {
            fputs("kind=none ;;\n", file);
        }
    }
    fputs("    esac\n}\n", file);
}

/* Options whose value is the next argument: always, or (--help) if that looks like no option. */
static void put_separate(FILE *file, const char *variable, bool always)
{
    const struct gf_option *option;
    fprintf(file, "%s='", variable);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (always ? !separate_value(option)
                   : !gf_option_apart(option))
            continue;
        if (option->letter)
            fprintf(file, " -%c", option->letter);
        fprintf(file, " --%s", option->name);
    }
    fputs(" '\n", file);
}

/* clang-format off */
static const char grammar[] =
    "# The word under the cursor without its quotes, and the one before. Readline leaves the first\n"
    "# `kept` letters: it replaces what follows an open quote, or its last word break outside quotes.\n"
    "_gpufilter_read_line()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} c i inside= opened=\n"
    "    current= previous= quote= ended= kept=0\n"
    "    for ((i = 0; i < ${#line}; i++)); do\n"
    "        c=${line:i:1}\n"
    "        if [[ $quote ]]; then\n"
    "            if [[ $c == \"$quote\" ]]; then quote=; else current+=$c; fi\n"
    "            continue\n"
    "        fi\n"
    "        case $c in\n"
    "        [[:space:]])\n"
    "            [[ $inside ]] || continue\n"
    "            [[ $current == -- ]] && ended=1\n"
    "            previous=$current current= inside= kept=0 ;;\n"
    "        \\'|\\\") quote=$c inside=1 opened=${#current} ;;\n"
    "        \\\\) i=$((i + 1)) current+=${line:i:1} inside=1 ;;\n"
    "        *)\n"
    "            current+=$c inside=1\n"
    "            [[ $c == [=:] && $COMP_WORDBREAKS == *$c* ]] && kept=${#current} ;;\n"
    "        esac\n"
    "    done\n"
    "    [[ $quote ]] && kept=$opened\n"
    "}\n"
    "\n"
    "# Splits the chain in current into head and stem; offers are what may stand for the stem.\n"
    "_gpufilter_chain()\n"
    "{\n"
    "    local item=${current##*,} name given piece order\n"
    "    head=${current%\"$item\"} stem=$item\n"
    "    kind=words offers=$_gpufilter_filters space=\n"
    "    [[ $item == *=* ]] || return\n"
    "    name=${item%%=*} given=${item#*=} piece=${item#*=}\n"
    "    piece=${piece##*:}\n"
    "    head+=${item%\"$piece\"} stem=$piece\n"
    "    if [[ $piece == *=* ]]; then\n"
    "        head+=${piece%%=*}= stem=${piece#*=}\n"
    "        _gpufilter_values \"$name.${piece%%=*}\"\n"
    "        return\n"
    "    fi\n"
    "    local by_name by_position=\n"
    "    _gpufilter_params \"$name\"\n"
    "    by_name=($offers)\n"
    "    if [[ $given != *=* ]]; then\n"
    "        order=${given//[^:]/}\n"
    "        _gpufilter_values \"$name.${by_name[${#order}]}\"\n"
    "        by_position=$offers\n"
    "    fi\n"
    "    offers=\"$by_position ${by_name[*]/%/=}\"\n"
    "}\n"
    "\n"
    "_gpufilter()\n"
    "{\n"
    "    local current previous quote ended kept head= stem kind offers space=1 IFS=$' \\t\\n'\n"
    "    _gpufilter_read_line\n"
    "    stem=$current\n"
    "    if [[ ! $ended && ($_gpufilter_separate == *\" $previous \"* ||\n"
    "          ($_gpufilter_optional == *\" $previous \"* && $current != -*)) ]]; then\n"
    "        _gpufilter_option \"$previous\"\n"
    "    elif [[ ! $ended && $current == --*=* ]]; then\n"
    "        head=${current%%=*}= stem=${current#*=}\n"
    "        _gpufilter_option \"${current%%=*}\"\n"
    "    elif [[ ! $ended && $current == -* ]]; then\n"
    "        kind=words offers=$_gpufilter_options\n"
    "    else\n"
    "        _gpufilter_chain\n"
    "    fi\n"
    "    local found=() match i\n"
    "    case $kind in\n"
    "    file)\n"
    "        mapfile -t found < <(compgen -f -- \"$stem\")\n"
    "        compopt -o filenames 2>/dev/null ;;\n"
    "    words)\n"
    "        mapfile -t found < <(compgen -W \"$offers\" -- \"$stem\") ;;\n"
    "    esac\n"
    "    [[ ! $space || (${#found[@]} -eq 1 && ${found[0]} == *=) ]] &&\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    COMPREPLY=()\n"
    "    for i in \"${!found[@]}\"; do\n"
    "        match=$head${found[i]}\n"
    "        match=${match:kept}\n"
    "        # Quotes that were closed within what is replaced are gone (readline restores a file's).\n"
    "        [[ ! $quote && $kind == words && $match == *[!a-zA-Z0-9_=:,./%+-]* ]] &&\n"
    "            printf -v match %q \"$match\"\n"
    "        COMPREPLY+=(\"$match\")\n"
    "    done\n"
    "}\n"
    "complete -F _gpufilter gpufilter\n";
/* clang-format on */

static void print_bash(FILE *file)
{
    fputs("# bash completion for gpufilter, made by gpufilter --completion=bash\n", file);
    put_option_names(file);
    put_filter_names(file);
    put_separate(file, "_gpufilter_separate", true);
    put_separate(file, "_gpufilter_optional", false);
    put_params(file);
    put_param_values(file);
    put_option_values(file);
    fputs(grammar, file);
}

/* ---- zsh ---- */

/* Within single quotes; brackets and colons mean something to _arguments. */
static void put_zsh_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else
            fprintf(file, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

/* Behind the option's name and description: what its value is. */
static void put_zsh_value(FILE *file, const struct gf_option *option)
{
    char choices[200];
    if (option->type == GF_OPTION_SWITCH)
        return;
    fprintf(file, "%svalue:", option->optional ? "::" : ":");
    if (option->type == GF_OPTION_FILE || option->type == GF_OPTION_INPUT) {
        fputs("_files", file);
    } else if (option->type == GF_OPTION_FILTER) {
        fputs("(${=_gpufilter_filters})", file);
    } else if (option->type == GF_OPTION_LAB) {
        const struct gf_lab *lab;
        fputs("(all", file);
        for (int i = 0; (lab = gf_lab_at(i)); i++)
            fprintf(file, " %s", lab->name);
        fputs(")", file);
    } else if (option->choices) {
        gf_option_choices(option->choices, " ", "", choices, sizeof choices);
        fprintf(file, "(%s)", choices);
    }
}

static void put_zsh_option(FILE *file, const struct gf_option *option)
{
    const bool again = option->type == GF_OPTION_INPUT;
    const char *const joint = option->type == GF_OPTION_SWITCH ? "" : option->optional ? "=-" : "=";
    fputs("        ", file);
    if (again)
        fputs("\\*", file);
    else if (option->letter)
        fprintf(file, "'(-%c --%s)'", option->letter, option->name);
    if (option->letter)
        fprintf(file, "{-%c%s,--%s%s}", option->letter,
                option->type == GF_OPTION_SWITCH || option->optional ? "" : "+", option->name, joint);
    else
        fprintf(file, "--%s%s", option->name, joint);
    fputs("'[", file);
    put_zsh_text(file, option->help);
    fputs("]", file);
    put_zsh_value(file, option);
    fputs("' \\\n", file);
}

/* clang-format off */
static const char zsh_grammar[] =
    "# The chain under the cursor: filters, their parameters, what those take.\n"
    "_gpufilter_chain()\n"
    "{\n"
    "    local offers= name given last\n"
    "    local -a names\n"
    "    compset -P '*,'\n"
    "    if [[ $PREFIX != *=* ]]; then\n"
    "        compadd -S '' -- ${=_gpufilter_filters}\n"
    "        return\n"
    "    fi\n"
    "    name=${PREFIX%%=*} given=${PREFIX#*=} last=${PREFIX##*[=:]}\n"
    "    if [[ ${given##*:} == *=* ]]; then\n"
    "        _gpufilter_values $name.${${given##*:}%%=*}\n"
    "        compset -P '*[=:]'\n"
    "        compadd -S '' -- ${=offers}\n"
    "        return\n"
    "    fi\n"
    "    _gpufilter_params $name\n"
    "    names=(${=offers})\n"
    "    offers=\n"
    "    if [[ $given != *=* ]]; then\n"
    "        _gpufilter_values $name.${names[${#${given//[^:]/}}+1]}\n"
    "    fi\n"
    "    compset -P '*[=:]'\n"
    "    compadd -S '' -- ${=offers}\n"
    "    compadd -S = -- $names\n"
    "}\n"
    "\n"
    "_gpufilter()\n"
    "{\n"
    "    _arguments -s -S : \\\n";
/* clang-format on */

static void print_zsh(FILE *file)
{
    const struct gf_option *option;
    fputs("#compdef gpufilter\n# zsh completion for gpufilter, made by gpufilter --completion=zsh\n", file);
    put_filter_names(file);
    put_params(file);
    put_param_values(file);
    fputs(zsh_grammar, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_zsh_option(file, option);
    fputs("        '*:chain:_gpufilter_chain'\n}\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _gpufilter \"$@\"\nelse\n"
          "    compdef _gpufilter gpufilter\nfi\n",
          file);
}

/* ---- fish ---- */

static void put_fish_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fprintf(file, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
}

static void put_fish_option(FILE *file, const struct gf_option *option)
{
    char choices[200];
    fputs("complete -c gpufilter ", file);
    if (option->letter)
        fprintf(file, "-s %c ", option->letter);
    fprintf(file, "-l %s ", option->name);
    if (option->type == GF_OPTION_FILE || option->type == GF_OPTION_INPUT) {
        fputs("-r -F ", file);
    } else if (option->type == GF_OPTION_FILTER) {
        fputs("-a \"$_gpufilter_filters\" ", file);
    } else if (option->choices) {
        gf_option_choices(option->choices, " ", "", choices, sizeof choices);
        fprintf(file, "%s-a '%s' ", option->optional ? "" : "-x ", choices);
    } else if (option->type != GF_OPTION_SWITCH && !option->optional) {
        fputs("-x ", file);
    }
    fputs("-d '", file);
    put_fish_text(file, option->help);
    fputs("'\n", file);
}

/* A line for each parameter of a filter: what the shell's functions look up. */
static void put_fish_filter(FILE *file, const struct gf_filter *filter)
{
    const char *const alias = gf_filter_alias(filter), *name, *summary;
    fprintf(file, "        case %s%s%s\n", gf_filter_name(filter), alias ? " " : "", alias ? alias : "");
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        fprintf(file, "            echo %s", param->name);
        for (int k = 0; param->choices && param->choices[k]; k++)
            fprintf(file, " %s", param->choices[k]);
        putc('\n', file);
    }
    fputs("            echo variant", file);
    for (int k = 0; (name = gf_filter_variant(filter, k, &summary)); k++)
        fprintf(file, " %s", name);
    putc('\n', file);
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

static void print_fish(FILE *file)
{
    const struct gf_option *option;
    const struct gf_filter *filter;
    fputs("# fish completion for gpufilter, made by gpufilter --completion=fish\nset -g _gpufilter_filters '", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        const char *const alias = gf_filter_alias(filter);
        fprintf(file, "%s%s%s%s", i ? " " : "", gf_filter_name(filter), alias ? " " : "", alias ? alias : "");
    }
    fputs("'\nfunction _gpufilter_params\n    switch $argv[1]\n", file);
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_fish_filter(file, filter);
    fputs("    end\nend\n", file);
    fputs(fish_grammar, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_fish_option(file, option);
}

void gf_completion_print(FILE *file, enum gf_shell shell)
{
    switch (shell) {
    case GF_SHELL_BASH:
        print_bash(file);
        break;
    case GF_SHELL_ZSH:
        print_zsh(file);
        break;
    case GF_SHELL_FISH:
        print_fish(file);
        break;
    }
}
