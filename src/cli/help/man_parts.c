#include "cli/help/help.h"

#include <ctype.h>
#include <string.h>

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

void gf_man_tag(FILE *file, const char *tag)
{
    fputs(".TP\n\\fB", file);
    gf_man_text(file, tag);
    fputs("\\fR\n", file);
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

static void put_part(FILE *file, const struct gf_man_part *parts, const char *name, size_t length)
{
    while (strncmp(parts->name, name, length) || parts->name[length])
        parts++;
    for (const struct gf_key_help *key = parts->keys; key && key->path; key++) {
        gf_man_tag(file, key->path);
        gf_man_line(file, key->help);
    }
    if (parts->put)
        parts->put(file);
}

/* Whether the line begins with a mark of a heading, a tag or a part. */
static bool is_marked(const char *line)
{
    return *line && strchr("#=@", *line) && line[1] == ' ';
}

/* Prints the paragraph at the begin of the text as one line, and returns where it ends. */
static const char *put_paragraph(FILE *file, const char *text)
{
    char mark = 0, before = ' '; /* the mark that is open; 0: none */
    while (*text && !(*text == '\n' && (!text[1] || text[1] == '\n' || is_marked(text + 1)))) {
        const bool marks = mark ? *text == mark
                                : (*text == '*' || *text == '_') && !isalnum((unsigned char)before);
        if (marks) {
            fputs(mark ? "\\fR" : *text == '*' ? "\\fB" : "\\fI", file);
            mark = mark ? 0 : *text;
        } else {
            gf_man_text(file, (char[]){*text == '\n' ? ' ' : *text, '\0'});
        }
        before = *text++;
    }
    putc('\n', file);
    return text;
}

void gf_man_document(FILE *file, const char *text, const struct gf_man_part *parts)
{
    bool apart = false; /* something precedes the next paragraph */
    for (const char *at = text; *at; at += *at == '\n') {
        const int length = (int)strcspn(at, "\n") - 2;
        if (*at == '\n')
            continue;
        if (!is_marked(at)) {
            fputs(apart ? ".PP\n" : "", file);
            at = put_paragraph(file, at);
            apart = true;
            continue;
        }
        apart = *at == '@';
        if (apart)
            put_part(file, parts, at + 2, (size_t)length);
        else
            fprintf(file, *at == '#' ? ".SH %.*s\n" : ".TP\n\\fB%.*s\\fR\n", length, at + 2);
        at += length + 2;
    }
}
