/* The page: one HTML file that loads nothing from a network. page.html is its frame, page.css and
 * page.js are its style and script; all three are part of the program (html.c). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "gpufilter/status.h"

/* Writes markup, like printf() with the conversions d, u, x, f, g, c and s. The format must be the
 * program's own. The argument of %s may be any text: it cannot become markup, even inside the
 * double quotes of an attribute. Control characters and invalid UTF-8 are shown as a replacement
 * character. */
void gf_html(FILE *file, const char *format, ...) GF_PRINTF(2, 3);

/* Writes the frame up to the body, with a heading and a line below it, which may be "". */
void gf_html_begin(FILE *file, const char *title, const char *line);
void gf_html_end(FILE *file);

/* Writes bytes as base64, for a data: address. */
void gf_html_base64(FILE *file, const void *data, size_t size);

/* Writes a number with that many decimals, or "-" for NaN, as the cell of a table. `unit` may be
 * "". */
void gf_html_cell(FILE *file, double value, int decimals, const char *unit);
/* Writes a cell with a bar of that length, 0..1. `series` chooses the colour. With of_all, the rest
 * up to 1 is drawn, too. NaN gives an empty cell. */
void gf_html_bar(FILE *file, double part, int series, bool of_all);
/* Writes a name and its value in a list of facts, between gf_html(file, "<dl class=\"facts\">") and
 * "</dl>". */
void gf_html_fact(FILE *file, const char *name, const char *value);

/* The number of colours that distinguish series. With more series the colours repeat. */
enum { GF_HTML_SERIES = 8 };

/* Draws curves with axes on the page, as SVG. */
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
