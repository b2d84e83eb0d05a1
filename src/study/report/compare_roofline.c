/* Draws instructions against bytes: each variant of a stage below two roofs, which are the limits
 * of memory and of the schedulers (Williams, Waterman, Patterson 2009, with warp instructions
 * instead of operations, as Ding and Williams 2019). */
#include <math.h>

#include "report/page/html.h"
#include "study/report/compare_report.h"

enum { VARIANTS_MOST = 24, ROOF_POINTS = 3 };

static struct gf_chart_point point_of(const struct gf_compare_group *group,
                                      const struct gf_compare_row *row)
{
    const double count = row->instructions;
    if (!row->warm.runs || !(group->bytes > 0) || !(row->warm.least_s > 0))
        return (struct gf_chart_point){NAN, NAN, NAN, NAN};
    return (struct gf_chart_point){.x = count / group->bytes,
                                   .y = count / row->warm.median_s,
                                   .least = count / row->warm.most_s,
                                   .most = count / row->warm.least_s};
}

/* Computes the roof: the limit of memory up to the knee, and the limit of the schedulers from there
 * on. */
static void make_roof(const struct gf_comparison *comparison, double least, double most,
                      struct gf_chart_point roof[ROOF_POINTS])
{
    const double knee = comparison->issue_peak / comparison->copy_peak;
    const double x[] = {least, fmin(fmax(knee, least), most), most};
    for (int i = 0; i < ROOF_POINTS; i++) {
        const double y = fmin(x[i] * comparison->copy_peak, comparison->issue_peak);
        roof[i] = (struct gf_chart_point){x[i], y, NAN, NAN};
    }
}

void gf_roofline_html(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group)
{
    struct gf_chart_series series[1 + VARIANTS_MOST];
    struct gf_chart_point point[VARIANTS_MOST], roof[ROOF_POINTS];
    double least = INFINITY, most = 0;
    int count = 1;
    for (int i = 0; i < group->rows && count <= VARIANTS_MOST; i++) {
        const struct gf_chart_point at = point_of(group, &group->row[i]);
        if (!(at.x > 0) || !(at.y > 0))
            continue;
        point[count - 1] = at;
        series[count] = (struct gf_chart_series){.point = &point[count - 1], .points = 1};
        snprintf(series[count++].name, sizeof series->name, "%s", group->row[i].name);
        least = fmin(least, at.x);
        most = fmax(most, at.x);
    }
    if (count == 1 || !(comparison->copy_peak > 0) || !(comparison->issue_peak > 0))
        return;
    make_roof(comparison, least / 2, most * 2, roof);
    series[0] = (struct gf_chart_series){
        "what a copy moves, and one instruction a cycle and scheduler", roof, ROOF_POINTS, true};
    const struct gf_chart chart = {.title = "Instructions against bytes",
                                   .x_name = "instructions of a warp for each byte that must move",
                                   .y_name = "instructions of a warp a second",
                                   .log_x = true,
                                   .log_y = true,
                                   .series = series,
                                   .count = count};
    gf_html_chart(file, &chart);
}
