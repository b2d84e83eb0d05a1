/* Prints an explanation as text. */
#ifndef GF_STUDY_REPORT_EXPLAIN_REPORT_H
#define GF_STUDY_REPORT_EXPLAIN_REPORT_H

#include <stdio.h>

#include "study/explain/explain.h"

void gf_explain_print(const struct gf_explanation *explanation, FILE *file);

#endif
