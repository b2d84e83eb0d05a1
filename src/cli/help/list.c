/* Prints --list, as text and as a table in Markdown. */
#include "cli/help/help.h"
#include "report/text.h"

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

/* Prints a cell. '|' is escaped, since it would end the cell. */
static void print_cell(FILE *file, const char *text)
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
    print_cell(file, gf_filter_summary(filter));
    fputs(" | ", file);
    for (const struct gf_param *param = params; param->name; param++) {
        char range[320], value[40];
        gf_param_range(param, range, sizeof range);
        gf_param_default(param, value, sizeof value);
        fprintf(file, "%s`%s%s%s` (", param == params ? "" : "; ", param->name, *value ? "=" : "",
                value);
        print_cell(file, range);
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
