#include "cli/help/help.h"

#include "report/text.h"

void gf_man_text(FILE *file, const char *text)
{
    bool first = true; /* the character is the first of its line */
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        first = *text == '\n';
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            putc(*text, file);
    }
}

void gf_man_line(FILE *file, const char *text)
{
    gf_man_text(file, text);
    putc('\n', file);
}

void gf_man_prose(FILE *file, const char *text)
{
    bool marked = false;
    for (; *text; text++) {
        if (*text == '\n') {
            fputs("\n.PP\n", file);
        } else if (*text == '*' || *text == '_') {
            fputs(marked ? "\\fR" : *text == '*' ? "\\fB" : "\\fI", file);
            marked = !marked;
        } else {
            gf_man_text(file, (char[]){*text, '\0'});
        }
    }
    putc('\n', file);
}

void gf_man_tag(FILE *file, const char *tag)
{
    fputs(".TP\n\\fB", file);
    gf_man_text(file, tag);
    fputs("\\fR\n", file);
}

void gf_man_keys(FILE *file, const struct gf_key_help *keys)
{
    for (const struct gf_key_help *key = keys; key->path; key++) {
        gf_man_tag(file, key->path);
        gf_man_line(file, key->help);
    }
}

void gf_man_param(FILE *file, const struct gf_param *param)
{
    char limits[400];
    gf_param_limits(param, limits, sizeof limits);
    gf_man_tag(file, param->name);
    gf_man_text(file, param->help);
    fputs(" (", file);
    gf_man_text(file, limits);
    fputs(")\n", file);
}
