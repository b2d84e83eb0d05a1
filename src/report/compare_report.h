/* A comparison as a table, as JSON and as CSV. */
#ifndef GF_REPORT_COMPARE_REPORT_H
#define GF_REPORT_COMPARE_REPORT_H

#include <stdio.h>

#include "bench/compare.h"
#include "report/report.h"

void gf_compare_table(const struct gf_comparison *compare, FILE *file);
void gf_compare_json(const struct gf_comparison *compare, FILE *file);
void gf_compare_csv(const struct gf_comparison *compare, FILE *file);
/* The kernel that stands for a row: of those of least occupancy the first; NULL: none is known. */
const struct gf_variant_info *gf_compare_kernel(const struct gf_compare_row *row);

/* What the manual says of the JSON: key path and meaning; NULL past the last one. */
const struct gf_report_key *gf_compare_key_at(int index);
/* The columns of the CSV, likewise. */
const struct gf_report_key *gf_compare_column_at(int index);

#endif
