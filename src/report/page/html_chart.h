/* Draws curves with axes on the page, as SVG. */
#ifndef GF_REPORT_PAGE_HTML_CHART_H
#define GF_REPORT_PAGE_HTML_CHART_H

#include <stdbool.h>
#include <stdio.h>

struct gf_chart_point {
    double x, y;        /* a point with a NaN is not drawn, and interrupts the curve */
    double least, most; /* the spread of y; equal if it is not known */
};

enum { GF_CHART_NAME_SIZE = 64 };

struct gf_chart_series {
    char name[GF_CHART_NAME_SIZE];
    const struct gf_chart_point *point; /* the points, in the order of x */
    int points;
    bool plain; /* a line whose points are not marked */
};

/* A value from another source: a dashed line across the drawing, or a ring if x is set. */
struct gf_chart_mark {
    char name[GF_CHART_NAME_SIZE];
    double x, y; /* x: NaN for a line */
};

struct gf_chart {
    const char *title;           /* a description in words */
    const char *x_name, *y_name; /* the axes' names with their units */
    bool log_x, log_y;           /* logarithmic axes, for which all values must be above 0 */
    const struct gf_chart_series *series;
    int count;
    const struct gf_chart_mark *mark;
    int marks;
};

/* Draws the curves with their axes and a key. A chart without any point is not drawn. */
void gf_html_chart(FILE *file, const struct gf_chart *chart);

#endif
