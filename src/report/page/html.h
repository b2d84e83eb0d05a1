/* The page: one HTML file that loads nothing from a network. page.html is its frame, page.css and
 * page.js are its style and script; all three are part of the program (html.c). */
#ifndef GF_REPORT_PAGE_HTML_H
#define GF_REPORT_PAGE_HTML_H

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

#endif
