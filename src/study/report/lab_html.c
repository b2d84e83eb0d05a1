#include "study/report/study_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html.h"

enum { MARKS_MAX = 8 };

/* Lists the guide's numbers without a row, as lines across the drawing. */
static int marks_of(const struct gf_lab *lab, struct gf_chart_mark *mark)
{
    int count = 0;
    for (const struct gf_lab_mark *at = lab->marks; at && at->name && count < MARKS_MAX; at++) {
        mark[count] = (struct gf_chart_mark){.x = NAN, .y = at->value};
        snprintf(mark[count++].name, sizeof mark->name, "%s", at->name);
    }
    return count;
}

static void put_chart(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    struct gf_chart_series series[GF_LAB_COLUMNS_MAX] = {0};
    struct gf_chart_mark mark[MARKS_MAX];
    struct gf_chart_point *const point =
        calloc((size_t)result->columns * (size_t)result->rows + 1, sizeof *point);
    char x_name[120], y_name[120];
    int count = 0;
    if (!point)
        return;
    for (int c = 0; c < result->columns; c++) {
        if (strcmp(result->column[c].unit, lab->axes.y_unit))
            continue;
        struct gf_chart_point *const own = point + count * result->rows;
        for (int i = 0; i < result->rows; i++)
            own[i] = (struct gf_chart_point){result->row[i].x, result->row[i].value[c], NAN, NAN};
        series[count].point = own;
        series[count].points = result->rows;
        series[count].plain = result->rows > 40;
        snprintf(series[count++].name, sizeof series->name, "%s", result->column[c].name);
    }
    snprintf(x_name, sizeof x_name, "%s%s%s", lab->axes.x, *lab->axes.x_unit ? ", " : "",
             lab->axes.x_unit);
    snprintf(y_name, sizeof y_name, "%s, %s", lab->axes.y, lab->axes.y_unit);
    const struct gf_chart chart = {.title = "",
                                   .x_name = x_name,
                                   .y_name = y_name,
                                   .log_x = lab->axes.log_x,
                                   .log_y = lab->axes.log_y,
                                   .series = series,
                                   .count = count,
                                   .mark = mark,
                                   .marks = marks_of(lab, mark)};
    gf_html_chart(file, &chart);
    free(point);
}

/* Returns the column whose values are drawn as bars: the column of the guide's numbers, or the
 * column of the plot, or the first. */
static int bar_column(const struct gf_lab *lab, const struct gf_lab_result *result)
{
    for (int c = 0; c < result->columns; c++) {
        if (lab->marks ? !strcmp(result->column[c].name, lab->marks->column)
                       : lab->axes.y_unit && !strcmp(result->column[c].unit, lab->axes.y_unit))
            return c;
    }
    return 0;
}

static const struct gf_lab_mark *mark_of(const struct gf_lab *lab, const struct gf_lab_row *row)
{
    const struct gf_lab_mark *mark = lab->marks;
    while (mark && mark->name && (!mark->row || strcmp(mark->row, row->label)))
        mark++;
    return mark && mark->name ? mark : NULL;
}

static double widest(const struct gf_lab *lab, const struct gf_lab_result *result, int column)
{
    double most = 0;
    for (int i = 0; i < result->rows; i++) {
        const struct gf_lab_mark *const mark = mark_of(lab, &result->row[i]);
        most = fmax(most, result->row[i].value[column]); /* fmax() leaves NaN out */
        most = mark ? fmax(most, mark->value) : most;
    }
    return most;
}

/* Writes the value as a bar, with the guide's number as a stroke across it. */
static void put_bar(FILE *file, const struct gf_lab *lab, const struct gf_lab_row *row,
                    double value, double most)
{
    const struct gf_lab_mark *const mark = mark_of(lab, row);
    gf_html(file, "<td class=\"bar\"><b>");
    if (value > 0 && most > 0)
        gf_html(file, "<i class=\"s0\" style=\"width:%.2f%%\"></i>", 100 * value / most);
    if (mark && most > 0)
        gf_html(file, "<s style=\"left:%.2f%%\"></s>", 100 * mark->value / most);
    gf_html(file, "</b>");
    if (mark)
        gf_html(file, "<span class=\"what\">guide: %g, %s</span>", mark->value, mark->name);
    gf_html(file, "</td>");
}

static void put_row(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result,
                    const struct gf_lab_row *row, int bars, double most)
{
    gf_html(file, "<tr><th scope=\"row\">%s", row->label);
    if (*row->reason)
        gf_html(file, "<span class=\"what\">%s</span>", row->reason);
    gf_html(file, "</th>");
    for (int c = 0; c < result->columns; c++) {
        char text[64];
        gf_lab_number(row->value[c], &result->column[c], text, sizeof text);
        gf_html(file, "<td class=\"n\">%s</td>", text);
        if (c == bars)
            put_bar(file, lab, row, row->value[c], most);
    }
    gf_html(file, "</tr>\n");
}

