/* Instructions against bytes: each variant of a stage below the two roofs, what memory gives and
 * what the schedulers issue (Williams, Waterman, Patterson 2009, with instructions of warps in the
 * place of operations, as Ding and Williams 2019). */
#include <math.h>
#include <stdlib.h>

#include "report/compare_html.h"
#include "report/html_chart.h"

enum { ROOFS = 2, VARIANTS_MOST = 24 };

static struct gf_chart_point point_of(const struct gf_compare_group *group,
                                      const struct gf_compare_row *row)
{
    if (!row->warm.runs || !(group->bytes > 0) || !(row->warm.median_s > 0))
        return (struct gf_chart_point){NAN, NAN, NAN, NAN};
    const double giga = row->instructions * 1e-9;
    return (struct gf_chart_point){.x = row->instructions / group->bytes,
                                   .y = giga / row->warm.median_s,
                                   .least = giga / row->warm.most_s,
                                   .most = giga / row->warm.least_s};
}

void gf_roofline_html(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group)
{
    struct gf_chart_series series[ROOFS + VARIANTS_MOST];
    struct gf_chart_point point[VARIANTS_MOST], memory[2], issue[2];
    double least = INFINITY, most = 0;
    int count = ROOFS;
    for (int i = 0; i < group->rows && count < ROOFS + VARIANTS_MOST; i++) {
        const struct gf_chart_point at = point_of(group, &group->row[i]);
        if (!(at.x > 0) || !(at.y > 0))
            continue;
        point[count - ROOFS] = at;
        series[count] = (struct gf_chart_series){.point = &point[count - ROOFS], .points = 1};
        snprintf(series[count++].name, sizeof series->name, "%s", group->row[i].name);
        least = fmin(least, at.x);
        most = fmax(most, at.x);
    }
    if (count == ROOFS || !(comparison->copy_peak > 0))
        return;
    const double giga = comparison->copy_peak * 1e-9;
    least /= 2;
    most *= 2;
    for (int i = 0; i < 2; i++) {
        const double x = i ? most : least;
        memory[i] = (struct gf_chart_point){x, x * giga, NAN, NAN};
        issue[i] = (struct gf_chart_point){x, comparison->issue_peak * 1e-9, NAN, NAN};
    }
    series[0] = (struct gf_chart_series){"memory: the rate of a copy", memory, 2, true};
    series[1] = (struct gf_chart_series){"issue: one a cycle and scheduler", issue,
                                         comparison->issue_peak > 0 ? 2 : 0, true};
    const struct gf_chart chart = {.title = "Instructions against bytes",
                                   .x_name = "instructions of a warp for each byte that must move",
                                   .y_name = "10\xe2\x81\xb9 instructions a second",
                                   .log_x = true,
                                   .log_y = true,
                                   .series = series,
                                   .count = count};
    gf_html_chart(file, &chart);
}
