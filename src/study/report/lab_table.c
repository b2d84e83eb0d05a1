/* Prints the list of labs, the help of a lab, and its result as a table. */
#include <math.h>
#include <string.h>

#include "study/report/lab_report.h"
#include "report/text.h"

enum { INDENT = 20 };

void gf_lab_list(FILE *file)
{
    const struct gf_lab *lab;
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        char text[400];
        struct gf_param params[GF_LAB_PARAMS_MAX];
        snprintf(text, sizeof text, "%s (guide %s)", lab->summary, lab->guide);
        const int column = fprintf(file, "%-*s ", INDENT - 1, lab->name);
        gf_text_wrap(file, text, column, INDENT);
        gf_lab_params(lab, params);
        gf_params_text(params, text, sizeof text);
        fprintf(file, "%*s", INDENT, "");
        gf_text_wrap(file, text, INDENT, INDENT);
    }
    fputs("\n--lab=NAME[:KEY=VALUE...] runs one, --lab=all every one; --lab=NAME:help explains\n",
          file);
}

void gf_lab_help(FILE *file, const struct gf_lab *lab)
{
    struct gf_param params[GF_LAB_PARAMS_MAX];
    gf_lab_params(lab, params);
    fprintf(file, "%s: %s\nGuide: %s", lab->name, lab->summary, lab->guide);
    fprintf(file, "%s%s\n", lab->figure ? "; " : "", lab->figure ? lab->figure : "");
    if (lab->axes.x)
        fprintf(file, "Curve: %s (%s) along %s%s%s%s\n", lab->axes.y, lab->axes.y_unit, lab->axes.x,
                *lab->axes.x_unit ? " (" : "", lab->axes.x_unit, *lab->axes.x_unit ? ")" : "");
    fputs("\nParameters, in their order by position:\n", file);
    for (const struct gf_param *param = params; param->name; param++)
        gf_param_print(file, param);
}

void gf_lab_number(double value, const struct gf_lab_column *column, char *text, size_t size)
{
    const bool part = !strcmp(column->unit, "%");
    const double least = 0.5 * pow(10, -column->decimals);
    if (isnan(value))
        snprintf(text, size, "-");
    else if (fabs(value) >= 1e9 || (value && fabs(value) < least && !part))
        snprintf(text, size, "%.3g", value); /* an error of 1e-7 must not appear as 0 */
    else
        snprintf(text, size, "%.*f", column->decimals, value);
}

static int label_width(const struct gf_lab_result *result)
{
    int width = gf_text_widest(0, result->rows_name);
    for (int i = 0; i < result->rows; i++)
        width = gf_text_widest(width, result->row[i].label);
    return width;
}

static int column_width(const struct gf_lab_result *result, int column)
{
    const struct gf_lab_column *const at = &result->column[column];
    int width = gf_text_widest(gf_text_widest(5, at->name), at->unit);
    for (int i = 0; i < result->rows; i++) {
        char text[64];
        gf_lab_number(result->row[i].value[column], at, text, sizeof text);
        width = gf_text_widest(width, text);
    }
    return width;
}

static bool has_values(const struct gf_lab_result *result, const struct gf_lab_row *row)
{
    for (int i = 0; i < result->columns; i++) {
        if (!isnan(row->value[i]))
            return true;
    }
    return false;
}

static void put_rows(FILE *file, const struct gf_lab_result *result)
{
    const int first = label_width(result);
    int width[GF_LAB_COLUMNS_MAX];
    fprintf(file, "  %-*s", first, result->rows_name);
    for (int i = 0; i < result->columns; i++)
        fprintf(file, "  %*s", width[i] = column_width(result, i), result->column[i].name);
    fprintf(file, "\n  %-*s", first, "");
    for (int i = 0; i < result->columns; i++)
        fprintf(file, "  %*s", width[i], result->column[i].unit);
    putc('\n', file);
    for (int k = 0; k < result->rows; k++) {
        const struct gf_lab_row *const row = &result->row[k];
        fprintf(file, "  %-*s", first, row->label);
        for (int i = 0; i < result->columns && has_values(result, row); i++) {
            char text[64];
            gf_lab_number(row->value[i], &result->column[i], text, sizeof text);
            fprintf(file, "  %*s", width[i], text);
        }
        fprintf(file, "%s%s\n", *row->reason ? "  " : "", row->reason);
    }
}

const char *gf_lab_remark_name(enum gf_lab_remark_kind kind)
{
    static const char *const names[] = {
        [GF_LAB_RIGHT] = "right",     [GF_LAB_WRONG] = "wrong", [GF_LAB_AGREES] = "agrees",
        [GF_LAB_DIFFERS] = "differs", [GF_LAB_NOTE] = "note",
    };
    return names[kind];
}

void gf_lab_table(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    fprintf(file, "%s: %s\n", lab->name, lab->summary);
    fprintf(file, "  guide %s%s%s\n", lab->guide, lab->figure ? "; " : "",
            lab->figure ? lab->figure : "");
    fprintf(file, "  here  %s; %s; %.2f s\n\n", result->device, result->settings,
            result->elapsed_s);
    put_rows(file, result);
    if (result->remarks)
        putc('\n', file);
    for (int i = 0; i < result->remarks; i++)
        fprintf(file, "  %-7s %s\n", gf_lab_remark_name(result->remark[i].kind),
                result->remark[i].text);
}
