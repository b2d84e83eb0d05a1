/* Reads numbers in text, with a decimal point in every locale. */
#pragma once

#include <stdbool.h>

/* Reads a finite decimal number at the start of the text. *end becomes the first byte after it. */
bool gf_value_number(const char *text, double *value, const char **end);
/* Reads a number from a text that contains nothing else. */
bool gf_value_whole_number(const char *text, double *value);
