/* Prints the manual page, in the man macros. Its prose is manual.txt; options, filters and the keys
 * of reports are printed from their tables, in the words of their declarations. */
#include <string.h>

#include "base/embed.h"
#include "base/exit_status.h"
#include "batch/archives/archive_record.h"
#include "batch/log/account.h"
#include "batch/log/batch_log.h"
#include "batch/names/output_template.h"
#include "batch/sheets/sheet.h"
#include "chain/region.h"
#include "cli/actions.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "codec/depth.h"
#include "report/info/facts.h"
#include "report/profile/profile_report.h"

GF_EMBED(manual, "src/cli/help/manual.txt");

static void put_region(FILE *file)
{
    for (const struct gf_param *param = gf_region_params; param->name; param++)
        gf_man_param(file, param);
}

/* Tells which depths the formats have. */
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

/* Names the options that each of several outputs can have. */
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
    put_filter(file, gf_sheet_declaration(GF_SHEET_CELLS));
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
