/* --list, in its two forms, and --devices. */
#include <string.h>

#include "backend.h"
#include "help.h"

/* "sigma=1.5 border=edge"; what has no default stands without "=". */
static void print_params_text(FILE *file, const struct gf_filter *filter)
{
    char text[400] = "";
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        char value[40];
        gf_help_default(param, value, sizeof value);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s%s", *text ? " " : "",
                 param->name, *value ? "=" : "", value);
    }
    if (*text) {
        fputs("            ", file);
        gf_help_wrap(file, text, 12, 12);
    }
}

static void print_text(FILE *file, const struct gf_filter *filter)
{
    char summary[200];
    const char *const alias = gf_filter_alias(filter);
    snprintf(summary, sizeof summary, "%s%s%s%s", gf_filter_summary(filter),
             alias ? " (alias " : "", alias ? alias : "", alias ? ")" : "");
    const int column = fprintf(file, "%-11s ", gf_filter_name(filter));
    gf_help_wrap(file, summary, column, 12);
    print_params_text(file, filter);
}

/* '|' would end the cell. */
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
        char range[120], value[40];
        gf_help_range(param, range, sizeof range);
        gf_help_default(param, value, sizeof value);
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

static void print_device(FILE *file, const struct gf_device_info *info)
{
    const double gib = 1.0 / (1 << 30), mib = 1.0 / (1 << 20);
    fprintf(file,
            "cuda:%d  %s: sm_%d%d, %d multiprocessors, %.1f GiB, L2 %.0f MiB, %d copy engine%s\n",
            info->index, info->name, info->major, info->minor, info->multiprocessors,
            (double)info->memory_bytes * gib, (double)info->l2_bytes * mib, info->copy_engines,
            info->copy_engines == 1 ? "" : "s");
    fprintf(file, "        driver for CUDA %d.%d, runtime %d.%d\n", info->driver_version / 1000,
            info->driver_version % 1000 / 10, info->runtime_version / 1000,
            info->runtime_version % 1000 / 10);
}

enum gf_status gf_help_devices(FILE *file, struct gf_error *error)
{
    const char *why = NULL;
    const int count = gf_device_count(&why);
    for (int i = 0; i < count; i++) {
        struct gf_device_info info;
        const enum gf_status status = gf_device_describe(i, &info, error);
        if (status)
            return status;
        print_device(file, &info);
    }
    if (!count)
        fprintf(file, "cuda    none: %s\n", why ? why : "no CUDA device");
    const int processors = gf_cpu_count();
    fprintf(file, "cpu     %d processor%s\n", processors, processors == 1 ? "" : "s");
    return GF_OK;
}
