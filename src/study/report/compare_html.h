#ifndef GF_STUDY_REPORT_COMPARE_HTML_H
#define GF_STUDY_REPORT_COMPARE_HTML_H

#include <stdio.h>

#include "study/compare/comparison.h"

/* Writes the part of the page. `heading` is "" for a page that has only one comparison. `id`
 * identifies the part, by letters and digits. */
/* Draws a group's variants below the roofs; nothing if no instructions are known. */
void gf_roofline_html(FILE *file, const struct gf_comparison *comparison,
                      const struct gf_compare_group *group);
void gf_compare_html(FILE *file, const struct gf_comparison *comparison, const char *id,
                     const char *heading);

#endif
