/* The page: one HTML file that asks no network for anything. page.html is its frame, page.css and
 * page.js are its style and script; all three are part of the program (html.c). */
#ifndef GF_REPORT_PAGE_HTML_H
#define GF_REPORT_PAGE_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "gpufilter/status.h"

/* Writes markup: printf() with the conversions d, u, x, f, g, c and s. The format is the program's
 * own; what a %s brings may come from anywhere, and can be nothing but text, also inside the double
 * quotes of an attribute. Controls and what is not UTF-8 are shown as a replacement character. */
void gf_html(FILE *file, const char *format, ...) GF_PRINTF(2, 3);

/* The frame up to the body, with a heading and a line below it, which may be "". */
void gf_html_begin(FILE *file, const char *title, const char *line);
void gf_html_end(FILE *file);

/* Bytes as base64, for a data: address. */
void gf_html_base64(FILE *file, const void *data, size_t size);

/* A number with that many decimals, or "-" for NaN, as the cell of a table; unit may be "". */
void gf_html_cell(FILE *file, double value, int decimals, const char *unit);
/* A cell with a bar of that part, 0..1; the series chooses the colour. of_all: what is left to 1
 * shows, too. NaN is an empty cell. */
void gf_html_bar(FILE *file, double part, int series, bool of_all);
/* A name and its value in a list of facts: between gf_html(file, "<dl class=\"facts\">") and
 * "</dl>". */
void gf_html_fact(FILE *file, const char *name, const char *value);

/* Series are told apart by so many colours, which then repeat. */
enum { GF_HTML_SERIES = 8 };

#endif
