/* "Did you mean": finds the word nearest to a mistyped one. */
#pragma once

#include <stdbool.h>

/* Call the function for each candidate. *best is NULL and *distance is 0 before the first call;
 * *best is the nearest candidate after the last call. A candidate that differs in more than a third
 * of the word's letters (at least 1; 2 for a word of 5 letters) never becomes *best. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);
/* Whether two words differ in case, dashes and underscores alone, as southeast and South-East. */
bool gf_suggest_same(const char *a, const char *b);
/* Whether the list, whose words are separated by blanks, has a word that is the same in this sense.
 * NULL is an empty list. */
bool gf_suggest_listed(const char *list, const char *word);
