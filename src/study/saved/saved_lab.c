#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "study/report/lab_report.h"
#include "study/saved/saved.h"

/* A lab with the file's description. The program may have another lab of that name, or none. */
struct read_lab {
    struct gf_lab lab;
    struct gf_lab_result result;
};

static double number(const struct gf_json_value *value)
{
    return value && value->type == GF_JSON_NUMBER ? value->number : NAN;
}

static void read_columns(const struct gf_json_value *column, const struct gf_lab_run *run)
{
    for (; column && run->result->columns < GF_LAB_COLUMNS_MAX; column = column->next)
        (void)gf_lab_column(run, gf_json_text_of(column, "name"), gf_json_text_of(column, "unit"),
                            gf_json_int_of(column, "decimals", 0, 9, 2));
}

static void read_rows(const struct gf_json_value *row, const struct gf_lab_run *run)
{
    for (; row && run->result->rows < GF_LAB_ROWS_MAX; row = row->next) {
        const struct gf_json_value *value = gf_json_first_of(row, "values");
        (void)gf_lab_row(run, gf_json_number_of(row, "x"), "%s", gf_json_text_of(row, "label"));
        for (int i = 0; i < run->result->columns && value; i++, value = value->next)
            gf_lab_value(run, i, number(value));
        gf_lab_reason(run, "%s", gf_json_text_of(row, "reason"));
    }
}

static void read_remarks(const struct gf_json_value *remark, struct gf_lab_result *result)
{
    for (; remark && result->remarks < GF_LAB_REMARKS_MAX; remark = remark->next) {
        struct gf_lab_remark *const added = &result->remark[result->remarks++];
        int kind = 0;
        while (kind < GF_LAB_NOTE &&
               strcmp(gf_lab_remark_name(kind), gf_json_text_of(remark, "kind")))
            kind++;
        added->kind = kind;
        gf_saved_text(remark, "text", added->text, sizeof added->text);
    }
}

static void read_result(const struct gf_json_value *value, struct gf_lab_result *result)
{
    const struct gf_lab_run run = {.result = result};
    const double elapsed_s = gf_json_number_of(value, "elapsed_s");
    gf_saved_text(value, "rows_name", result->rows_name, sizeof result->rows_name);
    gf_saved_text(value, "device", result->device, sizeof result->device);
    gf_saved_text(value, "settings", result->settings, sizeof result->settings);
    result->elapsed_s = isnan(elapsed_s) ? 0 : elapsed_s;
    read_columns(gf_json_first_of(value, "columns"), &run);
    read_rows(gf_json_first_of(value, "rows"), &run);
    read_remarks(gf_json_first_of(value, "remarks"), result);
}

static enum gf_status read_lab(const struct gf_json_value *value, struct gf_lab_found *found,
                               struct gf_error *error)
{
    struct read_lab *const read = calloc(1, sizeof *read);
    if (!read)
        return gf_fail_memory(error);
    const char *const figure = gf_json_text_of(value, "figure");
    const struct gf_lab *const known = gf_lab_find(gf_json_text_of(value, "lab"));
    read->lab = (struct gf_lab){.name = gf_json_text_of(value, "lab"),
                                .summary = gf_json_text_of(value, "summary"),
                                .guide = gf_json_text_of(value, "guide"),
                                .figure = *figure ? figure : NULL,
                                .marks = known ? known->marks : NULL,
                                .axes = known ? known->axes : (struct gf_lab_axes){0}};
    read_result(value, &read->result);
    *found = (struct gf_lab_found){&read->lab, &read->result};
    return GF_OK;
}

enum gf_status gf_saved_read_labs(const struct gf_json_value *root, struct gf_saved *saved,
                                  struct gf_error *error)
{
    const struct gf_json_value *lab = root->type == GF_JSON_ARRAY ? root->first : root;
    enum gf_status status = GF_OK;
    saved->lab = calloc(gf_json_count(lab) + 1, sizeof *saved->lab);
    if (!saved->lab)
        return gf_fail_memory(error);
    for (; lab && !status; lab = root->type == GF_JSON_ARRAY ? lab->next : NULL) {
        status = read_lab(lab, &saved->lab[saved->labs], error);
        saved->labs += !status;
    }
    return status;
}

void gf_saved_free_labs(struct gf_saved *saved)
{
    for (int i = 0; i < saved->labs; i++)
        free((void *)saved->lab[i].lab); /* the first member of the allocated struct */
    free(saved->lab);
    saved->lab = NULL;
    saved->labs = 0;
}
