/* The page: one HTML file that loads nothing from a network. page.html is its frame, page.css and
 * page.js are its style and script; all three are part of the program (html.c). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/likeness.h"
#include "gpufilter/options.h"
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

/* Writes a number with that many decimals, or "-" for NaN, as the field of a table. `unit` may be
 * "". */
void gf_html_field(FILE *file, double value, int decimals, const char *unit);
/* Writes a field with a bar of that length, 0..1. `series` chooses the colour. With of_all, the
 * rest up to 1 is drawn, too. NaN gives an empty field. */
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

/* Writes pictures on the page: before and after the chain under a slider, and enlarged pixels. */

/* A picture as a small JPEG. */
struct gf_page_picture {
    void *data;
    size_t size;
};

/* Reads the file on the CPU, runs the chain (NULL or "": none) and reduces the picture. `options`
 * are used for the chain and the codecs. If memory runs out, or the file cannot be read twice, data
 * is NULL. */
struct gf_page_picture gf_page_picture_make(const char *path, const char *chain,
                                            const struct gf_options *options);
void gf_page_picture_free(struct gf_page_picture *picture);

/* Writes the part of the page; nothing if either picture is missing. */
void gf_pictures_html(FILE *file, const struct gf_page_picture *before,
                      const struct gf_page_picture *after);

/* Writes the place where a variant differs: the expected pixels, its pixels, and the difference. */
void gf_spot_html(FILE *file, const char *name, const struct gf_compare_spot *spot);
