#include "base/embed.h"
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

GF_EMBED(grammar_bash, "src/cli/help/completion.bash");

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
    fputs(gf_grammar_bash, file);
}
