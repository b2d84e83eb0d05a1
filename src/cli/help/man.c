/* Prints the manual, in the man macros: gpufilter(1), whose prose is manual.txt, and a page for
 * each topic. Options, filters and the keys of reports are printed from their tables, in the words
 * of their declarations. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "batch/archives/archive_file.h"
#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "chain/region.h"
#include "cli/cli.h"
#include "cli/help/help.h"
#include "cli/help/topics.h"
#include "cli/study/study.h"
#include "codec/formats.h"
#include "report/info/duplicates.h"
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

static void put_line(FILE *file, const char *text)
{
    gf_man_text(file, text);
    putc('\n', file);
}

/* Begins a tagged paragraph of the manual with `tag` in bold. */
static void put_tag(FILE *file, const char *tag)
{
    fputs(".TP\n\\fB", file);
    gf_man_text(file, tag);
    fputs("\\fR\n", file);
}

void gf_man_param(FILE *file, const struct gf_param *param)
{
    char limits[400];
    gf_param_limits(param, limits, sizeof limits);
    put_tag(file, param->name);
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
        put_tag(file, key->path);
        put_line(file, key->help);
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

static void put_formats(FILE *file)
{
    const struct gf_file_type *type;
    char depths[GF_DEPTHS_TEXT_SIZE];
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        gf_depths_text(type, depths);
        put_tag(file, type->name);
        put_line(file, type->instead ? "read only" : depths);
    }
}

/* Prints what --strip and --keep can name. */
static void put_items(FILE *file)
{
    fputs(".PP\n"
#define GF_METADATA_ITEM(id, word, ...) ".B " word "\n"
#include "codec/common/items.def"
          ,
          file);
}

static void put_topics(FILE *file)
{
    for (int i = 0; gf_topic_at(i); i++) {
        put_tag(file, gf_topic_at(i)->name);
        put_line(file, gf_topic_at(i)->summary);
    }
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
        put_tag(file, tag);
        gf_man_text(file, option->help);
        if (*limits) {
            fputs(" (", file);
            gf_man_text(file, limits);
            putc(')', file);
        }
        putc('\n', file);
    }
}

static void put_filters(FILE *file)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char params[400];
        const char *const alias = gf_filter_alias(filter);
        gf_params_text(gf_filter_params(filter), params, sizeof params);
        put_tag(file, gf_filter_name(filter));
        gf_man_text(file, gf_filter_summary(filter));
        if (alias)
            fprintf(file, " (also called %s)", alias);
        fputs(*params ? ": " : "", file);
        put_line(file, params);
    }
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

static void put_exits(FILE *file)
{
    for (int code = 0; code < 128; code++) {
        char text[16];
        if (!gf_exit_meaning(code))
            continue;
        snprintf(text, sizeof text, "%d", code);
        put_tag(file, text);
        put_line(file, gf_exit_meaning(code));
    }
    put_tag(file, "129, 130, 143");
    put_line(file, "ended by SIGHUP, SIGINT, SIGTERM; no output is left behind");
}

static void put_examples(FILE *file)
{
    for (int i = 0; gf_example_at(i); i++) {
        fputs(".PP\n", file);
        gf_man_text(file, gf_example_at(i)->help);
        fputs("\n.PP\n.RS\n.nf\n", file);
        put_line(file, gf_example_at(i)->command);
        fputs(".fi\n.RE\n", file);
    }
}

static const struct gf_man_part parts[] = {
    {"region", .put = put_region},
    {"options", .put = put_options},
    {"filters", .put = put_filters},
    {"topics", .put = put_topics},
    {"formats", .put = put_formats},
    {"items", .put = put_items},
    {"fields", .keys = gf_template_fields},
    {"log", .keys = gf_batch_log_keys},
    {"of-outputs", .put = put_of_outputs},
    {"record", .keys = gf_archive_record_keys},
    {"account", .keys = gf_account_keys},
    {"facts", .keys = gf_facts_keys},
    {"levels", .keys = gf_levels_keys},
    {"duplicates", .keys = gf_duplicates_keys},
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
}

static void put_topic(FILE *file, const struct gf_topic *topic)
{
    if (topic->text)
        gf_man_document(file, topic->text, parts);
    else
        gf_study_man(file);
}

