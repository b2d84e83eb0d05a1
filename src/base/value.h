/* Numbers as text, whatever the locale: "2.5", "640", "50%", "512M". */
#ifndef GF_BASE_VALUE_H
#define GF_BASE_VALUE_H

#include <stdbool.h>

/* A finite decimal number at the start of text; *end is where it stops. */
bool gf_value_number(const char *text, double *value, const char **end);
/* The same, and nothing may follow. */
bool gf_value_whole_number(const char *text, double *value);

#endif