static void put_table(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result,
                      bool with_bars)
{
    const int bars = with_bars ? bar_column(lab, result) : -1;
    const double most = bars >= 0 ? widest(lab, result, bars) : NAN;
    gf_html(file, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">%s</th>",
            result->rows_name);
    for (int c = 0; c < result->columns; c++) {
        gf_html(file, "<th scope=\"col\" class=\"n\">%s%s%s</th>", result->column[c].name,
                *result->column[c].unit ? ", " : "", result->column[c].unit);
        if (c == bars)
            gf_html(file, "<th></th>");
    }
    gf_html(file, "</tr></thead><tbody>\n");
    for (int i = 0; i < result->rows; i++)
        put_row(file, lab, result, &result->row[i], bars, most);
    gf_html(file, "</tbody></table></div>\n");
}

/* A sign next to the word, for people who cannot distinguish the colours. */
static const struct {
    const char *sign, *colour;
} looks[] = {[GF_LAB_RIGHT] = {"\xe2\x9c\x93", "good"},
             [GF_LAB_WRONG] = {"\xe2\x9c\x95", "bad"},
             [GF_LAB_AGREES] = {"=", "good"},
             [GF_LAB_DIFFERS] = {"\xe2\x89\xa0", "bad"},
             [GF_LAB_NOTE] = {"\xc2\xb7", "soft"}};

static void put_remarks(FILE *file, const struct gf_lab_result *result)
{
    gf_html(file, "<ul class=\"remarks\">\n");
    for (int i = 0; i < result->remarks; i++) {
        const struct gf_lab_remark *const remark = &result->remark[i];
        gf_html(file, "<li><span class=\"%s\">%s %s</span> %s</li>\n", looks[remark->kind].colour,
                looks[remark->kind].sign, gf_lab_remark_name(remark->kind), remark->text);
    }
    gf_html(file, "</ul>\n");
}

static void put_lab(FILE *file, const struct gf_lab_found *found, const char *id, int index)
{
    const struct gf_lab *const lab = found->lab;
    const struct gf_lab_result *const result = found->result;
    const bool curve = lab->axes.x && !lab->axes.bars;
    gf_html(file,
            "<article id=\"%s-%d\"><h3>%s</h3>\n<p>%s</p>\n<p class=\"small\">Guide %s%s%s</p>\n",
            id, index, lab->name, lab->summary, lab->guide, lab->figure ? ": " : "",
            lab->figure ? lab->figure : "");
    put_remarks(file, result);
    if (curve)
        put_chart(file, lab, result);
    if (curve)
        gf_html(file, "<details><summary>The figures</summary>\n");
    if (result->rows)
        put_table(file, lab, result, !curve);
    if (curve)
        gf_html(file, "</details>\n");
    gf_html(file, "<p class=\"small\">%s; %.2f s</p></article>\n", result->settings,
            result->elapsed_s);
}

static int count_remarks(const struct gf_lab_result *result, enum gf_lab_remark_kind kind)
{
    int count = 0;
    for (int i = 0; i < result->remarks; i++)
        count += result->remark[i].kind == kind;
    return count;
}

static void put_overview(FILE *file, const struct gf_lab_found *found, int count, const char *id)
{
    gf_html(file, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">lab</th>"
                  "<th scope=\"col\">what it teaches</th>"
                  "<th scope=\"col\" class=\"n\">agrees</th>"
                  "<th scope=\"col\" class=\"n\">differs</th></tr></thead><tbody>\n");
    for (int i = 0; i < count; i++) {
        const int differs = count_remarks(found[i].result, GF_LAB_DIFFERS);
        gf_html(file,
                "<tr><th scope=\"row\"><a href=\"#%s-%d\">%s</a></th><td>%s</td>"
                "<td class=\"n\">%d</td><td class=\"n%s\">%d</td></tr>\n",
                id, i, found[i].lab->name, found[i].lab->summary,
                count_remarks(found[i].result, GF_LAB_AGREES), differs ? " bad" : "", differs);
    }
    gf_html(file, "</tbody></table></div>\n");
}

void gf_labs_html(FILE *file, const struct gf_lab_found *found, int count, const char *id,
                  const char *heading)
{
    int agrees = 0, differs = 0;
    for (int i = 0; i < count; i++) {
        agrees += count_remarks(found[i].result, GF_LAB_AGREES);
        differs += count_remarks(found[i].result, GF_LAB_DIFFERS);
    }
    gf_html(file, "<section id=\"%s\">\n", id);
    if (*heading)
        gf_html(file, "<h2>%s</h2>\n", heading);
    gf_html(file,
            "<div class=\"says\"><p>%s: of the guides' claims <strong>%d hold</strong> here, "
            "and <strong>%d do not</strong>.</p></div>\n",
            count ? found[0].result->device : "no lab ran", agrees, differs);
    if (count > 1)
        put_overview(file, found, count, id);
    for (int i = 0; i < count; i++)
        put_lab(file, &found[i], id, i);
    gf_html(file,
            "<p class=\"small\">Guides: 1 Legresley's CUDA Performance Optimization, 2 CME 213's "
            "transpose lecture, 3 Performance Issues, 4 CUDA C++ Best Practices Guide, 5 "
            "Programming Guide, Writing SIMT Kernels. Dashed lines and strokes across bars are the "
            "guide's figures, of its hardware.</p>\n</section>\n");
}
