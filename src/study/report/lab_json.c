/* Writes a lab's result as JSON. The manual prints this list of keys. */
#include "gpufilter/pipeline.h"
#include "study/report/lab_report.h"

const struct gf_key_help gf_lab_keys[] = {
    {"version", "of the program, a string"},
    {"lab", "the lab's name"},
    {"summary", "what it teaches"},
    {"guide", "number of the guide, and section"},
    {"figure", "the guide's figure on its hardware, or null"},
    {"device", "what it ran on"},
    {"settings", "the values of its parameters"},
    {"elapsed_s", "duration of the whole lab"},
    {"rows_name", "the heading over the labels of the rows"},
    {"columns", "a list; of each: name, unit, decimals (of the table)"},
    {"rows",
     "a list; of each: label, x (its place on the plot's axis, or null), values (a number or null "
     "for each column), reason (a remark, or why there are no values; or null)"},
    {"remarks", "a list; of each: kind, text"},
    {"remarks.kind",
     "right or wrong: a computed result that was checked; agrees or differs: a claim of "
     "the guide beside this GPU's figure; note"},
    {0},
};

/* Writes a text. An empty text becomes null. */
static void put_text(struct gf_json *json, const char *key, const char *text)
{
    gf_json_string(json, key, text && *text ? text : NULL);
}

static void put_remark(struct gf_json *json, const struct gf_lab_remark *remark)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "kind", gf_lab_remark_name(remark->kind));
    put_text(json, "text", remark->text);
    gf_json_end(json);
}

static void put_column(struct gf_json *json, const struct gf_lab_column *column)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "name", column->name);
    put_text(json, "unit", column->unit);
    gf_json_number(json, "decimals", column->decimals, 0);
    gf_json_end(json);
}

static void put_row(struct gf_json *json, const struct gf_lab_result *result,
                    const struct gf_lab_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "label", row->label);
    gf_json_figure(json, "x", row->x);
    gf_json_array(json, "values", GF_JSON_INLINE);
    for (int i = 0; i < result->columns; i++)
        gf_json_figure(json, NULL, row->value[i]);
    gf_json_end(json);
    put_text(json, "reason", row->reason);
    gf_json_end(json);
}

void gf_lab_json(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    put_text(&json, "version", gf_version());
    put_text(&json, "lab", lab->name);
    put_text(&json, "summary", lab->summary);
    put_text(&json, "guide", lab->guide);
    put_text(&json, "figure", lab->figure);
    put_text(&json, "device", result->device);
    put_text(&json, "settings", result->settings);
    gf_json_figure(&json, "elapsed_s", result->elapsed_s);
    put_text(&json, "rows_name", result->rows_name);
    gf_json_array(&json, "columns", GF_JSON_LINES_OPEN);
    for (int i = 0; i < result->columns; i++)
        put_column(&json, &result->column[i]);
    gf_json_end(&json);
    gf_json_array(&json, "rows", GF_JSON_LINES_OPEN);
    for (int i = 0; i < result->rows; i++)
        put_row(&json, result, &result->row[i]);
    gf_json_end(&json);
    gf_json_array(&json, "remarks", GF_JSON_LINES_OPEN);
    for (int i = 0; i < result->remarks; i++)
        put_remark(&json, &result->remark[i]);
    gf_json_end(&json);
    gf_json_end(&json);
}
