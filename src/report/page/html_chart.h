/* Drawings on the page: curves over an axis, as SVG. */
#ifndef GF_REPORT_PAGE_HTML_CHART_H
#define GF_REPORT_PAGE_HTML_CHART_H

#include <stdbool.h>
#include <stdio.h>

struct gf_chart_point {
    double x, y;        /* a point with a NaN is left out, and breaks the curve */
    double least, most; /* the spread of y; equal where it is not known */
};

enum { GF_CHART_NAME_SIZE = 64 };

struct gf_chart_series {
    char name[GF_CHART_NAME_SIZE];
    const struct gf_chart_point *point; /* in the order of x */
    int points;
    bool plain; /* a line without marks at its points */
};

/* A figure from elsewhere: a dashed line across the drawing, or, with x, a ring. */
struct gf_chart_mark {
    char name[GF_CHART_NAME_SIZE];
    double x, y; /* x: NaN for a line */
};

struct gf_chart {
    const char *title;           /* what it shows, in words */
    const char *x_name, *y_name; /* with their units */
    bool log_x, log_y;           /* where all values are above 0 */
    const struct gf_chart_series *series;
    int count;
    const struct gf_chart_mark *mark;
    int marks;
};

/* Draws the curves with their axes and a key. A chart without any point is left out. */
void gf_html_chart(FILE *file, const struct gf_chart *chart);

#endif
