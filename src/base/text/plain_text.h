/* Plain text: characters of UTF-8, what is safe to print, numbers, and the word that a misspelt one
 * is nearest to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the length in bytes of the UTF-8 character (RFC 3629) that begins at `at`, and its code
 * point in *code; 0 if no valid character begins there or it extends beyond `end`. */
int gf_utf8_read(const void *at, const void *end, uint32_t *code);
/* Returns the length in bytes of the UTF-8 character at the start of the text; 0: it is invalid. */
int gf_utf8_length(const char *text);

/* Replaces by '?' every character that a terminal would obey (C0 and C1 controls), that breaks or
 * reorders the line (Unicode's separators of lines, bidirectional controls), or is not UTF-8. */
void gf_make_printable(char *text);

/* Reads a finite decimal number at the start of the text, with a decimal point in every locale.
 * *end becomes the first byte after it. */
bool gf_value_number(const char *text, double *value, const char **end);
/* Reads a finite decimal number from a text that contains nothing else. */
bool gf_value_whole_number(const char *text, double *value);

/* Finds the word nearest to a mistyped one, for "did you mean": call the function for each
 * candidate. *best is NULL and *distance is 0 before the first call; *best is the nearest candidate
 * after the last call. A candidate that differs in more than a third of the word's letters (at
 * least 1; 2 for a word of 5 letters) never becomes *best. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);
/* Whether two words differ in case, dashes and underscores alone, as southeast and South-East. */
bool gf_suggest_same(const char *a, const char *b);
/* Whether a word of the list, whose words are separated by blanks, is the same as `word` but for
 * case, dashes and underscores. NULL is an empty list. */
bool gf_suggest_listed(const char *list, const char *word);
