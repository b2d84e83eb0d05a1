/* Text for people: paragraphs, and what a parameter takes. */
#ifndef GF_REPORT_TEXT_H
#define GF_REPORT_TEXT_H

#include <stdio.h>

#include "gpufilter/filter.h"

enum { GF_SCREEN_WIDTH = 80 };

/* Adds as much of the text as there is room for; `size` is that of the whole array. */
void gf_text_append(char *text, size_t size, const char *more);

/* What a parameter takes ("0.1..250", "edge, reflect", "pixels or %") and its default ("1.5"; empty
 * where there is none). */
void gf_param_range(const struct gf_param *param, char *text, size_t size);
void gf_param_default(const struct gf_param *param, char *text, size_t size);
/* Both: "0.1..250; default 1.5". */
void gf_param_limits(const struct gf_param *param, char *text, size_t size);
/* Fills the text, broken at spaces and newlines alike, from that column on and then from `indent`
 * on. Ends the line. */
void gf_text_wrap(FILE *file, const char *text, int column, int indent);

#endif
