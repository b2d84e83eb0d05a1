/* JSON text. */
#ifndef GF_REPORT_JSON_H
#define GF_REPORT_JSON_H

#include <stdio.h>

/* The text as a JSON string, quotes included. */
void gf_json_string(FILE *file, const char *text);

#endif
