/* Scripts that complete command lines. Their words come from the tables of options and filters. */
#ifndef GF_CLI_HELP_COMPLETION_H
#define GF_CLI_HELP_COMPLETION_H

#include <stdio.h>

void gf_completion_zsh(FILE *file);
void gf_completion_fish(FILE *file);

/* The parts that the scripts for bash and zsh have in common: the variable _gpufilter_filters, and
 * the functions that set `offers` to a filter's parameters and to a parameter's values. */
void gf_completion_filter_names(FILE *file);
void gf_completion_params(FILE *file);
void gf_completion_param_values(FILE *file);
/* The words that --lab takes, for all three shells. */
void gf_completion_lab_names(FILE *file);

struct gf_choice;
/* What the option's choices offer: "png jpeg"; the FILE of "html:FILE" is left out. */
void gf_completion_choices(const struct gf_choice *choices, char *text, size_t size);

#endif
