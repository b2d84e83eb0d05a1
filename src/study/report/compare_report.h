#pragma once

#include <stdio.h>

#include "base/json.h"
#include "study/compare/comparison.h"
#include "study/explain/explain.h"

void gf_compare_table(const struct gf_comparison *comparison, FILE *file);
void gf_compare_json(const struct gf_comparison *comparison, FILE *file);
void gf_compare_csv(const struct gf_comparison *comparison, FILE *file);
/* Returns the kernel that a row shows: the first with the least occupancy; NULL if none is
 * known. */
const struct gf_kernel_info *gf_compare_kernel(const struct gf_compare_row *row);

/* Words that all forms use: "stage" or "statistic"; "pinned" or "pageable"; "copy" or "zero-
 * copy". */
const char *gf_compare_kind_name(const struct gf_compare_group *group);
const char *gf_compare_host_memory_name(const struct gf_compare_run *run);
const char *gf_compare_transfer_name(const struct gf_compare_run *run);

/* The keys of the JSON and the columns of the CSV, for the manual; {0} ends them. */
extern const struct gf_key_help gf_compare_keys[];
extern const struct gf_key_help gf_compare_columns[];

/* Draws a group's variants below the roofs; nothing if no instructions are known. */
void gf_roofline_html(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group);
/* Writes the part of the page. `heading` is "" for a page that has only one comparison. `id`
 * identifies the part, by letters and digits. */
void gf_compare_html(FILE *file, const struct gf_comparison *comparison, const char *id,
                     const char *heading);

void gf_explain_print(const struct gf_explanation *explanation, FILE *file);
