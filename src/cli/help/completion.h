/* Prints scripts that complete command lines. Their words come from the tables of options and
 * filters. */
#pragma once

#include <stdio.h>

#include "cli/command/command.h"

void gf_completion_bash(FILE *file);
void gf_completion_zsh(FILE *file);
void gf_completion_fish(FILE *file);

enum { GF_COMPLETION_WORDS_SIZE = 2000 };

/* Prints an assignment of the names of all filters, for all three shells: `assignment` is "NAME="
 * or "set NAME ". */
void gf_completion_filters(FILE *file, const char *assignment);
/* Writes the words that all three shells offer for the option's value: "png jpeg", names of labs or
 * of filters; the FILE of "html:FILE" is left out. Returns whether there are any. */
bool gf_completion_words(const struct gf_option *option, char *text, size_t size);

/* A parameter of a filter with the words that it accepts. gf_completion_param() returns the
 * parameters one after another, `variant` last, and false past it. */
struct gf_completion_param {
    const char *name;
    char values[400];
};
bool gf_completion_param_at(const struct gf_filter *filter, int index,
                            struct gf_completion_param *param);
/* Prints functions for bash and zsh that set `offers` to a filter's parameters, and to the values
 * of a parameter. */
void gf_completion_params(FILE *file);
void gf_completion_param_values(FILE *file);
