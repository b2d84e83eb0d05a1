/* Prints an explanation as text. */
#ifndef GF_REPORT_EXPLAIN_REPORT_H
#define GF_REPORT_EXPLAIN_REPORT_H

#include <stdio.h>

#include "bench/explain.h"

void gf_explain_print(const struct gf_explanation *explanation, FILE *file);

#endif
