/* Prints comparisons, explanations and labs as text, and writes them as JSON, plots and parts of a
 * page. */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "report/page/page.h"
#include "study/compare/compare.h"
#include "study/explain/explain.h"
#include "study/labs/lab.h"

void gf_compare_table(const struct gf_comparison *comparison, FILE *file);
void gf_compare_json(const struct gf_comparison *comparison, FILE *file);
/* Returns the kernel that a row shows: the first with the least occupancy; NULL if none is
 * known. */
const struct gf_kernel_info *gf_compare_kernel(const struct gf_compare_row *row);

/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_compare_keys[];

/* Puts the comparison on the page, with the places where pictures differ. */
void gf_compare_page(struct gf_page *page, const struct gf_comparison *comparison);

void gf_explain_print(const struct gf_explanation *explanation, FILE *file);

/* ---- labs ---- */

void gf_lab_list(FILE *file);
void gf_lab_help(FILE *file, const struct gf_lab *lab);
void gf_lab_table(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
void gf_lab_json(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_lab_keys[];

/* Writes the points of the curves in columns with a heading, as gnuplot reads them. */
void gf_lab_data(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
/* Draws the curves to `path` by the gnuplot in PATH. Without gnuplot the data is written instead,
 * with the extension .dat. *said becomes a line that tells the user which file was written. */
enum gf_status gf_lab_draw(const char *path, const struct gf_lab *lab,
                           const struct gf_lab_result *result, char *said, size_t said_size,
                           struct gf_error *error) GF_CHECKED;

struct gf_lab_found {
    const struct gf_lab *lab;
    const struct gf_lab_result *result;
};

void gf_labs_page(struct gf_page *page, const struct gf_lab_found *found, int count);
/* Puts the axes of the program's labs and the guides' figures on the page, which draws saved labs
 * by them. */
void gf_lab_plots_page(struct gf_page *page);
