/* What the sections of the manual page are made of, in the man macros. */
#ifndef GF_CLI_HELP_MAN_PARTS_H
#define GF_CLI_HELP_MAN_PARTS_H

#include <stdio.h>

#include "gpufilter/filter.h"
#include "base/json.h"

/* Text in which nothing is markup: dashes stay ASCII dashes, a dot begins no request. */
void gf_man_text(FILE *file, const char *text);
void gf_man_line(FILE *file, const char *text);
/* Paragraphs, a line each, in which *bold* and _italic_ parts are marked so. */
void gf_man_prose(FILE *file, const char *text);
/* A tagged paragraph, the tag in bold. */
void gf_man_tag(FILE *file, const char *tag);
void gf_man_keys(FILE *file, const struct gf_key_help *(*key_at)(int index));
void gf_man_param(FILE *file, const struct gf_param *param);

#endif
