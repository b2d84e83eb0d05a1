#include "cli/help/completion.h"

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
        else if (gf_completion_words(option, words, sizeof words))
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
    "        # A choice that takes the name of a file\n"
    "        [[ $offers == *html:* && $stem == *html:* ]] &&\n"
    "            kind=file head+=${stem%%html:*}html: stem=${stem#*html:}\n"
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
    "    [[ ! $space || (${#found[@]} -eq 1 && ${found[0]} == *[=:]) ]] &&\n"
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

void gf_completion_bash(FILE *file)
{
    fputs("# bash completion for gpufilter, made by gpufilter --completion=bash\n", file);
    put_option_names(file);
    gf_completion_filters(file, "_gpufilter_filters=");
    put_separate(file, "_gpufilter_separate", true);
    put_separate(file, "_gpufilter_optional", false);
    gf_completion_params(file);
    gf_completion_param_values(file);
    put_option_values(file);
    fputs(grammar, file);
}