enum gf_status gf_man_topic(FILE *file, const char *name, struct gf_error *error)
{
    const struct gf_topic *const topic = gf_topic_find(name);
    if (!topic)
        return gf_fail(error, GF_ERROR_USAGE, "--man: '%.60s' is no topic (--man lists them)",
                       name);
    fprintf(file, ".TH GPUFILTER-%s 7 \"\" \"gpufilter %s\" \"Topics of gpufilter\"\n.SH NAME\n",
            name, gf_version());
    fprintf(file, "gpufilter\\-%s \\- ", name);
    put_line(file, topic->summary);
    put_topic(file, topic);
    fputs(".SH SEE ALSO\ngpufilter(1)\n", file);
    return GF_OK;
}

/* ---- the same text without markup ---- */

/* A paragraph, and where it stands; it is printed when its end is known. */
struct paragraph {
    FILE *file;
    char text[16384];
    int indent;
    bool tag; /* the text is the tag of the paragraph that follows */
};

static void end_paragraph(struct paragraph *paragraph)
{
    enum { TAG_COLUMN = 2, TEXT_COLUMN = 26 };
    char *const text = paragraph->text;
    if (*text && paragraph->tag) {
        const int length = fprintf(paragraph->file, "%*s%s", TAG_COLUMN, "", text);
        if (length >= TEXT_COLUMN)
            fprintf(paragraph->file, "\n%*s", TEXT_COLUMN, "");
        else
            fprintf(paragraph->file, "%*s", TEXT_COLUMN - length, "");
        paragraph->indent = TEXT_COLUMN;
        paragraph->tag = false;
    } else if (*text) {
        fprintf(paragraph->file, "%*s", paragraph->indent == TEXT_COLUMN ? 0 : paragraph->indent,
                "");
        gf_text_wrap(paragraph->file, text, paragraph->indent, paragraph->indent);
        paragraph->indent = TAG_COLUMN;
    }
    *text = '\0';
}

/* Appends a line without its markup: \fB, \fI, \fR and \& go, \- is a dash, \e a backslash. */
static void append_plain(struct paragraph *paragraph, const char *line, size_t length)
{
    char plain[sizeof paragraph->text];
    size_t size = 0;
    for (size_t i = 0; i < length && size + 1 < sizeof plain; i++) {
        if (line[i] != '\\')
            plain[size++] = line[i];
        else if (line[++i] == 'f')
            i++;
        else if (line[i] != '&')
            plain[size++] = line[i] == 'e' ? '\\' : line[i];
    }
    plain[size] = '\0';
    gf_text_append(paragraph->text, sizeof paragraph->text, *paragraph->text ? " " : "");
    gf_text_append(paragraph->text, sizeof paragraph->text, plain);
}

/* Prints what gf_man_document() has printed, as text. */
static void print_plain(FILE *file, const char *roff)
{
    struct paragraph paragraph = {.file = file, .indent = 2};
    for (const char *line = roff, *next; *line; line = next) {
        const size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        const bool heads = !strncmp(line, ".SH ", 4) || !strncmp(line, ".SS ", 4);
        if (*line != '.' || !strncmp(line, ".B ", 3)) {
            append_plain(&paragraph, line + (*line == '.' ? 3 : 0),
                         length - (*line == '.' ? 3 : 0));
            if (paragraph.tag)
                end_paragraph(&paragraph);
            continue;
        }
        end_paragraph(&paragraph);
        if (heads)
            fprintf(file, "\n%s%.*s\n", line[2] == 'S' ? "  " : "", (int)length - 4, line + 4);
        else if (!strncmp(line, ".PP", 3))
            putc('\n', file);
        paragraph.tag = !strncmp(line, ".TP", 3);
    }
    end_paragraph(&paragraph);
}

enum gf_status gf_help_topic(FILE *file, const struct gf_topic *topic, struct gf_error *error)
{
    char *roff = NULL;
    size_t size;
    FILE *const memory = open_memstream(&roff, &size);
    if (memory)
        put_topic(memory, topic);
    if (!memory || fclose(memory)) {
        free(roff);
        return gf_fail_memory(error);
    }
    fprintf(file, "%s: %s\n", topic->name, topic->summary);
    print_plain(file, roff);
    free(roff);
    return GF_OK;
}
