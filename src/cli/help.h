/* What the program says of itself, all of it derived from the tables of options and of filters. */
#ifndef GF_HELP_H
#define GF_HELP_H

#include <stdio.h>

#include "cli.h"
#include "gpufilter/filter.h"

void gf_help_print(FILE *file);
void gf_help_filter(FILE *file, const struct gf_filter *filter);
void gf_help_list(FILE *file, enum gf_list_form form);
void gf_help_version(FILE *file);
/* measure: with the bandwidths that each device reaches. */
enum gf_status gf_help_devices(FILE *file, bool measure, struct gf_error *error) GF_CHECKED;

void gf_man_print(FILE *file);
void gf_completion_print(FILE *file, enum gf_shell shell);

/* What a parameter takes ("0.1..250", "edge, reflect", "pixels or %") and its default ("1.5"; empty
 * where there is none). */
void gf_help_range(const struct gf_param *param, char *text, size_t size);
void gf_help_default(const struct gf_param *param, char *text, size_t size);
/* Both: "0.1..250; default 1.5". */
void gf_help_limits(const struct gf_param *param, char *text, size_t size);
/* A chain of this filter alone that the parser takes: "blur=1.5:border=edge". */
void gf_help_example(const struct gf_filter *filter, char *text, size_t size);

/* Command lines worth showing; NULL past the last one. */
struct gf_example {
    const char *command, *help;
};
const struct gf_example *gf_example_at(int index);

/* Fills the text, broken at spaces and newlines alike, from that column on and then from `indent`
 * on. Ends the line. */
void gf_help_wrap(FILE *file, const char *text, int column, int indent);

#endif
