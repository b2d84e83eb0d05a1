/* Writes labs on the page. */
#ifndef GF_STUDY_REPORT_LAB_HTML_H
#define GF_STUDY_REPORT_LAB_HTML_H

#include <stdio.h>

#include "study/labs/lab.h"

struct gf_lab_found {
    const struct gf_lab *lab;
    const struct gf_lab_result *result;
};

/* Writes the part of the page. `heading` is "" for a page that has only these labs. `id` identifies
 * the part, by letters and digits. */
void gf_labs_html(FILE *file, const struct gf_lab_found *found, int count, const char *id,
                  const char *heading);

#endif
