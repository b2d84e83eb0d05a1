/* Scripts that complete command lines: their words come from the tables, their grammar is the
 * chain's. */
#ifndef GF_CLI_COMPLETION_H
#define GF_CLI_COMPLETION_H

#include <stdio.h>

void gf_completion_zsh(FILE *file);
void gf_completion_fish(FILE *file);

/* What bash and zsh read alike: the filters in _gpufilter_filters, and functions that set `offers`
 * to the parameters of a filter, and to what a parameter ("blur.border") takes. */
void gf_completion_filter_names(FILE *file);
void gf_completion_params(FILE *file);
void gf_completion_param_values(FILE *file);

#endif
