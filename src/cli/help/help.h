/* Help, lists, manual and completion. All of it derives from the tables of options and filters. */
#ifndef GF_CLI_HELP_HELP_H
#define GF_CLI_HELP_HELP_H

#include <stdio.h>

#include "cli/command/command.h"
#include "gpufilter/filter.h"

void gf_help_print(FILE *file);
void gf_help_filter(FILE *file, const struct gf_filter *filter);
/* Prints the variants of the named filter's CUDA kernels; those of all filters if `name` is NULL.
 */
enum gf_status gf_help_study(FILE *file, const char *name, struct gf_error *error) GF_CHECKED;
extern const char gf_help_variants[]; /* what a variant is, for help and manual */
/* The names of the filters that have the same variants as the index-th one, which is the first of
 * them: "hue, duotone". False if it is not the first, or has no variants. */
bool gf_help_variants_heading(int index, char *text, size_t size);
void gf_help_list(FILE *file, enum gf_list_form form);
void gf_help_version(FILE *file);
/* measure: also measures the bandwidths of each device. */
enum gf_status gf_help_devices(FILE *file, bool measure, struct gf_error *error) GF_CHECKED;

void gf_man_print(FILE *file);
/* Prints text for troff: dashes, backslashes and leading dots are escaped. */
void gf_man_text(FILE *file, const char *text);
void gf_completion_print(FILE *file, enum gf_shell shell);

/* A chain of this filter alone that the parser accepts: "blur=1.5:border=edge". */
void gf_help_example(const struct gf_filter *filter, char *text, size_t size);

/* Example command lines, each with a sentence that says what it is for; NULL past the last one. */
struct gf_example {
    const char *command, *help;
};
const struct gf_example *gf_example_at(int index);

#endif
