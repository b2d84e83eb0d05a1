/* What a lab found, as a table, as JSON, as data and as a plot. */
#ifndef GF_REPORT_LAB_REPORT_H
#define GF_REPORT_LAB_REPORT_H

#include <stdio.h>

#include "labs/lab.h"

void gf_lab_list(FILE *file);
void gf_lab_help(FILE *file, const struct gf_lab *lab);
void gf_lab_table(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
/* One object; gf_lab_key_at() tells its keys, which stay. */
void gf_lab_json(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
struct gf_lab_key {
    const char *path, *help;
};
const struct gf_lab_key *gf_lab_key_at(int index);

/* The rows that have an x, in columns with a heading, as gnuplot reads them. */
void gf_lab_data(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result);
/* Draws the curve into path by gnuplot, from PATH. Where there is none, the data goes to path with
 * .dat for its extension. *said is a line to tell the user. */
enum gf_status gf_lab_draw(const char *path, const struct gf_lab *lab,
                           const struct gf_lab_result *result, char *said, size_t said_size,
                           struct gf_error *error) GF_CHECKED;

#endif
