/* Plain text: characters of UTF-8 and what is safe to print, numbers, and words that are nearly
 * the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the length in bytes of the UTF-8 character (RFC 3629) that begins at `at`, and its code
 * point in *code; 0 if no valid character begins there or it extends beyond `end`. */
int gf_utf8_read(const void *at, const void *end, uint32_t *code);
/* Returns the length in bytes of the UTF-8 character at the start of the text; 0 if it is not
 * valid. */
int gf_utf8_length(const char *text);

/* Replaces by '?' every character that a terminal would obey (C0 and C1 controls), that breaks or
 * reorders the line (Unicode's line separators and bidirectional controls), or that is not
 * UTF-8. */
void gf_make_printable(char *text);

/* Reads numbers in text, with a decimal point in every locale. */

/* Reads a finite decimal number at the start of the text. *end becomes the first byte after it. */
bool gf_value_number(const char *text, double *value, const char **end);
/* Reads a number from a text that contains nothing else. */
bool gf_value_whole_number(const char *text, double *value);

/* "Did you mean": finds the word nearest to a mistyped one. */

/* Call the function for each candidate. *best is NULL and *distance is 0 before the first call;
 * *best is the nearest candidate after the last call. A candidate that differs in more than a third
 * of the word's letters (at least 1; 2 for a word of 5 letters) never becomes *best. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);
/* Whether two words differ in case, dashes and underscores alone, as southeast and South-East. */
bool gf_suggest_same(const char *a, const char *b);
/* Whether the list, whose words are separated by blanks, has a word that is the same in this sense.
 * NULL is an empty list. */
bool gf_suggest_listed(const char *list, const char *word);
