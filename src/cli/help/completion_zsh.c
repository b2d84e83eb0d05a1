#include <string.h>

#include "base/embed.h"
#include "cli/help/completion.h"

/* Escapes text within single quotes, and brackets and colons for _arguments. */
static void put_zsh_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else
            fprintf(file, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

/* Prints the possible values of the option, after its name and description. */
static void put_zsh_value(FILE *file, const struct gf_option *option)
{
    char words[GF_COMPLETION_WORDS_SIZE];
    if (option->type == GF_OPTION_SWITCH)
        return;
    fprintf(file, "%svalue:", option->optional ? "::" : ":");
    if (gf_option_takes_file(option))
        fputs("_files", file);
    else if (gf_completion_words(option, words, sizeof words))
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
    gf_completion_filters(file, "_gpufilter_filters=");
    gf_completion_params(file);
    gf_completion_param_values(file);
    fputs(gf_grammar_zsh, file);
    for (int i = 0; (option = gf_option_at(i)); i++)
        put_zsh_option(file, option);
    fputs("        '*:chain:_gpufilter_chain'\n}\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _gpufilter \"$@\"\nelse\n"
          "    compdef _gpufilter gpufilter\nfi\n",
          file);
}
