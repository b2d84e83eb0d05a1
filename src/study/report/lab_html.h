/* Labs on the page. */
#ifndef GF_STUDY_REPORT_LAB_HTML_H
#define GF_STUDY_REPORT_LAB_HTML_H

#include <stdio.h>

#include "study/labs/lab.h"

/* A lab that was run, and what it found. */
struct gf_lab_found {
    const struct gf_lab *lab;
    const struct gf_lab_result *result;
};

/* heading: "" for a page that has only these labs. id: of the part, letters and digits. */
void gf_labs_html(FILE *file, const struct gf_lab_found *found, int count, const char *id,
                  const char *heading);

#endif
