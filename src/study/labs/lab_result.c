/* Fills a lab's result. If it is full, gf_lab_run() reports that once, at the end. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "study/labs/lab.h"

void gf_lab_rows(const struct gf_lab_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->result->rows_name, sizeof run->result->rows_name, format, arguments);
    va_end(arguments);
}

int gf_lab_column(const struct gf_lab_run *run, const char *name, const char *unit, int decimals)
{
    struct gf_lab_result *const result = run->result;
    if (result->columns == GF_LAB_COLUMNS_MAX) {
        result->full = true;
        return GF_LAB_COLUMNS_MAX - 1;
    }
    struct gf_lab_column *const column = &result->column[result->columns];
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->unit, sizeof column->unit, "%s", unit);
    column->decimals = decimals;
    return result->columns++;
}

int gf_lab_row(const struct gf_lab_run *run, double x, const char *label, ...)
{
    struct gf_lab_result *const result = run->result;
    if (result->rows == GF_LAB_ROWS_MAX) {
        result->full = true;
        result->rows--;
    }
    struct gf_lab_row *const row = &result->row[result->rows];
    *row = (struct gf_lab_row){.x = x};
    for (int i = 0; i < GF_LAB_COLUMNS_MAX; i++)
        row->value[i] = NAN;
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(row->label, sizeof row->label, label, arguments);
    va_end(arguments);
    return result->rows++;
}

void gf_lab_value(const struct gf_lab_run *run, int column, double value)
{
    struct gf_lab_result *const result = run->result;
    if (result->rows && column >= 0 && column < result->columns)
        result->row[result->rows - 1].value[column] = value;
    else
        result->full = true;
}

void gf_lab_reason(const struct gf_lab_run *run, const char *format, ...)
{
    struct gf_lab_result *const result = run->result;
    if (!result->rows) {
        result->full = true;
        return;
    }
    struct gf_lab_row *const row = &result->row[result->rows - 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->reason, sizeof row->reason, format, arguments);
    va_end(arguments);
}

static void remark(const struct gf_lab_run *run, enum gf_lab_remark_kind kind, const char *format,
                   va_list arguments)
{
    struct gf_lab_result *const result = run->result;
    if (result->remarks == GF_LAB_REMARKS_MAX) {
        result->full = true;
        return;
    }
    struct gf_lab_remark *const at = &result->remark[result->remarks++];
    at->kind = kind;
    vsnprintf(at->text, sizeof at->text, format, arguments);
}

void gf_lab_check(const struct gf_lab_run *run, bool right, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, right ? GF_LAB_RIGHT : GF_LAB_WRONG, format, arguments);
    va_end(arguments);
}

void gf_lab_claim(const struct gf_lab_run *run, bool agrees, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, agrees ? GF_LAB_AGREES : GF_LAB_DIFFERS, format, arguments);
    va_end(arguments);
}

void gf_lab_note(const struct gf_lab_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, GF_LAB_NOTE, format, arguments);
    va_end(arguments);
}
