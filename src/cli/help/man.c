/* Prints the manual page, in the man macros. Its prose is manual.txt; options, filters and the
 * keys of reports are printed from their tables, in the words of their declarations. */
#include <ctype.h>
#include <string.h>

#include "base/process/program.h"
#include "batch/archives/archive_file.h"
#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "batch/sheets/sheet.h"
#include "chain/region.h"
#include "cli/cli.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "codec/formats.h"
#include "report/info/facts.h"
#include "report/profile/profile_report.h"
#include "report/text.h"

void gf_man_text(FILE *file, const char *text)
{
    bool first = true; /* *text is the first character of its line */
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
    /* mark: the '*' or '_' that is open, 0: none; before: the previous character. */
    char mark = 0, before = ' ';
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
    bool apart = false; /* a paragraph precedes the next one, so that they must be separated */
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

/* ---- the parts of the manual ---- */

GF_EMBED(manual, "src/cli/help/manual.txt");

static void put_region(FILE *file)
{
    for (const struct gf_param *param = gf_region_params; param->name; param++)
        gf_man_param(file, param);
}

/* Prints a list of the formats with the bits per sample that each can have. */
static void put_depths(FILE *file)
{
    const struct gf_file_type *type;
    char depths[GF_DEPTHS_TEXT_SIZE];
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        gf_depths_text(type, depths);
        if (!type->instead)
            fprintf(file, "%s %s has %s", i ? ";" : ".", type->name, depths);
    }
    fputs(". Without the option a file has as many as the samples in memory, 8 or 16, but 8 after "
          "thumbnail, and an AVIF as many as its input",
          file);
}

static void put_options(FILE *file)
{
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        char usage[120], limits[80], tag[160];
        gf_option_usage(option, usage, sizeof usage);
        gf_option_limits(option, limits, sizeof limits);
        snprintf(tag, sizeof tag, "%s%c%s%s", option->letter ? "-" : "",
                 option->letter ? option->letter : '-', option->letter ? ", " : "",
                 option->letter ? usage : usage + 1);
        if (option->group)
            fprintf(file, ".SS %s\n", option->group);
        gf_man_tag(file, tag);
        gf_man_text(file, option->help);
        if (!strcmp(option->name, "depth"))
            put_depths(file);
        if (*limits) {
            fputs("\n(", file);
            gf_man_text(file, limits);
            putc(')', file);
        }
        putc('\n', file);
    }
}

static void put_filter(FILE *file, const struct gf_filter *filter)
{
    char example[160];
    fprintf(file, ".SS %s\n", gf_filter_name(filter));
    gf_man_text(file, gf_filter_summary(filter));
    if (gf_filter_alias(filter))
        fprintf(file, ".\nAlso called %s", gf_filter_alias(filter));
    fputs(".\n", file);
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++)
        gf_man_param(file, param);
    gf_help_example(filter, example, sizeof example);
    fputs(".PP\nExample:\n\\fB", file);
    gf_man_text(file, example);
    fputs("\\fR\n", file);
    if (!gf_filter_definition(filter))
        return;
    fputs(".PP\nDefinition:\n", file);
    gf_man_line(file, gf_filter_definition(filter));
}

static void put_filters(FILE *file)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_filter(file, filter);
}

/* Prints the options that can be given for each of several outputs. */
static void put_of_outputs(FILE *file)
{
    const struct gf_option *option;
    fputs(".PP\n", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->of_output)
            fprintf(file, ".B \\-\\-%s\n", option->name);
    }
}

static void put_sheets(FILE *file)
{
    put_filter(file, gf_sheet_declaration(GF_SHEET_JOIN));
    put_filter(file, gf_sheet_declaration(GF_SHEET_TILES));
}

static void put_exits(FILE *file)
{
    for (int code = 0; code < 128; code++) {
        char text[16];
        if (!gf_exit_meaning(code))
            continue;
        snprintf(text, sizeof text, "%d", code);
        gf_man_tag(file, text);
        gf_man_line(file, gf_exit_meaning(code));
    }
    gf_man_tag(file, "129, 130, 143");
    gf_man_line(file, "ended by SIGHUP, SIGINT, SIGTERM; no output is left behind");
}

static void put_examples(FILE *file)
{
    for (int i = 0; gf_example_at(i); i++) {
        fputs(".PP\n", file);
        gf_man_text(file, gf_example_at(i)->help);
        fputs("\n.PP\n.RS\n.nf\n", file);
        gf_man_line(file, gf_example_at(i)->command);
        fputs(".fi\n.RE\n", file);
    }
}

static const struct gf_man_part parts[] = {
    {"region", .put = put_region},
    {"options", .put = put_options},
    {"filters", .put = put_filters},
    {"fields", .keys = gf_template_fields},
    {"log", .keys = gf_batch_log_keys},
    {"of-outputs", .put = put_of_outputs},
    {"sheets", .put = put_sheets},
    {"record", .keys = gf_archive_record_keys},
    {"account", .keys = gf_account_keys},
    {"facts", .keys = gf_facts_keys},
    {"levels", .keys = gf_levels_keys},
    {"devices", .keys = gf_devices_keys},
    {"likeness", .keys = gf_likeness_keys},
    {"profile", .keys = gf_profile_report_keys},
    {"exits", .put = put_exits},
    {"examples", .put = put_examples},
    {0},
};

void gf_man_print(FILE *file)
{
    fprintf(file, ".TH GPUFILTER 1 \"\" \"gpufilter %s\" \"User commands\"\n", gf_version());
    gf_man_document(file, gf_manual, parts);
    gf_study_man(file);
}
