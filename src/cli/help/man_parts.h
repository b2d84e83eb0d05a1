/* Prints the elements of the manual page, in the man macros. */
#ifndef GF_CLI_HELP_MAN_PARTS_H
#define GF_CLI_HELP_MAN_PARTS_H

#include <stdio.h>

#include "gpufilter/filter.h"
#include "base/json.h"

/* Prints text without markup: dashes stay ASCII dashes, and a dot begins no request. */
void gf_man_text(FILE *file, const char *text);
void gf_man_line(FILE *file, const char *text);
/* Prints paragraphs, a line each. *bold* and _italic_ parts become bold and italic. */
void gf_man_prose(FILE *file, const char *text);
/* Prints a tagged paragraph. The tag is bold. */
void gf_man_tag(FILE *file, const char *tag);
void gf_man_keys(FILE *file, const struct gf_key_help *keys);
void gf_man_param(FILE *file, const struct gf_param *param);

#endif
